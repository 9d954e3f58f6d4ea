"""What the next steps will write, and why, before anything is written.

At the function level the plan is exact, and `function_summaries` carries it
out. Above it the plan is an upper bound: whether a class, file or module is
written is known once its children's texts are, so one with a changed
descendant is `maybe`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.model.documents import Cause, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.rows import column_names, from_table, lists_of_field, to_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.by_model.planning import Decision, LevelForecast, ModelPlanner
from codesum_pipeline.summaries.by_model.prompting import model_metadata
from codesum_pipeline.summaries.by_model.setup import ModelSetup
from codesum_pipeline.summaries.decide import LastTexts, RequiredDocument, Rewrite
from codesum_pipeline.summaries.functions import choose_writers, shown_functions, summary_hashes, want_functions
from codesum_pipeline.summaries.inputs import ChildText, ClassInput, FileInput, ModuleInput, TextFileInput, metadata
from codesum_pipeline.summaries.outline import DocumentTree, read_outline
from codesum_pipeline.summaries.placeholder import is_empty
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER, want_unless_it_fails

Head = ClassInput | FileInput | ModuleInput


class _Before(Struct, frozen=True):
    """What the last build's text of a document with children was written from."""

    id: str
    own_hash: str
    writer: str
    model: str | None
    parameters: str | None
    child_ids: tuple[str, ...]


_NO_MODEL = Decision(None)
# Causes for which a text is written again only where a model may be called.
_TURNS = (Cause.UPGRADED, Cause.PROMPT, Cause.MODEL)


class PlanReport(Struct, frozen=True):
    """How many documents there are by level and action, and by cause how many functions are written.

    `forecast` is what a model would do at each level; empty where none writes.
    """

    rows: int
    by_action: Mapping[Level, Mapping[PlanAction, int]]
    by_cause: Mapping[Cause, int]
    contexts_changed: int
    table_hash: str
    forecast: Mapping[Level, LevelForecast]


def plan_summaries(workspace: Workspace, *, progress: Progress = no_progress) -> PlanReport:
    """Compare the snapshot with the last build's texts and write the `plan` table."""
    planner, forecast = _plan(workspace)
    rows = planner.rows()
    changed = _contexts_changed(workspace)
    is_changed = pc.is_in(rows.column("id"), value_set=changed)
    place = rows.schema.get_field_index("context_changed")
    rows = rows.set_column(place, rows.schema.field(place), is_changed)
    progress("planning", len(rows), len(rows))
    written = workspace.tables.write("plan", workspace.key, rows)
    actions = Counter(zip(*(rows.column(name).to_pylist() for name in ("level", "action")), strict=True))
    return PlanReport(
        rows=written.rows,
        by_action={
            level: {action: actions[level, action] for action in sorted(PlanAction) if actions[level, action]}
            for level in Level
        },
        by_cause=dict(sorted(planner.causes(Level.FUNCTION).items())),
        contexts_changed=len(changed),
        table_hash=written.table_hash,
        forecast=forecast,
    )


def _plan(workspace: Workspace) -> "tuple[_Planner, Mapping[Level, LevelForecast]]":
    """A finished planner, and what a model would do. The caps are shared out once all its calls are known."""
    outline = read_outline(workspace)
    setup = ModelSetup.of(workspace)
    if setup is None:
        return _Planner.done(workspace, outline, None), {}
    model = ModelPlanner(workspace, setup, outline)
    model.close(_Planner.done(workspace, outline, model).existing())
    return _Planner.done(workspace, outline, model), model.forecasts()


def _contexts_changed(workspace: Workspace) -> pa.Array:
    """Documents of the last build whose sampled neighbours are others now: only their context is updated."""
    now, before = (
        workspace.tables.read_or_empty(table, workspace.key, columns=["id", "graph_hash"])
        for table in ("contexts", "documents")
    )
    then = before.column("graph_hash").take(pc.index_in(now.column("id"), value_set=before.column("id")))
    is_other = pc.fill_null(pc.not_equal(now.column("graph_hash"), then), False)
    return now.column("id").filter(is_other).combine_chunks()


