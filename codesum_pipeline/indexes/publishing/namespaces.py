"""Namespaces: classes that hold nothing but further classes, and of which their author says nothing.

A Ruby module that a hundred files open, an Elixir wrapper, a Scala object or an empty Swift enum is part of the names
of what it holds, and no answer to a question. Where a language has a syntax for namespaces alone (C++, C#, PHP, Rust,
TypeScript), these are no symbols in the first place.
"""

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.evidence.author_texts.docstrings import read_documentation
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.symbol import SymbolFacts, SymbolType
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, languages_with
from codesum_pipeline.foundation.store.rows import column_names, from_table
from codesum_pipeline.foundation.store.tables import TableStore

_HEAD = ["id", "type", "parent_id"]
# Words before a class that others have as a base, and so is a type whatever it holds.
_BASE_WORDS = frozenset({"abstract", "open", "sealed"})


class NestingClass(Struct, frozen=True):
    """A class that holds further classes and no function."""

    id: str
    name: str
    language: str
    signature: str
    docstring: str | None
    modifiers: tuple[str, ...]
    bases: tuple[str, ...]
    parent_id: str | None

    @property
    def is_documented(self) -> bool:
        """Whether its author says something about it, and not only to a tool (`:nodoc:`)."""
        guard = FailureGuard()
        with guard.item(self.id):
            return bool(read_documentation(self.docstring, self.language, self.name).sentences)
        return True


def find_namespaces(tables: TableStore, key: str) -> frozenset[str]:
    """The ids of the namespaces of a repository."""
    return frozenset(each.id for each in nesting_classes(tables, key) if not each.is_documented)


def nesting_classes(tables: TableStore, key: str) -> list[NestingClass]:
    """The classes that would be namespaces if nobody had documented them, in id order: they have no function, field,
    base or parameter, do nothing, and nothing inside has them as its base."""
    symbols = tables.read_or_empty("symbols", key, columns=_HEAD)
    is_class = pc.equal(symbols.column("type"), SymbolType.CLASS.value)
    rows, classes = np.flatnonzero(is_class.to_numpy()), symbols.filter(is_class)
    holds_class, holds_function = (
        pc.is_in(classes.column("id"), value_set=pc.unique(pc.drop_null(parents)))
        for parents in (classes.column("parent_id"), symbols.column("parent_id").filter(pc.invert(is_class)))
    )
    is_holding = pc.and_(holds_class, pc.invert(holds_function))
    holding = classes.column("id").filter(is_holding).combine_chunks()
    is_inside = pc.is_in(classes.column("parent_id"), value_set=holding)
    places, inside = (rows[found.to_numpy()] for found in (is_holding, is_inside))
    if not len(places):
        return []
    types, extended = frozenset(languages_with(Trait.CLASSES_ARE_TYPES)), _extended_inside(tables, key, inside)
    found = from_table(tables.read_at("symbols", key, places, columns=column_names(NestingClass)), NestingClass)
    bare = {
        place: each
        for place, each in zip(places.tolist(), found, strict=True)
        if each.language not in types and each.id not in extended and _has_bare_head(each)
    }
    if not bare:
        return []
    facts = tables.read_at("symbols", key, np.array([*bare], dtype=np.int64), columns=["facts"])
    return [
        each
        for each, own in zip(bare.values(), from_table(facts, _OwnFacts), strict=True)
        if _is_empty(each, own.facts)
    ]


class _OwnFacts(Struct, frozen=True):
    facts: SymbolFacts


def _extended_inside(tables: TableStore, key: str, inside: npt.NDArray[np.int64]) -> set[str]:
    """The ids of classes that a class in them, one of some rows, has as its base: `sealed class Shape { class Circle :
    Shape }`."""
    inner = tables.read_at("symbols", key, inside, columns=["bases", "parent_id"])
    rows = zip(*(inner.column(name).to_pylist() for name in ("parent_id", "bases")), strict=True)
    return {parent for parent, bases in rows if parent and _own_name(parent) in map(_last_name, bases)}


def _own_name(id_: str) -> str:
    return without_suffix(id_).rpartition(SEPARATOR)[2]


def _last_name(base: str) -> str:
    """`a.B[C]` and `a::B<C>` are called `B`."""
    return base.partition("<")[0].partition("[")[0].partition("(")[0].replace("::", ".").rpartition(".")[2].strip()


def _has_bare_head(found: NestingClass) -> bool:
    return not found.bases and "(" not in found.signature and _BASE_WORDS.isdisjoint(found.modifiers)


def _is_empty(found: NestingClass, facts: SymbolFacts) -> bool:
    """Whether a class has nothing of its own, and no attribute before it, which may give it a meaning."""
    has_attribute = facts.signature_line > 1 and found.docstring is None
    return not (facts.fields or facts.calls or facts.writes or facts.raises or facts.attributes or has_attribute)
