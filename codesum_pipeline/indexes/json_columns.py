"""Columns of a table as JSON texts, a whole column at a time: `json.dumps` with no spaces and UTF-8 as it is."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.arrow_texts import utf8_of
from codesum_pipeline.indexes.ascii_words import has_bytes

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
        parts += [_text(f'{"," if parts else start}"{name}":'), texts]
    return pc.binary_join_element_wise(*parts, _text(end), _text(""))


def json_texts(values: pa.Array | pa.ChunkedArray) -> pa.LargeStringArray:
    """The JSON of each string, integer, boolean, null, list or struct of these."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.fill_null(_texts_or_null(array), _text("null"))


def _texts_or_null(array: pa.Array) -> pa.LargeStringArray:
    kind = array.type
    if pa.types.is_list(kind):
        return _lists(array)
    if pa.types.is_struct(kind):
        fields = {field.name: json_texts(part) for field, part in zip(kind, array.flatten(), strict=True)}
        return pc.if_else(array.is_valid(), json_objects(fields), pa.scalar(None, pa.large_string()))
    if pa.types.is_string(kind):
        return pc.binary_join_element_wise(_text('"'), _escaped(array), _text('"'), _text(""))
    return array.cast(pa.string()).cast(pa.large_string())


def _escaped(strings: pa.StringArray) -> pa.LargeStringArray:
    """The strings as they stand between quotation marks."""
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


def _lists(lists: pa.ListArray) -> pa.LargeStringArray:
    items = json_texts(lists.flatten())
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int64())
    joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, items), _text(","))
    texts = pc.binary_join_element_wise(_text("["), joined, _text("]"), _text(""))
    return pc.if_else(lists.is_valid(), texts, pa.scalar(None, pa.large_string()))


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, pa.large_string())
