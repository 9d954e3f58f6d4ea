"""A step whose inputs and outputs are those of its last run is not run again.

Each completed step leaves a memo: the hashes of the columns that it read, of the tables that it wrote, the settings and
versions, and its report. What a step reads is noted while it reads, so that no list of inputs goes stale. A step whose
memo still holds answers with that report. A step is run where anything differs, also where an output was deleted or
replaced, and always under `force`.

A step that failed on some items leaves no memo, so the next build tries them again. A file beside the memos lists these
items.

The memo is deleted before the step runs and written when all its outputs are in place, so after a build that was killed
in between there is none.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import pyarrow as pa
from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from codesum_pipeline.builds.reports.kept_failures import keep_failures
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.atomic import FileState, explain_refused_writes, read_json, write_json_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.memory import collect_seldom, release_memory
from codesum_pipeline.foundation.store.table_files import TableWrite
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
# The name of an index, which a step reads and writes besides tables.
PUBLISHED = "published"


class RecordingStore(TableStore):
    """The tables of one root folder, and which of them were touched, by several threads: of those read also the
    columns, None if they may have been all."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._reads: dict[str, set[str | None]] = {}
        self._writes: set[str] = set()

    def reads(self) -> Mapping[str, frozenset[str] | None]:
        """The tables that were read and not written: what a step writes itself it may also take over from."""
        return {
            table: None if None in columns else frozenset(filter(None, columns))
            for table, columns in sorted(self._reads.items())
            if table not in self._writes
        }

    def writes(self) -> list[str]:
        """The tables that were written."""
        return sorted(self._writes)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        self._writes.add(table)
        return super().write(table, repo, rows, note=note)

    def replace_files(
        self, table: str, repo: str, rows: pa.Table, paths: Collection[str] | None, *, note: str = ""
    ) -> TableWrite:
        self._writes.add(table)
        return super().replace_files(table, repo, rows, paths, note=note)

    def keep(self, table: str, repo: str) -> TableWrite:
        self._writes.add(table)
        return super().keep(table, repo)

    def _note_read(self, table: str, columns: Sequence[str] | None) -> None:
        self._reads.setdefault(table, set()).update([None] if columns is None else columns)


class Input(Struct, frozen=True):
    """One table as it was read: which columns (None: all), and the hash of their values; None if it was missing."""

    columns: tuple[str, ...] | None
    content_hash: str | None = None

    def now(self, tables: TableStore, repo: str, table: str) -> Self:
        """The same columns of the current table."""
        return replace(self, content_hash=tables.content_hash(table, repo, columns=self.columns))


class Memo(Struct, frozen=True):
    """One step of one repository.

    `settings` is the fingerprint but for the commit, `report` is JSON, and `files` are relative to the home, so that a
    home can be moved.
    """

    settings: str
    inputs: dict[str, Input]
    tables: dict[str, str | None]
    files: dict[str, FileState | None]
    report: str

    def outputs_stand(self, ws: Workspace) -> bool:
        """Whether all that the step wrote is there as it was written."""
        return all(
            found is not None and ws.tables.content_hash(table, ws.key) == found for table, found in self.tables.items()
        ) and all(state is not None and state.is_of(ws.layout.home / path) for path, state in self.files.items())

    def changed_inputs(self, ws: Workspace) -> set[str]:
        """The tables that say something else than when the step read them."""
        return {table for table, found in self.inputs.items() if found != found.now(ws.tables, ws.key, table)}


class StageFunction(Protocol[R_co]):
    """Does the work of a step and returns its report."""

    def __call__(self, ws: Workspace, /, *, progress: Progress) -> R_co: ...


class Settle(Struct, Generic[R], frozen=True):
    """How a step that looks at what later steps left is brought up to date once they are done.

    If only their outputs differ from what the step saw, and each of them is up to
    date, `write` quickly does what the whole step would do now.
    """

    later: "tuple[Step[Any], ...]"
    write: Callable[[Workspace], R]


class Step(Struct, Generic[R], frozen=True):
    """One step of a build.

    `reads` and `writes` name tables (`steps.toml`); the output of a later step is read as the previous build left it.
    The first of `writes` is the step's main table.
    `idle` turns its report into the one that it gives when it finds everything
    done. `stamps` are tables that it reads for when and why alone: where
    nothing else differs it writes nothing that they would be written into.
    `files` are what it writes, or rests on, besides tables. `version` is that of an
    algorithm on which no index depends, so that it is in no fingerprint. A step that does not `remember`
    looks for itself each time. `account` notes the result of a run in books that
    no step reads, also where the step was not run.
    """

    name: str
    run: StageFunction[R]
    report: type[R]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    idle: Callable[[R], R] = lambda report: report
    stamps: frozenset[str] = frozenset()
    files: Callable[[Workspace, R], Sequence[Path]] = lambda _ws, _report: ()
    remember: Callable[[R], bool] = lambda _report: True
    settle: Settle[R] | None = None
    account: Callable[[Workspace, R], None] = lambda _ws, _report: None
    version: str = ""


