"""The avoided-work meter as a table: the calls to a model that builds avoided, and why."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import to_builtins

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import present, table
from codesum_pipeline.model.ledger import AvoidanceReason, AvoidedRow, CallTotals
from codesum_pipeline.store.tables import TableStore

_NUMBERS = ("calls", "tokens", "US dollars", "share")


def show_avoided(called: Invocation, keys: Sequence[str], since: str, *, as_json: bool) -> None:
    """The meters of these repositories' runs, or of all, from a day on, by cause; the share is of the dollars that
    writing everything anew in every run would have cost."""
    store = TableStore(called.layout.warehouse)
    known = store.repositories("avoided")
    for key in keys:
        if key not in known:
            called.registry.get(key)
    rows = [row for key in keys or known for row in store.read_rows_or_empty("avoided", key, AvoidedRow)]
    found = add_up(row for row in rows if row.noted_at >= since)
    everything = sum(found.values(), CallTotals())
    lines = [(cause.value, *_cells(saving, everything)) for cause, saving in found.items()]
    present(
        [{"cause": cause.value, **to_builtins(saving)} for cause, saving in found.items()],
        lambda: table(("cause", *_NUMBERS), [*lines, ("all", *_cells(everything, everything))], right=_NUMBERS),
        as_json=as_json,
        otherwise="no build with a model is on the books: `llm.enabled` lets builds keep them",
    )


def add_up(rows: Iterable[AvoidedRow]) -> dict[AvoidanceReason, CallTotals]:
    """By cause, in the order of the causes."""
    found: dict[AvoidanceReason, CallTotals] = {}
    for row in rows:
        saving = CallTotals(row.calls, row.input_tokens, row.output_tokens, row.usd)
        found[row.cause] = found.get(row.cause, CallTotals()) + saving
    return {cause: found[cause] for cause in AvoidanceReason if cause in found}


def avoided_line(found: Mapping[AvoidanceReason, CallTotals]) -> str:
    """What was not asked for, and why, in one line."""
    spared = {cause: saving for cause, saving in found.items() if cause is not AvoidanceReason.ASKED}
    saving = sum(spared.values(), CallTotals())
    causes = ", ".join(f"{each.calls:,} {cause.value}" for cause, each in spared.items())
    tokens = saving.input_tokens + saving.output_tokens
    return f"avoided: {saving.calls:,} calls, about {tokens:,} tokens, ${saving.usd:,.4f} ({causes})"


def _cells(saving: CallTotals, everything: CallTotals) -> tuple[object, ...]:
    share = saving.usd / everything.usd if everything.usd else saving.calls / everything.calls
    return saving.calls, saving.input_tokens + saving.output_tokens, f"{saving.usd:.4f}", f"{share:.1%}"
