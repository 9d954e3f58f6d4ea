"""What a build asked of a model: spent against predicted, what is left and why, and what did not have to be asked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from codesum_pipeline.cli.avoided import add_up, avoided_line
from codesum_pipeline.cli.render import count
from codesum_pipeline.llm.totals import Totals, total
from codesum_pipeline.model.documents import Gate, Level
from codesum_pipeline.model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.model.ledger import AvoidanceReason, AvoidedRow, CallTotals, LedgerRow
from codesum_pipeline.summaries.by_model.gates import count_trust
from codesum_pipeline.summaries.by_model.prices import held_back
from codesum_pipeline.wiring import Home

if TYPE_CHECKING:
    from codesum_pipeline.defs.building.values import RunOutcome


def model_lines(home: Home, outcome: "RunOutcome") -> Iterator[str]:
    """For a person; nothing where no model writes."""
    if not home.settings.llm.enabled:
        return
    spent, gates = _spent(home, outcome), stopped_by(home, outcome.key)
    predicted, found, pending = (_sum(outcome, name) for name in ("predicted_usd", "found", "pending"))
    with_cache = _sum(outcome, "predicted_usd_with_cache")
    cached = "" if with_cache == predicted else f", ${with_cache:,.4f} with the provider's prompt cache"
    yield (
        f"{home.settings.llm.model}: {count(spent.texts, 'text')} in {count(spent.calls, 'call')}, {found:,.0f} found, "
        f"${spent.cost_usd:,.4f} spent (${predicted:,.4f} predicted{cached}), {pending:,.0f} left for the next run"
    )
    if trust := count_trust(home.tables, outcome.key, home.settings):
        waiting = trust.waiting
        yield (
            f"llm.trust = 'scip': {count(trust.passing, 'document')} pass (${predicted:,.4f} predicted), "
            f"{waiting.calls:,} wait (${waiting.usd:,.4f})"
        )
    if gates:
        yield f"texts that are not the model's: {_counted(gates)}"
    if spent.failures:
        yield f"calls without a text: {_counted(dict(spent.failures))}"
    if avoided := run_avoided(home, outcome.key, outcome.run_id):
        yield avoided_line(avoided)


def model_warnings(home: Home, outcome: "RunOutcome") -> Iterator[str]:
    """What somebody has to do before a model writes, and what need not be paid for."""
    if not home.settings.llm.enabled:
        return
    if held := held_back(home.tables, outcome.key, home.settings):
        yield held
    trust = count_trust(home.tables, outcome.key, home.settings)
    if trust and not trust.edges:
        yield (
            f"llm.trust = 'scip' lets no document pass: no edge is confirmed by a compiler's index; "
            f"`codesum doctor {outcome.key}` says why"
        )
    if outcome.numbers.get("retrieval_evaluation", {}).get("model_texts_cost_usd"):
        from codesum_pipeline.evaluation.lift import savings
        from codesum_pipeline.evaluation.records import last_lift

        yield from savings(last_lift(home.workspace(outcome.key, run_id=outcome.run_id)))


def shut_out(home: Home, outcomes: "Sequence[RunOutcome]") -> str | None:
    """One line for all repositories of which texts were not asked for, for want of a key that is taken."""
    skipped = [outcome for outcome in outcomes if home.settings.llm.enabled and _is_skipped(outcome)]
    if not skipped:
        return None
    keys = [outcome.key for outcome in skipped]
    said = next((row.error for row in _rows(home, skipped[0]) if row.failure == CallFailure.CREDENTIALS), None)
    why = (said or home.settings.llm.model).removeprefix(f"{SummaryCallFailed.discriminator}: ")
    return (
        f"{', '.join(keys)}: skipped_reason: {Gate.NO_CREDENTIALS.value}: {why}; "
        f"`codesum index {' '.join(keys)}` then goes on"
    )


def model_report(home: Home, outcome: "RunOutcome") -> dict[str, Any] | None:
    """For programs; None where no model writes."""
    if not home.settings.llm.enabled:
        return None
    spent = _spent(home, outcome)
    avoided = run_avoided(home, outcome.key, outcome.run_id)
    trust = count_trust(home.tables, outcome.key, home.settings)
    return {
        "model": home.settings.llm.model,
        "texts": spent.texts,
        "calls": spent.calls,
        "found": int(_sum(outcome, "found")),
        "pending": int(_sum(outcome, "pending")),
        "cost_usd": spent.cost_usd,
        "predicted_usd": _sum(outcome, "predicted_usd"),
        "predicted_usd_with_cache": _sum(outcome, "predicted_usd_with_cache"),
        "gates": stopped_by(home, outcome.key),
        "trust": trust and {"edges": trust.edges, "passing": trust.passing, "waiting": to_builtins(trust.waiting)},
        "failures": dict(spent.failures),
        "avoided": {cause.value: saving.calls for cause, saving in avoided.items()},
        "skipped_reason": Gate.NO_CREDENTIALS.value if _is_skipped(outcome) else None,
        "warnings": [*model_warnings(home, outcome), *filter(None, [shut_out(home, [outcome])])],
    }


def stopped_by(home: Home, key: str) -> dict[str, int]:
    """How many texts are not a model's, by what stopped it."""
    gates = home.tables.read_or_empty("documents", key, columns=["gate"]).column("gate").to_pylist()
    return dict(sorted(Counter(gate for gate in gates if gate is not None).items()))


def run_avoided(home: Home, key: str, run_id: str) -> dict[AvoidanceReason, CallTotals]:
    """A run's meter, all levels together."""
    rows = home.tables.read_rows_or_empty("avoided", key, AvoidedRow)
    return add_up(row for row in rows if row.run_id == run_id)


def _spent(home: Home, outcome: "RunOutcome") -> Totals:
    return total(_rows(home, outcome))


def _rows(home: Home, outcome: "RunOutcome") -> list[LedgerRow]:
    rows = home.tables.read_rows_or_empty("ledger", outcome.key, LedgerRow)
    return [row for row in rows if row.run_id == outcome.run_id]


def _is_skipped(outcome: "RunOutcome") -> bool:
    """Whether the run would have asked for more, had it been let in."""
    return _sum(outcome, "no_credentials") > 0


def _sum(outcome: "RunOutcome", name: str) -> float:
    """A number of the levels, added up; a step that the run did not reach has none."""
    steps = [outcome.numbers.get(f"{level}_summaries", {}) for level in Level]
    return sum(step.get(f"model_{name}", 0) for step in steps)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())
