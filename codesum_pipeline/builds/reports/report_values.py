"""A stage's report as values.

A report's numbers stay numbers, which the UI plots over time; its counts become tables. Text goes into table cells and
text values alone, which the UI shows as they are; what a repository wrote never becomes a key or a heading.

Plots are drawn with block characters in Markdown: a picture would need a plotting library, whose import takes longer
than the build of a small repository.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from codesum_pipeline.builds.reports.build_values import Markdown, PreviewRows, Value
from codesum_pipeline.foundation.data_model.document import Gate
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.markdown import markdown_table
from codesum_pipeline.foundation.data_model.model_call import AvoidanceReason, CallTotals
from codesum_pipeline.graph.compiled_edges import Agreement, Disagreement
from codesum_pipeline.graph.graph_step import GraphReport
from codesum_pipeline.symbols.parsing.symbols_step import CompiledReport, ParseReport
from codesum_pipeline.texts.summaries.by_model.plan_prices import PlannedCalls
from codesum_pipeline.texts.summaries.by_model.predicted_prices import LevelCalls
from codesum_pipeline.texts.summaries.level_build import LevelReport
from codesum_pipeline.texts.summaries.rewrite_plan import PlanReport

# Metadata are stored with every materialisation, for ever.
MAX_ROWS = 20
MAX_CHARACTERS = 300
_MOST_EXAMPLES = 10
WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"
# A file of a language unknown to the graph is of one that no parser reads.
_NO_LANGUAGE = "other"
PREFIX = "model_"


def report_values(report: Struct) -> dict[str, Value]:
    """One entry per field of a report that has something to say; the table's hash is the data version."""
    fields = asdict(report)
    fields.pop("table_hash", None)
    others: dict[str, Value] = {}
    # A model's work, done or planned, has entries of its own, as have the findings of compilers' indexes.
    match report:
        case LevelReport():
            others = values_of_calls(fields.pop("asked"))
        case PlanReport():
            for name in ("forecast", "predicted_usd_with_cache", "next_build", "history"):
                del fields[name]
            others = forecast_values(report)
        case ParseReport():
            others = compiled_values(fields.pop("compiled"))
        case GraphReport():
            edges = report.calls + report.imports + report.inherits
            others = disagreement_values(fields.pop("compiled"), edges=edges)
    found = {name: _value(value) for name, value in fields.items()}
    return {name: value for name, value in found.items() if value is not None} | others


def _value(value: Any) -> Value | None:
    match value:
        case bool() | int() | float():
            return value
        case str():
            return _short(value)
        case Mapping() if value:
            return rows_of([_counts(name, counts) for name, counts in value.items()])
        case Sequence() if value:
            return rows_of_items(value)
        case Struct():
            counts = asdict(value).items()
            return rows_of([_counts(name, count) for name, count in counts if isinstance(count, int | float)])
    return None


def rows_of(rows: Sequence[Mapping[str, Any]]) -> PreviewRows:
    """A table of the first rows."""
    return PreviewRows(tuple(rows[:MAX_ROWS]))


def rows_of_items(items: Sequence[Any]) -> PreviewRows:
    """A table of the first items: the fields of each, or its name."""
    return rows_of([_row(item) for item in items[:MAX_ROWS]])


def _counts(name: Any, counts: Any) -> dict[str, Any]:
    columns = counts if isinstance(counts, Mapping) else {"count": counts}
    return {"name": str(name), **{str(column): _cell(count) for column, count in columns.items()}}


def _row(item: Any) -> dict[str, Any]:
    columns = asdict(item) if isinstance(item, Struct) else {"name": item}
    return {name: _cell(value) for name, value in columns.items()}


def _cell(value: Any) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple | list):
        return _short(", ".join(str(part) for part in value))
    return _short("" if value is None else str(value))


def _short(text: str) -> str:
    return str(text) if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def _number(value: float) -> int | float:
    return value if isinstance(value, int) else round(value, 6)


def index_values(indexes: Iterable[IndexFile]) -> dict[str, Value]:
    """The indexes that were found, in their order."""
    rows = [(one.origin, one.root or ".", f"{one.size:,}", one.problem or "taken in") for one in indexes]
    return {"scip_files": Markdown(markdown_table(["index", "of folder", "bytes", "state"], rows))} if rows else {}


def compiled_values(found: CompiledReport) -> dict[str, Value]:
    """How many files compilers' indexes cover, and which indexes are not used."""
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
    shown = {
        name: Markdown(markdown_table(heads, [*rows][:_MOST_EXAMPLES]))
        for name, (heads, rows) in tables.items()
        if rows
    }
    return {**values, **shown}


def disagreement_values(found: Disagreement, *, edges: int) -> dict[str, Value]:
    """How many of all `edges` are trusted, and where an index and the syntax say different things."""
    if not found.files:
        return {}
    languages = found.by_language()
    rows = []
    for language, counts in languages.items():
        share = f"{counts[Agreement.AGREE] / total:.1%}" if (total := counts.total()) else ""
        rows.append((language or _NO_LANGUAGE, *(f"{counts[verdict]:,}" for verdict in Agreement), share))
    causes = [
        (language or _NO_LANGUAGE, verdict, cause, f"{count:,}")
        for language, verdict, cause, count in found.lines
        if verdict != Agreement.AGREE
    ]
    every = {str(verdict): sum(counts[verdict] for counts in languages.values()) for verdict in Agreement}
    return {
        "index_files": found.files,
        "edges_trusted": found.trusted_edges,
        "edges_doubtful": found.doubtful_edges,
        "edges_of_syntax": edges - found.trusted_edges - found.doubtful_edges,
        "index_and_syntax": Markdown(markdown_table(["language", *Agreement, "of all, agree"], rows)),
        "index_and_syntax_plot": Markdown(draw_bars("calls, imports and bases", every)),
        "index_disagreements": Markdown(markdown_table(["language", "verdict", "cause", "count"], causes[:MAX_ROWS])),
    }


