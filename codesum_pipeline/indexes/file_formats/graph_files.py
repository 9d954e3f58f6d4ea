"""The parts of an index that come from the graph: callers, uses, and the names that files re-export."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind, EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.store.rows import from_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.graph.trust import OF_TRUST, is_trusted
from codesum_pipeline.indexes.file_formats.index_files import KINDS, Callers, ConstantUses, StringTable, Uses
from codesum_pipeline.indexes.file_formats.route_names import route_forms

# Files that represent the folder that they are in.
_ENTRY_STEMS = frozenset({"__init__", "index", "mod", "lib", "init", "main", "package"})
Numbers = npt.NDArray[np.int64]

# Folders that people leave out when they name what is in them.
_UNSAID = frozenset({"src", "lib", "source", "sources", "include", "packages", "crates"})
_CRATE_ROOTS = ("lib.rs", "main.rs")
_NAMELESS = frozenset({"default", "*"})


def read_aliases(tables: TableStore, key: str) -> list[tuple[str, str]]:
    """All re-exported and other names, each with the id of its document, sorted."""
    found = from_table(tables.read_or_empty("aliases", key), Alias)
    return sorted({(name, one.target) for one in found for name in alias_names(one, key)})


def alias_names(handed: Alias, repository: str) -> Iterator[str]:
    """What a person may call it: its name there, also after the last one or two parts of the module; the entry at the
    root has the name of the repository."""
    if handed.kind is not AliasKind.EXPORT:
        yield handed.name
        yield from route_forms(handed.name) if handed.kind is AliasKind.ROUTE else ()
        return
    if handed.name in _NAMELESS:
        return
    yield handed.name
    folder, _, file_name = handed.file_path.rpartition("/")
    stem = file_name.partition(".")[0]
    parts = [part for part in folder.split("/") if part and part.lower() not in _UNSAID]
    parts += [] if stem in _ENTRY_STEMS else [stem]
    parts = parts or [repository]
    if handed.file_path.endswith(".rs"):
        parts = [part.replace("-", "_") for part in parts]
    for count in (1, 2):
        if len(parts) >= count:
            yield ".".join([*parts[-count:], handed.name])
    if file_name in _CRATE_ROOTS:
        yield f"crate.{handed.name}"


# The columns of edges that callers and uses are made from.
OF_USES = ("src_id", "dst", "is_external", "kind", *OF_TRUST)


class NumberedEdges(Struct, frozen=True):
    """The edges in a repository whose users are among `count` documents. Column k of `columns` says of edge k the row
    of its user, that of what it uses or -1 where that is no document, how as a position in `KINDS`, and whether a
    compiler's index confirms it. `constants` are the ids of what is referred to and is no document, edge after edge."""

    count: int
    columns: Numbers
    constants: Sequence[str]


def _are_of_constants(columns: Numbers) -> npt.NDArray[np.bool_]:
    _, used, kinds, _ = columns
    found: npt.NDArray[np.bool_] = (used < 0) & (kinds == KINDS.index(EdgeKind.REFERENCE))
    return found


def number_edges(edges: Iterable[pa.Table], ids: pa.StringArray) -> NumberedEdges:
    """Edges, in parts that have `OF_USES`, between documents whose ids are in row order: strings become numbers
    once."""
    parts, constants = [np.zeros((4, 0), dtype=np.int64)], list[str]()
    kinds = pa.array(map(str, KINDS), pa.string())
    for some in edges:
        inside = some.filter(pc.invert(some.column("is_external")))
        ends = pa.chunked_array([*inside.column("src_id").chunks, *inside.column("dst").chunks], pa.string())
        rows = pc.fill_null(pc.index_in(ends, value_set=ids), -1).to_numpy().reshape(2, -1)
        how = [pc.index_in(inside.column("kind"), value_set=kinds), is_trusted(inside)]
        columns = np.array([*rows, *(column.to_numpy() for column in how)], dtype=np.int64)
        is_one = columns[0] >= 0
        constants += inside.column("dst").filter(pa.array(is_one & _are_of_constants(columns))).to_pylist()
        parts.append(columns[:, is_one])
    return NumberedEdges(len(ids), np.concatenate(parts, axis=1), constants)


def build_uses(edges: NumberedEdges) -> Uses:
    """Who uses each document."""
    users, used, how, are_trusted = edges.columns
    is_kept = (used >= 0) & (users != used)
    count = max(edges.count, 1)
    # A use as one number: what is used, by whom, and how; then one bit that says whether an index confirms it.
    numbers = ((used * count + users) * len(KINDS) + how) << 1 | are_trusted
    # With counts numpy sorts; without, it hashes, which takes twenty times as long.
    found, _ = np.unique(numbers[is_kept], return_counts=True)
    uses, _ = np.unique(found >> 1, return_counts=True)
    pairs, kinds = uses // len(KINDS), uses % len(KINDS)
    indptr = np.searchsorted(pairs, np.arange(edges.count + 1) * count).astype(np.int32)
    trusted = np.isin(uses, found[(found & 1).astype(np.bool_)] >> 1)
    return Uses((pairs % count).astype(np.int32), kinds.astype(np.uint8), indptr, trusted)


def build_callers(uses: Uses, symbols: int) -> Callers:
    """The callers among functions and classes, which are the first documents."""
    called = np.repeat(np.arange(len(uses)), np.diff(uses.indptr))
    is_call = (uses.kinds == KINDS.index(EdgeKind.CALL)) & (called < symbols) & (uses.users < symbols)
    indptr = np.searchsorted(called[is_call], np.arange(symbols + 1)).astype(np.int32)
    return Callers(uses.users[is_call], indptr)


def build_constant_uses(edges: NumberedEdges) -> ConstantUses:
    """The uses of what has an id and is no document."""
    users = edges.columns[0, _are_of_constants(edges.columns)]
    pairs = sorted({*zip(edges.constants, users.tolist(), strict=True)})
    constants = sorted({constant for constant, _ in pairs})
    table = StringTable.of(constants)
    places = {constant: place for place, constant in enumerate(constants)}
    of_each = np.array([places[constant] for constant, _ in pairs], dtype=np.int64)
    return ConstantUses(
        ids=table.content,
        offsets=table.offsets,
        users=np.array([user for _, user in pairs], dtype=np.int32),
        indptr=np.searchsorted(of_each, np.arange(len(constants) + 1)),
        names=np.array(sorted(places.values(), key=lambda place: own_name(constants[place])), dtype=np.int32),
    )
