"""What is seen in a source without a grammar: lines that look like definitions, and what a preprocessor chooses.

Such lines are a second opinion about a file: what one names and no symbol has may be lost. Patterns see one line, so
they also match in comments and strings; who counts must leave those out.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import count

from msgspec import Struct

_NAME = re.compile(re.escape("(?P<name>"))
# What patterns say of letters: a set that has some, or one alone. Escaped marks are passed over.
_LETTERS = re.compile(
    r"\\[^w]|(?P<set>\[(?!\^)(?=(?:\\.|[^\]\\])*?(?:a-z|A-Z|\\w))(?:\\.|[^\]\\])*+\])|(?P<word>\\w)|\["
)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif|define|undef|include)\b[^\n]*", re.M)


class DefinitionLine(Struct, frozen=True):
    """A line that looks like a definition: the name that it defines, and where that begins, in characters."""

    name: str
    start: int


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Those of one language: to compile all takes as long as a few files."""
    numbers = count()
    joined = _LETTERS.sub(_with_all_letters, "|".join(f"(?:{pattern})" for pattern in patterns))
    return re.compile(f"^(?:{_NAME.sub(lambda _: f'(?P<name{next(numbers)}>', joined)})", re.MULTILINE)


def _with_all_letters(match: re.Match[str]) -> str:
    """A set of letters with the bytes of those of other scripts, of which only some count as letters by themselves."""
    letters = match["set"][1:-1] if match["set"] else match["word"]
    return rf"[\x80-\xff{letters}]" if letters else match[0]


def definition_lines(text: str, patterns: tuple[str, ...], words: Collection[str] = ()) -> Iterator[DefinitionLine]:
    """Those of a text, in order, by patterns in which each group `name` is a name; none without patterns. With words,
    only lines that have one of them are looked at."""
    if not patterns:
        return
    pattern, position = _compiled(patterns), 0
    begun = (pattern.match(text, start) for start in _lines_with(text, words)) if words else pattern.finditer(text)
    for match in begun:
        if match is None or match.start() < position:
            continue
        position = match.end()
        if group := match.lastgroup:
            name = match[group].encode("latin-1").decode("utf-8", "replace")
            yield DefinitionLine(name.strip("`"), match.start(group))


def _lines_with(text: str, words: Collection[str]) -> list[int]:
    """Where the lines begin that have a word. To find words takes a tenth of the time that patterns take."""
    starts = set()
    for word in words:
        found = text.find(word)
        while found >= 0:
            starts.add(text.rfind("\n", 0, found) + 1)
            found = text.find(word, found + len(word))
    return sorted(starts)


def later_branches(source: bytes) -> Iterator[tuple[int, int]]:
    """The directives, and of each condition all branches but the first, for a grammar that knows them only in some
    places."""
    # For each open `#if`: where its second branch began.
    began: list[int | None] = []
    for match in _DIRECTIVE.finditer(source):
        word = match["word"]
        if word.startswith(b"if"):
            began.append(None)
        elif word in (b"elif", b"else") and began and began[-1] is None:
            began[-1] = match.start()
        elif word == b"endif" and began:
            start = began.pop()
            yield (match.start() if start is None else start), match.end()
            continue
        yield match.span()


def directive_lines(source: bytes) -> Iterator[tuple[tuple[int, int], ...]]:
    """All directives as one group, for a grammar that reads no branch but the first."""
    found = tuple(match.span() for match in _DIRECTIVE.finditer(source))
    if b"#else" in source or b"#elif" in source:
        yield found
