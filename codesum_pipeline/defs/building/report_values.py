"""A stage's report as values.

A report's numbers stay numbers, which the UI plots over time; its counts
become tables. Text goes into table cells and text values alone, which the UI
shows as they are; what a repository wrote never becomes a key or a heading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from codesum_pipeline.defs.building.shows_compiled import compiled_values, disagreement_values
from codesum_pipeline.defs.building.shows_model import asked_values, forecast_values
from codesum_pipeline.defs.building.values import PreviewRows, Value, Values
from codesum_pipeline.graph.build import GraphReport
from codesum_pipeline.parsing.symbols import ParseReport
from codesum_pipeline.summaries.level_build import LevelReport
from codesum_pipeline.summaries.plan import PlanReport

# Metadata are stored with every materialisation, for ever.
MAX_ROWS = 20
MAX_CHARACTERS = 300


def report_values(report: object) -> dict[str, Value]:
    """One entry per field of a report that has something to say; the table's hash is the data version."""
    if not is_dataclass(report):
        raise TypeError(f"a stage reports a dataclass, not {type(report).__name__}")
    given = {field.name: getattr(report, field.name) for field in fields(report) if field.name != "table_hash"}
    others: Values = {}
    # What a model did, or would do, has entries of its own, as has what compilers' indexes say.
    if isinstance(report, LevelReport):
        others = asked_values(given.pop("asked"))
    elif isinstance(report, PlanReport):
        others = forecast_values(given.pop("forecast"))
    elif isinstance(report, ParseReport):
        others = compiled_values(given.pop("compiled"))
    elif isinstance(report, GraphReport):
        edges = report.calls + report.imports + report.inherits
        others = disagreement_values(given.pop("compiled"), edges=edges)
    found = {name: _value(value) for name, value in given.items()}
    return {name: value for name, value in found.items() if value is not None} | dict(others)


def _value(value: Any) -> Value | None:
    match value:
        case bool() | int() | float():
            return value
        case str():
            return _short(str(value))
        case Mapping() if value:
            return rows_of([_counts(name, counts) for name, counts in value.items()])
        case Sequence() if value:
            return rows_of([_row(item) for item in value[:MAX_ROWS]])
        case _ if is_dataclass(value):
            counts = {field.name: getattr(value, field.name) for field in fields(value)}
            return rows_of([_counts(name, count) for name, count in counts.items() if isinstance(count, int | float)])
    return None


def rows_of(rows: Sequence[Mapping[str, Any]]) -> PreviewRows:
    """A table of the first rows."""
    return PreviewRows(tuple(rows[:MAX_ROWS]))


def _counts(name: Any, counts: Any) -> dict[str, Any]:
    if isinstance(counts, Mapping):
        return {"name": str(name), **{str(column): _cell(count) for column, count in counts.items()}}
    return {"name": str(name), "count": _cell(counts)}


def _row(item: Any) -> dict[str, Any]:
    if is_dataclass(item):
        return {field.name: _cell(getattr(item, field.name)) for field in fields(item)}
    return {"name": _cell(item)}


def _cell(value: Any) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple | list):
        return _short(", ".join(str(part) for part in value))
    return _short("" if value is None else str(value))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
