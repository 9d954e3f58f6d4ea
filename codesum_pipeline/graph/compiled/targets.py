"""Where the symbols of compilers' indexes are defined."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from codesum_pipeline.model.graph import CompilerFile
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.scip.symbol_names import Suffix, is_local, parse_symbol

# What the language itself provides gives no edge.
_BUILTIN_PACKAGES = frozenset({"typescript"})
_BUILTIN_MODULES = frozenset({"builtins"})


class IndexedFacts(Struct, frozen=True):
    """What an index says about one file: see `parsing.compiled`."""

    path: str
    tool: str
    misnamed: tuple[str, ...]
    keys: list[str]
    content: Mapping[str, list[Any]]

    def id_of(self, local: str) -> str:
        """A document of the file; the file itself where there is no name."""
        return f"{self.path}{SEPARATOR}{local}" if local else self.path


class End(StrEnum):
    """What an index knows about a symbol that is used."""

    DOCUMENT = "document"
    SEVERAL = "several"
    NO_DOCUMENT = "no document"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class CompiledTarget(Struct, frozen=True):
    """What is meant at a place: documents, or the name of something outside the repository."""

    end: End
    ids: frozenset[str] = frozenset()
    outside: str | None = None

    @property
    def id(self) -> str | None:
        """The one document that is meant."""
        return next(iter(self.ids)) if self.end is End.DOCUMENT else None


def load_facts(rows: Iterable[CompilerFile]) -> Iterator[IndexedFacts]:
    """Of each file about which an index counts, what it says."""
    for row in rows:
        if row.counts:
            content = json.loads(row.facts)
            tool = row.tool.partition(" ")[0]
            yield IndexedFacts(row.file_path, tool, row.misnamed, content["keys"], content)


class Targets:
    """The definitions of all files about which an index counts."""

    def __init__(self, files: Iterable[IndexedFacts]) -> None:
        self._ids: defaultdict[str, set[str]] = defaultdict(set)
        self._local: dict[tuple[str, str], str] = {}
        self._packages: set[tuple[str, str]] = set()
        for file in files:
            for number, local in file.content["defined"]:
                self._add(file, file.keys[number], local)

    def _add(self, file: IndexedFacts, key: str, local: str | None) -> None:
        if is_local(key):
            if local is not None:
                self._local[file.path, key] = file.id_of(local)
            return
        self._packages.add(_package(key))
        self._ids[key].update(() if local is None else (file.id_of(local),))

    def is_defined(self, key: str) -> bool:
        """Whether a file of the repository defines it, and an index counts for that file."""
        return key in self._ids

    def find(self, file: IndexedFacts, keys: Iterable[str]) -> CompiledTarget:
        """What the symbols at one place mean together: those of several overloads are alternatives."""
        ids: set[str] = set()
        ends: set[End] = set()
        outside = None
        for key in keys:
            end, found = self._find(file, key)
            ids |= found
            ends.add(end)
            if end is End.OUTSIDE and outside is None:
                outside = outside_name(key)
        if ids:
            ids = _of_one_name(ids)
            return CompiledTarget(End.DOCUMENT if len(ids) == 1 else End.SEVERAL, frozenset(ids))
        if ends == {End.OUTSIDE}:
            return CompiledTarget(End.OUTSIDE, outside=outside)
        return CompiledTarget(End.NO_DOCUMENT if End.NO_DOCUMENT in ends else End.UNKNOWN)

    def _find(self, file: IndexedFacts, key: str) -> tuple[End, set[str]]:
        if is_local(key):
            id_ = self._local.get((file.path, key))
            return (End.UNKNOWN, set()) if id_ is None else (End.DOCUMENT, {id_})
        if key in self._ids:
            found = self._ids[key]
            return (End.DOCUMENT if found else End.NO_DOCUMENT), found
        # Some tools give what they cannot resolve the package that they are run in.
        return (End.UNKNOWN if _package(key) in self._packages else End.OUTSIDE), set()


def _of_one_name(ids: set[str]) -> set[str]:
    """Of the overloads of one name, the one that has the plain id: the implementation."""
    plain = {without_suffix(id_) for id_ in ids}
    return plain if len(plain) == 1 and plain <= ids else ids


@lru_cache(maxsize=1 << 14)
def _package(key: str) -> tuple[str, str]:
    name = parse_symbol(key)
    return name.package if name else ("", "")


@lru_cache(maxsize=1 << 14)
def outside_name(key: str) -> str | None:
    """A dotted name for what is defined outside the repository: its module or package, then its own names."""
    name = parse_symbol(key)
    if name is None:
        return None
    namespaces = [one.name for one in name.descriptors if one.suffix is Suffix.NAMESPACE]
    own = [
        one.name for one in name.descriptors if one.suffix in (Suffix.TYPE, Suffix.TERM, Suffix.METHOD, Suffix.MACRO)
    ]
    is_python = name.package[0] == "python"
    module = (namespaces[-1] if namespaces else "") if is_python else name.package[1]
    if module in _BUILTIN_MODULES or name.package[1] in _BUILTIN_PACKAGES:
        return None
    return ".".join(part for part in (module, *own) if part and part != ".") or None
