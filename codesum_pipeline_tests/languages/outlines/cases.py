"""What each language that is read by a table must show: one source that looks real, and two changes to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.languages.outlines.outline_table import outline_tables
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile


@dataclass(frozen=True, slots=True)
class OutlineCase:
    """A source file without syntax errors, and how people change it.

    `found` are all of its definitions by their ids without the path, each with `class` or `function` and its first and
    last line, without its documentation. `documented` says what documents some of them, `fields` and `calls` what some
    hold and call, `private` which nobody else may use, `constants` the names outside of all. `edit` changes text in one
    body, as (old, new), and `edited` are the ids whose content changes by that: it and what it stands in. `rename`
    changes one definition's name, as (old, new) of text; `renamed` are the ids that become others. `uses` are edges
    inside of the file, from one id to another.
    """

    language: str
    path: str
    source: str
    found: Mapping[str, tuple[str, int, int]]
    edit: tuple[str, str]
    edited: frozenset[str]
    rename: tuple[str, str]
    renamed: Mapping[str, str]
    documented: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    private: frozenset[str] = frozenset()
    constants: tuple[str, ...] = ()
    uses: frozenset[tuple[str, str]] = frozenset()


def parse_outline(case: OutlineCase, source: str | bytes) -> ParsedFile:
    """What is read from a text of a case's language."""
    data = source.encode() if isinstance(source, str) else source
    return parse_file(case.path, case.language, data, blob="", hash_policy=HashPolicy.CANONICAL)


def symbols_of(case: OutlineCase, source: str | bytes) -> dict[str, Symbol]:
    """The symbols of a text by their ids without path."""
    return {symbol.id.partition("::")[2]: symbol for symbol in parse_outline(case, source).symbols}


def all_outline_cases() -> dict[str, OutlineCase | None]:
    """The case of each language that has a table, None where there is none."""
    found: dict[str, OutlineCase | None] = {}
    for name in outline_tables():
        module = f"{__package__}.{name.replace('-', '_')}_case"
        found[name] = import_module(module).CASE if find_spec(module) else None
    return found
