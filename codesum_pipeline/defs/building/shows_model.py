"""What a level asked of a model, as values: numbers, which the UI plots over time, and tables of counts."""

from collections.abc import Mapping
from dataclasses import asdict

from codesum_pipeline.defs.building.values import Markdown, Value
from codesum_pipeline.model.avoided import AvoidanceReason, Saving
from codesum_pipeline.model.documents import Gate, Level
from codesum_pipeline.model.markdown import table
from codesum_pipeline.summaries.by_model.meter import LevelCalls
from codesum_pipeline.summaries.by_model.planning import LevelForecast

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
    avoided = sum(spared, Saving())
    numbers |= {f"avoided_{name}": value for name, value in asdict(avoided).items()}
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
    has_waiting = any(one.waiting for one in levels)
    waiting: dict[str, Value] = {
        "waiting_for_trust": sum(one.waiting for one in levels),
        "waiting_for_trust_usd": _number(sum(one.waiting_usd for one in levels)),
    }
    heads = [
        "level", "calls (above functions at most)", "texts there already", "tokens read", "tokens written",
        "US dollars", "would summarize", "of US dollars",
        *(["wait for trust", "of US dollars"] if has_waiting else []), "stopped by",
    ]  # fmt: skip
    rows = [
        (
            level.value, one.calls, one.kept_texts, one.input_tokens, one.output_tokens, f"{one.usd:.4f}",
            one.would_summarize, f"{one.would_usd:.4f}",
            *((one.waiting, f"{one.waiting_usd:.4f}") if has_waiting else ()),
            ", ".join(f"{count:,} {gate.value}" for gate, count in one.gates.items()),
        )
        for level, one in forecast.items()
    ]  # fmt: skip
    return {
        "forecast": Markdown(table(heads, rows)),
        "predicted_calls": _number(sum(one.calls for one in levels)),
        "predicted_usd": _number(sum(one.usd for one in levels)),
        "predicted_usd_with_cache": _number(sum(one.usd_with_cache for one in levels)),
        "would_summarize": _number(sum(one.would_summarize for one in levels)),
        "would_usd": _number(sum(one.would_usd for one in levels)),
        **(waiting if has_waiting else {}),
    }


def _avoided(found: Mapping[AvoidanceReason, Saving]) -> str:
    rows = [
        (cause.value, saving.calls, saving.input_tokens + saving.output_tokens, f"{saving.usd:.4f}")
        for cause, saving in found.items()
    ]
    return table(["cause", "calls", "tokens", "US dollars"], rows)


def _number(value: float) -> int | float:
    return value if isinstance(value, int) else round(value, 6)
