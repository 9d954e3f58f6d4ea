"""The four levels of texts, from functions up to modules.

Each level keeps what its writers would write again word for word, and decides
for itself once its children's texts are known: a child whose text came out the
same causes nothing above it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Cause, Level, PlanAction, PlanRow, TextRow, WrittenBy
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.rows import from_table, to_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.decide import LastTexts, Rewrite, Wanted
from codesum_pipeline.summaries.functions import function_rows, want_functions
from codesum_pipeline.summaries.outline import Outline, read_outline
from codesum_pipeline.summaries.placeholder import UpperInput
from codesum_pipeline.summaries.writers import want_upper
from codesum_pipeline.summaries.writing import Stamp, WriteFunctions, function_batches
from codesum_pipeline.workers.pool import Pool, worker_count

# Texts written between two reports of progress.
PROGRESS_STEP = 200
# Below this a worker's start, most of a second, costs more than it saves.
LEAST_FUNCTIONS = 2_000


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level of one build. `rewrites` are the texts written, each with its cause."""

    level: Level
    rows: int
    written: int
    kept: int
    removed: int
    placeholders: int
    by_cause: Mapping[Cause, int]
    rewrites: tuple[Rewrite, ...]
    table_hash: str


def write_functions(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write the functions that the plan names; the rest keep their text."""
    planned = _planned(workspace)
    rewrites = [
        Rewrite(row.id, row.cause, row.cause_ids)
        for row in planned
        if row.action is PlanAction.WRITE and row.cause is not None
    ]
    with Pool(worker_count() if len(rewrites) >= LEAST_FUNCTIONS else 0) as pool:
        wanted = want_functions(workspace, {row.id: row.writer for row in planned if row.writer is not None})
        _must_match(workspace, wanted, planned)
        build = _Level.open(workspace, Level.FUNCTION, progress)
        build.write_functions(pool, wanted, rewrites)
    return build.finish()


def write_classes(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each class from its head and its methods' and nested classes' texts."""
    outline = read_outline(workspace)
    build = _Level.open(workspace, Level.CLASS, progress)
    texts = shows.Texts(workspace, Level.FUNCTION, previous=build.previous)
    for layer in shows.class_layers(shows.read_classes(workspace), outline):
        build.write_layer([shows.class_head(symbol) for symbol in layer], outline, texts)
    return build.finish()


def write_files(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each file from its head and its top-level symbols' texts, or from its own text."""
    texts = shows.Texts(workspace, Level.FUNCTION, Level.CLASS)
    build = _Level.open(workspace, Level.FILE, progress)
    build.write_layer(shows.read_files(workspace), read_outline(workspace), texts)
    return build.finish()


def write_modules(workspace: Workspace, *, progress: Progress = no_progress) -> LevelReport:
    """Write each folder from its README and the texts of its files and sub-folders."""
    outline = read_outline(workspace)
    readmes = shows.read_readmes(workspace, outline)
    build = _Level.open(workspace, Level.MODULE, progress)
    texts = shows.Texts(workspace, Level.FILE, previous=build.previous)
    for layer in shows.module_layers(outline):
        build.write_layer([shows.module_head(path, workspace, readmes) for path in layer], outline, texts)
    return build.finish()


def _content_hash(table: pa.Table) -> str:
    """sha1 over what the texts say and what they were made from, provenance apart."""
    columns = [table.column(name).to_pylist() for name in ("id", "summary_hash", "text_hash", "purpose_source")]
    return hash_of(sorted(zip(*columns, strict=True)))


def _planned(workspace: Workspace) -> list[PlanRow]:
    """What `summary_plan` decided about the functions that must exist."""
    plan = workspace.tables.read("plan", workspace.key)
    is_removed = pc.equal(plan.column("action"), PlanAction.REMOVE.value)
    is_function = pc.equal(plan.column("level"), Level.FUNCTION.value)
    return from_table(plan.filter(pc.and_not(is_function, is_removed)), PlanRow)


def _must_match(workspace: Workspace, wanted: Sequence[Wanted], planned: Sequence[PlanRow]) -> None:
    """Raise `BrokenStore` where the plan was made from other functions than those that stand now."""
    if {found.id: found.summary_hash for found in wanted} != {row.id: row.summary_hash for row in planned}:
        raise BrokenStore(
            f"repository {workspace.key!r}: the plan was made from other functions than the symbols that stand now: "
            "run the step summary_plan again"
        )


@dataclass
class _Level:
    """One level while it is written, layer by layer."""

    workspace: Workspace
    level: Level
    progress: Progress
    last: LastTexts
    previous: pa.Table
    stamp: Stamp
    kept: list[str] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    written: list[pa.Table] = field(default_factory=list)

    @classmethod
    def open(cls, workspace: Workspace, level: Level, progress: Progress) -> "_Level":
        previous = workspace.tables.read_or_empty(texts_table(level), workspace.key)
        return cls(workspace, level, progress, LastTexts(workspace, level), previous, Stamp.of(workspace, level))

    def write_functions(self, pool: Pool, wanted: Sequence[Wanted], rewrites: Sequence[Rewrite]) -> None:
        """Write the texts that `rewrites` names, and keep the others."""
        names = self._note(wanted, rewrites)
        symbols = function_rows(self.workspace, names)
        batches = function_batches(symbols, wanted, rewrites, self._previous_of(names))
        done = 0
        for rows in pool.map(WriteFunctions(self.stamp), batches):
            self._tell(done, symbols.num_rows)
            self.written.append(rows)
            done += rows.num_rows
        self._tell(done, symbols.num_rows)

    def write_layer(self, heads: Sequence[UpperInput], outline: Outline, texts: shows.Texts) -> None:
        """Decide and write documents that do not depend on one another; `texts` take in what is written."""
        wanted = [want_upper(head, texts.heads(head.id, outline)) for head in heads]
        rewrites = self.last.decide(wanted, force=self.workspace.force)
        children = texts.children([rewrite.id for rewrite in rewrites], outline)
        shown = [shows.with_children(head, children[head.id]) for head in heads if head.id in children]
        texts.add(self._write(shown, wanted, rewrites))

    def _write(
        self, shown: Sequence[UpperInput], wanted: Sequence[Wanted], rewrites: Sequence[Rewrite]
    ) -> list[TextRow]:
        """The texts that `rewrites` names; the others are kept."""
        inputs = {found.id: found for found in shown}
        wants = {found.id: found for found in wanted}
        names = self._note(wanted, rewrites)
        before = {row.id: row for row in from_table(self._previous_of(names), TextRow)} if names else {}
        rows = []
        for done, rewrite in enumerate(sorted(rewrites, key=lambda found: found.id)):
            if done % PROGRESS_STEP == 0:
                self._tell(done, len(rewrites))
            rows.append(self.stamp.row(inputs[rewrite.id], wants[rewrite.id], rewrite, before.get(rewrite.id)))
        self._tell(len(rewrites), len(rewrites))
        self.written.append(to_table(rows, TextRow))
        return rows

    def finish(self) -> LevelReport:
        """Replace the level's table."""
        ids = {*self.kept, *(rewrite.id for rewrite in self.rewrites)}
        gone = self.last.removed(ids)
        table = pa.concat_tables([self._previous_of(self.kept), *self.written])
        placeholders = pc.sum(pc.equal(table.column("written_by"), WrittenBy.PLACEHOLDER.value)).as_py() or 0
        written = self.workspace.tables.write(texts_table(self.level), self.workspace.key, table)
        return LevelReport(
            level=self.level,
            rows=written.rows,
            written=len(self.rewrites),
            kept=len(self.kept),
            removed=len(gone),
            placeholders=placeholders,
            by_cause=dict(sorted(Counter(rewrite.cause for rewrite in self.rewrites).items())),
            rewrites=tuple(sorted(self.rewrites, key=lambda rewrite: rewrite.id)),
            table_hash=_content_hash(table),
        )

    def _note(self, wanted: Sequence[Wanted], rewrites: Sequence[Rewrite]) -> set[str]:
        """What is about to be written, by id."""
        names = {rewrite.id for rewrite in rewrites}
        self.kept.extend(found.id for found in wanted if found.id not in names)
        self.rewrites.extend(rewrites)
        return names

    def _tell(self, done: int, total: int) -> None:
        self.progress(f"writing {self.level} texts", done, total)

    def _previous_of(self, ids: Sequence[str] | set[str]) -> pa.Table:
        wanted = pa.array(sorted(ids), pa.string())
        return self.previous.filter(pc.is_in(self.previous.column("id"), value_set=wanted))
