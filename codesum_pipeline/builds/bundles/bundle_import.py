"""A bundle becomes the index of a repository here, as if this home had built the bundle's commit.

The bundle's tables are put into a folder aside, and the steps of a build run there on the bundle's commit, which the
repository itself must have. So all that the commit and this home's settings decide is decided here; of the bundle the
build takes over the rows that it would make again. Only then do the tables get their places, by renames, and the last
steps publish: whoever is killed before has changed nothing, and in between readers have the old index.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.bundles.bundle_file import BUNDLED_TABLES, RESOLUTION, OpenedBundle, table_member
from codesum_pipeline.builds.bundles.exporting import shaping_of
from codesum_pipeline.builds.checks.fault_checks import CHECK_FUNCTIONS
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import INDEX_CANDIDATE, STEPS
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import (
    BundleRefused,
    CodesumError,
    ConfigurationError,
    RepositoryUnavailable,
)
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.atomic import explain_refused_writes, flush_to_disk, temporary_beside
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD
from codesum_pipeline.foundation.store.rows import with_newer_columns
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_files import hash_rows
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.limits import WorkLimits
from codesum_pipeline.graph.resolution import Resolution
from codesum_pipeline.indexes.embedders.embedder_choice import is_asked_over_the_network
from codesum_pipeline.source.files.commit_fetching import bring_commit
from codesum_pipeline.source.files.snapshot import snapshot_of
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import Head, Mirror, make_scratch
from codesum_pipeline.source.git.remote import is_git_repository
from codesum_pipeline.symbols.parsing.symbols_step import facts_note
from codesum_pipeline.symbols.scip.taking import index_state, lend_indexes, take_indexes

_PUBLISHING = STEPS.index(INDEX_CANDIDATE)
# The step before these brings the newest commit, and an import is of the bundle's.
_ASIDE = STEPS[1:_PUBLISHING]
# First: where a snapshot is ahead of what is published, the next build goes on.
_FIRST_TABLE = "snapshot"
# What a build from scratch must give alike; the plan and the history of texts say when and why.
_BEFORE_TEXTS = ("files", "symbols", "file_facts", "edges", "aliases", "graph_stats", "contexts")
_OF_TEXTS = ("documents", "vectors", "terms")


class ImportReport(Struct, frozen=True):
    """What an import did: `parsed`, `written` and `embedded` count what the bundle did not have.

    `head` is the commit that a build would start from now, None if nobody can tell. `confirmed` are the tables that a
    build from scratch gave alike, none where that was not asked.
    """

    key: str
    commit: str
    head: str | None
    documents: int
    files: int
    parsed: int
    written: int
    embedded: int
    is_new: bool
    confirmed: tuple[str, ...]


def import_bundle(
    home: Home,
    bundle: OpenedBundle,
    entry: RepositoryEntry,
    *,
    is_verified: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Make the bundle's index that of `entry`, which is registered where it is not. Nobody checks here whose bundle it
    is. Raises `BundleRefused`, `ConfigurationError`, `RepositoryUnavailable`, `LeaseHeld`, `CannotWrite`, `HeldBack`.
    """
    run_id = f"import-{bundle.digest[:12]}"
    # No model writes what the bundle lacks: the next build does, within the caps of the settings.
    ws = replace(home.workspace(entry, run_id=run_id), usd_left=0.0)
    _check_costs_nothing(bundle, ws)
    wait_s = home.settings.lease_wait_s
    with hold_repository(home.layout, entry.key, run_id=run_id, wait_s=wait_s) as record, _scratch_home(ws) as scratch:
        ws = replace(ws, record=record)
        mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.settings.git_timeout_s)
        commit = _bring(bundle, ws, mirror, progress)
        with _explained(bundle):
            take_tables(bundle, scratch, progress=progress)
            if bundle.header.shaping == shaping_of(ws):
                take_resolution(bundle, scratch)
            make_scratch(mirror.git_dir, scratch.layout.mirror(ws.key))
            reports = build_aside(scratch, commit, progress=progress)
            _check_is_whole(bundle, scratch)
        confirmed = _build_again(bundle, scratch, commit, progress) if is_verified else ()
        is_new = entry.key not in {known.key for known in home.registry.entries()}
        if is_new:
            home.registry.add(entry)
        record.check()
        _put_in_place(scratch, ws)
        for step in STEPS[_PUBLISHING:]:
            reports[step.name] = carry_out(step, ws, progress=progress).report
        head = _head(ws, mirror)
    return ImportReport(
        ws.key,
        commit.commit,
        head,
        documents=reports[INDEX_CANDIDATE.name].documents,
        files=reports["symbols"].files,
        parsed=reports["symbols"].parsed,
        written=sum(report.written for name, report in reports.items() if name.endswith("_summaries")),
        embedded=reports["dense_index"].embedded,
        is_new=is_new,
        confirmed=confirmed,
    )