def values_of_calls(calls: LevelCalls | None) -> dict[str, Value]:
    """One entry per number; what a level did not have says nothing."""
    if calls is None:
        return {}
    fields = asdict(calls)
    numbers: dict[str, int | float] = {name: value for name, value in fields.items() if isinstance(value, int | float)}
    numbers["cached_share"] = numbers.pop("cached_tokens") / calls.input_tokens if calls.input_tokens else 0.0
    if calls.predicted_usd_with_cache:
        numbers["prediction_error"] = calls.cost_usd / calls.predicted_usd_with_cache - 1
    spared = [saving for cause, saving in calls.avoided.items() if cause is not AvoidanceReason.NOT_AVOIDED]
    numbers |= {f"avoided_{name}": value for name, value in to_builtins(sum(spared, CallTotals())).items()}
    found: dict[str, Value] = {PREFIX + name: _number(value) for name, value in numbers.items()}
    for name in ("failures", "gates", "secrets_masked"):
        if counts := fields[name]:
            found[PREFIX + name] = Markdown(markdown_table(["what", "count"], counts.items()))
    if calls.avoided:
        rows = [
            (cause.value, saving.calls, saving.input_tokens + saving.output_tokens, f"{saving.usd:.4f}")
            for cause, saving in calls.avoided.items()
        ]
        found[f"{PREFIX}avoided"] = Markdown(markdown_table(["cause", "calls", "tokens", "US dollars"], rows))
    if Gate.NO_CREDENTIALS in calls.gates:
        found[f"{PREFIX}no_credentials"] = calls.gates[Gate.NO_CREDENTIALS]
        found["skipped_reason"] = Gate.NO_CREDENTIALS.value
    return found


def forecast_values(plan: PlanReport) -> dict[str, Value]:
    """What a model would do, by level, and its price as numbers; nothing if none writes."""
    forecast = plan.forecast
    if not forecast:
        return {}
    wanted, stopped, waiting = (
        sum((getattr(one, what) for one in forecast.values()), PlannedCalls())
        for what in ("asked", "all_stopped", "waiting")
    )
    held = stopped - waiting
    prices = ["expected US dollars", "at most US dollars"]
    heads = [
        "level", "calls (above functions perhaps fewer)", "texts there already", "tokens read", "tokens written",
        *prices, "would summarize", *prices, *(["wait for trust", *prices] if waiting.calls else []), "stopped by",
    ]  # fmt: skip
    rows = [
        (
            level.value, one.asked.calls, one.found + one.kept, every.input_tokens, every.output_tokens,
            *_two_prices(one.asked), others.calls, *_two_prices(others),
            *((one.waiting.calls, *_two_prices(one.waiting)) if waiting.calls else ()),
            ", ".join(f"{saving.calls:,} {gate.value}" for gate, saving in sorted(one.stopped.items())),
        )
        for level, one in forecast.items()
        for every, others in [(one.asked + one.all_stopped, one.all_stopped - one.waiting)]
    ]  # fmt: skip
    numbers = {
        "predicted_calls": wanted.calls,
        "predicted_usd": wanted.predicted_usd,
        "predicted_usd_with_cache": plan.predicted_usd_with_cache or 0.0,
        "would_summarize": held.calls,
        "would_expected_usd": held.expected_usd,
        "would_at_most_usd": held.at_most_usd,
    }
    if plan.next_build:
        numbers |= {"expected_usd": plan.next_build.expected_usd, "at_most_usd": plan.next_build.at_most_usd}
    if waiting.calls:
        numbers["waiting_for_trust"] = waiting.calls
        numbers["waiting_for_trust_expected_usd"] = waiting.expected_usd
        numbers["waiting_for_trust_at_most_usd"] = waiting.at_most_usd
    texts = {"expected_from": plan.history.describe()} if plan.history else {}
    if plan.next_build and plan.next_build.bound_by:
        texts["at_most_by"] = plan.next_build.bound_by
    return {
        "forecast": Markdown(markdown_table(heads, rows)),
        **{name: _number(value) for name, value in numbers.items()},
        **texts,
    }


def _two_prices(calls: PlannedCalls) -> tuple[str, str]:
    return f"{calls.expected_usd:.4f}", f"{calls.at_most_usd:.4f}"


def draw_lines(name: str, series: Mapping[str, Sequence[float]]) -> str:
    """Values between 0 and 1, oldest first, as one row of columns for each series, with the last value."""
    rows = []
    for label, values in series.items():
        heights = (min(int(max(value, 0.0) * len(_HEIGHTS)), len(_HEIGHTS) - 1) for value in values)
        rows.append((label, "".join(_HEIGHTS[height] for height in heights), f"{values[-1]:.3f}"))
    return markdown_table([name, "0 to 1, oldest first", "last"], rows)


def draw_bars(name: str, counts: Mapping[str, int]) -> str:
    """A horizontal bar chart, largest first, with at least a sliver for anything that is there; `name` says what is
    counted."""
    most = max(counts.values(), default=0)
    rows = []
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        eighths = max(1, round(8 * WIDTH * count / most)) if count else 0
        rows.append((label, "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), f"{count:,}"))
    return markdown_table([name, "", "count"], rows)
