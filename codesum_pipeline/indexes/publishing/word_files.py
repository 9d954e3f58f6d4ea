"""The words of each BM25 lane, made from how often each text has each word.

The counts lie in the file beside the scores: of a text that is the same as in the last version both are taken from
there, and only the others' tokens are counted.

A passage is also known by the long function that it is in: one text says little of the branches of a function of
hundreds of lines, so the best passage in it speaks for it, as the best passage of a file does for the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, LONG_LINES, Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_texts import json_objects, json_texts, utf8_of
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index, build_bm25
from codesum_pipeline.indexes.file_formats.bm25_updates import MovedTexts, update_bm25
from codesum_pipeline.indexes.file_formats.index_files import LINES, ranges_of
from codesum_pipeline.indexes.file_formats.stored_zip import map_npy, write_npy
from codesum_pipeline.indexes.file_formats.version_folder import TERM_LANES, Lane
from codesum_pipeline.indexes.lanes.lane_texts import TEXT_BREAK, TOKEN_BREAK, break_apart, cut_passages
from codesum_pipeline.indexes.lanes.sparse import count_tokens
from codesum_pipeline.indexes.publishing.candidate_tables import (
    CandidateTables,
    FilePart,
    Numbers,
    level_numbers,
    write_json,
)

Owners = npt.NDArray[np.int32]
# First and last line, and row.
_Span = tuple[int, int, int]
_PART = "owners"
_OF_DOCUMENTS = ["id", "type", "file_path", *LINES]
_OF_FACTS = ["file_path", "source"]
# Sources read at one time: bounds the memory.
_AT_ONCE = 1 << 8


def owner_part(tables: CandidateTables) -> FilePart:
    """The long function of each passage that is in one."""
    columns = {"documents": _OF_DOCUMENTS, "file_facts": _OF_FACTS}
    made_from = [tables.content_hash(*each) for each in columns.items()]
    return FilePart(
        "passages of functions", _PART, made_from, [paths.PASSAGE_OWNERS], lambda folder: _write(tables, folder)
    )


def _write(tables: CandidateTables, folder: Path) -> None:
    documents = tables.tables.read("documents", tables.key, columns=_OF_DOCUMENTS)
    spans = _long_functions(documents.take(tables.order))
    found = pc.index_in(pa.array([*spans], pa.string()), value_set=tables.ids)
    rows = {path: row for path, row in zip(spans, found.to_pylist(), strict=True) if row is not None}
    hashes = _hashes_of(tables, rows, spans)
    tables.origins.keep(_PART, hashes)
    same = tables.origins.same_rows(_PART, hashes, [paths.PASSAGE_OWNERS])
    anew = {path: row for path, row in rows.items() if same[row] < 0}
    owners = find_owners(spans, anew, _sources(tables, [*anew]))
    write_npy(folder / paths.PASSAGE_OWNERS, _sorted([*_kept(tables, same), owners]))


def _hashes_of(tables: CandidateTables, rows: Mapping[str, int], spans: Mapping[str, list[_Span]]) -> pa.Array:
    """For each file with long functions the hash of all that says which passages these have: its text in the lane whose
    passages they are, and their names and lines."""
    texts = tables.text_hashes(tables.rows_of_lane("terms", Lane.CODE)[[*rows.values()]]).to_pylist()
    functions = pa.array([row for path in rows for *_, row in spans[path]], pa.int64())
    names = iter(tables.ids.take(functions).to_pylist())
    hashes = np.full(len(tables.ids), None, dtype=object)
    for (path, row), text in zip(rows.items(), texts, strict=True):
        hashes[row] = hash_of([text, [[first, last, next(names)] for first, last, _ in spans[path]]])
    return pa.array(hashes, pa.string())


def _sources(tables: CandidateTables, files: list[str]) -> Iterator[pa.Table]:
    known = tables.tables.read("file_facts", tables.key, columns=["file_path"]).column("file_path")
    rows = pc.indices_nonzero(pc.is_in(known, value_set=pa.array(files, pa.string()))).to_numpy().astype(np.int64)
    reader = tables.tables.reader("file_facts", tables.key, columns=_OF_FACTS)
    return (reader.at(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE))


def _kept(tables: CandidateTables, same: Numbers) -> Iterator[Owners]:
    """What the last version says of the files that are the same, with the rows of now."""
    last = tables.origins.last
    if last is not None and (same >= 0).any():
        row_now = np.full(last.rows.num_rows, -1, dtype=np.int32)
        row_now[tables.origins.places[tables.origins.places >= 0]] = np.flatnonzero(tables.origins.places >= 0)
        is_kept = np.zeros(last.rows.num_rows, dtype=np.bool_)
        is_kept[same[same >= 0]] = True
        files, numbers, functions = map_npy(last.file(paths.PASSAGE_OWNERS)).T
        columns = np.stack((row_now[files], numbers, row_now[functions]), axis=1)
        yield columns[is_kept[files]]


def find_owners(spans: Mapping[str, list[_Span]], rows: Mapping[str, int], sources: Iterable[pa.Table]) -> Owners:
    """For each passage whose middle is in a long function, in order: the row of its file, its number in the file from
    0, and the row of the smallest such function; shape (passages, 3). `spans` are the long functions of each file,
    `rows` those of the files that are looked at, `sources` tables of file_path and source."""
    found: list[tuple[int, int, int]] = []
    for part in sources:
        for path, source in zip(*(part.column(name).to_pylist() for name in _OF_FACTS), strict=True):
            for number, line in enumerate(_middles(source) if path in rows else ()):
                inside = [(last - first, row) for first, last, row in spans[path] if first <= line <= last]
                if inside:
                    found.append((rows[path], number, min(inside)[1]))
    return _sorted([np.array(found, dtype=np.int32).reshape(-1, 3)])


def _sorted(parts: list[Owners]) -> Owners:
    owners = np.concatenate(parts)
    return owners[np.lexsort((owners[:, 1], owners[:, 0]))]


def _long_functions(documents: pa.Table) -> dict[str, list[_Span]]:
    """The long functions of each file that has some; `documents` are in index order."""
    is_function = pc.equal(documents.column("type"), str(Level.FUNCTION))
    first, last = (documents.column(name) for name in LINES)
    is_long = pc.fill_null(pc.greater_equal(pc.subtract(last, first), LONG_LINES), False)
    rows = pc.indices_nonzero(pc.and_(is_function, is_long))
    columns = (documents.column(name).take(rows).to_pylist() for name in ("file_path", *LINES))
    found: dict[str, list[_Span]] = {}
    for row, path, start, end in zip(rows.to_pylist(), *columns, strict=True):
        found.setdefault(path, []).append((start, end, row))
    return found


def _middles(source: str) -> Iterator[int]:
    """The line in the middle of each passage."""
    line = 1
    for passage in cut_passages(source).split(TEXT_BREAK):
        count = passage.count("\n")
        yield line + max(0, count - 1) // 2
        line += count


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
