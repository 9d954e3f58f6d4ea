"""The files `*.syntax.toml`: what a parser must know of a language and can be written as names and patterns.

A key is a field of `LanguageSpec`, `Declaration` or `FrameworkRules`. A text is names with blanks between them, but for
those in `_READERS`. A file that `extends` others, which are beside it, adds its names, lists and tables to theirs.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codesum_pipeline.languages.declarations.spec import split_words
from codesum_pipeline.languages.declarations.token_spacing import TokenSpacing

# Of the tables of such a file, those that others are written with, or that a module reads itself.
_OTHER_TABLES = ("parts", "patterns", "words")


def _read_spacing(table: str) -> dict[str, TokenSpacing]:
    """How tokens are spaced: a name of `TokenSpacing`, then the tokens that are such."""
    found: dict[str, TokenSpacing] = {}
    spacing = TokenSpacing.START
    for word in table.split():
        if word in TokenSpacing.__members__:
            spacing = TokenSpacing[word]
        else:
            found[word] = spacing
    return found


def _read_spacing_in(table: str) -> dict[tuple[str, str], TokenSpacing]:
    """Token spacing in a node: a name of `TokenSpacing`, then pairs of node types (`a|b`) and a token in them."""
    found: dict[tuple[str, str], TokenSpacing] = {}
    spacing, parent = TokenSpacing.START, ""
    for word in table.split():
        if word in TokenSpacing.__members__:
            spacing = TokenSpacing[word]
        elif parent:
            found.update({(kind, word): spacing for kind in parent.split("|")})
            parent = ""
        else:
            parent = word
    return found


def _joined_lines(pattern: str) -> str:
    """A pattern that may take several lines, whose margins do not count."""
    return "".join(line.strip() for line in pattern.splitlines())


_READERS: Mapping[str, Callable[[str], Any]] = {
    "name": str,
    "tokens": _read_spacing,
    "tokens_in": _read_spacing_in,
    # A line's end is a token.
    "dropped": lambda names: frozenset(names.split(" ")),
    "signatures": lambda pattern: re.compile(_joined_lines(pattern)),
    "unused_behind": lambda pattern: re.compile(_joined_lines(pattern).encode()),
    "declared_before": lambda pattern: re.compile(_joined_lines(pattern).encode()),
    "foreign": lambda pattern: re.compile(_joined_lines(pattern).encode()),
    "tag": lambda pattern: re.compile(_joined_lines(pattern).encode(), re.MULTILINE),
}


def syntax_file(module: str) -> Path:
    """The file beside a module of a language."""
    return Path(module).with_suffix(".syntax.toml")


def read_tables(path: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The tables of these names in a file, with those that it extends, each as keywords.

    Raises `ValueError` for a table of another name.
    """
    tables = _read(path)
    if unknown := tables.keys() - {*names, *_OTHER_TABLES}:
        raise ValueError(f"{path}: there is no table [{min(unknown)}]; there are {', '.join((*names, *_OTHER_TABLES))}")
    parts = tables.get("parts", {})
    return {name: _keywords(tables.get(name, {}), parts) for name in names}


def patterns_beside(module: str) -> dict[str, re.Pattern[bytes]]:
    """The patterns of bytes in the file beside a module."""
    tables = _read(syntax_file(module))
    parts = tables.get("parts", {})
    return {name: re.compile(_whole(pattern, parts).encode()) for name, pattern in tables["patterns"].items()}


def words_beside(module: str) -> dict[str, frozenset[str]]:
    """The lists of words in the file beside a module."""
    return {name: split_words(words) for name, words in _read(syntax_file(module))["words"].items()}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    own = tomllib.loads(path.read_text(encoding="utf-8"))
    for name in reversed(own.get("spec", {}).pop("extends", "").split()):
        own = _joined(_read(path.with_name(f"{name}.syntax.toml")), own)
    return own


def _joined(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Names, lists and tables are added to those of the base; all else takes its place."""
    joined = {**base, **own}
    for name in base.keys() & own.keys():
        if isinstance(base[name], dict):
            joined[name] = _joined(base[name], own[name])
        elif isinstance(base[name], str) and _READERS.get(name, split_words) is not str:
            joined[name] = f"{base[name]} {own[name]}"
        elif isinstance(base[name], list):
            joined[name] = base[name] + own[name]
    return joined


def _keywords(table: Mapping[str, Any], parts: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name == "definition_lines":
            found[name] = tuple(_whole(line, parts) for line in value)
        elif isinstance(value, str):
            found[name] = _READERS.get(name, split_words)(value)
        else:
            found[name] = tuple(value) if isinstance(value, list) else value
    return found


def _whole(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern with each `(?&name)` replaced by the part of that name."""
    whole = _joined_lines(pattern)
    while found := re.search(r"\(\?&(\w+)\)", whole):
        whole = whole.replace(found[0], _joined_lines(parts[found[1]]))
    return whole
