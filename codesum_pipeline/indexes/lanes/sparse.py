"""Every document gets its tokens per BM25 lane, and keeps them as long as the lane's text stays the same.

Statistics of the whole repository (how rare a token is, how long the usual document) are computed for the candidate: in
this table one edit changes one row.

No word reaches over the end of a line, so that each distinct line is tokenized once: most are in a function, in its
class and in its file. Counting goes some texts at a time: all tokens of a large repository are many times as long as
their counts.
"""

import string
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache, partial
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.made_from import changed_paths
from codesum_pipeline.foundation.store.rows import RowReader, TableReader, rows_to_read
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.arrow_texts import Integers, byte_kinds, scalar_of, split_words
from codesum_pipeline.indexes.file_formats.bm25 import TokenCounts
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.indexes.file_formats.version_folder import TERM_LANES
from codesum_pipeline.indexes.lanes.lane_texts import (
    TEXT_BREAK,
    TOKEN_BREAK,
    LaneTexts,
    hashes_unless,
    in_parts,
    lane_sources,
    read_heads,
    term_texts,
)
from codesum_pipeline.indexes.lanes.text_origins import differing_paths, lane_origins, with_children
from codesum_pipeline.indexes.lanes.tokens import joined_tokens, tokens_of_word
from codesum_pipeline.texts.summaries.text_changes import is_in_files

_KINDS = byte_kinds(parts=string.ascii_letters + string.digits + "_")


def join_tokens(texts: pa.LargeStringArray) -> pa.StringArray:
    """The tokens of each text, joined by single spaces."""
    split = pc.split_pattern(texts, "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy()
    is_foreign = pc.invert(pc.string_is_ascii(lines.dictionary))
    words = split_words(lines.dictionary, _KINDS, leave_out=is_foreign.to_numpy(zero_copy_only=False))
    tokens = pa.array(map(tokens_of_word, words.vocabulary.to_pylist()), pa.large_string())
    joined = _joined(tokens, words.numbers, words.lengths)
    others = [joined_tokens(line) for line in lines.dictionary.filter(is_foreign).to_pylist()]
    return _joined(
        pc.replace_with_mask(joined, is_foreign, pa.array(others, pa.large_string())), lines.indices.to_numpy(), lengths
    ).cast(pa.string())


def _joined(strings: pa.LargeStringArray, numbers: Integers, lengths: Integers) -> pa.LargeStringArray:
    """For each list of numbers the strings at these positions, joined by spaces, without empty ones. The lists follow
    one another, each with its length."""
    says_something = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)[numbers]
    counted = np.concatenate(([0], np.cumsum(says_something)))
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    named = strings.take(pa.array(numbers[says_something]))
    return pc.binary_join(pa.LargeListArray.from_arrays(pa.array(counted[ends]), named), scalar_of(" "))


# Texts split at one time: bounds the memory.
_AT_ONCE = 1 << 12
_PLACE_BITS = 32
# The tokens of so many files are held at one time.
FEW_FILES = 1 << 8


