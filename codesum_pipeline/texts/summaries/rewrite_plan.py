"""What the next steps will write, and why, before anything is written.

At the function level the plan is exact, and where a model writes,
`function_summaries` carries it out. Above it the plan is an upper bound: whether a class, file or module is
written is known once its children's texts are, so one with a changed
descendant is `maybe`.

Of a document that stays as it is there is nothing to say, and the table has no row.
Where a model writes it has one for each document, for its gate and its price.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    ModuleInput,
    TextFileInput,
    metadata_of,
)
from codesum_pipeline.foundation.data_model.document import LEVELS, Cause, Gate, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.graph_step import build_call_graph
from codesum_pipeline.source.files.snapshot import SnapshotReport
from codesum_pipeline.source.git.mirror import make_scratch
from codesum_pipeline.symbols.parsing.symbols_step import ParseReport, parse_symbols
from codesum_pipeline.symbols.scip.taking import lend_indexes, snapshot_with_indexes
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup
from codesum_pipeline.texts.summaries.by_model.measured_costs import CostHistory
from codesum_pipeline.texts.summaries.by_model.model_plan import Decision, ModelPlanner
from codesum_pipeline.texts.summaries.by_model.plan_prices import (
    NextBuild,
    PlanPrice,
    PlanPricing,
    price_levels,
    price_next_build,
    spared_by_cache,
)
from codesum_pipeline.texts.summaries.by_model.prompting import model_metadata
from codesum_pipeline.texts.summaries.decide import LastTexts, RequiredDocument, Rewrite, kind_of_writer
from codesum_pipeline.texts.summaries.function_texts import (
    choose_writers,
    shown_functions,
    want_functions,
)
from codesum_pipeline.texts.summaries.outline import DocumentTree, head_layers, read_outline, text_files
from codesum_pipeline.texts.summaries.placeholders import is_empty
from codesum_pipeline.texts.summaries.text_changes import changed_files
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER, want_unless_it_fails

_NO_MODEL = Decision(None)
_OF_KEPT = ["id", "writer", "summary_hash"]
# Causes for which a text is written again only where a model may be called.
_TURNS = (Cause.UPGRADED, Cause.PROMPT, Cause.MODEL)


class PlanReport(Struct, frozen=True):
    """How many documents there are by level and action, and by cause how many functions are written.

    `forecast` is what a model would do at each level, `predicted_usd_with_cache` the price of one call for each text
    with the provider's prompt cache, `next_build` what a build of the plan spends, and `history` what its expected
    prices are measured on; empty and None if none writes.
    """

    rows: int
    by_action: Mapping[Level, Mapping[PlanAction, int]]
    by_cause: Mapping[Cause, int]
    contexts_changed: int
    table_hash: str
    forecast: Mapping[Level, PlanPrice]
    predicted_usd_with_cache: float | None = None
    next_build: NextBuild | None = None
    history: CostHistory | None = None


class PlanPreview(Struct, frozen=True):
    """The plan of a build that was not run, with the reports of the steps before it."""

    rows: tuple[PlanRow, ...]
    snapshot: SnapshotReport
    parsing: ParseReport
    plan: PlanReport


def plan_summaries(workspace: Workspace, *, progress: Progress = no_progress) -> PlanReport:
    """Compare the snapshot with the last build's texts and write the `plan` table.

    Where a model writes it is planned twice: the caps are shared out once all calls for it are known.
    """
    setup = ModelSetup.of(workspace)
    rows, kept = _plan(workspace, setup, progress)
    return _write(workspace, rows, kept, setup)


def _plan(
    workspace: Workspace, setup: ModelSetup | None, progress: Progress
) -> tuple[list[PlanRow], Mapping[Level, int]]:
    """The rows of documents that are looked at or have another context, and how many others are kept."""
    files = {level: changed_files(workspace, level) for level in LEVELS}
    of_texts = [files[level] for level in LEVELS if level is not Level.MODULE]
    outline = read_outline(workspace, None if None in of_texts else {path for some in of_texts for path in some or ()})
    model = ModelPlanner(workspace, setup, outline) if setup else None
    if model:
        first = _Planner(workspace, outline, model, files)
        first.plan()
        model.share_out_caps(first.existing())
    planner = _Planner(workspace, outline, model, files)
    rows, kept = planner.plan(), planner.kept
    count = len(rows) + sum(kept.values())
    progress("planning", count, count)
    return rows, kept


def preview_plan(workspace: Workspace, scratch: Workspace, *, progress: Progress = no_progress) -> PlanPreview:
    """Plan the newest state of a repository; `scratch` is `workspace` with its writes redirected.

    Whether a build is needed is not asked (`building.freshness` judges that): where it is not, all documents are kept.
    The steps up to the plan run in the scratch folder, which reads what the home holds and writes nothing there: the
    mirror is borrowed through git alternates, the tables are read through.
    """
    make_scratch(workspace.layout.mirror(workspace.key), scratch.layout.mirror(workspace.key))
    lend_indexes(workspace, scratch)
    snapshot = snapshot_with_indexes(scratch, progress=progress)
    parsing = parse_symbols(scratch, progress=progress)
    build_call_graph(scratch, progress=progress)
    setup = ModelSetup.of(scratch)
    rows, kept = _plan(scratch, setup, progress)
    plan = _write(scratch, rows, kept, setup)
    ordered = sorted(rows, key=lambda row: (row.level, row.id))
    return PlanPreview(rows=tuple(ordered), snapshot=snapshot, parsing=parsing, plan=plan)


def settle_plan(workspace: Workspace) -> PlanReport:
    """Replace a `plan` that was carried out by the current one, which keeps every document."""
    setup = ModelSetup.of(workspace)
    planned = workspace.tables.read_rows("plan", workspace.key, PlanRow) if setup else []
    rows = [_carried_out(row) for row in planned if row.action is not PlanAction.REMOVE]
    seen = Counter(row.level for row in rows)
    kept = {level: workspace.tables.count(texts_table(level), workspace.key) - seen[level] for level in Level}
    return _write(workspace, rows, kept, setup)


def _carried_out(row: PlanRow) -> PlanRow:
    kept_row = replace(row, action=PlanAction.KEEP, cause=None, cause_ids=(), context_changed=False)
    if row.gate:
        return kept_row
    return replace(
        kept_row, predicted_input_tokens=0, predicted_output_tokens=0, predicted_usd=0.0, prompt_tokens_upper=None
    )


def _write(
    workspace: Workspace, rows: Sequence[PlanRow], kept: Mapping[Level, int], setup: ModelSetup | None
) -> PlanReport:
    """Write what there is to say of documents; of each level so many that have no row are kept."""
    told = rows if setup else [row for row in rows if row.action is not PlanAction.KEEP or row.context_changed]
    written = workspace.tables.write_rows("plan", workspace.key, told, PlanRow)
    actions = Counter((row.level, row.action) for row in rows)
    actions.update({(level, PlanAction.KEEP): count for level, count in kept.items()})
    causes = Counter(row.cause for row in rows if row.level is Level.FUNCTION and row.cause)
    forecast, usd_with_cache, next_build, history = {}, None, None, None
    if setup:
        pricing = PlanPricing.of(workspace.tables, workspace.key, workspace.settings)
        forecast, history = price_levels(rows, pricing), pricing.history
        predicted = sum(price.asked.predicted_usd for price in forecast.values())
        usd_with_cache = predicted - spared_by_cache(setup, forecast)[0]
        next_build = price_next_build(rows, pricing, usd_left=workspace.usd_left)
    return PlanReport(
        rows=written.rows,
        by_action={
            level: {action: actions[level, action] for action in sorted(PlanAction) if actions[level, action]}
            for level in Level
        },
        by_cause=dict(sorted(causes.items())),
        contexts_changed=len({row.id for row in rows if row.context_changed}),
        table_hash=written.table_hash,
        forecast=forecast,
        predicted_usd_with_cache=usd_with_cache,
        next_build=next_build,
        history=history,
    )


def _contexts_changed(workspace: Workspace) -> set[str]:
    """Documents of the last build whose sampled neighbours are others now: only their context is updated."""
    tables = [
        workspace.tables.by_parts(table, workspace.key, columns=["id", "graph_hash"])
        for table in ("contexts", "documents")
    ]
    # A part that both have says the same in both.
    same = {found for found in tables[0].hashes() if found}.intersection(tables[1].hashes())
    parts = [[*table.read_others(same)] for table in tables]
    if not all(parts):
        return set()
    now, before = map(pa.concat_tables, parts)
    then = before.column("graph_hash").take(pc.index_in(now.column("id"), value_set=before.column("id")))
    is_other = pc.fill_null(pc.not_equal(now.column("graph_hash"), then), False)
    return set(now.column("id").filter(is_other).to_pylist())


class _Planner:
    """The rows of one plan, from functions up."""

    def __init__(
        self,
        workspace: Workspace,
        outline: DocumentTree,
        model: ModelPlanner | None,
        files: Mapping[Level, set[str] | None],
    ) -> None:
        self._workspace = workspace
        self._files = files
        self._last = {level: LastTexts.of_files(workspace, level, files[level]) for level in Level}
        self._outline = outline
        self._model = model
        self._other_contexts = _contexts_changed(workspace)
        # A name may change its kind: the class X of the last build and the function X of this one share an id.
        self._rows: dict[tuple[Level, str], PlanRow] = {}
        self.kept: dict[Level, int] = {}
        self._touched: set[tuple[Level, str]] = set()
        # Its failures are counted by the step that writes.
        self._guard = FailureGuard()

    def plan(self) -> list[PlanRow]:
        """One row per document that is looked at or has another context, and one per document to remove; `kept` has how
        many others there are."""
        self._functions()
        for level in (Level.CLASS, Level.FILE, Level.MODULE):
            layers = head_layers(self._workspace, level, self._outline, self._files[level])
            self._texts([head for heads in layers for head in heads if isinstance(head, TextFileInput)])
            before = self._last[level].of([head.id for heads in layers for head in heads])
            for layer, heads in enumerate(layers):
                for head in heads:
                    if not isinstance(head, TextFileInput):
                        self._head(level, head, before.get(head.id), layer)
        for level in Level:
            for id_ in self._last[level].removed({id_ for of_level, id_ in self._rows if of_level is level}):
                self._add(level, id_, PlanAction.REMOVE, None)
            self._keep(level)
        return list(self._rows.values())

    def existing(self) -> int:
        """How many documents have a text."""
        return sum(len(last.ids) for last in self._last.values())

    def _keep(self, level: Level) -> None:
        """Count the documents of files that did not change, whose texts are kept, and plan those whose context did."""
        files, tables, key = self._files[level], self._workspace.tables, self._workspace.key
        if files is None:
            return
        of_others = {id_.partition(SEPARATOR)[0] for id_ in self._other_contexts} - files
        texts = tables.read_files(texts_table(level), key, of_others, columns=_OF_KEPT)
        texts = texts.filter(pc.is_in(texts.column("id"), value_set=pa.array(self._other_contexts, pa.string())))
        self.kept[level] = tables.count(texts_table(level), key) - len(self._last[level].ids) - len(texts)
        exact = text_files(self._workspace) if len(texts) and level is Level.FILE else ()
        for id_, writer, summary_hash in zip(*(column.to_pylist() for column in texts.columns), strict=True):
            known = (writer, summary_hash) if level is Level.FUNCTION or id_ in exact else (None, None)
            self._add(level, id_, PlanAction.KEEP, None, *known)

    def _functions(self) -> None:
        files = self._files[Level.FUNCTION]
        wanted = want_functions(self._workspace, choose_writers(self._workspace, files), files)
        decisions: Mapping[str, Decision] = {}
        if self._model:
            candidates = {document.id for document in wanted if document.writer != PLACEHOLDER}
            named = candidates - self._outline.unnamed
            free = dict.fromkeys(candidates - named, Decision(None, gate=Gate.UNNAMED))
            decisions = free | self._model.decide_functions(shown_functions(self._workspace, named))
        self._exact(Level.FUNCTION, wanted, decisions)

    def _texts(self, files: Sequence[TextFileInput]) -> None:
        wanted = [want_unless_it_fails(file, (), self._guard) for file in files]
        decisions: Mapping[str, Decision] = {}
        if self._model:
            candidates = []
            for file in files:
                with self._guard.item(file.id):
                    candidates += [] if is_empty(file, ()) else [file]
            decisions = self._model.decide_texts(candidates)
        self._exact(Level.FILE, wanted, decisions)

    def _exact(self, level: Level, wanted: Sequence[RequiredDocument], decisions: Mapping[str, Decision]) -> None:
        """Plan documents whose whole input is known; `decisions` are about those that a model may write."""
        by_model = {id_: document.wanted for id_, document in decisions.items() if document.wanted}
        wanted = [by_model.get(document.id, document) for document in wanted]
        standing = {id_ for id_, document in decisions.items() if document.stays}
        undecided = [document for document in wanted if document.id not in standing]
        rewrites = {rewrite.id: rewrite for rewrite in self._last[level].decide(undecided, force=self._workspace.force)}
        for document in wanted:
            decision = decisions.get(document.id, _NO_MODEL)
            rewrite = rewrites.get(document.id)
            if decision.rewrite and not decision.stays and (rewrite is None or rewrite.cause is not Cause.FORCED):
                rewrite = decision.rewrite
            action = PlanAction.WRITE if rewrite else PlanAction.KEEP
            self._add(level, document.id, action, rewrite, document.writer, document.summary_hash, decision)

    def _head(
        self, level: Level, head: ClassInput | FileInput | ModuleInput, last: RequiredDocument | None, layer: int
    ) -> None:
        """Plan a document with children, whose own children are planned."""
        planned: tuple[PlanAction, Rewrite | None] = (PlanAction.WRITE, Rewrite(head.id, Cause.CONTENT, (head.id,)))
        with self._guard.item(head.id):
            planned = self._judge(head, last)
        action, rewrite = planned
        below, model = self._outline.children.get(head.id, ()), self._model
        children = [ChildText(child.id, child.name, child.level, "", False) for child in below]
        if model is None or is_empty(head, children):
            self._add(level, head.id, action, rewrite)
            return
        # From here on a model may write it: what is planned is an upper bound of the work for it.
        had_model = last is not None and kind_of_writer(last.writer) is WrittenBy.LLM
        is_by_model = last is not None and last.writer == model.writer(level)
        is_current = is_by_model and model.is_current(level, head.id)
        if action is PlanAction.KEEP and not is_current:
            turn = Cause.UPGRADED if not had_model else Cause.MODEL if is_by_model else Cause.PROMPT
            action, rewrite = PlanAction.WRITE, Rewrite(head.id, turn, (head.id,))
        if is_by_model and not model.is_trusted(head.id):
            action, rewrite = PlanAction.WRITE, Rewrite(head.id, Cause.DOWNGRADED, (head.id,))
        if action is PlanAction.KEEP and not model.is_waiting(level, head.id):
            self._add(level, head.id, action, rewrite)
            return
        # It may be written again only for children that a model is called for.
        causes = set(rewrite.cause_ids) if rewrite else set()
        touched = [child for child in below if child.id in causes]
        are_called = all(model.is_caller(child.level, child.id) for child in touched)
        if_below = is_current and action is PlanAction.MAYBE and are_called
        decision = model.decide_upper(level, head, is_new=not had_model, if_below=if_below, layer=layer)
        if decision.gate is not None and (rewrite is None or rewrite.cause in _TURNS):
            action, rewrite = PlanAction.KEEP, None
        self._add(level, head.id, action, rewrite, decision=decision)

    def _judge(
        self, head: ClassInput | FileInput | ModuleInput, before: RequiredDocument | None
    ) -> tuple[PlanAction, Rewrite | None]:
        below = self._outline.children.get(head.id, ())
        touched = {child.id for child in below if (child.level, child.id) in self._touched}
        if before is None:
            return PlanAction.WRITE, Rewrite(head.id, Cause.NEW, (head.id,))
        is_by_model = self._model is not None and kind_of_writer(before.writer) is WrittenBy.LLM
        if before.own_hash != hash_of(model_metadata(head) if is_by_model else metadata_of(head)):
            return PlanAction.WRITE, Rewrite(head.id, Cause.CONTENT, (head.id,))
        if not is_by_model and before.writer not in (EXTRACTIVE, PLACEHOLDER):
            return PlanAction.WRITE, Rewrite(head.id, Cause.SETTINGS, (head.id,))
        if moved := {child.id for child in below} ^ {child.id for child in before.children}:
            return PlanAction.WRITE, Rewrite(head.id, Cause.CHILD, tuple(sorted(moved | touched)))
        if self._workspace.force:
            return PlanAction.WRITE, Rewrite(head.id, Cause.FORCED, (head.id,))
        if touched:
            return PlanAction.MAYBE, Rewrite(head.id, Cause.CHILD, tuple(sorted(touched)))
        return PlanAction.KEEP, None

    def _add(
        self,
        level: Level,
        id_: str,
        action: PlanAction,
        rewrite: Rewrite | None,
        writer: str | None = None,
        summary_hash: str | None = None,
        decision: Decision = _NO_MODEL,
    ) -> None:
        # What holds a function is said in its `business_intent`, which no parent is shown.
        is_for_holder = rewrite is not None and rewrite.cause is Cause.CONTENT and id_ not in rewrite.cause_ids
        if action is not PlanAction.KEEP and not is_for_holder:
            self._touched.add((level, id_))
        self._rows[level, id_] = PlanRow(
            id=id_,
            level=level,
            action=action,
            cause=rewrite.cause if rewrite else None,
            cause_ids=rewrite.cause_ids if rewrite else (),
            writer=writer,
            summary_hash=summary_hash,
            context_changed=id_ in self._other_contexts,
            gate=decision.gate,
            predicted_input_tokens=decision.estimate.input_tokens,
            predicted_output_tokens=decision.estimate.output_tokens,
            predicted_usd=decision.estimate.usd,
            is_documented=decision.is_documented,
            prompt_tokens_upper=decision.estimate.prompt_tokens_upper or None,
        )
