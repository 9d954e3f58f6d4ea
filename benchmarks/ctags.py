"""What Universal Ctags finds in files, and which of it has no symbol.

A tag has a symbol where that is in the same file, has the same name, is a class
or is none like the tag, and stands from two lines before the tag to two after
it. A symbol answers for one tag, the nearest first; one at the very line of a
tag answers for it even if it is called otherwise, as what a macro like
`TEST(Suite, Case)` makes. Wants the program `ctags` (`apt-get install
universal-ctags`). It is no authority: it reads no grammar, so look at the
missed ones before believing.
"""

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType

# What ctags calls a language, where that is not its name here with a capital.
CTAGS_NAMES = {
    "bash": "Sh",
    "c-sharp": "C#",
    "cpp": "C++",
    "javascript": "JavaScript",
    "php": "PHP",
    "tsx": "TypeScript",
    "typescript": "TypeScript",
}
# Languages whose functions are written as clauses: each is a tag, and all are one symbol.
CLAUSAL = frozenset({"elixir", "haskell"})
FUNCTION_KINDS = frozenset({
    "function", "func", "method", "singletonMethod", "methodSpec", "constructor", "getter", "setter", "generator",
    "macro", "operator", "delegate", "guard", "callback",
})  # fmt: skip
CLASS_KINDS = frozenset({
    "class", "struct", "interface", "enum", "union", "trait", "object", "module", "protocol", "record", "annotation",
})  # fmt: skip
# Kinds that are no symbols here: scopes, and the constructors of a data type.
NO_SYMBOLS: Mapping[str, set[str]] = {"rust": {"module"}, "haskell": {"module", "constructor"}}
# What the line of a tag must hold, where ctags takes variables, calls and objects for functions and classes, too.
WORDS: Mapping[str, re.Pattern[str]] = {
    "bash": re.compile(r"\bfunction\b|[^=]\([ \t]*\)[ \t]*(?:[{(]|$)"),
    "haskell": re.compile(r"^\S.*::|^(?:data|newtype|class)\b"),
    "javascript": re.compile(r"\bfunction\b|\bclass\b|=>|\)[ \t]*\{"),
    "kotlin": re.compile(r"\b(?:fun|class|interface|object)\b"),
    "lua": re.compile(r"\bfunction[ \t]+[\w.:]+|=[ \t]*function\b"),
}
# What ctags calls what has no name.
ANONYMOUS = re.compile(r"__anon|Anonymous(?:Function|Class)[0-9a-f]{8}")
MARGIN = 2


@dataclass(frozen=True, slots=True)
class Tag:
    """A definition that ctags found."""

    path: str
    line: int
    name: str
    kind: str


@cache
def known_languages() -> frozenset[str]:
    """The languages of which ctags reads files, by its own names."""
    answer = subprocess.run(["ctags", "--list-languages"], capture_output=True, text=True, check=True).stdout
    return frozenset(line.removesuffix(" [disabled]") for line in answer.splitlines())


def find_tags(folder: Path, paths: Iterable[str], language: str) -> Iterator[Tag]:
    """The functions and classes that ctags finds in these files, each read as this language; none if it reads none."""
    name = CTAGS_NAMES.get(language, language.capitalize())
    if name not in known_languages():
        return
    command = ["ctags", "--output-format=json", "--fields=+nKZeS", f"--language-force={name}", "-L", "-", "-f", "-"]
    answer = subprocess.run(
        command, cwd=folder, input="\n".join(paths), capture_output=True, text=True, errors="replace", check=True
    )
    for row in answer.stdout.splitlines():
        tag = json.loads(row)
        is_constant = tag.get("kind") == "macro" and "signature" not in tag
        is_wanted = tag["_type"] == "tag" and tag["kind"] in (FUNCTION_KINDS | CLASS_KINDS) - NO_SYMBOLS.get(
            language, set()
        )
        if is_wanted and not ANONYMOUS.match(tag["name"]) and not is_constant:
            # Of Lua, ctags gives `module.name` and `class:name` as one name.
            short = re.split(r"[.:]", tag["name"])[-1] if language == "lua" else tag["name"]
            yield Tag(tag["path"], tag["line"], short, tag["kind"])


def missed_tags(tags: Iterable[Tag], symbols: Mapping[str, Sequence[Symbol]], *, has_clauses: bool) -> list[Tag]:
    """The tags without a symbol."""
    waiting: dict[tuple[str, bool, str], list[Symbol]] = defaultdict(list)
    for path, found in symbols.items():
        for symbol in found:
            waiting[path, symbol.type is SymbolType.CLASS, _plain_name(symbol.name)].append(symbol)
    missed = []
    for tag in tags:
        candidates = waiting[tag.path, tag.kind in CLASS_KINDS, _plain_name(tag.name)]
        near = [s for s in candidates if s.start_line - MARGIN <= tag.line <= s.end_line + MARGIN]
        if near and not has_clauses:
            candidates.remove(min(near, key=lambda symbol: abs(symbol.start_line - tag.line)))
        elif not near:
            missed.append(tag)
    begins = {(path, is_class, symbol.start_line) for (path, is_class, _), rest in waiting.items() for symbol in rest}
    return [tag for tag in missed if (tag.path, tag.kind in CLASS_KINDS, tag.line) not in begins]


def _plain_name(name: str) -> str:
    return "".join(name.split())
