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
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Context, Edge, EdgeKind
from codesum_pipeline.foundation.data_model.hashing import graph_hash
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, module_path_of, parent_modules
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.graph.resolvers.file_edges import folder_of
from codesum_pipeline.symbols.parsing.testing import is_among_tests


class SymbolPlace(Struct, frozen=True):
    """A symbol's id, its kind, what contains it, and whether it is a function without a name of its own."""

    id: str
    type: SymbolType
    parent_id: str | None
    is_unnamed: bool = False


class ContextSubjects(Struct, frozen=True):
    """The documents that get a context: symbols, indexed files, and every folder from theirs up to `root`."""

    symbols: Sequence[SymbolPlace]
    files: Collection[str]
    tests: Collection[str]
    root: str

    def modules(self) -> list[str]:
        """The folders that are modules, sorted."""
        return sorted({folder for path in self.files for folder in parent_modules(path, root=self.root)})


class _Uses(Struct):
    """Which documents use one document and which it uses, each with a count; and what it depends on."""

    users: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    dependencies: set[str] = field(default_factory=set)


def find_contexts(documents: ContextSubjects, edges: Sequence[Edge], settings: ContextSettings) -> list[Context]:
    """The context of every document, sorted by id."""
    uses: defaultdict[str, _Uses] = defaultdict(_Uses)
    _gather_calls(uses, documents.symbols, _of_holders(uses, documents.symbols, edges))
    _gather_imports(uses, edges)
    ids = sorted({*(symbol.id for symbol in documents.symbols), *documents.files, *documents.modules()})
    sampler = _Sampler(documents)
    contexts = []
    for document_id in ids:
        found = uses.get(document_id) or _Uses()
        called_by = sampler.sample(document_id, found.users, settings.top_k_callers)
        calls = sampler.sample(document_id, found.used, settings.top_k_callees)
        dependencies = tuple(sorted(found.dependencies))
        contexts.append(Context(document_id, called_by, calls, graph_hash(called_by, calls), dependencies))
    return contexts


def _of_holders(uses: defaultdict[str, _Uses], symbols: Sequence[SymbolPlace], edges: Sequence[Edge]) -> Sequence[Edge]:
    """The edges as if what functions without a name use were used by the documents that hold them: neighbours have
    names. Such a function's own neighbours are those that it uses."""
    places = {symbol.id: symbol for symbol in symbols if symbol.is_unnamed}
    if not places:
        return edges
    found = []
    for edge in edges:
        holder = places.get(edge.src_id)
        if holder is not None:
            uses[edge.src_id].dependencies.add(edge.dst)
            if not edge.is_external:
                _count(uses[edge.src_id].used, edge.dst, edge.count, besides=edge.src_id)
            edge = replace(edge, src_id=holder.parent_id or holder.id.partition(SEPARATOR)[0])
        found.append(edge)
    return found


class _Sampler:
    def __init__(self, documents: ContextSubjects) -> None:
        others = {module_path_of(path) for path in documents.files if path not in documents.tests}
        test_modules = {module for module in documents.modules() if module not in others}
        self._modules = frozenset(documents.modules())
        self._tests = frozenset({*documents.tests, *test_modules})

    def sample(self, document_id: str, neighbours: Mapping[str, int], limit: int) -> tuple[str, ...]:
        """At most `limit` neighbours, sorted by id."""
        if len(neighbours) <= limit:
            return tuple(sorted(neighbours))
        module = self._module_of(document_id)

        def rank(neighbour: str) -> tuple[bool, bool, int, str]:
            is_test = is_among_tests(self._tests, neighbour)
            return self._module_of(neighbour) != module, is_test, -neighbours[neighbour], neighbour

        return tuple(sorted(sorted(neighbours, key=rank)[:limit]))

    def _module_of(self, document_id: str) -> str:
        return document_id if document_id in self._modules else folder_of(document_id)


def _gather_calls(uses: defaultdict[str, _Uses], symbols: Sequence[SymbolPlace], edges: Iterable[Edge]) -> None:
    classes = _enclosing_classes(symbols)
    functions = {symbol.id for symbol in symbols if symbol.type is SymbolType.FUNCTION}
    for edge in edges:
        if edge.kind is EdgeKind.IMPORT:
            continue
        if edge.kind is EdgeKind.INHERIT or edge.src_id in functions:
            uses[edge.src_id].dependencies.update({edge.dst} - {edge.src_id})
        # A method that overrides another one does not call it.
        if edge.is_external or (edge.kind is EdgeKind.INHERIT and edge.src_id in functions):
            continue
        users, used = classes.get(edge.src_id, ()), classes.get(edge.dst, ())
        for document_id in (*({edge.src_id} & functions), *(c for c in users if c not in used)):
            _count(uses[document_id].used, edge.dst, edge.count, besides=edge.src_id)
        for document_id in (*({edge.dst} & functions), *(c for c in used if c not in users)):
            _count(uses[document_id].users, edge.src_id, edge.count, besides=edge.dst)


def _count(counts: dict[str, int], neighbour: str, count: int, *, besides: str) -> None:
    if neighbour != besides:
        counts[neighbour] = counts.get(neighbour, 0) + count


def _enclosing_classes(symbols: Sequence[SymbolPlace]) -> dict[str, tuple[str, ...]]:
    """For each symbol, the classes around it, and the symbol itself if it is a class."""
    by_id = {symbol.id: symbol for symbol in symbols}
    found: dict[str, tuple[str, ...]] = {}
    for symbol in symbols:
        classes = []
        current: SymbolPlace | None = symbol
        while current is not None:
            if current.type is SymbolType.CLASS:
                classes.append(current.id)
            current = by_id.get(current.parent_id) if current.parent_id is not None else None
        found[symbol.id] = tuple(classes)
    return found


def _gather_imports(uses: defaultdict[str, _Uses], edges: Iterable[Edge]) -> None:
    for edge in edges:
        if edge.kind is not EdgeKind.IMPORT:
            continue
        importer, imported = module_path_of(edge.src_id), module_path_of(edge.dst)
        uses[edge.src_id].dependencies.add(edge.dst)
        if edge.is_external:
            uses[importer].dependencies.add(edge.dst)
            continue
        uses[edge.src_id].used[edge.dst] = edge.count
        uses[edge.dst].users[edge.src_id] = edge.count
        if importer != imported:
            uses[importer].dependencies.add(imported)
            _count(uses[importer].used, imported, edge.count, besides=importer)
            _count(uses[imported].users, importer, edge.count, besides=imported)
