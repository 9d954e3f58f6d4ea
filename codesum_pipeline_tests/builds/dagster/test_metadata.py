"""How a stage's report becomes metadata."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import dagster as dg
from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import metadata_of, table_metadata
from codesum_pipeline.builds.dagster.assets import ASSETS
from codesum_pipeline.builds.dagster.home_jobs import HOME_ASSETS
from codesum_pipeline.builds.reports.report_values import MAX_ROWS, report_values
from codesum_pipeline.notifications.digests.sql_tables import read_sql_tables


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Item(Struct, frozen=True):
    id: str
    causes: tuple[str, ...]


class Report(Struct, frozen=True):
    rows: int
    share: float
    is_new: bool
    color: Color
    by_color: Mapping[Color, int]
    by_level: Mapping[str, Mapping[Color, int]]
    items: tuple[Item, ...]
    nothing: None
    empty: Mapping[str, int]
    table_hash: str


def records(value: dg.MetadataValue[Any]) -> list[Mapping[str, Any]]:
    assert isinstance(value, dg.TableMetadataValue)
    return [dict(record.data) for record in value.records]


def report(items: int = 1) -> Report:
    return Report(
        rows=3,
        share=0.5,
        is_new=True,
        color=Color.RED,
        by_color={Color.RED: 2, Color.BLUE: 1},
        by_level={"file": {Color.RED: 1}, "class": {Color.BLUE: 2}},
        items=tuple(Item(f"i{number}", ("a", "b")) for number in range(items)),
        nothing=None,
        empty={},
        table_hash="0" * 40,
    )


def test_each_field_is_shown_as_what_it_is() -> None:
    shown = metadata_of(report_values(report()))

    assert {name: shown[name] for name in ("rows", "share", "is_new", "color")} == {
        "rows": 3,
        "share": 0.5,
        "is_new": True,
        "color": "red",
    }
    assert records(shown["by_color"]) == [{"name": "red", "count": 2}, {"name": "blue", "count": 1}]
    assert records(shown["by_level"]) == [{"name": "file", "red": 1, "blue": 0}, {"name": "class", "red": 0, "blue": 2}]
    assert records(shown["items"]) == [{"id": "i0", "causes": "a, b"}]


def test_what_says_nothing_is_left_out_and_the_hash_is_the_data_version() -> None:
    assert not report_values(report()).keys() & {"nothing", "empty", "table_hash"}


def test_metadata_stay_small() -> None:
    assert len(records(metadata_of(report_values(report(items=1000)))["items"])) == MAX_ROWS


def test_a_tables_columns_are_those_that_are_written() -> None:
    types = {column.name: column.type for column in table_metadata("documents")["dagster/column_schema"].columns}

    assert types["id"] == "string"
    assert types["keywords"] == "list<string>"
    assert types["citations"] == "list<struct>"


def test_every_asset_describes_every_column_of_its_table(built_home: Home) -> None:
    described = {}
    for asset in (*ASSETS, *HOME_ASSETS):
        (metadata,) = asset.metadata_by_key.values()
        described[metadata["codesum/table"]] = [
            (column.name, column.description) for column in metadata["dagster/column_schema"].columns
        ]
    digests = read_sql_tables(built_home.layout.digests, query="digests")
    written = {
        table: (digests[table] if table in digests else built_home.tables.read(table, "shop")).schema.names
        for table in described
    }

    assert {table: [name for name, _ in columns] for table, columns in described.items()} == written
    assert not [(table, column) for table, columns in described.items() for column in columns if not column[1]]


def test_a_report_within_a_report_is_a_table_of_its_numbers() -> None:
    class Share(Struct, frozen=True):
        resolved: int
        unknown: int
        names: tuple[str, ...]

    class Outer(Struct, frozen=True):
        coverage: Share

    shown = metadata_of(report_values(Outer(Share(7, 2, ("a",)))))

    assert records(shown["coverage"]) == [{"name": "resolved", "count": 7}, {"name": "unknown", "count": 2}]
