"""One level of texts while it is written: what is kept, what is written and why, and the table in the end."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.evidence.inputs import FunctionInput, UpperInput
from codesum_pipeline.foundation.data_model.document import Cause, Gate, Level, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.store.rows import column_names, from_table, rows_with, schema_of
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_files import TableWrite
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import work_limits
from codesum_pipeline.foundation.worker_processes.pool import Pool, resting_workers
from codesum_pipeline.texts.summaries.by_model.predicted_prices import LevelCalls
from codesum_pipeline.texts.summaries.decide import LastTexts, RequiredDocument, Rewrite
from codesum_pipeline.texts.summaries.function_texts import parts_of_functions
from codesum_pipeline.texts.summaries.holders import Holders
from codesum_pipeline.texts.summaries.text_changes import usual_gate
from codesum_pipeline.texts.summaries.writers import Stamp, WriteFunctions, WriteUpper, function_batches, upper_batches


class LevelReport(Struct, frozen=True):
    """One level of one build. `rewrites` are the texts written, each with its cause; `asked` is what a model did."""

    level: Level
    rows: int
    written: int
    kept: int
    removed: int
    placeholders: int
    by_cause: Mapping[Cause, int]
    rewrites: tuple[Rewrite, ...]
    table_hash: str
    asked: LevelCalls | None = None
    failed: int = 0
    failures: tuple[Failure, ...] = ()


# What a build may change of a text that it keeps, and how that is chosen.
_OF_GATES = ["id", "written_by", "gate", "failure"]
KNOWN_OF_TEXTS = [*dict.fromkeys([*column_names(RequiredDocument), "text_hash", "shown_hash", *_OF_GATES])]


class LevelBuild(Struct):
    """One level while it is written, layer by layer.

    Texts of other files than `of_files` stay. `previous` has of the last build's texts of these, or of all, the columns
    by which it is decided which are kept; the others are read of few. `has_model`: a model writes some of its texts.
    `stopped` are the gates that stop it at documents, `failures` say more where a call failed.
    """

    workspace: Workspace
    level: Level
    progress: Progress
    last: LastTexts
    previous: pa.Table
    stamp: Stamp
    has_model: bool
    of_files: Collection[str] | None = None
    guard: FailureGuard = field(default_factory=FailureGuard)
    stopped: dict[str, Gate] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    written: list[pa.Table] = field(default_factory=list)

    def write_functions(self, pool: Pool, writers: Mapping[str, str], rewrites: Sequence[Rewrite]) -> None:
        """Write the texts that `rewrites` names, and keep those of the other functions that have a writer."""
        names = self.note_rewrites(writers, rewrites)
        columns = [*column_names(FunctionInput), "parent_id"]
        symbols = parts_of_functions(self.workspace, names, columns) if names else ()
        holders = Holders.of(self.workspace, self.of_files) if names else Holders({}, {})
        batches = function_batches(symbols, writers, rewrites, self.previous_of(names), holders)
        done = 0
        for rows, failures in pool.map(WriteFunctions(self.stamp), batches):
            self._tell(done, len(names))
            self.written.append(rows)
            self.guard.add(failures)
            done += rows.num_rows
        self._tell(done, len(names))

    def write_upper(
        self, heads: Sequence[UpperInput], wanted: Sequence[RequiredDocument], rewrites: Sequence[Rewrite]
    ) -> Sequence[TextRow]:
        """The texts that `rewrites` names; the others are kept."""
        inputs = {document.id: document for document in heads}
        wants = {document.id: document for document in wanted}
        names = self.note_rewrites(wants, rewrites)
        before = self.rows_before(names)
        rewrites = sorted(rewrites, key=lambda document: document.id)
        batches = upper_batches([(inputs[rewrite.id], wants[rewrite.id].writer) for rewrite in rewrites])
        written: list[TextRow] = []
        # Modules are the last to be written.
        limits = work_limits(self.workspace.settings)
        with Pool(resting_workers(), keep=self.level is not Level.MODULE, limits=limits) as pool:
            for texts, failures in pool.map(WriteUpper(), batches):
                self._tell(len(written), len(rewrites))
                self.guard.add(failures)
                written += [
                    self.stamp.make_row_or_failed(text, wants[rewrite.id], rewrite, before.get(rewrite.id), self.guard)
                    for text, rewrite in zip(texts, rewrites[len(written) :], strict=False)
                ]
        self._tell(len(rewrites), len(rewrites))
        rows, table = self.stamp.make_table(written, self.guard)
        self.written.append(table)
        return rows

    def rows_before(self, ids: Collection[str]) -> dict[str, TextRow]:
        """The last build's rows of some documents."""
        return {row.id: row for row in from_table(self.previous_of(ids), TextRow)} if ids else {}

    def collect_texts(self) -> pa.Table:
        """The id and writer of each text of the level, with the gates of this build: kept ones first."""
        tables = [self.known_of_kept(), *self.written]
        return self._with_gates(pa.concat_tables(table.select(_OF_GATES) for table in tables))

    def finish(self, texts: pa.Table, calls: LevelCalls | None) -> LevelReport:
        """Replace the texts of files in which one changed; `texts` are those collected, `calls` is what a model did."""
        ids = {*self.kept, *(rewrite.id for rewrite in self.rewrites)}
        gone = self.last.removed(ids)
        written = self._replace(texts, gone)
        writers = self.workspace.tables.read(texts_table(self.level), self.workspace.key, columns=["written_by"])
        return LevelReport(
            level=self.level,
            rows=written.rows,
            written=len(self.rewrites),
            kept=written.rows - len(self.rewrites),
            removed=len(gone),
            placeholders=pc.sum(pc.equal(writers["written_by"], WrittenBy.PLACEHOLDER.value)).as_py() or 0,
            by_cause=dict(sorted(Counter(rewrite.cause for rewrite in self.rewrites).items())),
            rewrites=tuple(sorted(self.rewrites, key=lambda rewrite: rewrite.id)),
            table_hash=self._content_hash(),
            asked=calls,
            failed=len(self.guard.failed),
            failures=self.guard.failures,
        )

    def _with_gates(self, texts: pa.Table) -> pa.Table:
        usual = usual_gate(self.workspace)
        stopped = self.stopped | (dict.fromkeys(self.guard.failed, Gate.FAILED) if self.has_model else {})
        failures = self.failures | {failure.item: failure.reason for failure in self.guard.failures}
        ids, writers = texts.column("id"), texts.column("written_by")
        gates = pc.fill_null(_values_of(stopped, ids), str(usual))
        gates = pc.if_else(pc.equal(writers, WrittenBy.LLM.value), pa.scalar(None, pa.string()), gates)
        gates = pc.if_else(pc.equal(writers, WrittenBy.PLACEHOLDER.value), str(Gate.PLACEHOLDER), gates)
        for name, column in (("gate", gates), ("failure", _values_of(failures, ids))):
            texts = texts.set_column(texts.column_names.index(name), schema_of(TextRow).field(name), column)
        return texts

    def note_rewrites(self, wanted_ids: Iterable[str], rewrites: Sequence[Rewrite]) -> set[str]:
        """Note what will be written, and keep the others of `wanted_ids`; returns the ids to write."""
        names = {rewrite.id for rewrite in rewrites}
        self.kept.extend(id_ for id_ in wanted_ids if id_ not in names)
        self.rewrites.extend(rewrites)
        return names

    def _tell(self, done: int, total: int) -> None:
        self.progress(f"writing {self.level} texts", done, total)

    def previous_of(self, ids: Collection[str]) -> pa.Table:
        """The last build's rows of some documents, whole."""
        names = column_names(TextRow)
        paths = set(paths_of(pa.array(list(ids), pa.string())).to_pylist())
        rows = self.workspace.tables.read_files(texts_table(self.level), self.workspace.key, paths, columns=names)
        return rows_with(rows, ids)

    def known_of_kept(self) -> pa.Table:
        """What is known of the texts that are kept."""
        return rows_with(self.previous, self.kept)

    def _replace(self, texts: pa.Table, gone: Sequence[str]) -> TableWrite:
        """Write the files with texts that are new or gone, or have other gates than before."""
        tables, table, key = self.workspace.tables, texts_table(self.level), self.workspace.key
        before = self.known_of_kept()
        is_other = pc.or_(*(_differ(before.column(n), texts.column(n)[: len(before)]) for n in ("gate", "failure")))
        ids = pa.concat_arrays(
            [
                *(rows.column("id").combine_chunks() for rows in [before.filter(is_other), *self.written]),
                pa.array(gone, pa.string()),
            ]
        )
        replaced = set(paths_of(ids).to_pylist())
        if self.of_files is not None and not replaced:
            return tables.keep(table, key)
        names = column_names(TextRow)
        around = tables.read_files(table, key, replaced, columns=names)
        around = around.filter(pc.is_in(around.column("id"), value_set=before.column("id").combine_chunks()))
        rows = self._with_gates(pa.concat_tables([around, *self.written]))
        return tables.replace_files(table, key, rows, replaced)

    def _content_hash(self) -> str:
        """The hash of what the texts say and what they were made from, provenance apart."""
        columns = ["id", "summary_hash", "text_hash", "purpose_source"]
        return self.workspace.tables.content_hash(texts_table(self.level), self.workspace.key, columns=columns) or ""


def _differ(before: pa.ChunkedArray, now: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.not_equal(pc.fill_null(before, ""), pc.fill_null(now, ""))


def _values_of(found: Mapping[str, str], ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """The value of each id, null for others."""
    values = pa.array([str(value) for value in found.values()], pa.string())
    return pa.chunked_array([values]).take(pc.index_in(ids, value_set=pa.array([*found], pa.string())))
