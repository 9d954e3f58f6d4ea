"""Each document's neighbours: a sample of them for its writer and readers, and all its dependencies.

- A function's are those it calls and those that call it.
- A class's are those outside it that call it, its methods or nested classes, or derive from it; and what it
  and they call, and its bases.
- A file's are the files it imports, and that import it.
- A module's are other modules: those of the files that its own files, not its sub-folders', import, and that
  import them.

Sampled are first those of the same module, then those outside tests, then the
most used, then by id. Only documents are neighbours; dependencies also name
what lies outside the repository.

Every name, of a document or from outside, is a number, in the order of the names: documents and their neighbours are
columns of numbers until the table is made.
"""

from collections.abc import Collection, Sequence
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Context, EdgeKind
from codesum_pipeline.foundation.data_model.hashing import hash_of_neighbours
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, module_path_of, parent_modules
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.foundation.store.rows import schema_of
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.graph.importance import Mask, Numbers, are_among, numbers_in, sorted_names, sum_by_pair


class SymbolPlace(Struct, frozen=True):
    """A symbol's id, its kind, what contains it, and whether it is a function without a name of its own."""

    id: str
    type: SymbolType
    parent_id: str | None
    is_unnamed: bool = False


class ContextSubjects(Struct, frozen=True):
    """The documents that get a context: symbols, which are rows of `SymbolPlace`, indexed files, and every folder from
    theirs up to `root`."""

    symbols: pa.Table
    files: Collection[str]
    tests: Collection[str]
    root: str

    def modules(self) -> list[str]:
        """The folders that are modules, sorted."""
        one_of_each = {module_path_of(path): path for path in self.files}.values()
        return sorted({folder for path in one_of_each for folder in parent_modules(path, root=self.root)})


def find_contexts(documents: ContextSubjects, edges: pa.Table, settings: ContextSettings) -> pa.Table:
    """The context of every document, sorted by id: rows of `Context` from rows of `Edge`."""
    modules = documents.modules()
    names = _Names.of(documents, modules, edges)
    uses = _Uses(len(names.strings))
    between = _use_by_holders(uses, names, _NumberedEdges.of(edges, names.strings))
    _add_calls(uses, names, between.where(~between.is_import))
    _add_imports(uses, names.strings, between.where(between.is_import))
    sampler = _Sampler(documents, modules, names.strings)
    called_by = sampler.sample(uses.users, settings.top_k_callers)
    calls = sampler.sample(uses.used, settings.top_k_callees)
    hashes = _hash_pairs(*(pc.binary_join(lists, "|").dictionary_encode() for lists in (called_by, calls)))
    dependencies = sampler.lists_of(*uses.dependencies.summed()[:2])
    ids = names.strings.take(pa.array(sampler.documents))
    return pa.Table.from_arrays([ids, called_by, calls, hashes, dependencies], schema=schema_of(Context))


