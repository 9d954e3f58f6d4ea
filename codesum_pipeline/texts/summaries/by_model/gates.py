"""What stops a model from writing a text: the first gate that is shut, in one order; and what each gate looks at.

Of the caps: what is left for a level, and what earlier levels leave to later runs. A document above one that is left to
a later run waits: its text would be written, and paid, again then.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Set

import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Cause, Gate, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import Trust
from codesum_pipeline.foundation.store.rows import tuples_of
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.trust import OF_TRUST, is_trusted
from codesum_pipeline.symbols.parsing.testing import read_tests
from codesum_pipeline.texts.llm.ledger import Caps, Ledger
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup, read_last_by_model
from codesum_pipeline.texts.summaries.by_model.plan_prices import PlannedCalls, PlanPricing
from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts, find_context_changes
from codesum_pipeline.texts.summaries.outline import DocumentTree, module_layers


def gate_of(
    *,
    is_offline: bool,
    is_trusted: bool,
    is_left_out_test: bool,
    is_left_to_author: bool,
    has_text: bool,
    is_within_cap: bool,
    is_confirmed: bool,
) -> Gate | None:
    """The first gate that is shut for one document; None: a model writes the text, or wrote it.

    `has_text`: a text is kept or recorded, so no call is needed; only trust holds it back. A document that is left out
    has no kept text; a recording may hold one all the same.
    """
    is_call = not has_text
    shut = (
        (Gate.OFFLINE, is_call and is_offline),
        (Gate.TRUST, not is_trusted),
        (Gate.TESTS, is_left_out_test),
        (Gate.DOCUMENTED, is_left_to_author),
        (Gate.CAP, is_call and not is_within_cap),
        (Gate.CONFIRM, is_call and not is_confirmed),
    )
    return next((gate for gate, is_shut in shut if is_shut), None)


class CallCandidate(Struct, frozen=True):
    """A document that needs a call: its importance, its price, and whether it has a text already.

    `above` are the documents that hold it, nearest first, and `layer` is lower than theirs. With `if_below` it is
    written again only where something in it is.
    """

    id: Hashable
    importance: float
    is_new: bool
    predicted_usd: float
    above: tuple[Hashable, ...] = ()
    if_below: bool = False
    layer: tuple[int, int] = (0, 0)
    is_documented: bool = False


def choose_within_caps(callers: Iterable[CallCandidate], *, most: int, most_usd: float | None) -> set[Hashable]:
    """The documents that fit the caps, taken in order; one that is too expensive is skipped for cheaper ones.

    A document waits while something in it is left to a later run: its text would be written, and paid, again then.
    """
    chosen: set[Hashable] = set()
    waiting: set[Hashable] = set()
    spent = 0.0
    for caller in sort_candidates(callers):
        has_room = len(chosen) < most and (most_usd is None or spent + caller.predicted_usd <= most_usd)
        if has_room and caller.id not in waiting:
            spent += caller.predicted_usd
            chosen.add(caller.id)
        else:
            waiting.update(caller.above)
    return chosen


CallOrder = tuple[bool, float, bool, str]


def call_order(id_: str, is_documented: bool, importance: float, *, is_new: bool) -> CallOrder:
    """The place of a document in its layer: what nobody documented first, then the most important, changed before new,
    and by id."""
    return is_documented, -importance, is_new, id_


def sort_candidates(callers: Iterable[CallCandidate]) -> list[CallCandidate]:
    """The order in which the model is called for documents, from the bottom up."""

    def place(one: CallCandidate) -> tuple[tuple[int, int], CallOrder]:
        return one.layer, call_order(str(one.id), one.is_documented, one.importance, is_new=one.is_new)

    return sorted(callers, key=place)


def needs_confirmation(chosen: Iterable[CallCandidate], existing: int, most: float) -> bool:
    """Whether a model is about to write more than this share of the `existing` texts again.

    Its own texts count, for what was paid for would be paid for again; not the
    first text of a document, which the caps let through, and not what is only
    written along with something in it.
    """
    rewritten = sum(not caller.is_new and not caller.if_below for caller in chosen)
    return rewritten > most * existing


def importance_of(workspace: Workspace, outline: DocumentTree) -> Mapping[str, float]:
    """PageRank of functions; of classes, files and folders that of their members together."""
    table = workspace.tables.read_or_empty("graph_stats", workspace.key, columns=["id", "pagerank"])
    ranks: dict[str, float] = dict(tuples_of(table, ("id", "pagerank")))
    worth: dict[str, float] = {}
    for id_ in outline.parents:
        if outline.children.get(id_):
            continue
        for holder in (id_, *outline.above(id_)):
            worth[holder] = worth.get(holder, 0.0) + ranks.get(id_, 0.0)
    return worth


class TrustCount(Struct, frozen=True):
    """How many of the documents that a model may write pass the gate, and what the others would cost."""

    edges: int
    passing: int
    waiting: PlannedCalls


def count_trust(tables: TableStore, key: str, settings: Settings) -> TrustCount | None:
    """The effect of `Trust.SCIP` in a built repository; None if no model writes, or trust is off."""
    if not settings.llm.enabled or settings.llm.trust is Trust.OFF:
        return None
    edges = tables.read_or_empty("edges", key, columns=list(OF_TRUST))
    gates = tables.read_or_empty("documents", key, columns=["gate"]).column("gate").to_pylist()
    waiting = [row for row in tables.read_rows_or_empty("plan", key, PlanRow) if row.gate is Gate.TRUST]
    pricing = PlanPricing.of(tables, key, settings)
    return TrustCount(
        edges=pc.sum(is_trusted(edges)).as_py() or 0,
        passing=sum(gate not in (Gate.PLACEHOLDER, Gate.UNNAMED, Gate.TRUST) for gate in gates),
        waiting=sum(map(pricing.of_row, waiting), PlannedCalls()),
    )


def trusted_ids(workspace: Workspace, outline: DocumentTree) -> Collection[str] | None:
    """The symbols at an edge of a SCIP index, and all that holds one of them; None: everything."""
    if workspace.settings.llm.trust is Trust.OFF:
        return None
    edges = workspace.tables.read("edges", workspace.key, columns=["src_id", "dst", *OF_TRUST])
    sure = edges.filter(is_trusted(edges))
    found = {*sure.column("src_id").to_pylist(), *sure.column("dst").to_pylist()} & outline.parents.keys()
    return found | outline.all_above(found)


def tests_of(workspace: Workspace, outline: DocumentTree) -> Set[str]:
    """The files and single definitions of test code, and the folders of nothing else."""
    found = {*read_tests(workspace.tables, workspace.key)}
    for folder in (path for layer in module_layers(outline) for path in layer):
        if all(child.id in found for child in outline.children[folder]):
            found.add(folder)
    return found


def documents_above_unwritten(workspace: Workspace, setup: ModelSetup, outline: DocumentTree, level: Level) -> set[str]:
    """The documents above one that a later run may write; the texts of all lower levels must be there."""
    found: set[str] = set()
    for below in LEVELS[: LEVELS.index(level)]:
        found |= outline.all_above(_left_to_later_runs(workspace, setup, below))
    return found


def _left_to_later_runs(workspace: Workspace, setup: ModelSetup, level: Level) -> set[str]:
    """The documents that the caps left to later runs: their row says so, or their model's text is out of date."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    tables = workspace.tables.without_base()
    names = ["id", "gate", "failure", "written_by"]
    rows = tables.read_or_empty(texts_table(level), workspace.key, columns=names)
    ids = set(rows.filter(pc.equal(rows.column("gate"), Gate.CAP.value)).column("id").to_pylist())
    planned = _planned_calls(tables, workspace.key, level)
    if not planned:
        return ids
    is_older = pc.and_(pc.equal(rows.column("written_by"), WrittenBy.LLM.value), pc.is_null(rows.column("failure")))
    with_older_text = planned.keys() & set(rows.filter(is_older).column("id").to_pylist())
    last = read_last_by_model(workspace, level) if with_older_text else {}
    contexts = Contexts(workspace)
    for id_ in with_older_text & last.keys():
        text = last[id_]
        is_other = not setup.is_of_now(level, text)
        if not is_other and level is Level.FUNCTION and planned[id_] in (Cause.GRAPH, None):
            is_other = bool(find_context_changes(text.written_with, contexts.of(id_), workspace.settings))
        if is_other:
            ids.add(id_)
    return ids