class _Planner:
    """The rows of one plan, from functions up."""

    def __init__(self, workspace: Workspace, outline: DocumentTree, model: ModelPlanner | None) -> None:
        self._workspace = workspace
        self._last = {level: LastTexts(workspace, level) for level in Level}
        self._outline = outline
        self._model = model
        # A name may change its kind: the class X of the last build and the function X of this one share an id.
        self._rows: dict[tuple[Level, str], PlanRow] = {}
        self._touched: set[tuple[Level, str]] = set()
        self._kept = _KeptColumns()
        # Its failures are counted by the step that writes.
        self._guard = FailureGuard()

    @classmethod
    def done(cls, workspace: Workspace, outline: DocumentTree, model: ModelPlanner | None) -> Self:
        """A planner that has planned."""
        planner = cls(workspace, outline, model)
        planner._plan()
        return planner

    def rows(self) -> pa.Table:
        """The plan: documents to write and remove, then kept ones, which stay columns."""
        return pa.concat_tables([to_table(list(self._rows.values()), PlanRow), self._kept.rows()])

    def causes(self, level: Level) -> Counter[Cause]:
        return Counter(row.cause for row in self._rows.values() if row.level is level and row.cause)

    def existing(self) -> int:
        """How many documents have a text."""
        return sum(len(last.ids) for last in self._last.values())

    def _plan(self) -> None:
        workspace = self._workspace
        self._functions()
        layers = shows.class_layers(shows.read_classes(workspace), self._outline)
        self._heads(Level.CLASS, layers)
        files = shows.read_files(workspace)
        self._texts([found for found in files if isinstance(found, TextFileInput)])
        self._heads(Level.FILE, [[found for found in files if isinstance(found, FileInput)]])
        readmes = shows.read_readmes(workspace, self._outline)
        folders = shows.module_layers(self._outline)
        self._heads(
            Level.MODULE, [[shows.module_head(path, workspace, readmes) for path in layer] for layer in folders]
        )
        for level in Level:
            wanted = {id_ for of_level, id_ in self._rows if of_level is level} | self._kept.ids(level)
            for id_ in self._last[level].removed(wanted):
                self._add(level, id_, PlanAction.REMOVE, None)

    def _functions(self) -> None:
        writers = choose_writers(self._workspace)
        if self._model:
            asked = [id_ for id_, writer in writers.items() if writer != PLACEHOLDER]
            decisions = self._model.functions(shown_functions(self._workspace, asked))
            self._exact(Level.FUNCTION, want_functions(self._workspace, writers), decisions)
            return
        hashes = summary_hashes(self._workspace, writers)
        changed = set(hashes if self._workspace.force else self._last[Level.FUNCTION].changed(hashes))
        if changed:
            self._exact(Level.FUNCTION, want_functions(self._workspace, writers, changed), {})
        self._kept.add(
            Level.FUNCTION, [(id_, writers[id_], hash_) for id_, hash_ in hashes.items() if id_ not in changed]
        )

    def _texts(self, files: Sequence[TextFileInput]) -> None:
        wanted = [want_unless_it_fails(found, (), self._guard) for found in files]
        decisions: Mapping[str, Decision] = {}
        if self._model:
            asked = []
            for found in files:
                with self._guard.item(found.id):
                    asked += [] if is_empty(found, ()) else [found]
            decisions = self._model.texts(asked)
        self._exact(Level.FILE, wanted, decisions)

    def _exact(self, level: Level, wanted: Sequence[RequiredDocument], decisions: Mapping[str, Decision]) -> None:
        """Plan documents whose whole input is known; `decisions` are about those that a model may write."""
        by_model = {id_: found.wanted for id_, found in decisions.items() if found.wanted}
        wanted = [by_model.get(found.id, found) for found in wanted]
        standing = {id_ for id_, found in decisions.items() if found.stays}
        asked = [found for found in wanted if found.id not in standing]
        rewrites = {rewrite.id: rewrite for rewrite in self._last[level].decide(asked, force=self._workspace.force)}
        for found in wanted:
            decision = decisions.get(found.id, _NO_MODEL)
            rewrite = rewrites.get(found.id)
            if decision.cause and not decision.stays and (rewrite is None or rewrite.cause is not Cause.FORCED):
                rewrite = Rewrite(found.id, *decision.cause)
            action = PlanAction.WRITE if rewrite else PlanAction.KEEP
            self._add(level, found.id, action, rewrite, found.writer, found.summary_hash, decision)

    def _heads(self, level: Level, layers: Sequence[Sequence[Head]]) -> None:
        """Plan documents with children, children first."""
        before = _read_before(self._workspace, level)
        for layer, head in ((number, head) for number, heads in enumerate(layers) for head in heads):
            last = before.get(head.id)
            action: PlanAction = PlanAction.WRITE
            rewrite: Rewrite | None = Rewrite(head.id, Cause.CONTENT, (head.id,))
            with self._guard.item(head.id):
                action, rewrite = self._judge(head, last)
            if self._model is None:
                self._add(level, head.id, action, rewrite)
            else:
                self._add_by_model(self._model, level, head, action, rewrite, last, layer)

    def _add_by_model(
        self,
        model: ModelPlanner,
        level: Level,
        head: Head,
        action: PlanAction,
        rewrite: Rewrite | None,
        last: _Before | None,
        layer: int,
    ) -> None:
        """Plan a document with children that a model may write: an upper bound of the work for it."""
        below = self._outline.children.get(head.id, ())
        if is_empty(head, [ChildText(child.id, child.name, child.level, "", False) for child in below]):
            self._add(level, head.id, action, rewrite)
            return
        is_by_model = last is not None and last.writer == model.writer(level)
        had_model = last is not None and last.writer.startswith(f"{WrittenBy.LLM}/")
        is_current = last is not None and is_by_model and model.is_current(last.model, last.parameters)
        if last is not None and action is PlanAction.KEEP and not is_current:
            action, rewrite = PlanAction.WRITE, Rewrite(head.id, _turn(last, model.writer(level)), (head.id,))
        if last is not None and is_by_model and not model.is_trusted(head.id):
            action, rewrite = PlanAction.WRITE, Rewrite(head.id, Cause.DOWNGRADED, (head.id,))
        if action is PlanAction.KEEP and not model.is_waiting(level, head.id):
            self._add(level, head.id, action, rewrite)
            return
        if_below = (
            is_current and action is PlanAction.MAYBE and rewrite is not None and self._rests(model, head, rewrite)
        )
        decision = model.upper(level, head, is_new=not had_model, if_below=if_below, layer=layer)
        stays = decision.gate is not None and (rewrite is None or rewrite.cause in _TURNS)
        if stays:
            self._add(level, head.id, PlanAction.KEEP, None, decision=decision)
        else:
            self._add(level, head.id, action, rewrite, decision=decision)

    def _rests(self, model: ModelPlanner, head: Head, rewrite: Rewrite) -> bool:
        """Whether a document may be written again only for children that a model is called for."""
        levels = {child.id: child.level for child in self._outline.children.get(head.id, ())}
        return all(model.is_caller(levels[id_], id_) for id_ in rewrite.cause_ids if id_ in levels)

    def _judge(self, head: Head, before: _Before | None) -> tuple[PlanAction, Rewrite | None]:
        below = self._outline.children.get(head.id, ())
        children = frozenset(child.id for child in below)
        touched = {child.id for child in below if (child.level, child.id) in self._touched}
        if before is None:
            return PlanAction.WRITE, Rewrite(head.id, Cause.NEW, (head.id,))
        is_by_model = self._model is not None and before.writer.startswith(f"{WrittenBy.LLM}/")
        own = model_metadata(head) if is_by_model else metadata(head)
        if before.own_hash != hash_of(own):
            return PlanAction.WRITE, Rewrite(head.id, Cause.CONTENT, (head.id,))
        if not is_by_model and before.writer not in (EXTRACTIVE, PLACEHOLDER):
            return PlanAction.WRITE, Rewrite(head.id, Cause.SETTINGS, (head.id,))
        if moved := children.symmetric_difference(before.child_ids):
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
        if action is PlanAction.KEEP and decision is _NO_MODEL:
            self._kept.add(level, [(id_, writer, summary_hash)])
            return
        if action is not PlanAction.KEEP:
            self._touched.add((level, id_))
        self._rows[level, id_] = PlanRow(
            id=id_,
            level=level,
            action=action,
            cause=rewrite.cause if rewrite else None,
            cause_ids=rewrite.cause_ids if rewrite else (),
            writer=writer,
            summary_hash=summary_hash,
            context_changed=False,
            gate=decision.gate,
            predicted_input_tokens=decision.estimate.input_tokens,
            predicted_output_tokens=decision.estimate.output_tokens,
            predicted_usd=decision.estimate.usd,
            is_documented=decision.is_documented,
        )


