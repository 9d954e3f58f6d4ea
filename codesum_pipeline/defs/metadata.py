"""A stage's report as Dagster metadata.

A report's numbers become numbers, which the UI plots over time; its counts
become tables. Text goes into table cells and text values alone, which the UI
shows as they are; what a repository wrote never becomes a key or a heading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import dagster as dg
import pyarrow as pa

from codesum_pipeline.defs.shows_model import asked_metadata, forecast_metadata
from codesum_pipeline.store.columns import describe_column
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.summaries.level_build import LevelReport
from codesum_pipeline.summaries.plan import PlanReport

# Metadata are stored with every materialisation, for ever.
MAX_ROWS = 20
MAX_CHARACTERS = 300


def column_schema(table: str) -> dg.TableSchema:
    """A table's columns as the UI lists them."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=field.name,
                type=_type_name(field.type),
                description=describe_column(table, field.name),
                constraints=dg.TableColumnConstraints(nullable=field.nullable),
            )
            for field in TABLES[table].schema
        ]
    )


def report_metadata(report: object) -> dict[str, dg.MetadataValue]:
    """One entry per field of a report that has something to say; the table's hash is the data version."""
    if not is_dataclass(report):
        raise TypeError(f"a stage reports a dataclass, not {type(report).__name__}")
    values = {field.name: getattr(report, field.name) for field in fields(report) if field.name != "table_hash"}
    by_model: dict[str, dg.MetadataValue] = {}
    # What a model did, or would do, has entries of its own.
    if isinstance(report, LevelReport):
        by_model = asked_metadata(values.pop("asked"))
    elif isinstance(report, PlanReport):
        by_model = forecast_metadata(values.pop("forecast"))
    found = {name: _value(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None} | by_model


def _value(value: Any) -> dg.MetadataValue | None:
    match value:
        case None:
            return None
        case bool():
            return dg.MetadataValue.bool(value)
        case int():
            return dg.MetadataValue.int(value)
        case float():
            return dg.MetadataValue.float(value)
        case str():
            return dg.MetadataValue.text(_short(str(value)))
        case Mapping() if value:
            return table_of([_counts(name, counts) for name, counts in value.items()])
        case Sequence() if value:
            return table_of([_row(item) for item in value[:MAX_ROWS]])
        case _ if is_dataclass(value):
            counts = {field.name: getattr(value, field.name) for field in fields(value)}
            return table_of([_counts(name, count) for name, count in counts.items() if isinstance(count, int | float)])
    return None


def _counts(name: Any, counts: Any) -> dict[str, Any]:
    if isinstance(counts, Mapping):
        return {"name": str(name), **{str(column): _cell(count) for column, count in counts.items()}}
    return {"name": str(name), "count": _cell(counts)}


def _row(item: Any) -> dict[str, Any]:
    if is_dataclass(item):
        return {field.name: _cell(getattr(item, field.name)) for field in fields(item)}
    return {"name": _cell(item)}


def table_of(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue:
    """A table whose rows may lack columns; a missing count is 0."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    records = [dg.TableRecord({column: row.get(column, 0) for column in columns}) for row in rows[:MAX_ROWS]]
    schema = dg.TableSchema([dg.TableColumn(column, type=_column_type(records, column)) for column in columns])
    return dg.MetadataValue.table(records=records, schema=schema)


def _column_type(records: list[dg.TableRecord], column: str) -> str:
    kinds = {type(record.data[column]) for record in records}
    return "int" if kinds <= {int} else "float" if kinds <= {int, float} else "string"


def _cell(value: Any) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple | list):
        return _short(", ".join(str(part) for part in value))
    return _short("" if value is None else str(value))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    return "struct" if pa.types.is_struct(kind) else str(kind)