def _hash_pairs(called_by: pa.DictionaryArray, calls: pa.DictionaryArray) -> pa.Array:
    """The hash of the neighbours of each document; of many documents they are the same."""
    size = max(len(calls.dictionary), 1)
    pairs = called_by.indices.to_numpy().astype(np.int64) * size + calls.indices.to_numpy()
    distinct, places = np.unique(pairs, return_inverse=True)
    texts = zip(
        called_by.dictionary.take(pa.array(distinct // size)).to_pylist(),
        calls.dictionary.take(pa.array(distinct % size)).to_pylist(),
        strict=True,
    )
    return pa.array([hash_of_neighbours(*both) for both in texts], pa.string()).take(pa.array(places))


class _NumberedEdges(Struct, frozen=True):
    """Edges as columns: the numbers of the names at both ends, and what else decides."""

    sources: Numbers
    targets: Numbers
    counts: Numbers
    is_external: Mask
    is_import: Mask
    is_inherit: Mask

    @classmethod
    def of(cls, edges: pa.Table, strings: pa.StringArray) -> Self:
        return cls(
            sources=numbers_in(edges["src_id"], strings),
            targets=numbers_in(edges["dst"], strings),
            counts=edges["count"].to_numpy(),
            is_external=edges["is_external"].to_numpy(),
            is_import=pc.equal(edges["kind"], str(EdgeKind.IMPORT)).to_numpy(),
            is_inherit=pc.equal(edges["kind"], str(EdgeKind.INHERIT)).to_numpy(),
        )

    def where(self, mask: Mask) -> "_NumberedEdges":
        return _NumberedEdges(*(getattr(self, name)[mask] for name in self.__struct_fields__))


class _Names(Struct, frozen=True):
    """All names in order, and of each that is a symbol: its kind, the symbol around it, and the document that holds it
    if it has no name of its own; -1 for none."""

    strings: pa.StringArray
    is_function: Mask
    is_class: Mask
    around: Numbers
    holders: Numbers

    @classmethod
    def of(cls, documents: ContextSubjects, modules: Sequence[str], edges: pa.Table) -> Self:
        ids, parents = documents.symbols["id"], documents.symbols["parent_id"]
        unnamed = documents.symbols.filter(documents.symbols["is_unnamed"])
        pairs = zip(unnamed["id"].to_pylist(), unnamed["parent_id"].to_pylist(), strict=True)
        holders = pa.array([parent or id_.partition(SEPARATOR)[0] for id_, parent in pairs], pa.string())
        imports = edges.filter(pc.equal(edges["kind"], str(EdgeKind.IMPORT)))
        folders = {module_path_of(path) for name in ("src_id", "dst") for path in pc.unique(imports[name]).to_pylist()}
        others = pa.array([*documents.files, *modules, *folders], pa.string())
        strings = sorted_names(edges["src_id"], edges["dst"], ids, others, holders)
        numbers = numbers_in(ids, strings)
        found = cls(
            strings,
            is_function=np.zeros(len(strings), np.bool_),
            is_class=np.zeros(len(strings), np.bool_),
            around=np.full(len(strings), -1),
            holders=np.full(len(strings), -1),
        )
        for kind, flags in ((SymbolType.FUNCTION, found.is_function), (SymbolType.CLASS, found.is_class)):
            flags[numbers] = pc.equal(documents.symbols["type"], str(kind)).to_numpy()
        is_symbol = np.append(found.is_function | found.is_class, False)
        above = numbers_in(parents, strings)
        found.around[numbers] = np.where(is_symbol[above], above, -1)
        found.holders[numbers_in(unnamed["id"], strings)] = numbers_in(holders, strings)
        return found

    def classes_around(self, symbols: Numbers) -> tuple[Numbers, Numbers]:
        """The classes around each symbol, and the symbol itself if it is a class: its place and theirs, pair by
        pair."""
        places, found = np.arange(len(symbols)), [(symbols[:0], symbols[:0])]
        while len(places):
            is_class = self.is_class[symbols]
            found.append((places[is_class], symbols[is_class]))
            symbols = self.around[symbols]
            places, symbols = places[symbols >= 0], symbols[symbols >= 0]
        of_places, classes = zip(*found, strict=True)
        return np.concatenate(of_places), np.concatenate(classes)


class _Pairs(Struct):
    """Documents, each with another name and a count, in parts."""

    size: int
    parts: list[tuple[Numbers, Numbers, Numbers]] = field(default_factory=list)

    def add(self, documents: Numbers, others: Numbers, counts: Numbers | None = None) -> None:
        self.parts.append((documents, others, np.ones_like(documents) if counts is None else counts))

    def summed(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct pairs in order, each with the sum of its counts."""
        documents, others, counts = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return sum_by_pair(documents, others, counts, self.size)


class _Uses:
    """Which documents use one document and which it uses; and what it depends on."""

    def __init__(self, size: int) -> None:
        self.users, self.used, self.dependencies = _Pairs(size), _Pairs(size), _Pairs(size)


def _use_by_holders(uses: _Uses, names: _Names, edges: _NumberedEdges) -> _NumberedEdges:
    """The edges as if what functions without a name use were used by the documents that hold them: neighbours have
    names. Such a function's own neighbours are those that it uses."""
    holders = names.holders[edges.sources]
    held = edges.where(holders >= 0)
    uses.dependencies.add(held.sources, held.targets)
    inside = held.where(~held.is_external & (held.sources != held.targets))
    uses.used.add(inside.sources, inside.targets, inside.counts)
    return replace(edges, sources=np.where(holders >= 0, holders, edges.sources))


def _add_calls(uses: _Uses, names: _Names, edges: _NumberedEdges) -> None:
    edges = edges.where(edges.sources != edges.targets)
    by_function = names.is_function[edges.sources]
    depending = edges.where(by_function | edges.is_inherit)
    uses.dependencies.add(depending.sources, depending.targets)
    # A method that overrides another one does not call it.
    edges = edges.where(~edges.is_external & ~(edges.is_inherit & by_function))
    ends = ((edges.sources, edges.targets, uses.used), (edges.targets, edges.sources, uses.users))
    around = [names.classes_around(documents) for documents, _, _ in ends]
    keys = [places * len(names.strings) + classes for places, classes in around]
    for own, theirs, (places, classes), (documents, others, pairs) in zip(keys, keys[::-1], around, ends, strict=True):
        is_function = names.is_function[documents]
        pairs.add(documents[is_function], others[is_function], edges.counts[is_function])
        is_outside = ~are_among(own, theirs)
        at = places[is_outside]
        pairs.add(classes[is_outside], others[at], edges.counts[at])


def _add_imports(uses: _Uses, strings: pa.StringArray, edges: _NumberedEdges) -> None:
    importers, imported = (_folders(strings, ends) for ends in (edges.sources, edges.targets))
    uses.dependencies.add(edges.sources, edges.targets)
    uses.dependencies.add(importers[edges.is_external], edges.targets[edges.is_external])
    inside = edges.where(~edges.is_external)
    uses.used.add(inside.sources, inside.targets, inside.counts)
    uses.users.add(inside.targets, inside.sources, inside.counts)
    is_other = ~edges.is_external & (importers != imported)
    uses.dependencies.add(importers[is_other], imported[is_other])
    uses.used.add(importers[is_other], imported[is_other], edges.counts[is_other])
    uses.users.add(imported[is_other], importers[is_other], edges.counts[is_other])


def _folders(strings: pa.StringArray, files: Numbers) -> Numbers:
    """The number of each file's folder."""
    distinct, places = np.unique(files, return_inverse=True)
    folders = [module_path_of(path) for path in strings.take(pa.array(distinct)).to_pylist()]
    return numbers_in(pa.array(folders, pa.string()), strings)[places]


class _Sampler:
    """Makes a list for each document, in the order of the documents."""

    def __init__(self, documents: ContextSubjects, modules: Sequence[str], strings: pa.StringArray) -> None:
        others = {module_path_of(path) for path in documents.files if path not in documents.tests}
        self._modules = modules
        self._tests = pa.array({*documents.tests, *(one for one in modules if one not in others)}, pa.string())
        self._strings = strings
        every = pa.chunked_array([*documents.symbols["id"].chunks, pa.array([*documents.files, *modules], pa.string())])
        self._is_document = np.zeros(len(strings), np.bool_)
        self._is_document[numbers_in(every, strings)] = True
        self.documents = np.flatnonzero(self._is_document)

    def sample(self, pairs: _Pairs, limit: int) -> pa.ListArray:
        """At most `limit` neighbours of each document, sorted by id."""
        documents, neighbours, counts = pairs.summed()
        is_crowded = np.bincount(documents, minlength=len(self._strings))[documents] > limit
        crowded = np.flatnonzero(is_crowded)
        ones, others = documents[crowded], neighbours[crowded]
        own, theirs = np.split(self._modules_of(np.concatenate((ones, others))), 2)
        order = np.lexsort((others, -counts[crowded], self._are_tests(others), own != theirs, ones))
        # The numbers of each document's neighbours among its own, in that order.
        ranks = np.arange(len(order)) - np.searchsorted(ones, ones)
        is_kept = ~is_crowded
        is_kept[crowded[order[ranks < limit]]] = True
        return self.lists_of(documents[is_kept], neighbours[is_kept])

    def lists_of(self, documents: Numbers, others: Numbers) -> pa.ListArray:
        """For each document the other names of its pairs, which are in order."""
        is_one = self._is_document[documents]
        bounds = np.searchsorted(documents[is_one], self.documents)
        offsets = pa.array(np.append(bounds, is_one.sum()), pa.int32())
        return pa.ListArray.from_arrays(offsets, self._strings.take(pa.array(others[is_one])))

    def _modules_of(self, numbers: Numbers) -> Numbers:
        """A number for the module that each name is in, or is."""
        ids, places = self._distinct(numbers)
        paths = paths_of(ids).dictionary_encode()
        folders = pa.array([module_path_of(path) for path in paths.dictionary.to_pylist()], pa.string())
        modules = pa.chunked_array([pa.array(self._modules, pa.string()), folders]).unique()
        own = numbers_in(ids, pa.array(self._modules, pa.string()))
        return np.where(own >= 0, own, numbers_in(folders, modules)[paths.indices.to_numpy()])[places]

    def _are_tests(self, numbers: Numbers) -> Mask:
        ids, places = self._distinct(numbers)
        is_test: Mask = pc.or_(*(pc.is_in(of, value_set=self._tests) for of in (ids, paths_of(ids)))).to_numpy(False)
        return is_test[places]

    def _distinct(self, numbers: Numbers) -> tuple[pa.StringArray, Numbers]:
        is_one = np.zeros(len(self._strings), np.bool_)
        is_one[numbers] = True
        return self._strings.take(pa.array(np.flatnonzero(is_one))), (np.cumsum(is_one) - 1)[numbers]
