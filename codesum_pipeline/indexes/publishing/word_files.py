"""The words of each BM25 lane, made from how often each text has each word.

The counts lie in the file beside the scores: of a text that is the same as in the last version both are taken from
there, and only the others' tokens are counted.
"""

from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_bytes import utf8_of
from codesum_pipeline.indexes.file_formats.arrow_texts import json_objects, json_texts
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index, build_bm25
from codesum_pipeline.indexes.file_formats.bm25_updates import MovedTexts, update_bm25
from codesum_pipeline.indexes.file_formats.index_files import ranges_of
from codesum_pipeline.indexes.file_formats.stored_zip import map_npy, write_npy
from codesum_pipeline.indexes.file_formats.version_folder import TERM_LANES, Lane
from codesum_pipeline.indexes.lanes.lane_texts import TOKEN_BREAK, break_apart
from codesum_pipeline.indexes.lanes.sparse import count_tokens
from codesum_pipeline.indexes.publishing.candidate_tables import (
    CandidateTables,
    FilePart,
    Numbers,
    level_numbers,
    write_json,
)

# What the words of a lane are written to besides.
_WITH_WORDS = {Lane.CODE: (paths.PASSAGES,), Lane.KEYWORDS: (paths.KEYWORDS_VOCABULARY, paths.KEYWORDS_METADATA)}


def word_parts(tables: CandidateTables) -> list[FilePart]:
    """The words of each lane."""
    return [
        FilePart(
            "words",
            f"words {lane}",
            tables.lane_hashes("terms", lane, "tokens"),
            [paths.BM25_FILES[lane], *_WITH_WORDS.get(lane, ())],
            partial(_write_words, tables, lane),
        )
        for lane in TERM_LANES
    ]


def _write_words(tables: CandidateTables, lane: Lane, folder: Path) -> None:
    found, rows = _index_words(tables, lane)
    if lane is Lane.CODE:
        write_npy(folder / paths.PASSAGES, rows.passage_documents)
    found.write(folder / paths.BM25_FILES[lane])
    if lane is Lane.KEYWORDS:
        # For people and other programs.
        vocabulary = {token: k for k, token in enumerate(found.vocabulary.to_list())}
        write_json(folder / paths.KEYWORDS_VOCABULARY, vocabulary)
        columns = {name: tables.heads.column(name) for name in ("file_path", "id")}
        columns |= {"length": pa.array(found.lengths), "type": tables.heads.column("type")}
        lines = json_objects({name: json_texts(column) for name, column in columns.items()}, end="}\n")
        (folder / paths.KEYWORDS_METADATA).write_bytes(utf8_of(lines))


class TextRows(Struct, frozen=True):
    """The rows of texts in an index of words: first those of the documents, each of which has so many `passages`, then
    those of the passages."""

    passages: Numbers

    @property
    def count(self) -> int:
        return len(self.passages) + int(self.passages.sum())

    @property
    def passage_documents(self) -> npt.NDArray[np.int32]:
        """The document of each passage."""
        return np.repeat(np.arange(len(self.passages), dtype=np.int32), self.passages)

    def levels_of(self, levels: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """The levels of all texts, given those of the documents. Passages are a level of their own: how rare a word is
        counts among passages alone."""
        return np.concatenate((levels, np.full(int(self.passages.sum()), len(LEVELS), dtype=np.int8)))

    def of(self, documents: Numbers) -> Numbers:
        """The rows of some documents, then those of their passages."""
        starts = (len(self.passages) + np.cumsum(self.passages) - self.passages)[documents]
        of_passages = ranges_of(np.arange(self.count), starts, starts + self.passages[documents])
        return np.concatenate((documents, of_passages))


def _index_words(tables: CandidateTables, lane: Lane) -> tuple[Bm25Index, TextRows]:
    """The words of a lane. Texts that are the last version's are not counted again, nor read where their part of the
    table is the same."""
    origins, levels, part = tables.origins, level_numbers(tables.heads), f"words {lane}"
    file, last = paths.BM25_FILES[lane], origins.last
    files = [file, *([paths.PASSAGES] if lane is Lane.CODE else [])]
    table_rows = tables.rows_of_lane("terms", lane)
    hashes = origins.last_hashes(part, tables.known["terms"][table_rows], files)
    read = np.flatnonzero(hashes.is_null())
    texts = tables.tokens(table_rows[read], levels[read])
    fresh_hashes = tables.hash_rows(pa.table({"tokens": texts}))
    hashes = pc.replace_with_mask(hashes, hashes.is_null(), fresh_hashes)
    places = origins.same_rows(part, hashes, files)
    origins.keep(part, hashes)
    anew, kept = np.flatnonzero(places < 0), np.flatnonzero(places >= 0)
    passages = np.zeros(len(places), dtype=np.int64)
    texts = texts.filter(pa.array(places[read] < 0))
    if lane is Lane.CODE:
        # In index order the documents of one level follow one another.
        first, end = np.searchsorted(levels[anew], LEVELS.index(Level.FILE) + np.arange(2)).tolist()
        texts, documents = _with_passages(texts, first, end)
        passages += np.bincount(anew[documents], minlength=len(passages))
    fresh = count_tokens(texts)
    if last is None or not len(kept):
        rows = TextRows(passages)
        return build_bm25(fresh, rows.levels_of(levels)), rows
    index, before = Bm25Index.map_file(last.file(file)), TextRows(np.zeros(last.rows.num_rows, dtype=np.int64))
    if lane is Lane.CODE:
        before = TextRows(np.bincount(map_npy(last.file(paths.PASSAGES)), minlength=last.rows.num_rows))
        passages[kept] = before.passages[places[kept]]
    rows = TextRows(passages)
    rows_now = np.full(index.documents, -1, dtype=np.int64)
    rows_now[before.of(places[kept])] = rows.of(kept)
    moved = MovedTexts(rows_now, before.levels_of(last.rows.column("level").to_numpy()), rows.of(anew))
    return update_bm25(index, moved, fresh, rows.levels_of(levels)), rows


def _with_passages(texts: pa.ChunkedArray, first: int, end: int) -> tuple[pa.ChunkedArray, Numbers]:
    """The texts of all documents but the files from `first` to `end`, then the passages of the files, and the document
    of each passage."""
    passages, positions = break_apart(texts.slice(first, end - first).combine_chunks(), TOKEN_BREAK)
    others = [*texts.slice(0, first).chunks, pa.repeat("", end - first), *texts.slice(end).chunks]
    return pa.chunked_array([*others, passages], pa.string()), first + positions.to_numpy().astype(np.int64)
