"""What a hit shows beside its id: the signature, and what comes back where that does not show it."""

import pyarrow as pa

from codesum_pipeline.texts.summaries.documents_step import _signature_summaries


def test_a_result_is_said_where_the_signature_does_not_show_it() -> None:
    signatures = ["def name() -> str", "def name()", "def rows() -> Iterator[Row]", "def total(rows)", None, "def f()"]
    returned = ["returns str", "returns str, as its code shows", "yields Row", "the sum of prices", "returns str", None]
    structs = pa.array([{"type_summary": one} if one else None for one in returned])

    found = _signature_summaries(pa.chunked_array([signatures]), pa.chunked_array([structs]))

    assert found.to_pylist() == [
        "def name() -> str",
        "def name(): returns str, as its code shows",
        "def rows() -> Iterator[Row]",
        "def total(rows): the sum of prices",
        None,
        "def f()",
    ]
