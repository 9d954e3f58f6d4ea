"""The parts of an index that come from the graph: callers, uses, and the names that files re-export."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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


# The columns of edges that callers are made from.
OF_EDGES = ("src_id", "dst", "is_external", "kind")


def build_callers(edges: Iterable[pa.Table], ids: pa.StringArray) -> Callers:
    """The callers among functions and classes, whose ids are in row order; `edges` are parts that have `OF_EDGES`."""
    # A pair of rows is one number, that of who is called first.
    parts = [np.zeros(0, dtype=np.int64)]
    for some in edges:
        calls = some.filter(pc.equal(some.column("kind"), str(EdgeKind.CALL)))
        callers, called, kept, _ = _ends(calls, ids)
        parts.append((called * len(ids) + callers)[kept])
    pairs = np.unique(np.concatenate(parts))
    indptr = np.searchsorted(pairs, np.arange(len(ids) + 1) * len(ids)).astype(np.int32)
    return Callers((pairs % max(len(ids), 1)).astype(np.int32), indptr)


def _ends(edges: pa.Table, ids: pa.StringArray) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_], pa.Table]:
    """The rows of who uses and what is used by the internal edges, which edges are between two of `ids`, and these
    edges."""
    inside = edges.filter(pc.invert(edges.column("is_external")))
    users, used = (
        pc.fill_null(pc.index_in(inside.column(name), value_set=ids), -1).to_numpy().astype(np.int64)
        for name in ("src_id", "dst")
    )
    return users, used, (users >= 0) & (used >= 0) & (users != used), inside


# The columns of edges that uses are made from.
OF_USES = ("src_id", "dst", "is_external", "kind", *OF_TRUST)


def build_uses(edges: Iterable[pa.Table], ids: pa.StringArray) -> Uses:
    """The uses among documents whose ids are in row order; `edges` are parts that have `OF_USES`."""
    found = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(_numbered(some, ids) for some in edges)]))
    uses = np.unique(found >> 1)
    pairs, kinds = uses // len(KINDS), uses % len(KINDS)
    count = max(len(ids), 1)
    indptr = np.searchsorted(pairs, np.arange(len(ids) + 1) * count).astype(np.int32)
    trusted = np.isin(uses, found[(found & 1).astype(np.bool_)] >> 1)
    return Uses((pairs % count).astype(np.int32), kinds.astype(np.uint8), indptr, trusted)


def _numbered(edges: pa.Table, ids: pa.StringArray) -> Numbers:
    """A use as one number: what is used, by whom, and how; then one bit that says whether an index confirms it."""
    users, used, kept, inside = _ends(edges, ids)
    kinds = pc.index_in(inside.column("kind"), value_set=pa.array(map(str, KINDS), pa.string())).to_numpy()
    uses: Numbers = (used * len(ids) + users) * len(KINDS) + kinds
    numbers: Numbers = (uses << 1 | is_trusted(inside).to_numpy().astype(np.int64))[kept]
    return numbers


def build_constant_uses(edges: Iterable[pa.Table], ids: pa.StringArray) -> ConstantUses:
    """The uses of what has an id and is no document; `ids` are those of documents in row order, `edges` are parts that
    have `OF_EDGES`."""
    found: set[tuple[str, int]] = set()
    for some in edges:
        references = some.filter(pc.equal(some.column("kind"), str(EdgeKind.REFERENCE)))
        users, used, _, inside = _ends(references, ids)
        kept = (users >= 0) & (used < 0)
        found.update(zip(inside.column("dst").filter(pa.array(kept)).to_pylist(), users[kept].tolist(), strict=True))
    pairs = sorted(found)
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
