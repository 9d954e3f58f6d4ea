"""Every column of every table is described, in a sentence that says more than its name."""

import pytest

from codesum_pipeline.foundation.store.columns import EVERYWHERE, column_sentences, describe_column
from codesum_pipeline.foundation.store.schemas import TABLES


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_column_is_described_in_a_sentence(table: str) -> None:
    described = {name: describe_column(table, name) for name in TABLES[table].schema.names}

    assert not [name for name, text in described.items() if not text.endswith((".", "…")) or len(text) > 120]
    assert len(set(described.values())) == len(described)


def test_no_column_is_described_that_no_table_has() -> None:
    columns = {table: set(spec.schema.names) for table, spec in TABLES.items()}
    sentences = {**column_sentences()}
    everywhere = sentences.pop(EVERYWHERE)
    undescribed = set().union(*(names - sentences.get(table, {}).keys() for table, names in columns.items()))

    assert not [(table, name) for table, own in sentences.items() for name in own if name not in columns[table]]
    assert undescribed == everywhere.keys()


def test_a_column_that_nobody_described_is_an_error() -> None:
    with pytest.raises(KeyError, match="new_column"):
        describe_column("documents", "new_column")


def test_numbers_say_their_unit_and_vectors_their_shape() -> None:
    dollars = {table: spec.schema.names for table, spec in TABLES.items()}
    priced = [(table, name) for table, names in dollars.items() for name in names if name.endswith("usd")]

    assert len(priced) > 6
    assert not [column for column in priced if "US dollars" not in describe_column(*column)]
    assert "bytes" in describe_column("files", "size")
    assert "Seconds" in describe_column("ledger", "latency_s")
    assert "float32 numbers" in describe_column("vectors", "vector")
