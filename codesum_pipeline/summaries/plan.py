"""What the next steps will write, and why, before anything is written.

At the function level the plan is exact, and `function_summaries` carries it
out. Above it the plan is an upper bound: whether a class, file or module is
written is known once its children's texts are, so one with a changed
descendant is `maybe`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codesum_pipeline.model.documents import Cause, ChildPair, Level, PlanAction, PlanRow
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.rows import column_names, from_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.decide import LastTexts, Rewrite, Wanted
from codesum_pipeline.summaries.functions import choose_writers, want_functions
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, ModuleInput, TextFileInput
from codesum_pipeline.summaries.outline import read_outline
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER, want_upper

Head = ClassInput | FileInput | ModuleInput


@dataclass(frozen=True, slots=True)
class _Before:
    """What the last build's text of a document with children was written from."""

    id: str
    own_hash: str
    writer: str
    children: tuple[ChildPair, ...]


@dataclass(frozen=True, slots=True)
class PlanReport:
    """How many documents each level and action counts; `by_cause` of the functions that are written."""

    rows: int
    by_action: Mapping[Level, Mapping[PlanAction, int]]
    by_cause: Mapping[Cause, int]
    contexts_changed: int
    table_hash: str


def plan_summaries(workspace: Workspace, *, progress: Progress = no_progress) -> PlanReport:
    """Compare the snapshot with the last build's texts and write the `plan` table."""
    rows = _Planner(workspace).plan()
    changed = _contexts_changed(workspace)
    rows = [replace(row, context_changed=True) if row.id in changed else row for row in rows]
    progress("planning", len(rows), len(rows))
    written = workspace.tables.write_rows("plan", workspace.key, rows, PlanRow)
    causes = Counter(row.cause for row in rows if row.level is Level.FUNCTION and row.cause)
    return PlanReport(
        rows=written.rows,
        by_action={
            level: dict(sorted(Counter(row.action for row in rows if row.level is level).items())) for level in Level
        },
        by_cause=dict(sorted(causes.items())),
        contexts_changed=len(changed),
        table_hash=written.table_hash,
    )


def _contexts_changed(workspace: Workspace) -> set[str]:
    """Documents of the last build whose sampled neighbours are others now: only their context is updated."""
    names = ["id", "graph_hash"]
    contexts, documents = (
        workspace.tables.read_or_empty(table, workspace.key, columns=names) for table in ("contexts", "documents")
    )
    before = dict(zip(*(documents.column(name).to_pylist() for name in names), strict=True))
    now = zip(*(contexts.column(name).to_pylist() for name in names), strict=True)
    return {id_ for id_, graph_hash in now if before.get(id_, graph_hash) != graph_hash}


class _Planner:
    """The rows of one plan, from functions up."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._last = {level: LastTexts(workspace, level) for level in Level}
        self._outline = read_outline(workspace)
        # A name may change its kind: the class X of the last build and the function X of this one share an id.
        self._rows: dict[tuple[Level, str], PlanRow] = {}

    def plan(self) -> list[PlanRow]:
        workspace = self._workspace
        self._exact(Level.FUNCTION, want_functions(workspace, choose_writers(workspace)))
        layers = shows.class_layers(shows.read_classes(workspace), self._outline)
        self._heads(Level.CLASS, [shows.class_head(symbol) for layer in layers for symbol in layer])
        files = shows.read_files(workspace)
        self._exact(Level.FILE, [want_upper(found, ()) for found in files if isinstance(found, TextFileInput)])
        self._heads(Level.FILE, [found for found in files if isinstance(found, FileInput)])
        readmes = shows.read_readmes(workspace, self._outline)
        folders = [path for layer in shows.module_layers(self._outline) for path in layer]
        self._heads(Level.MODULE, [shows.module_head(path, workspace, readmes) for path in folders])
        for level in Level:
            self._removed(level)
        return list(self._rows.values())

    def _exact(self, level: Level, wanted: Sequence[Wanted]) -> None:
        """Documents whose whole input is known."""
        rewrites = self._last[level].decide(wanted, force=self._workspace.force)
        by_id = {rewrite.id: rewrite for rewrite in rewrites}
        for found in wanted:
            rewrite = by_id.get(found.id)
            self._add(level, found.id, _action(rewrite), rewrite, writer=found.writer, summary_hash=found.summary_hash)

    def _heads(self, level: Level, heads: Sequence[Head]) -> None:
        """Documents with children, children first."""
        tables, table = self._workspace.tables, texts_table(level)
        rows = from_table(tables.read_or_empty(table, self._workspace.key, columns=column_names(_Before)), _Before)
        before = {row.id: row for row in rows}
        for head in heads:
            action, rewrite = self._judge(head, before.get(head.id))
            self._add(level, head.id, action, rewrite)

    def _judge(self, head: Head, before: _Before | None) -> tuple[PlanAction, Rewrite | None]:
        below = self._outline.children.get(head.id, ())
        children = frozenset(child.id for child in below)
        touched = {child.id for child in below if self._rows[child.level, child.id].action is not PlanAction.KEEP}
        if before is None:
            return PlanAction.WRITE, Rewrite(head.id, Cause.NEW, (head.id,))
        if before.own_hash != hash_of(head.metadata()):
            return PlanAction.WRITE, Rewrite(head.id, Cause.CONTENT, (head.id,))
        if before.writer not in (EXTRACTIVE, PLACEHOLDER):
            return PlanAction.WRITE, Rewrite(head.id, Cause.SETTINGS, (head.id,))
        if moved := children ^ {child.id for child in before.children}:
            return PlanAction.WRITE, Rewrite(head.id, Cause.CHILD, tuple(sorted(moved | touched)))
        if self._workspace.force:
            return PlanAction.WRITE, Rewrite(head.id, Cause.FORCED, (head.id,))
        if touched:
            return PlanAction.MAYBE, Rewrite(head.id, Cause.CHILD, tuple(sorted(touched)))
        return PlanAction.KEEP, None

    def _removed(self, level: Level) -> None:
        wanted = {row.id for row in self._rows.values() if row.level is level}
        for id_ in self._last[level].removed(wanted):
            self._add(level, id_, PlanAction.REMOVE, None)

    def _add(
        self,
        level: Level,
        id_: str,
        action: PlanAction,
        rewrite: Rewrite | None,
        *,
        writer: str | None = None,
        summary_hash: str | None = None,
    ) -> None:
        self._rows[level, id_] = PlanRow(
            id=id_,
            level=level,
            action=action,
            cause=rewrite.cause if rewrite else None,
            cause_ids=rewrite.cause_ids if rewrite else (),
            writer=writer,
            summary_hash=summary_hash,
            context_changed=False,
        )


def _action(rewrite: Rewrite | None) -> PlanAction:
    return PlanAction.WRITE if rewrite else PlanAction.KEEP
