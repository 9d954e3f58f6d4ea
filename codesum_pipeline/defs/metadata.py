"""Plain values as Dagster metadata."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from codesum_pipeline.defs.building.facts import stage_facts
from codesum_pipeline.defs.building.values import Markdown, PreviewRows, Value, Values


def table_metadata(table: str) -> dict[str, Any]:
    """The table that an asset stands for, with its columns as the UI lists them."""
    columns = [
        dg.TableColumn(
            name=column.name,
            type=column.type,
            description=column.description,
            constraints=dg.TableColumnConstraints(nullable=column.is_nullable),
        )
        for column in stage_facts().columns[table]
    ]
    return {"dagster/column_schema": dg.TableSchema(columns=columns), "codesum/table": table}


def metadata_of(values: Values) -> dict[str, dg.MetadataValue]:
    """One entry per value."""
    return {name: _metadata_value(value) for name, value in values.items()}


def _metadata_value(value: Value) -> dg.MetadataValue:
    match value:
        case bool():
            return dg.MetadataValue.bool(value)
        case int():
            return dg.MetadataValue.int(value)
        case float():
            return dg.MetadataValue.float(value)
        case Markdown(text):
            return dg.MetadataValue.md(text)
        case PreviewRows():
            return _table(value)
        case str():
            return dg.MetadataValue.text(value)


def _table(value: PreviewRows) -> dg.MetadataValue:
    """A count that a row lacks is 0."""
    columns = list(dict.fromkeys(column for row in value.rows for column in row))
    records = [dg.TableRecord({column: row.get(column, 0) for column in columns}) for row in value.rows]
    schema = dg.TableSchema([dg.TableColumn(column, type=_column_type(records, column)) for column in columns])
    return dg.MetadataValue.table(records=records, schema=schema)


def _column_type(records: Sequence[dg.TableRecord], column: str) -> str:
    kinds = {type(record.data[column]) for record in records}
    return "int" if kinds <= {int} else "float" if kinds <= {int, float} else "string"
