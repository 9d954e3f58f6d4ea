"""What a model is shown of a function's surroundings, and when that has become another context.

A context is updated with every change of the graph; a text is written again
for it only past two thresholds, or on any change under `GraphPolicy.STRICT`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.model.documents import ContextNeighbour, TextContext
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.settings.stages import ContextSettings, GraphPolicy
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.surroundings import FunctionSurroundings, names_shown
from codesum_pipeline.summaries.neighbours import said_name

NO_NEIGHBOURS = TextContext((), (), (), ())


class ShownContext(Struct, frozen=True):
    """What a model is shown: the callers' qualified names, sorted and without repetition, and a line each about what
    holds the function and about its callees. What moves between files is shown the same.

    `code` is the part of the lines whose names are other code's; `masked` counts the secrets taken out, by kind.
    """

    called_by: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    callees: tuple[str, ...] = ()
    code: str = ""
    masked: Mapping[str, int] = field(default_factory=dict)


class Contexts:
    """The neighbourhoods of functions in the present graph, read at the first use."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._surroundings = FunctionSurroundings(workspace)
        self._found: dict[str, TextContext] | None = None

    def of(self, id_: str) -> TextContext:
        """The neighbourhood of a function with its class and file; no neighbours where the graph knows none."""
        found = self._graph(id_)
        holders, callees = self._surroundings.of(id_, [one.id for one in found.calls])
        return replace(found, around=tuple(piece.neighbour for piece in (*holders, *callees)))

    def shown(self, id_: str) -> ShownContext:
        """The neighbourhood of a function as a model is shown it."""
        found = self._graph(id_)
        holders, callees = self._surroundings.of(id_, [one.id for one in found.calls])
        pieces = (*holders, *callees)
        called_by, masked = names_shown(names_of_neighbours(found.called_by))
        return ShownContext(
            called_by=called_by,
            holders=tuple(piece.line for piece in holders),
            callees=tuple(piece.line for piece in callees),
            code="\n".join(piece.code for piece in pieces),
            masked=sum((Counter(piece.masked) for piece in pieces), Counter(masked)),
        )

    def _graph(self, id_: str) -> TextContext:
        if self._found is None:
            self._found = _read(self._workspace)
        return self._found.get(id_, NO_NEIGHBOURS)


def changed_by(then: TextContext, now: TextContext, settings: ContextSettings) -> tuple[str, ...]:
    """The ids that changed a context, sorted; none where it counts as the same."""
    if settings.graph_policy is GraphPolicy.STRICT:
        if hash_of_shown(then) == hash_of_shown(now):
            return ()
        known = {one.content_hash for one in then.around or ()}
        told = {one.id for one in now.around or () if one.content_hash not in known}
        return tuple(sorted(told | (_ids(then) ^ _ids(now)))) or tuple(sorted(_ids(now)))
    if _similarity(then, now) > settings.context_similarity_threshold:
        return ()
    new_callers = set(now.callers) - set(then.callers)
    new_across = set(now.cross_module) - set(then.cross_module)
    if not new_across and len(new_callers) <= settings.max_new_callers:
        return ()
    return tuple(sorted(new_across | new_callers))


def hash_of_shown(found: TextContext) -> str:
    """A hash of all that a model is shown of it."""
    around = None if found.around is None else sorted(one.content_hash for one in found.around)
    return hash_of([names_of_neighbours(found.called_by), names_of_neighbours(found.calls), around])


def names_of_neighbours(neighbours: Sequence[ContextNeighbour]) -> tuple[str, ...]:
    """Their qualified names, sorted and without repetition."""
    return tuple(sorted({said_name(one.id) for one in neighbours}))


def _similarity(then: TextContext, now: TextContext) -> float:
    """The Jaccard index of two contexts; a neighbour that only moved (same content) is the same."""
    common = 0
    total = 0
    for old, new in ((then.called_by, now.called_by), (then.calls, now.calls)):
        ids = {one.id for one in old} & {one.id for one in new}
        moved = {one.content_hash for one in old if one.id not in ids} & {
            one.content_hash for one in new if one.id not in ids
        }
        same = len(ids) + len(moved)
        common += same
        total += len(old) + len(new) - same
    return common / total if total else 1.0


def _read(workspace: Workspace) -> dict[str, TextContext]:
    key, tables = workspace.key, workspace.tables
    symbols = tables.read("symbols", key, columns=["id", "content_hash"])
    hashes = dict(zip(*(symbols.column(name).to_pylist() for name in ("id", "content_hash")), strict=True))
    contexts = tables.read("contexts", key, columns=["id", "called_by", "calls"])
    callers, across = _neighbours(tables.read("edges", key, columns=list(_EDGE_COLUMNS)))
    return {
        id_: TextContext(
            _known(called_by, hashes), _known(calls, hashes), tuple(sorted(callers[id_])), tuple(sorted(across[id_]))
        )
        for id_, called_by, calls in zip(
            *(contexts.column(name).to_pylist() for name in contexts.column_names), strict=True
        )
        if id_ in hashes
    }


_EDGE_COLUMNS = ("src_id", "dst", "is_external", "kind", "is_cross_module")


def _neighbours(edges: pa.Table) -> tuple[defaultdict[str, set[str]], defaultdict[str, set[str]]]:
    """The callers of each symbol, and of each its neighbours by calls across modules."""
    calls = edges.filter(pc.and_not(pc.equal(edges.column("kind"), EdgeKind.CALL.value), edges.column("is_external")))
    callers: defaultdict[str, set[str]] = defaultdict(set)
    across: defaultdict[str, set[str]] = defaultdict(set)
    names = ("src_id", "dst", "is_cross_module")
    for src, dst, is_across in zip(*(calls.column(name).to_pylist() for name in names), strict=True):
        callers[dst].add(src)
        if is_across:
            across[src].add(dst)
            across[dst].add(src)
    return callers, across


def _known(ids: Iterable[str], hashes: dict[str, str]) -> tuple[ContextNeighbour, ...]:
    """Symbols among the neighbours: a file that calls at its top level has no name but its path."""
    return tuple(ContextNeighbour(id_, hashes[id_]) for id_ in sorted(set(ids)) if id_ in hashes)


def _ids(found: TextContext) -> set[str]:
    return {one.id for one in (*found.called_by, *found.calls)}
