"""How much of a run's caps is left for a level, and what earlier levels leave to later runs.

A document above one that is left to a later run waits: its text would be written, and paid, again then.
"""

from collections.abc import Mapping

import pyarrow.compute as pc

from codesum_pipeline.llm.ledger import Ledger
from codesum_pipeline.llm.writing_run import Caps
from codesum_pipeline.model.documents import LEVELS, Cause, Gate, Level, PlanAction, WrittenBy
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.choosing import last_by_model
from codesum_pipeline.summaries.by_model.contexts import NO_NEIGHBOURS, Contexts, changed_by
from codesum_pipeline.summaries.by_model.setup import ModelSetup
from codesum_pipeline.summaries.outline import DocumentTree


def above_what_is_left(workspace: Workspace, setup: ModelSetup, outline: DocumentTree, level: Level) -> set[str]:
    """The documents above one that a later run may write; the texts of all lower levels must be there."""
    found: set[str] = set()
    for below in LEVELS[: LEVELS.index(level)]:
        found |= outline.all_above(_left(workspace, setup, below))
    return found


def _left(workspace: Workspace, setup: ModelSetup, level: Level) -> set[str]:
    """The documents that the caps left to later runs: their row says so, or their model's text is out of date."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    tables = TableStore(workspace.tables.root)
    names = ["id", "gate", "failure", "written_by"]
    rows = tables.read_or_empty(texts_table(level), workspace.key, columns=names)
    left = set(rows.filter(pc.equal(rows.column("gate"), Gate.CAP.value)).column("id").to_pylist())
    wanted = _planned_calls(tables, workspace.key, level)
    if not wanted:
        return left
    is_older = pc.and_(pc.equal(rows.column("written_by"), WrittenBy.LLM.value), pc.is_null(rows.column("failure")))
    asked = wanted.keys() & set(rows.filter(is_older).column("id").to_pylist())
    last = last_by_model(workspace, level) if asked else {}
    contexts = Contexts(workspace)
    for id_ in asked & last.keys():
        text = last[id_]
        is_other = (text.writer, text.parameters) != (setup.writer(level), setup.parameters)
        is_other = is_other or text.model not in setup.models
        if not is_other and level is Level.FUNCTION and wanted[id_] in (Cause.GRAPH, None):
            then = text.written_with or NO_NEIGHBOURS
            is_other = bool(changed_by(then, contexts.of(id_), workspace.settings))
        if is_other:
            left.add(id_)
    return left


def _planned_calls(tables: TableStore, key: str, level: Level) -> Mapping[str, Cause | None]:
    """The documents for which the plan foresees a call, in this run or a later one, and why it is in this one."""
    columns = ["id", "level", "action", "cause", "gate", "predicted_input_tokens"]
    plan = tables.read("plan", key, columns=columns)
    is_call = pc.and_(pc.equal(plan.column("level"), level.value), pc.greater(plan.column("predicted_input_tokens"), 0))
    found = plan.filter(pc.and_(is_call, pc.not_equal(plan.column("action"), PlanAction.REMOVE.value)))
    rows = zip(*(found.column(name).to_pylist() for name in ("id", "cause", "gate")), strict=True)
    return {id_: Cause(cause) if cause else None for id_, cause, gate in rows if gate in (None, Gate.CAP)}


def read_plan(workspace: Workspace, level: Level) -> tuple[dict[str, Gate], dict[str, float], set[str]]:
    """Of a level's plan: the gates of stopped documents, the predicted price of each, and the documented ones."""
    plan = workspace.tables.read(
        "plan", workspace.key, columns=["id", "level", "gate", "predicted_usd", "is_documented"]
    )
    rows = plan.filter(pc.equal(plan.column("level"), level.value))
    ids, gates, prices, told = (rows.column(name).to_pylist() for name in ("id", *plan.column_names[2:]))
    stopped = {id_: Gate(gate) for id_, gate in zip(ids, gates, strict=True) if gate}
    documented = {id_ for id_, is_documented in zip(ids, told, strict=True) if is_documented}
    return stopped, dict(zip(ids, prices, strict=True)), documented


def caps_left(ledger: Ledger, workspace: Workspace) -> Caps:
    """What earlier levels and layers left of the run's caps."""
    llm = workspace.settings.llm
    most_usd = [cap for cap in (llm.max_cost_usd_per_run, workspace.usd_left) if cap is not None]
    return Caps(
        documents_left=max(0, llm.max_summaries_per_run - len(_asked(ledger, workspace))),
        usd_left=max(0.0, min(most_usd) - ledger.spent()) if most_usd else None,
    )


def rewrites_left(ledger: Ledger, workspace: Workspace) -> int:
    """How many more texts may be written again without being confirmed; every document with a call counts."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    documents = TableStore(workspace.tables.root).read_or_empty("documents", workspace.key, columns=["id"])
    most = int(workspace.settings.max_rewrite_fraction * documents.num_rows)
    return max(0, most - len(_asked(ledger, workspace)))


def _asked(ledger: Ledger, workspace: Workspace) -> set[str]:
    return {row.id for row in ledger.rows(workspace.run_id) if row.outcome is not AttemptOutcome.NOT_SENT}