def build_aside(scratch: Workspace, head: Head, *, progress: Progress) -> dict[str, Any]:
    """Run the steps from the snapshot of a commit to the vectors and words; their reports by name."""
    # An indexer would run for minutes: the next build has it run.
    scratch = replace(scratch, entry=replace(scratch.entry, scip_command=""))
    state = index_state(scratch.entry, scratch.layout, scratch.settings.scip)
    mirror = Mirror(scratch.layout.mirror(scratch.key), timeout_s=scratch.settings.git_timeout_s)
    snapshot_of(scratch, mirror, head, index_state=state, progress=progress)
    indexes = take_indexes(scratch, head.commit, progress=progress)
    scratch.tables.write_rows("scip_indexes", scratch.key, indexes, IndexFile)
    return {step.name: carry_out(step, scratch, progress=progress).report for step in _ASIDE}


def _check_costs_nothing(bundle: OpenedBundle, ws: Workspace) -> None:
    if not ws.entry.enabled:
        raise ConfigurationError(f"repository {ws.key!r} is disabled: `codesum add {ws.key}` enables it")
    if bundle.header.shaping != shaping_of(ws) and is_asked_over_the_network(ws.settings):
        bundle.refuse(
            f"it was made under other settings or by another version ({bundle.header.made_by or 'unknown'}), and its "
            f"vectors would be bought again of {ws.settings.embedder!r}: `codesum index {ws.key}` does that, or export "
            "it under the settings of this home"
        )


def _bring(bundle: OpenedBundle, ws: Workspace, mirror: Mirror, progress: Progress) -> Head:
    """Have the bundle's commit in the mirror."""
    commit, where = bundle.header.commit, shown_location(ws.entry.location)
    if not is_url(ws.entry.location) and not is_git_repository(Path(ws.entry.location)):
        raise ConfigurationError(f"repository {ws.key!r}: {where} is no git repository, and a bundle is of a commit")
    wanted = replace(ws.entry, ref=commit, worktree=False)
    try:
        head = bring_commit(wanted, mirror, ws.settings, named=ws.named, progress=progress)
    except (ConfigurationError, RepositoryUnavailable) as error:
        way = (
            f"push it there ({error})" if is_url(ws.entry.location)
            else f"fetch it there, also into a shallow clone (`git -C {where} fetch origin {one_line(commit)}`)"
        )  # fmt: skip
        raise BundleRefused(
            f"{bundle.called}: it is of commit {commit[:12]}, which cannot be had from {where}: {way}, name the "
            "repository that it is of, or import a bundle of another commit"
        ) from error
    if head.commit != commit:
        bundle.refuse(f"it is of {commit[:60]!r}, which is no full commit id: export it again")
    return replace(head, ref=ws.entry.ref or "HEAD")


@contextmanager
def _scratch_home(ws: Workspace) -> Iterator[Workspace]:
    """The same repository in a folder on the disk of the home, which is deleted after the block."""
    folder = temporary_beside(ws.layout.memos(ws.key))
    layout = HomeLayout(folder, bucket=ws.layout.bucket)
    scratch = replace(ws, layout=layout, tables=TableStore(layout.warehouse), record=FOLDER_RECORD)
    try:
        lend_indexes(ws, scratch)
        yield scratch
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _explained(bundle: OpenedBundle) -> Iterator[None]:
    """Rows that no build has made can stop a step in any way."""
    try:
        yield
    except CodesumError:
        raise
    except Exception as error:
        raise BundleRefused(
            f"{bundle.called}: no build can go on from its rows ({type(error).__name__}: {one_line(str(error))[:200]}"
            "): export it again, or build without it: `codesum index`"
        ) from error


def _check_is_whole(bundle: OpenedBundle, scratch: Workspace) -> None:
    """The checks that stop a build."""
    for check in CHECK_FUNCTIONS.values():
        for finding in check(scratch):
            if not finding.passed and not finding.is_warning:
                bundle.refuse(f"the index that it gives is not whole: {finding.name}: {finding.description}")


def _build_again(bundle: OpenedBundle, scratch: Workspace, head: Head, progress: Progress) -> tuple[str, ...]:
    """The tables that a build from scratch gives alike; raises `BundleRefused` if it gives another one.

    What is made of a model's texts is left out, since no model is asked. Published files follow from the tables.
    """
    key = scratch.key
    writers = scratch.tables.read("documents", key, columns=["written_by"])["written_by"].unique().to_pylist()
    tables = _BEFORE_TEXTS if WrittenBy.LLM in writers else (*_BEFORE_TEXTS, *_OF_TEXTS)
    with _scratch_home(scratch) as clean:
        make_scratch(scratch.layout.mirror(key), clean.layout.mirror(key))
        build_aside(clean, head, progress=progress)
        other = [
            name for name in tables if scratch.tables.content_hash(name, key) != clean.tables.content_hash(name, key)
        ]
    if other:
        bundle.refuse(f"a build of its commit gives something else in: {', '.join(other)}; nothing was changed")
    return tables


