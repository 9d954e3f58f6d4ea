"""A stage's report as values.

A report's numbers stay numbers, which the UI plots over time; its counts
become tables. Text goes into table cells and text values alone, which the UI
shows as they are; what a repository wrote never becomes a key or a heading.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import fields

from codesum_pipeline.defs.building.plots import bars
from codesum_pipeline.defs.building.values import Markdown, PreviewRows, Value, Values
from codesum_pipeline.graph.build import GraphReport
from codesum_pipeline.graph.compiled.edges import Disagreement
from codesum_pipeline.graph.compiled.merging import Agreement
from codesum_pipeline.model.documents import Gate, Level
from codesum_pipeline.model.ledger import AvoidanceReason, CallTotals
from codesum_pipeline.model.markdown import table
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.parsing.symbols import CompiledReport, ParseReport
from codesum_pipeline.summaries.by_model.meter import LevelCalls
from codesum_pipeline.summaries.by_model.planning import LevelForecast
from codesum_pipeline.summaries.level_build import LevelReport
from codesum_pipeline.summaries.plan import PlanReport

_MOST_CAUSES = 20
_MOST_EXAMPLES = 10
# What the graph does not know the language of is in one that no parser reads.
_NO_LANGUAGE = "other"


def index_values(indexes: Iterable[IndexFile]) -> dict[str, Value]:
    """The indexes that were found, in their order."""
    rows = [(one.origin, one.root or ".", f"{one.size:,}", one.problem or "taken in") for one in indexes]
    return {"scip_files": Markdown(table(["index", "of folder", "bytes", "state"], rows))} if rows else {}


def compiled_values(found: CompiledReport) -> dict[str, Value]:
    """Of how many files indexes tell, and what of them does not count."""
    if not (found.counting or found.stale or found.problems):
        return {}
    values: dict[str, Value] = {
        "index_files": found.counting,
        "index_files_stale": found.stale,
        "index_files_misspelled": found.misnamed,
    }
    tables = {
        "index_tools": (["written by", "files"], found.by_tool.items()),
        "index_stale_examples": (["file of another text", "why its document does not count"], found.ignored),
        "index_problems": (["index", "problem"], found.problems),
    }
    for name, (heads, rows) in tables.items():
        if rows:
            values[name] = Markdown(table(heads, [*rows][:_MOST_EXAMPLES]))
    return values


def disagreement_values(found: Disagreement, *, edges: int) -> dict[str, Value]:
    """How many of all `edges` are trusted, and where an index and the syntax say different things."""
    if not found.files:
        return {}
    by_index = found.trusted_edges + found.doubtful_edges
    languages = found.by_language()
    rows = [
        (
            language or _NO_LANGUAGE,
            *(f"{counts[verdict]:,}" for verdict in Agreement),
            _share(counts[Agreement.AGREE], counts),
        )
        for language, counts in languages.items()
    ]
    causes = [line for line in found.lines if line[1] != Agreement.AGREE][:_MOST_CAUSES]
    every = {str(verdict): sum(counts[verdict] for counts in languages.values()) for verdict in Agreement}
    return {
        "index_files": found.files,
        "edges_trusted": found.trusted_edges,
        "edges_doubtful": found.doubtful_edges,
        "edges_of_syntax": edges - by_index,
        "index_and_syntax": Markdown(table(["language", *Agreement, "of all, agree"], rows)),
        "index_and_syntax_plot": Markdown(bars("calls, imports and bases", every)),
        "index_disagreements": Markdown(
            table(
                ["language", "verdict", "cause", "count"],
                [
                    (language or _NO_LANGUAGE, verdict, cause, f"{count:,}")
                    for language, verdict, cause, count in causes
                ],
            )
        ),
    }


def _share(agreeing: int, counts: dict[str, int]) -> str:
    total = sum(counts.values())
    return f"{agreeing / total:.1%}" if total else ""


PREFIX = "model_"
_NUMBERS = (
    "texts", "found", "pending", "attempts", "input_tokens", "output_tokens", "cost_usd", "predicted_usd",
    "predicted_usd_with_cache", "latency_p50_s", "latency_p95_s",
)  # fmt: skip


def asked_values(asked: LevelCalls | None) -> dict[str, Value]:
    """One entry per number; what a level did not have says nothing."""
    if asked is None:
        return {}
    numbers: dict[str, int | float] = {name: getattr(asked, name) for name in _NUMBERS}
    numbers["cached_share"] = asked.cached_tokens / asked.input_tokens if asked.input_tokens else 0.0
    if asked.predicted_usd_with_cache:
        numbers["prediction_error"] = asked.cost_usd / asked.predicted_usd_with_cache - 1
    spared = [saving for cause, saving in asked.avoided.items() if cause is not AvoidanceReason.ASKED]
    avoided = sum(spared, CallTotals())
    numbers |= {f"avoided_{name}": value for name, value in to_builtins(avoided).items()}
    found: dict[str, Value] = {PREFIX + name: _number(value) for name, value in numbers.items()}
    counts: dict[str, Mapping[str, int]] = {
        "failures": asked.failures,
        "gates": {gate.value: count for gate, count in asked.gates.items()},
        "secrets_masked": asked.secrets_masked,
    }
    for name, count in counts.items():
        if count:
            found[PREFIX + name] = Markdown(table(["what", "count"], count.items()))
    if asked.avoided:
        found[PREFIX + "avoided"] = Markdown(_avoided(asked.avoided))
    if Gate.NO_CREDENTIALS in asked.gates:
        found[PREFIX + "no_credentials"] = _number(asked.gates[Gate.NO_CREDENTIALS])
        found["skipped_reason"] = Gate.NO_CREDENTIALS.value
    return found


def forecast_values(forecast: Mapping[Level, LevelForecast]) -> dict[str, Value]:
    """What a model would do, by level, and its price as numbers; nothing where none writes."""
    if not forecast:
        return {}
    levels = forecast.values()
    has_waiting = any(one.waiting.calls for one in levels)
    waiting: dict[str, Value] = {
        "waiting_for_trust": sum(one.waiting.calls for one in levels),
        "waiting_for_trust_usd": _number(sum(one.waiting.usd for one in levels)),
    }
    heads = [
        "level", "calls (above functions at most)", "texts there already", "tokens read", "tokens written",
        "US dollars", "would summarize", "of US dollars",
        *(["wait for trust", "of US dollars"] if has_waiting else []), "stopped by",
    ]  # fmt: skip
    rows = [
        (
            level.value, one.asked.calls, one.kept_texts, every.input_tokens, every.output_tokens,
            f"{one.asked.usd:.4f}", one.stopped.calls, f"{one.stopped.usd:.4f}",
            *((one.waiting.calls, f"{one.waiting.usd:.4f}") if has_waiting else ()),
            ", ".join(f"{count:,} {gate.value}" for gate, count in one.gates.items()),
        )
        for level, one in forecast.items()
        for every in [one.asked + one.stopped + one.waiting]
    ]  # fmt: skip
    return {
        "forecast": Markdown(table(heads, rows)),
        "predicted_calls": _number(sum(one.asked.calls for one in levels)),
        "predicted_usd": _number(sum(one.asked.usd for one in levels)),
        "predicted_usd_with_cache": _number(sum(one.usd_with_cache for one in levels)),
        "would_summarize": _number(sum(one.stopped.calls for one in levels)),
        "would_usd": _number(sum(one.stopped.usd for one in levels)),
        **(waiting if has_waiting else {}),
    }


def _avoided(found: Mapping[AvoidanceReason, CallTotals]) -> str:
    rows = [
        (cause.value, saving.calls, saving.input_tokens + saving.output_tokens, f"{saving.usd:.4f}")
        for cause, saving in found.items()
    ]
    return table(["cause", "calls", "tokens", "US dollars"], rows)


def _number(value: float) -> int | float:
    return value if isinstance(value, int) else round(value, 6)


# Metadata are stored with every materialisation, for ever.
MAX_ROWS = 20
MAX_CHARACTERS = 300


def report_values(report: object) -> dict[str, Value]:
    """One entry per field of a report that has something to say; the table's hash is the data version."""
    if not isinstance(report, Struct):
        raise TypeError(f"a stage reports a struct, not {type(report).__name__}")
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
        case Struct():
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
    if isinstance(item, Struct):
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
