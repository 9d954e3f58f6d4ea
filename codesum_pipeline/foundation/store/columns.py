"""What each column of the warehouse's tables holds, for whoever reads a table; the sentences are in `columns.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

# The section about columns that mean the same in every table.
EVERYWHERE = "everywhere"


@cache
def column_sentences() -> Mapping[str, Mapping[str, str]]:
    """The sentences by table and column; those of `EVERYWHERE` hold where a table has none of its own."""
    sections = tomllib.loads((files(__package__) / "columns.toml").read_text("utf-8"))
    return {table: sentences for tables, sentences in sections.items() for table in tables.split()}


def describe_column(table: str, column: str) -> str:
    """What a column holds; raises `KeyError` for one that nobody described."""
    own = column_sentences().get(table, {})
    return own[column] if column in own else column_sentences()[EVERYWHERE][column]
