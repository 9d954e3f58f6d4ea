"""What the next steps will write, and why, before anything is written.

At the function level the plan is exact, and `function_summaries` carries it
out. Above it the plan is an upper bound: whether a class, file or module is
written is known once its children's texts are, so one with a changed
descendant is `maybe`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codesum_pipeline.model.documents import Cause, Level, PlanAction, PlanRow
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.symbols import FileFacts, SymbolType
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.decide import Rewrite, Wanted, decide, removed
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, ModuleInput, TextFileInput
from codesum_pipeline.summaries.outline import read_outline
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER, want_function, want_upper

if TYPE_CHECKING:
    import duckdb

Head = ClassInput | FileInput | ModuleInput

_READ = (*map(texts_table, Level), "document_history", "contexts", "documents")


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
    with workspace.connect(*_READ) as connection:
        rows = _Planner(workspace, connection).plan()
        changed = _contexts_changed(connection)
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


def _contexts_changed(connection: "duckdb.DuckDBPyConnection") -> set[str]:
    """Documents of the last build whose sampled neighbours are others now: only their context is updated."""
    found = connection.execute(
        "SELECT c.id FROM contexts AS c JOIN documents AS d ON d.id = c.id WHERE c.graph_hash <> d.graph_hash"
    )
    return {id_ for (id_,) in found.fetchall()}


class _Planner:
    """The rows of one plan, from functions up."""

    def __init__(self, workspace: Workspace, connection: "duckdb.DuckDBPyConnection") -> None:
        self._workspace = workspace
        self._connection = connection
        self._outline = read_outline(workspace)
        # Heads are planned without their children's texts, which are not known yet.
        self._bare = replace(self._outline, children={})
        # A name may change its kind: the class X of the last build and the function X of this one share an id.
        self._rows: dict[tuple[Level, str], PlanRow] = {}

    def plan(self) -> list[PlanRow]:
        options, workspace = self._workspace.options.filter, self._workspace
        self._exact(Level.FUNCTION, [want_function(found, options) for found in shows.function_inputs(workspace)])
        self._heads(Level.CLASS, self._class_heads())
        files = [
            shows.file_input(facts, self._bare, {})
            for facts in workspace.tables.read_rows("file_facts", workspace.key, FileFacts)
        ]
        self._exact(Level.FILE, [want_upper(found) for found in files if isinstance(found, TextFileInput)])
        self._heads(Level.FILE, [found for found in files if isinstance(found, FileInput)])
        readmes = shows.read_readmes(workspace, self._outline)
        layers = shows.module_layers(self._outline)
        self._heads(
            Level.MODULE,
            [shows.module_input(path, workspace, self._bare, {}, readmes) for layer in layers for path in layer],
        )
        for level in Level:
            self._removed(level)
        return list(self._rows.values())

    def _class_heads(self) -> list[Head]:
        symbols = shows.read_symbols(self._workspace, SymbolType.CLASS)
        layers = shows.class_layers(symbols, self._outline)
        return [shows.class_input(symbol, self._bare, {}) for layer in layers for symbol in layer]

    def _exact(self, level: Level, wanted: Sequence[Wanted]) -> None:
        """Documents whose whole input is known."""
        rewrites = decide(self._connection, level, wanted, force=self._workspace.force)
        by_id = {rewrite.id: rewrite for rewrite in rewrites}
        for found in wanted:
            rewrite = by_id.get(found.id)
            self._add(level, found.id, _action(rewrite), rewrite, writer=found.writer, summary_hash=found.summary_hash)

    def _heads(self, level: Level, heads: Sequence[Head]) -> None:
        """Documents with children, children first."""
        before = self._previous(level)
        for head in heads:
            action, rewrite = self._judge(head, before.get(head.id))
            self._add(level, head.id, action, rewrite)

    def _judge(self, head: Head, before: tuple[str, str, frozenset[str]] | None) -> tuple[PlanAction, Rewrite | None]:
        below = self._outline.children.get(head.id, ())
        children = frozenset(child.id for child in below)
        touched = {child.id for child in below if self._rows[child.level, child.id].action is not PlanAction.KEEP}
        if before is None:
            return PlanAction.WRITE, Rewrite(head.id, Cause.NEW, (head.id,))
        own_hash, writer, children_before = before
        if own_hash != hash_of(head.metadata()):
            return PlanAction.WRITE, Rewrite(head.id, Cause.CONTENT, (head.id,))
        if writer not in (EXTRACTIVE, PLACEHOLDER):
            return PlanAction.WRITE, Rewrite(head.id, Cause.SETTINGS, (head.id,))
        if moved := children ^ children_before:
            return PlanAction.WRITE, Rewrite(head.id, Cause.CHILD, tuple(sorted(moved | touched)))
        if self._workspace.force:
            return PlanAction.WRITE, Rewrite(head.id, Cause.FORCED, (head.id,))
        if touched:
            return PlanAction.MAYBE, Rewrite(head.id, Cause.CHILD, tuple(sorted(touched)))
        return PlanAction.KEEP, None

    def _previous(self, level: Level) -> dict[str, tuple[str, str, frozenset[str]]]:
        rows = self._connection.execute(
            f"SELECT id, own_hash, writer, list_transform(children, lambda c: c.id) FROM {texts_table(level)}"
        ).fetchall()
        return {id_: (own_hash, writer, frozenset(children)) for id_, own_hash, writer, children in rows}

    def _removed(self, level: Level) -> None:
        wanted = {row.id for row in self._rows.values() if row.level is level}
        for id_ in removed(self._connection, level, wanted):
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
