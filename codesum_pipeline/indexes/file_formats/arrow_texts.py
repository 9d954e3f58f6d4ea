"""Columns of tables as JSON, many rows at a time: that of `json.dumps` with no spaces and UTF-8 as it is.

Summary documents as lines of JSON are the index's doc store: a line is the document and, at its end, its provenance.
The document's content is the line without the provenance.

Words of many texts are those of ASCII: what a byte is decides alone where a word begins, so that all bytes of all texts
are looked at in a few passes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent
from codesum_pipeline.indexes.file_formats.index_files import LINES, NO_LINE, TEXTS, ShownFields
from codesum_pipeline.indexes.file_formats.version_folder import PROVENANCE_FIELDS


def utf8_of(texts: pa.LargeStringArray) -> memoryview:
    """All texts, one behind the other; none is null."""
    offsets, content = _buffers(texts)
    return content[offsets[0] : offsets[-1]]


def utf8_parts(texts: pa.LargeStringArray) -> Iterator[memoryview]:
    """Each text; none is null."""
    offsets, content = _buffers(texts)
    return (content[start:end] for start, end in pairwise(offsets.tolist()))


def utf8_and_offsets(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All texts, one behind the other, and where each begins and the last one ends; none is null."""
    offsets, content = _buffers(texts)
    return np.frombuffer(content, dtype=np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]


def _buffers(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.int64], memoryview]:
    _, offsets, content = texts.buffers()
    where = np.frombuffer(offsets or bytes(8), dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return where, memoryview(content or b"")


Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

# What a byte is: between words, a word of its own, or part of a word as long as such bytes follow one another.
GAP, MARK, PART = 0, 1, 2


class TextWords(Struct, frozen=True):
    """Text after text the positions of its words in `vocabulary`, which has each word once; `lengths` says how many
    words each text has."""

    vocabulary: pa.LargeStringArray
    numbers: Integers
    lengths: Integers


def byte_kinds(*, parts: str, marks: str = "") -> Bytes:
    """A table of what each byte is, for `split_words`."""
    kinds = np.full(256, GAP, dtype=np.uint8)
    kinds[list(parts.encode("ascii"))] = PART
    kinds[list(marks.encode("ascii"))] = MARK
    return kinds


def has_bytes(texts: pa.LargeStringArray, wanted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which texts have a byte of those in the table `wanted`."""
    content, offsets = utf8_and_offsets(texts)
    found = np.flatnonzero(wanted[content])
    counts: Integers = np.diff(np.searchsorted(found, offsets))
    return counts > 0


def split_words(texts: pa.LargeStringArray, kinds: Bytes, *, leave_out: npt.NDArray[np.bool_]) -> TextWords:
    """The words of ASCII texts; of those to `leave_out`, which may hold anything, none."""
    content, offsets = utf8_and_offsets(texts)
    if leave_out.any():
        content = np.where(np.repeat(leave_out, np.diff(offsets)), np.uint8(np.flatnonzero(kinds == GAP)[0]), content)
    data = content.tobytes()
    of_bytes = np.frombuffer(data.translate(kinds.tobytes()), dtype=np.uint8)
    begins = of_bytes == PART
    begins[1:] &= of_bytes[:-1] != PART
    # A word never reaches into the next text.
    firsts = offsets[:-1][offsets[:-1] < offsets[1:]]
    begins[firsts] = of_bytes[firsts] == PART
    begins |= of_bytes == MARK
    ends = of_bytes != GAP
    ends[:-1] &= begins[1:] | ~ends[1:]
    places = np.flatnonzero(begins)
    sizes = np.flatnonzero(ends) - places + 1
    kept = np.frombuffer(data.translate(None, delete=np.flatnonzero(kinds == GAP).astype(np.uint8).tobytes()), np.uint8)
    bounds = np.append(np.cumsum(sizes) - sizes, len(kept)).astype(np.int64)
    words = pa.LargeStringArray.from_buffers(len(sizes), pa.py_buffer(bounds), pa.py_buffer(kept)).dictionary_encode()
    lengths = np.diff(np.searchsorted(places, offsets))
    return TextWords(words.dictionary, words.indices.to_numpy().astype(np.int64), lengths)


_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b"}
_ESCAPES = _SHORT_ESCAPES | {chr(n): f"\\u{n:04x}" for n in range(32) if chr(n) not in _SHORT_ESCAPES}
_NEEDS_ESCAPE = np.isin(np.arange(256), [ord(character) for character in _ESCAPES])
_PLAIN = np.flatnonzero(~_NEEDS_ESCAPE).astype(np.uint8).tobytes()


def json_objects(
    columns: Mapping[str, pa.LargeStringArray], *, start: str = "{", end: str = "}"
) -> pa.LargeStringArray:
    """One object per row, its values given as JSON texts by name; `start` opens and `end` closes it."""
    parts: list[pa.LargeStringArray | pa.Scalar] = []
    for name, texts in columns.items():
        parts += [scalar_of(f'{"," if parts else start}"{name}":'), texts]
    return pc.binary_join_element_wise(*parts, scalar_of(end), scalar_of(""))


def json_texts(values: pa.Array | pa.ChunkedArray) -> pa.LargeStringArray:
    """The JSON of each string, integer, boolean, null, list or struct of these."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.fill_null(_texts_or_null(array), scalar_of("null"))


def _texts_or_null(array: pa.Array) -> pa.LargeStringArray:
    kind = array.type
    if pa.types.is_list(kind):
        items = json_texts(array.flatten())
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int64())
        joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, items), scalar_of(","))
        texts = pc.binary_join_element_wise(scalar_of("["), joined, scalar_of("]"), scalar_of(""))
        return pc.if_else(array.is_valid(), texts, pa.scalar(None, pa.large_string()))
    if pa.types.is_struct(kind):
        fields = {field.name: json_texts(part) for field, part in zip(kind, array.flatten(), strict=True)}
        return pc.if_else(array.is_valid(), json_objects(fields), pa.scalar(None, pa.large_string()))
    if pa.types.is_string(kind):
        return pc.binary_join_element_wise(scalar_of('"'), _escaped(array), scalar_of('"'), scalar_of(""))
    return array.cast(pa.string()).cast(pa.large_string())