class _KeptColumns:
    """Kept documents without a gate or a prediction, as columns."""

    def __init__(self) -> None:
        self._found: dict[Level, list[tuple[str, str | None, str | None]]] = {level: [] for level in Level}

    def add(self, level: Level, found: Iterable[tuple[str, str | None, str | None]]) -> None:
        """Ids with writer and summary hash, where these are known."""
        self._found[level].extend(found)

    def ids(self, level: Level) -> set[str]:
        return {id_ for id_, _, _ in self._found[level]}

    def rows(self) -> pa.Table:
        return pa.concat_tables(self._rows(level, found) for level, found in self._found.items())

    def _rows(self, level: Level, found: Sequence[tuple[str, str | None, str | None]]) -> pa.Table:
        like = to_table([PlanRow("", level, PlanAction.KEEP, None, (), None, None, context_changed=False)], PlanRow)
        rows = like.take(pa.array(np.zeros(len(found), dtype=np.int64)))
        for name, values in zip(("id", "writer", "summary_hash"), zip(*found, strict=True), strict=False):
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.schema.field(place), pa.array(values, pa.string()))
        return rows


def _read_before(workspace: Workspace, level: Level) -> dict[str, _Before]:
    names = [name for name in column_names(_Before) if name != "child_ids"]
    texts = workspace.tables.read_or_empty(texts_table(level), workspace.key, columns=[*names, "children"])
    rows = from_table(texts.append_column("child_ids", lists_of_field(texts.column("children"), "id")), _Before)
    return {row.id: row for row in rows}


def _turn(last: _Before, writer: str) -> Cause:
    """Why another writer writes a text whose input is unchanged."""
    if not last.writer.startswith(f"{WrittenBy.LLM}/"):
        return Cause.UPGRADED
    return Cause.PROMPT if last.writer != writer else Cause.MODEL