def _put_in_place(scratch: Workspace, ws: Workspace) -> None:
    """Rename the files of a build aside into the home. Memos go first: they speak of tables that are replaced."""
    key, layout, home = ws.key, scratch.layout, ws.layout.home
    with explain_refused_writes(home):
        ws.layout.recorded(key).unlink(missing_ok=True)
        shutil.rmtree(ws.layout.memos(key), ignore_errors=True)
        tables = sorted(layout.warehouse.glob(f"*/repo={key}/*.parquet"))
        tables.sort(key=lambda path: path.parent.parent.name != _FIRST_TABLE)
        others = [path for folder in (layout.graph_index(key), layout.memos(key)) for path in sorted(folder.glob("*"))]
        for path in [*tables, *others]:
            target = home / path.relative_to(layout.home)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
            flush_to_disk(target.parent)


def _head(ws: Workspace, mirror: Mirror) -> str | None:
    """The commit that a build starts from now."""
    try:
        return mirror.head_commit(ws.entry, offline=ws.settings.offline)
    except (ConfigurationError, RepositoryUnavailable):
        return None


_MB = 1 << 20
# Rows that are decoded at one time: of a short file with long values even these may be much.
_BATCH_ROWS = 1 << 10
# Decoding the tables of a repository takes seconds.
_MOST_PROCESSOR_S = 3600.0
_EXPLAINED = (pa.ArrowException, ValueError, TypeError, KeyError, IndexError, OverflowError, OSError, MemoryError)


def take_tables(bundle: OpenedBundle, scratch: Workspace, *, progress: Progress) -> None:
    """Write the tables of a bundle into those of `scratch`; raises `BundleRefused`, `CannotWrite`."""
    hashes: dict[str, str] = {}
    limits = WorkLimits(scratch.settings.bundles.max_memory_mb, _MOST_PROCESSOR_S)
    for done, name in enumerate(BUNDLED_TABLES):
        progress("reading the bundle", done, len(BUNDLED_TABLES))
        if name not in bundle.header.tables:
            bundle.refuse(f"it lacks the table {name}")
        with limits.applied(), _undamaged(bundle, name):
            rows = _read_rows(bundle, name, most_bytes=limits.memory_mb * _MB)
        # Last of its three: see `symbols_step`.
        note = facts_note(hashes["symbols"], hashes["compiler_files"]) if name == "file_facts" else ""
        with _undamaged(bundle, name):
            written = scratch.tables.write(name, scratch.key, rows, note=note)
        hashes[name] = written.table_hash
        said = bundle.header.tables[name]
        is_same = said.content == written.table_hash or said.content == hash_rows(TABLES[name], rows)
        if written.rows != said.rows or not is_same:
            bundle.refuse(f"its table {name} holds other rows than its header says: export it again")


def take_resolution(bundle: OpenedBundle, scratch: Workspace) -> None:
    """Keep what the bundle's edges were resolved from, so that only what changes is resolved again."""
    if RESOLUTION not in bundle.header.parts:
        return
    try:
        found = decode(bundle.read(RESOLUTION), Resolution)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        bundle.refuse(f"its part {RESOLUTION} cannot be read: {one_line(str(error))}")
    # Neither the key nor the location of a repository decides an edge.
    replace(found, settings=scratch.fingerprint("")).write(scratch)


def _read_rows(bundle: OpenedBundle, name: str, *, most_bytes: int) -> pa.Table:
    spec = TABLES[name]
    file = pq.ParquetFile(pa.BufferReader(bundle.read(table_member(name))))
    if file.metadata.num_rows != bundle.header.tables[name].rows:
        bundle.refuse(f"its table {name} has {file.metadata.num_rows:,} rows, other than its header says")
    if unknown := [*set(file.schema_arrow.names) - set(spec.schema.names)]:
        bundle.refuse(f"its table {name} has a column {unknown[0][:100]!r}, which this version does not know")
    parts, held = [], 0
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        held += batch.nbytes
        if held > most_bytes:
            raise MemoryError
        batch.validate(full=True)
        parts.append(batch)
    found = pa.Table.from_batches(parts, schema=file.schema_arrow).replace_schema_metadata(None)
    return with_newer_columns(found, spec.schema, None).select(spec.schema.names).cast(spec.schema)


@contextmanager
def _undamaged(bundle: OpenedBundle, name: str) -> Iterator[None]:
    """Arrow says of a damaged file only what it met there."""
    try:
        yield
    except _EXPLAINED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, MemoryError):
            bundle.refuse(f"its table {name} needs more memory than may be used for it")
        bundle.refuse(f"its table {name} is damaged ({one_line(str(error))}): export it again")