def _escaped(strings: pa.StringArray) -> pa.LargeStringArray:
    escaped = strings.cast(pa.large_string())
    present = set(bytes(utf8_of(escaped)).translate(None, delete=_PLAIN))
    if not present:
        return escaped
    needing = np.flatnonzero(has_bytes(escaped, _NEEDS_ESCAPE))
    some = escaped.take(pa.array(needing))
    # The backslash comes first: the others bring backslashes in.
    for character, escape in _ESCAPES.items():
        if ord(character) in present:
            some = pc.replace_substring(some, character, escape)
    mask = np.zeros(len(escaped), dtype=np.bool_)
    mask[needing] = True
    return pc.replace_with_mask(escaped, pa.array(mask), some)


def scalar_of(value: str) -> pa.Scalar:
    """A string to be joined to those of a column."""
    return pa.scalar(value, pa.large_string())


# In the order of a line. `context` and `hash` are made of other columns.
_FIRST = ("id", "type", "file_path", "module_path", "qualified_name", "summary", "business_intent", "keywords",
          "dependencies")  # fmt: skip
_CONTEXT = ("called_by", "calls")
_HASHES = ("content_hash", "graph_hash", "summary_hash")
_LAST = (
    "text_hash", "language", "is_placeholder", "start_line", "end_line", "signature", "signature_summary", "returns",
    "inputs", "side_effects", "invariants", "responsibilities", "citations", "written_by", "model", "prompt_version",
    "gate", "parent_id", "is_test", "is_vendored", "purpose_source",
)  # fmt: skip
# The columns of the history that give `PROVENANCE_FIELDS`.
_PROVENANCE = ("written_at", "cause", "cause_ids", "commit", "run_id")
OF_HISTORY = ("id", "event", *_PROVENANCE)
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class DocumentLines(Struct, frozen=True):
    """Some documents' JSON as it is in `summary.jsonl`: line k is `text[offsets[k]:offsets[k + 1]]`, and with a closing
    bracket its first `content_bytes[k]` are the document without its provenance."""

    text: memoryview
    offsets: npt.NDArray[np.int64]
    content_bytes: npt.NDArray[np.int64]

    def between(self, span: slice) -> "DocumentLines":
        """The lines of a span."""
        offsets = self.offsets[span.start : span.stop + 1]
        text = self.text[offsets[0] : offsets[-1]]
        return DocumentLines(text, offsets - offsets[0], self.content_bytes[span])

    def contents(self) -> list[memoryview]:
        """The documents without provenance and closing bracket."""
        starts = self.offsets[:-1]
        spans = zip(starts.tolist(), (starts + self.content_bytes).tolist(), strict=True)
        return [self.text[start:stop] for start, stop in spans]


def index_order(documents: pa.Table) -> pa.Array:
    """The rows of documents in id order by level, then by id: one level's documents are one range."""
    level = pc.index_in(documents.column("type"), value_set=pa.array([str(level) for level in LEVELS]))
    return pa.array(np.argsort(level.to_numpy(), kind="stable"))


def stamps_of(ids: pa.Array | pa.ChunkedArray, history: pa.Table) -> pa.Table:
    """What documents have as `PROVENANCE_FIELDS`: a row for each id; `history` has `OF_HISTORY`."""
    written = history.filter(pc.equal(history.column("event"), str(HistoryEvent.WRITTEN)))
    latest_first = pa.array(np.arange(written.num_rows)[::-1])
    # In a value set the first of equal ids counts.
    places = pc.index_in(ids, value_set=written.column("id").combine_chunks().take(latest_first))
    return written.select(list(_PROVENANCE)).take(latest_first.take(places))


def lines_of(documents: pa.Table, stamps: pa.Table) -> DocumentLines:
    """The lines of some documents with their `stamps_of`."""
    provenance = {name: json_texts(column) for name, column in zip(PROVENANCE_FIELDS, stamps.columns, strict=True)}
    begun = json_objects(_fields(documents.combine_chunks()), end="")
    lines = pc.binary_join_element_wise(begun, json_objects(provenance, start=",", end="}\n"), scalar_of(""))
    offsets = np.concatenate(([0], np.cumsum(pc.binary_length(lines).to_numpy())))
    return DocumentLines(utf8_of(lines), offsets, pc.binary_length(begun).to_numpy())


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


def in_index_order(documents: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Documents in id order in index order: the first level's as they come, then the others, which are held back."""
    others = []
    for some in documents:
        is_first = pc.equal(some.column("type"), str(LEVELS[0]))
        others.append(some.filter(pc.invert(is_first)))
        yield some.filter(is_first)
    if others:
        rest = pa.concat_tables(others).combine_chunks()
        yield rest.take(index_order(rest))


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