def count_tokens(texts: pa.ChunkedArray) -> TokenCounts:
    """Count in texts whose tokens are joined by single spaces."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    columns, rows, counts, lengths = (np.concatenate(part) for part in zip(*_parts(texts, numbers), strict=True))
    vocabulary = sorted(numbers)
    rank = np.empty(len(vocabulary), dtype=np.int32)
    rank[[numbers[token] for token in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    # Rows are in order already. Numbers made of a column and a place are sorted: faster than places by their columns.
    order = rank[columns].astype(np.int64) << _PLACE_BITS | np.arange(len(columns))
    order.sort()
    columns = (order >> _PLACE_BITS).astype(np.int32)
    order &= (1 << _PLACE_BITS) - 1
    # One after the other, so that at most one of them is in memory twice.
    rows = rows[order]
    counts = counts[order]
    return TokenCounts(columns, rows, counts, lengths, vocabulary)


def _parts(texts: pa.ChunkedArray, numbers: defaultdict[str, int]) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Columns, rows, counts and lengths of some texts; a column is what `numbers` gives a token, row after row."""
    for start in range(0, max(len(texts), 1), _AT_ONCE):
        some = texts.slice(start, _AT_ONCE)
        split = pc.split_pattern(some.combine_chunks(), " ")
        # An empty text splits into one empty token.
        is_empty = pc.equal(some, "").to_numpy()
        lengths = np.where(is_empty, 0, pc.list_value_length(split).to_numpy()).astype(np.int64)
        flat = split.flatten()
        encoded = (flat.filter(pc.not_equal(flat, "")) if is_empty.any() else flat).dictionary_encode()
        bits = len(encoded.dictionary).bit_length()
        pairs = np.repeat(np.arange(len(some), dtype=np.int64) << bits, lengths) | encoded.indices.to_numpy()
        pairs, counts = np.unique(pairs, return_counts=True)
        rows, columns = pairs >> bits, pairs & (1 << bits) - 1
        names = np.array([numbers[token] for token in encoded.dictionary.to_pylist()], dtype=np.int32)
        yield names[columns], (rows + start).astype(np.int32), counts.astype(np.int32), lengths


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
    guard = FailureGuard()
    now = cache(partial(lane_origins, ws))
    paths = changed_paths(ws, "terms", now)
    heads = read_heads(ws, paths, around=with_children(paths, now))
    # Of few files all tokens are read, of many those that are asked for.
    few = paths if paths is not None and len(paths) <= FEW_FILES else None
    before = ws.tables.read_files("terms", ws.key, few, columns=["id", "lane", "text_hash"])
    known = before.column("text_hash").combine_chunks()[: 0 if ws.force else None]
    last = _reader_of(ws, few) if len(known) else None
    parts, done, tokenized = [TABLES["terms"].schema.empty_table()], 0, 0
    for some in (some for part in lane_sources(ws, heads) for some in in_parts(part)):
        progress("splitting texts into words", done, heads.num_rows)
        for texts in term_texts(some, guard):
            hashes = texts.hash_all()
            tokens, fresh = _tokens_of(texts, pc.index_in(hashes, value_set=known), last, guard)
            if guard.failed:
                has_failed = pc.is_in(texts.ids, value_set=pa.array(sorted(guard.failed), pa.string()))
                hashes = hashes_unless(has_failed, hashes)
            columns = [texts.ids, pa.repeat(str(texts.lane), len(hashes)), hashes, tokens]
            parts.append(pa.Table.from_arrays(columns, schema=TABLES["terms"].schema))
            tokenized += fresh
        done += some.num_rows
    progress("splitting texts into words", done, heads.num_rows)
    rows = pa.concat_tables(parts)
    if paths is not None:
        paths = differing_paths(before.filter(is_in_files(before["id"], paths)), rows)
        rows = rows.filter(is_in_files(rows["id"], paths))
    is_same = paths is not None and not paths
    written = ws.tables.keep("terms", ws.key) if is_same else ws.tables.replace_files("terms", ws.key, rows, paths)
    if not guard.failed and not ws.tables.is_scratch:
        now().keep(ws, "terms")
    return SparseReport(
        tokenized=tokenized,
        carried=written.rows - tokenized,
        rows=written.rows,
        lanes={str(lane): written.rows // len(TERM_LANES) for lane in TERM_LANES if written.rows},
        table_hash=written.table_hash,
        failed=len(guard.failed),
        failures=guard.failures,
    )


def _reader_of(ws: Workspace, paths: Collection[str] | None) -> RowReader:
    """Tokens by the number of their row among those of some files, or of all. Texts come in the order in which the last
    build wrote them: of each lane one group of rows is read at a time."""
    if paths is None:
        return ws.tables.reader("terms", ws.key, columns=["tokens"], kept=len(TERM_LANES))
    return TableReader(None, ws.tables.read_files("terms", ws.key, paths, columns=["tokens"]), 1)


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
