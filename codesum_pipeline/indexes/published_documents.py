"""Summary documents as lines of JSON: the index's doc store.

A line is the document and, at its end, its provenance. The document's content is the line without the provenance.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.indexes.arrow_texts import json_objects, json_texts, utf8_and_offsets
from codesum_pipeline.indexes.index_files import LINES, NO_LINE, TEXTS, ShownFields
from codesum_pipeline.indexes.version_folder import PROVENANCE_FIELDS
from codesum_pipeline.model.documents import LEVELS, HistoryEvent

# In the order of a line. `context` and `hash` are made of other columns.
_FIRST = ("id", "type", "file_path", "module_path", "qualified_name", "summary", "business_intent", "keywords",
          "dependencies")  # fmt: skip
_CONTEXT = ("called_by", "calls")
_HASHES = ("content_hash", "graph_hash", "summary_hash")
_LAST = (
    "text_hash", "language", "is_placeholder", "start_line", "end_line", "signature", "signature_summary", "returns",
    "inputs", "side_effects", "invariants", "responsibilities", "citations", "written_by", "model", "prompt_version",
    "gate", "parent_id", "is_test", "is_vendored",
)  # fmt: skip
# The columns of the history that give `PROVENANCE_FIELDS`.
_PROVENANCE = ("written_at", "cause", "cause_ids", "commit", "run_id")
OF_HISTORY = ("id", "event", *_PROVENANCE)
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Documents turned into lines at one time: bounds the memory.
_AT_ONCE = 8192


class DocumentLines(Struct, frozen=True):
    """Some documents' JSON, each with a line end: without provenance, and as it stands in `summary.jsonl`."""

    contents: pa.LargeStringArray
    lines: pa.LargeStringArray


def index_order(documents: pa.Table) -> pa.Array:
    """The rows of documents in id order by level, then by id: one level's documents are one range."""
    level = pc.index_in(documents.column("type"), value_set=pa.array([str(level) for level in LEVELS]))
    return pa.array(np.argsort(level.to_numpy(), kind="stable"))


def document_lines(documents: Iterable[pa.Table], history: pa.Table) -> Iterator[DocumentLines]:
    """One line per document, in index order; `documents` are parts in id order, and `history` has `OF_HISTORY`."""
    written = history.filter(pc.equal(history.column("event"), str(HistoryEvent.WRITTEN)))
    latest_first = written.take(pa.array(range(written.num_rows - 1, -1, -1), pa.int64())).combine_chunks()
    for some in _in_index_order(documents):
        # In a value set the first of equal ids counts.
        stamps_of = pc.index_in(some.column("id"), value_set=latest_first.column("id"))
        for start in range(0, some.num_rows, _AT_ONCE):
            provenance = latest_first.select(_PROVENANCE).take(stamps_of.slice(start, _AT_ONCE))
            stamps = dict(zip(PROVENANCE_FIELDS, map(json_texts, provenance.columns), strict=True))
            yield _lines(_fields(some.slice(start, _AT_ONCE).combine_chunks()), stamps)


def build_shown_fields(documents: pa.Table) -> ShownFields:
    """What hits show of documents in index order."""
    lines = np.stack(
        [pc.fill_null(documents.column(name), NO_LINE).to_numpy().astype(np.int32) for name in LINES], axis=1
    )
    columns = [documents.column(name).cast(pa.large_string()).combine_chunks() for name in TEXTS]
    # Text after text of a document, document after document.
    order = np.arange(len(TEXTS) * len(lines)).reshape(len(TEXTS), -1).T.reshape(-1)
    texts = pa.concat_arrays(columns).take(pa.array(order))
    is_there = texts.is_valid().to_numpy(zero_copy_only=False).reshape(-1, len(TEXTS))
    return ShownFields(lines, *utf8_and_offsets(pc.fill_null(texts, "")), is_there)


def _in_index_order(documents: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The first level's documents as they come, then the others, which are held back."""
    others = []
    for some in documents:
        is_first = pc.equal(some.column("type"), str(LEVELS[0]))
        others.append(some.filter(pc.invert(is_first)))
        yield some.filter(is_first)
    if others:
        rest = pa.concat_tables(others).combine_chunks()
        yield rest.take(index_order(rest))


def _lines(fields: Mapping[str, pa.LargeStringArray], stamps: Mapping[str, pa.LargeStringArray]) -> DocumentLines:
    begun = json_objects(fields, end="")
    end, nothing = (pa.scalar(text, pa.large_string()) for text in ("}\n", ""))
    return DocumentLines(
        contents=pc.binary_join_element_wise(begun, end, nothing),
        lines=pc.binary_join_element_wise(begun, json_objects(stamps, start=",", end="}\n"), nothing),
    )


def content_of(line: Mapping[str, Any]) -> str:
    """The JSON without provenance of a parsed line."""
    return _ENCODE({name: value for name, value in line.items() if name not in PROVENANCE_FIELDS})


def _fields(documents: pa.Table) -> dict[str, pa.LargeStringArray]:
    """The JSON of each field but the provenance."""
    texts = {name: json_texts(documents.column(name)) for name in (*_FIRST, *_CONTEXT, *_HASHES, *_LAST)}
    return {
        **{name: texts[name] for name in _FIRST},
        "context": json_objects({name: texts[name] for name in _CONTEXT}),
        **{name: texts[name] for name in _HASHES},
        "hash": texts["summary_hash"],
        **{name: texts[name] for name in _LAST},
    }
