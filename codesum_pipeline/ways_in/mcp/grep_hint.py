"""A hint for an agent that greps for a symbol: which tool knows it.

Claude Code runs this file by itself before its tools Grep and Bash (a hook `PreToolUse`), with the call as JSON on
stdin, and adds the printed `additionalContext` to what the model reads. The call goes on in any case: nothing is
decided here, and an error says nothing. Only the standard library is imported, and nothing of this package, so it takes
some 30 ms.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any

_MOST_CHARACTERS = 1_000_000
_LONGEST_COMMAND = 2000
_LONGEST_NAME = 80
_SEARCHES = ("rg", "grep", "egrep", "ag", "ack")
# Options of these with a value behind them.
_WITH_VALUE = frozenset({
    "-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "-d", "-M", "--glob", "--type", "--type-not", "--include",
    "--exclude", "--exclude-dir", "--max-count", "--context", "--after-context", "--before-context", "--iglob",
    "--file", "--max-depth",
})  # fmt: skip
_PATTERN_OPTIONS = ("-e", "--regexp")
# What stands around a name where its definition, a call or the whole word is searched.
_BEFORE = re.compile(
    r"(?:\^|\\b|\\<)?(?:\\s[*+]|\s)?(?:(?:async|def|class|func|function|fn|struct|interface|trait|impl|enum|type|const|"
    r"let|var|module|pub|static|export)(?:\\s[*+]|\\s|\s)){0,3}(?:\\b|\\<)?"
)
_AFTER = re.compile(r"(?:\\b|\\>)?(?:\\s\*)?(?:\\\(|\(|\[\(\])?\$?")
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\\\.|\.|::)[A-Za-z_]\w*)*")
_TELLS_A_SYMBOL = re.compile(r"_|::|\.[A-Z]|[a-z\d][A-Z]")
_HINT = (
    'codesum knows symbols: mcp__codesum__graph {{"id": "{name}"}} lists who calls or uses {name}, '
    'mcp__codesum__read {{"ids": ["{name}"]}} shows it; grep finds equal text.'
)


def symbol_of(pattern: str) -> str | None:
    """The name that a pattern searches, if it is surely one of a symbol: with a keyword before it, a parenthesis behind
    it, or a form that words of prose do not have."""
    before = _BEFORE.match(pattern)
    begin = before.end() if before else 0
    name = _NAME.match(pattern, begin)
    if name is None or len(name[0]) > _LONGEST_NAME:
        return None
    after = _AFTER.fullmatch(pattern, name.end())
    if after is None:
        return None
    is_defined = any(letter.isalpha() for letter in pattern[:begin].replace("\\b", "").replace("\\s", ""))
    if is_defined or "(" in after[0] or _TELLS_A_SYMBOL.search(name[0]):
        return name[0].replace("\\.", ".")
    return None


def patterns_of(tool: str, arguments: dict[str, Any]) -> Iterator[str]:
    """What a call searches in files: of a pipe only its beginning, since what follows searches another's output."""
    if tool == "Grep":
        yield str(arguments.get("pattern", ""))
    if tool != "Bash" or len(command := str(arguments.get("command", ""))) > _LONGEST_COMMAND:
        return
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    part: list[str] = []
    is_piped = False
    for word in [*words, ";"]:
        if word and set(word) <= set("|&;()<>"):
            if not is_piped:
                yield from _pattern_of_command(part)
            part, is_piped = [], word == "|"
        else:
            part.append(word)


def _pattern_of_command(words: list[str]) -> Iterator[str]:
    if words[:2] == ["git", "grep"]:
        words = words[1:]
    if not words or words[0].rpartition("/")[2] not in _SEARCHES:
        return
    rest = iter(words[1:])
    for word in rest:
        if word in _PATTERN_OPTIONS:
            yield next(rest, "")
            return
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            yield word
            return


def main() -> None:
    """Print the hint for the call on stdin, if there is one."""
    call = json.loads(sys.stdin.read(_MOST_CHARACTERS))
    names = [symbol_of(each) for each in patterns_of(call["tool_name"], call["tool_input"])]
    if found := next(filter(None, names), None):
        output = {"hookEventName": "PreToolUse", "additionalContext": _HINT.format(name=found)}
        sys.stdout.write(json.dumps({"hookSpecificOutput": output}))


if __name__ == "__main__":
    try:
        main()
    except Exception:
        sys.exit(0)
