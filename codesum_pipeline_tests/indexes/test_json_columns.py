import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats.arrow_texts import json_objects, json_texts, utf8_of, utf8_parts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ROWS = st.fixed_dictionaries(
    {
        "text": st.none() | TEXTS,
        "number": st.none() | st.integers(-(2**63), 2**63 - 1),
        "flag": st.booleans(),
        "list": st.none() | st.lists(TEXTS, max_size=3),
        "struct": st.none() | st.fixed_dictionaries({"name": TEXTS, "line": st.none() | st.integers(0, 9)}),
        "structs": st.lists(st.fixed_dictionaries({"name": TEXTS, "type": st.none() | TEXTS}), max_size=2),
    }
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "number": pa.int64(),
        "flag": pa.bool_(),
        "list": pa.list_(pa.string()),
        "struct": pa.struct({"name": pa.string(), "line": pa.int64()}),
        "structs": pa.list_(pa.struct({"name": pa.string(), "type": pa.string()})),
    }
)
EVERY_CHARACTER_THAT_IS_ESCAPED = "".join(map(chr, range(33))) + '"\\/\x7f\u2028é\U0001f600\\n'


def written(table: pa.Table) -> list[str]:
    texts: list[str] = json_objects({name: json_texts(table[name]) for name in table.column_names}).to_pylist()
    return texts


def dumped(table: pa.Table) -> list[str]:
    return [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in table.to_pylist()]


@given(st.lists(ROWS, max_size=6))
@example([dict.fromkeys(SCHEMA.names) | {"text": EVERY_CHARACTER_THAT_IS_ESCAPED, "flag": True, "structs": []}])
def test_columns_become_what_json_makes_of_each_row(rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)

    assert written(table) == dumped(table)
    assert written(table.slice(1)) == dumped(table.slice(1))


@pytest.mark.parametrize("start", [0, 1, 3])
def test_the_bytes_of_texts_are_those_of_the_slice(start: int) -> None:
    texts = pa.array(["é", "", "abc"], pa.large_string()).slice(start)

    assert bytes(utf8_of(texts)) == "".join(texts.to_pylist()).encode()
    assert [bytes(part) for part in utf8_parts(texts)] == [text.encode() for text in texts.to_pylist()]
