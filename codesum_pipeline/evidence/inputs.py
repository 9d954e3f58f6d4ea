"""The input of a writer, one class for each kind of document.

A text is a pure function of its input. The id is shown too, but it is the key of the row that a text is kept under, so
`metadata_of` leaves it out.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.symbol import Reexport, SymbolFacts


class Holder(Struct, frozen=True):
    """What holds a definition: the nearest class or file whose author says what it is for.

    `words` are the first paragraph of its documentation, as `symbols` and `file_facts` have it.
    """

    id: str
    name: str
    language: str
    words: str


class FunctionInput(Struct, frozen=True):
    """A function or method: those columns of `symbols` that its text is made from.

    A `Symbol` also says where the definition is, and a text must not change when it moves. All but the id and the
    opening comment is a function of the canonical source and the qualified name, unless the definition has syntax
    errors.
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
    opening_comment: str | None = None
    is_unnamed: bool = False


class ChildText(Struct, frozen=True):
    """A document one level down, by its name relative to the parent, and what was written about it.

    `summary` and `keywords` are empty until they are read: the hash alone decides whether the parent is written again.
    """

    id: str
    name: str
    level: Level
    text_hash: str
    is_placeholder: bool
    summary: str = ""
    keywords: tuple[str, ...] = ()


class ClassInput(Struct, frozen=True):
    """A class: what its head says, and its methods' and nested classes' texts.

    `own_source` is its canonical source without its methods' bodies (`own_sources`). A model is not shown it.
    """

    id: str
    qualified_name: str
    name: str
    language: str
    signature: str
    docstring: str | None
    bases: tuple[str, ...]
    modifiers: tuple[str, ...]
    fields: tuple[str, ...]
    children: tuple[ChildText, ...] = ()
    holder: Holder | None = None
    own_source: str = ""


class FileInput(Struct, frozen=True):
    """A parsed source file: its head, and its top-level symbols' texts."""

    id: str
    name: str
    language: str
    docstring: str | None
    imports: tuple[str, ...]
    globals: tuple[str, ...]
    exports: tuple[str, ...] | None
    children: tuple[ChildText, ...] = ()
    reexports: tuple[Reexport, ...] = ()
    literals: tuple[str, ...] = ()


class TextFileInput(Struct, frozen=True):
    """A file that no parser reads: prose, configuration, or a language without one."""

    id: str
    name: str
    language: str
    text: str


class ModuleInput(Struct, frozen=True):
    """A folder: its README and the texts of its files and sub-folders.

    `name` is the folder's own name; for the root module the repository key.
    `readme_name` is the README's, whose ending says what it is written in.
    """

    id: str
    name: str
    readme: str | None
    children: tuple[ChildText, ...] = ()
    readme_name: str | None = None


UpperInput = ClassInput | FileInput | TextFileInput | ModuleInput
AnyInput = FunctionInput | UpperInput


# What `metadata_of` leaves out; re-exports and holders are shown as words.
_NOT_SHOWN = ("id", "children", "reexports", "readme_name", "holder")


def metadata_of(document: UpperInput) -> dict[str, Any]:
    """Everything shown besides the id and the children, as JSON-able values."""
    handed_on = [
        f"{one.original or 'all'} of {one.source} as {one.name}"
        for one in (document.reexports if isinstance(document, FileInput) else ())
    ]
    names = (name for name in document.__struct_fields__ if name not in _NOT_SHOWN)
    found = ({"reexports": handed_on} if handed_on else {}) | {name: getattr(document, name) for name in names}
    holder = document.holder if isinstance(document, ClassInput) else None
    return found | ({"holder": [holder.name, holder.words]} if holder else {})


def children_of(document: AnyInput) -> Sequence[ChildText]:
    """The children that a writer is shown."""
    return () if isinstance(document, FunctionInput | TextFileInput) else document.children
