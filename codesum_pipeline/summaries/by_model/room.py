"""How much of a run's allowance is left for a level, and for which documents."""

import pyarrow.compute as pc

from codesum_pipeline.llm.ledger import Ledger
from codesum_pipeline.llm.outcomes import Caps
from codesum_pipeline.model.documents import Gate, Level
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace


def read_plan(workspace: Workspace, level: Level) -> tuple[dict[str, Gate], dict[str, float], set[str]]:
    """By the plan what stops a model at documents of a level, what it predicts of each, and which are documented."""
    plan = workspace.tables.read(
        "plan", workspace.key, columns=["id", "level", "gate", "predicted_usd", "is_documented"]
    )
    rows = plan.filter(pc.equal(plan.column("level"), level.value))
    ids, gates, prices, told = (rows.column(name).to_pylist() for name in ("id", *plan.column_names[2:]))
    stopped = {id_: Gate(gate) for id_, gate in zip(ids, gates, strict=True) if gate}
    documented = {id_ for id_, is_documented in zip(ids, told, strict=True) if is_documented}
    return stopped, dict(zip(ids, prices, strict=True)), documented


def caps_left(ledger: Ledger, workspace: Workspace) -> Caps:
    """What the levels and layers before left of the run's caps."""
    options = workspace.options.llm
    most_usd = [cap for cap in (options.max_cost_usd_per_run, workspace.usd_left) if cap is not None]
    return Caps(
        documents_left=max(0, options.max_summaries_per_run - len(_asked(ledger, workspace))),
        usd_left=max(0.0, min(most_usd) - ledger.spent()) if most_usd else None,
    )


def rewrites_left(ledger: Ledger, workspace: Workspace) -> int:
    """How many more texts may be written again before somebody has to confirm that; all that was asked for counts."""
    # Apart from what the step notes as read: no text is made from this.
    documents = TableStore(workspace.tables.root).read_or_empty("documents", workspace.key, columns=["id"])
    most = int(workspace.options.llm.max_rewrite_fraction * documents.num_rows)
    return max(0, most - len(_asked(ledger, workspace)))


def _asked(ledger: Ledger, workspace: Workspace) -> set[str]:
    return {row.id for row in ledger.rows(workspace.run_id) if row.outcome is not AttemptOutcome.NOT_SENT}