class Done(Struct, Generic[R], frozen=True):
    """A step's report, whether it is from an earlier run, and the items that the step could not work on."""

    report: R
    is_reused: bool

    @property
    def failures(self) -> Sequence[Failure]:
        """None if a step works on all at once."""
        return _failures_in(self.report)


def carry_out(step: Step[R], ws: Workspace, *, progress: Progress = no_progress) -> Done[R]:
    """Run a step, unless its last run is still valid; raises `CannotWrite` if the disk is full."""
    with explain_refused_writes(ws.layout.home, called=f"the files of step {step.name} in {ws.layout.home}"):
        memo = None if ws.tables.is_scratch or ws.force else _standing_memo(step, ws)
        report = _report_in(memo, step)
        is_reused = report is not None
        if ws.tables.is_scratch:
            report = step.run(ws, progress=progress)
        elif memo is None or report is None:
            report = _run(step, ws, progress)
        elif step.settle and memo.changed_inputs(ws):
            report = _settle(step, step.settle, ws, memo)
        step.account(ws, report)
        return Done(report, is_reused)


def is_current(step: Step[Any], ws: Workspace) -> bool:
    """Whether the step need not run; False for a step that remembers nothing."""
    return _standing_memo(step, ws) is not None


def last_report(step: Step[R], layout: HomeLayout, key: str) -> R | None:
    """The report of a step's last run, whatever changed since; None if it left no memo."""
    return _report_in(read_json(layout.memos(key) / f"{step.name}.json", Memo), step)


def _report_in(memo: Memo | None, step: Step[R]) -> R | None:
    """None also where another version of the step reported other fields."""
    try:
        return decode(memo.report, step.report) if memo else None
    except DecodeError:
        return None


def is_remembered(step: Step[Any], ws: Workspace) -> bool:
    """Whether the last run of the step ended with nothing left to do, whatever changed since."""
    return _path(step, ws).exists()


def _standing_memo(step: Step[Any], ws: Workspace) -> Memo | None:
    """The memo of the last run, where that run would do."""
    memo = read_json(_path(step, ws), Memo)
    if memo is None or memo.settings != _settings(step, ws) or not memo.outputs_stand(ws):
        return None
    changed = memo.changed_inputs(ws)
    if not changed or (step.settle and _explains(step.settle, changed, ws)):
        return memo
    return None


def _explains(settle: Settle[Any], changed: Collection[str], ws: Workspace) -> bool:
    """Whether later steps made all of these changes, and need not run themselves."""
    written: set[str] = set()
    for step in settle.later:
        memo = _standing_memo(step, ws)
        if memo is None:
            return False
        written |= memo.tables.keys()
    return written.issuperset(changed)


def _run(step: Step[R], ws: Workspace, progress: Progress) -> R:
    path = _path(step, ws)
    path.unlink(missing_ok=True)
    collect_seldom()
    recording = RecordingStore(ws.tables.root)
    report = step.run(replace(ws, tables=recording), progress=progress)
    release_memory()
    failures = _failures_in(report)
    keep_failures(ws.layout.memos(ws.key), step.name, failures)
    if step.remember(report) and all(failure.is_settled for failure in failures):
        memo = Memo(
            settings=_settings(step, ws),
            inputs={
                table: Input(None if columns is None else tuple(sorted(columns))).now(recording, ws.key, table)
                for table, columns in recording.reads().items()
                if table not in step.stamps
            },
            tables={table: recording.content_hash(table, ws.key) for table in recording.writes()},
            files={
                str(file.relative_to(ws.layout.home)): FileState.of(file, on_any_machine=ws.layout.bucket is not None)
                for file in step.files(ws, report)
            },
            report=json.encode(step.idle(report)).decode(),
        )
        write_json_atomically(path, memo)
    return report


def _failures_in(report: Any) -> Sequence[Failure]:
    found: Sequence[Failure] = getattr(report, "failures", ())
    return found


def _settle(step: Step[R], settle: Settle[R], ws: Workspace, memo: Memo) -> R:
    path = _path(step, ws)
    path.unlink(missing_ok=True)
    report = settle.write(ws)
    settled = replace(
        memo,
        inputs={table: found.now(ws.tables, ws.key, table) for table, found in memo.inputs.items()},
        tables={table: ws.tables.content_hash(table, ws.key) for table in memo.tables},
        report=json.encode(report).decode(),
    )
    write_json_atomically(path, settled)
    return report


def _settings(step: Step[Any], ws: Workspace) -> str:
    """All that a build depends on but the commit, whose files are a table of their own."""
    return f"{ws.memo_settings()} {step.version}" if step.version else ws.memo_settings()


def _path(step: Step[Any], ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / f"{step.name}.json"