def _planned_calls(tables: TableStore, key: str, level: Level) -> Mapping[str, Cause | None]:
    """The documents for which the plan foresees a call, in this run or a later one, and why it is in this one."""
    columns = ["id", "level", "action", "cause", "gate", "predicted_input_tokens"]
    plan = tables.read("plan", key, columns=columns)
    is_call = pc.and_(pc.equal(plan.column("level"), level.value), pc.greater(plan.column("predicted_input_tokens"), 0))
    found = plan.filter(pc.and_(is_call, pc.not_equal(plan.column("action"), PlanAction.REMOVE.value)))
    rows = tuples_of(found, ("id", "cause", "gate"))
    return {id_: Cause(cause) if cause else None for id_, cause, gate in rows if gate in (None, Gate.CAP)}


def read_plan(workspace: Workspace, level: Level) -> tuple[dict[str, Gate], dict[str, float], set[str]]:
    """From a level's plan: the gates of stopped documents, the predicted price of each, and the documented ones."""
    plan = workspace.tables.read(
        "plan", workspace.key, columns=["id", "level", "gate", "predicted_usd", "is_documented"]
    )
    rows = plan.filter(pc.equal(plan.column("level"), level.value))
    ids, gates, prices, flags = (rows.column(name).to_pylist() for name in ("id", *plan.column_names[2:]))
    stopped = {id_: Gate(gate) for id_, gate in zip(ids, gates, strict=True) if gate}
    documented = {id_ for id_, is_documented in zip(ids, flags, strict=True) if is_documented}
    return stopped, dict(zip(ids, prices, strict=True)), documented


def caps_left(ledger: Ledger, workspace: Workspace) -> Caps:
    """What earlier levels and layers left of the run's caps."""
    llm = workspace.settings.llm
    most_usd = [cap for cap in (llm.max_cost_usd_per_run, workspace.usd_left) if cap is not None]
    return Caps(
        documents_left=max(0, llm.max_summaries_per_run - len(_called_documents(ledger, workspace))),
        usd_left=max(0.0, min(most_usd) - ledger.spent()) if most_usd else None,
    )


def rewrites_left(ledger: Ledger, workspace: Workspace) -> int:
    """How many more texts may be written again without being confirmed; every document with a call counts."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    documents = workspace.tables.without_base().read_or_empty("documents", workspace.key, columns=["id"])
    most = int(workspace.settings.max_rewrite_fraction * documents.num_rows)
    return max(0, most - len(_called_documents(ledger, workspace)))


def _called_documents(ledger: Ledger, workspace: Workspace) -> set[str]:
    return {row.id for row in ledger.rows(workspace.run_id) if row.outcome is not AttemptOutcome.NOT_SENT}
