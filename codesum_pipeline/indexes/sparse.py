"""Every document gets its tokens per BM25 lane, and keeps them as long as the lane's text stays the same.

Statistics of the whole repository (how rare a token is, how long the usual
document) are computed for the candidate: in this table one edit changes one row.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.indexes.lane_texts import (
    TEXT_BREAK,
    TOKEN_BREAK,
    LaneTexts,
    hashes_unless,
    in_parts,
    lane_sources,
    term_texts,
)
from codesum_pipeline.indexes.token_counts import join_tokens
from codesum_pipeline.indexes.version_folder import TERM_LANES, Lane
from codesum_pipeline.model.guard import Failure, FailureGuard
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.key_order import RowReader
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.tables import rows_to_read
from codesum_pipeline.store.workspace import Workspace


class SparseReport(Struct, frozen=True):
    """`tokenized` counts texts that were split anew, `carried` rows that kept their tokens; `lanes` counts rows."""

    tokenized: int
    carried: int
    rows: int
    lanes: dict[str, int]
    table_hash: str
    failed: int = 0
    failures: tuple[Failure, ...] = ()


def index_terms(ws: Workspace, *, progress: Progress = no_progress) -> SparseReport:
    """Write the table `terms`: one row per BM25 lane of each document, placeholders included."""
    lanes: dict[Lane, list[pa.Table]] = {lane: [] for lane in TERM_LANES}
    guard = FailureGuard()
    documents = ws.tables.read("documents", ws.key, columns=["id"]).num_rows
    known = ws.tables.read_or_empty("terms", ws.key, columns=["text_hash"]).column("text_hash").combine_chunks()
    known = known[:0] if ws.force else known
    # Texts come in the order in which the last build wrote them: of each lane one group of rows is read at a time.
    last = ws.tables.reader("terms", ws.key, columns=["tokens"], kept=len(TERM_LANES)) if len(known) else None
    done = tokenized = 0
    for some in (some for part in lane_sources(ws) for some in in_parts(part)):
        progress("splitting texts into words", done, documents)
        for texts in term_texts(some, guard):
            hashes = texts.hash_all()
            tokens, fresh = _tokens_of(texts, pc.index_in(hashes, value_set=known), last, guard)
            if guard.failed:
                has_failed = pc.is_in(texts.ids, value_set=pa.array(sorted(guard.failed), pa.string()))
                hashes = hashes_unless(has_failed, hashes)
            columns = [texts.ids, pa.repeat(str(texts.lane), len(hashes)), hashes, tokens]
            lanes[texts.lane].append(pa.Table.from_arrays(columns, schema=TABLES["terms"].schema))
            tokenized += fresh
        done += some.num_rows
    progress("splitting texts into words", done, documents)
    written = ws.tables.write("terms", ws.key, pa.concat_tables(part for parts in lanes.values() for part in parts))
    counts = {str(lane): sum(part.num_rows for part in parts) for lane, parts in lanes.items()}
    return SparseReport(
        tokenized=tokenized,
        carried=written.rows - tokenized,
        rows=written.rows,
        lanes={lane: count for lane, count in counts.items() if count},
        table_hash=written.table_hash,
        failed=len(guard.failed),
        failures=guard.failures,
    )


def _tokens_of(lane: LaneTexts, found: pa.Array, last: RowReader | None, guard: FailureGuard) -> tuple[pa.Array, int]:
    """The tokens of each text, and how many of the texts the last build did not have; `found` is where it has them."""
    is_missing = found.is_null()
    fresh = _join_each(lane.texts.filter(is_missing), lane.ids.filter(is_missing), guard)
    if last is None or len(fresh) == len(lane):
        return fresh, len(fresh)
    wanted, places = rows_to_read(pc.fill_null(found, -1).to_numpy().astype(np.int64))
    kept = last.at(wanted).column("tokens").combine_chunks().take(places)
    return pc.replace_with_mask(kept, is_missing, fresh) if len(fresh) else kept, len(fresh)


def _join_each(texts: pa.LargeStringArray, ids: pa.StringArray, guard: FailureGuard) -> pa.Array:
    """The tokens of each text; where splitting fails, each text is split by itself, and one that fails has none."""
    with FailureGuard().item("all"):
        return _join_passages(texts)
    parts = []
    for row, id_ in enumerate(ids.to_pylist()):
        tokens = pa.array([""], pa.string())
        with guard.item(id_):
            tokens = _join_passages(texts.slice(row, 1))
        parts.append(tokens)
    return pa.concat_arrays(parts)


def _join_passages(texts: pa.LargeStringArray) -> pa.StringArray:
    passages = pc.split_pattern(texts, TEXT_BREAK)
    tokens = pa.LargeListArray.from_arrays(passages.offsets.cast(pa.int64()), join_tokens(passages.flatten()))
    return pc.binary_join(tokens, TOKEN_BREAK)
