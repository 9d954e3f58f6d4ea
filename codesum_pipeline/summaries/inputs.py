"""What a writer is shown, one shape per kind of document.

A text is a pure function of its input. The id is shown too, but it is the key
of the row that a text is kept under, so `metadata` leaves it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from codesum_pipeline.model.documents import Level, WrittenText
from codesum_pipeline.model.symbols import Reexport, Symbol, SymbolFacts


@dataclass(frozen=True, slots=True)
class FunctionInput:
    """A function or method: its canonical source and what was read off it.

    All but the id is a function of the canonical source and the qualified name,
    unless the definition has syntax errors.
    """

    id: str
    qualified_name: str
    name: str
    language: str
    canonical_source: str
    signature: str
    docstring: str | None
    modifiers: tuple[str, ...]
    complexity: int
    line_count: int
    facts: SymbolFacts
    has_syntax_errors: bool = False

    @classmethod
    def of(cls, symbol: Symbol) -> Self:
        return cls(
            id=symbol.id,
            qualified_name=symbol.qualified_name,
            name=symbol.name,
            language=symbol.language,
            canonical_source=symbol.canonical_source,
            signature=symbol.signature,
            docstring=symbol.docstring,
            modifiers=symbol.modifiers,
            complexity=symbol.complexity,
            line_count=symbol.line_count,
            facts=symbol.facts,
            has_syntax_errors=symbol.has_syntax_errors,
        )


@dataclass(frozen=True, slots=True)
class ChildText:
    """A document one level down, by its name relative to the parent, and what was written about it."""

    id: str
    name: str
    level: Level
    text: WrittenText
    is_placeholder: bool


@dataclass(frozen=True, slots=True)
class ChildHead:
    """A child before its text is read: what decides whether its parent is written again."""

    id: str
    name: str
    level: Level
    text_hash: str
    is_placeholder: bool


@dataclass(frozen=True, slots=True)
class ClassInput:
    """A class: what its head says, and its methods' and nested classes' texts."""

    id: str
    qualified_name: str
    name: str
    language: str
    signature: str
    docstring: str | None
    bases: tuple[str, ...]
    modifiers: tuple[str, ...]
    fields: tuple[str, ...]
    children: tuple[ChildText, ...]

    def metadata(self) -> dict[str, Any]:
        """Everything shown besides the id and the children, as JSON-able values."""
        return {
            "qualified_name": self.qualified_name,
            "name": self.name,
            "language": self.language,
            "signature": self.signature,
            "docstring": self.docstring,
            "bases": list(self.bases),
            "modifiers": list(self.modifiers),
            "fields": list(self.fields),
        }


@dataclass(frozen=True, slots=True)
class FileInput:
    """A parsed source file: its head, and its top-level symbols' texts."""

    id: str
    name: str
    language: str
    docstring: str | None
    imports: tuple[str, ...]
    globals: tuple[str, ...]
    exports: tuple[str, ...] | None
    children: tuple[ChildText, ...]
    reexports: tuple[Reexport, ...] = ()
    literals: tuple[str, ...] = ()

    def metadata(self) -> dict[str, Any]:
        """Everything shown besides the id and the children, as JSON-able values."""
        handed_on = [f"{one.original or 'all'} of {one.source} as {one.name}" for one in self.reexports]
        return ({"reexports": handed_on} if handed_on else {}) | {
            "name": self.name,
            "language": self.language,
            "docstring": self.docstring,
            "imports": list(self.imports),
            "globals": list(self.globals),
            "exports": None if self.exports is None else list(self.exports),
            "literals": list(self.literals),
        }


@dataclass(frozen=True, slots=True)
class TextFileInput:
    """A file that no parser reads: prose, configuration, or a language without one."""

    id: str
    name: str
    language: str
    text: str

    def metadata(self) -> dict[str, Any]:
        """Everything shown besides the id, as JSON-able values."""
        return {"name": self.name, "language": self.language, "text": self.text}


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """A folder: its README and the texts of its files and sub-folders.

    `name` is the folder's own name; for the root module the repository key.
    `readme_name` is the README's, whose ending says what it is written in.
    """

    id: str
    name: str
    readme: str | None
    children: tuple[ChildText, ...]
    readme_name: str | None = None

    def metadata(self) -> dict[str, Any]:
        """Everything shown besides the id and the children, as JSON-able values."""
        return {"name": self.name, "readme": self.readme}


def children_of(shown: FunctionInput | ClassInput | FileInput | TextFileInput | ModuleInput) -> Sequence[ChildText]:
    """The children that a writer is shown."""
    return () if isinstance(shown, FunctionInput | TextFileInput) else shown.children
