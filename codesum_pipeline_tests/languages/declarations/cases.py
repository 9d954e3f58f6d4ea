"""What each language must show: one source that looks real, and four changes to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline.symbols.parsing.text import ParsedFile


@dataclass(frozen=True, slots=True)
class LanguageCase:
    """A source file and how people change it.

    `reformatted` is the same program as the language's own formatter (or
    another person's habit) lays it out; `commented` has other comments, no
    doc comment among them. `edit` changes text in one body, as (old, new), and
    `edited` are the ids without path whose content changes by that: it and
    what it stands in. `rename` changes one definition's name, as (old, new) of
    text and of ids. `when` says under which condition each call of another
    source, `conditions`, is made; in `opening`, one comment opens each function.
    """

    language: str
    path: str
    source: str
    reformatted: str
    commented: str
    edit: tuple[str, str]
    edited: frozenset[str]
    rename: tuple[str, str]
    conditions: str
    when: Mapping[str, str]
    opening: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    is_braced: bool = True

    def edited_source(self) -> str:
        """The source after the body edit."""
        assert self.source.count(self.edit[0]) == 1
        return self.source.replace(*self.edit)

    def renamed_source(self) -> str:
        """The source after the rename."""
        assert self.rename[0] in self.source
        return self.source.replace(*self.rename)


def parse(language: str, source: str, path: str = "file") -> ParsedFile:
    """What the parser of a language reads from a text."""
    return PARSERS[language].parse(source.encode(), path, blob="", hash_policy=HashPolicy.CANONICAL)


def symbols_by_name(language: str, source: str) -> dict[str, Symbol]:
    """The symbols of a text by their ids without path."""
    return {symbol.id.removeprefix("file::"): symbol for symbol in parse(language, source).symbols}


def hashes(case: LanguageCase, source: str) -> dict[str, str]:
    """The content hash of each symbol, by its id without path."""
    return {name: symbol.content_hash for name, symbol in symbols_by_name(case.language, source).items()}


def all_cases() -> dict[str, LanguageCase | None]:
    """The case of every declared language, None where there is none."""
    found: dict[str, LanguageCase | None] = {}
    for name in sorted(declaration.spec.name for declaration in declarations()):
        module = f"codesum_pipeline_tests.languages.declarations.{name.replace('-', '_')}_case"
        found[name] = import_module(module).CASE if find_spec(module) else None
    return found
