"""The first step of a build, with the indexes that it takes in: each as a copy, by its content, for later steps."""

from msgspec.structs import replace

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.scip.finding import (
    FoundIndex,
    Refusal,
    copy_index,
    drop_other_copies,
    indexes_beside_mirror,
    indexes_in_folder,
    indexes_in_tree,
    is_copied,
    named_indexes,
    on_disk,
    state_of_indexes,
)
from codesum_pipeline.scip.making import MADE_BY, drop_made, made_index
from codesum_pipeline.settings.stages import ScipSettings
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.source.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.workspace import Workspace

_TABLE = "scip_indexes"


def snapshot_with_indexes(ws: Workspace, *, progress: Progress = no_progress) -> SnapshotReport:
    """As `take_snapshot`; also write the table `scip_indexes`."""
    # First: an index that is written meanwhile is found by the next look.
    state = index_state(ws.entry, ws.layout, ws.settings.scip)
    report = take_snapshot(ws, index_state=state, progress=progress)
    indexes = take_indexes(ws, report.commit, progress=progress)
    tables = ws.tables
    # Nothing is written where the rows stand as they are.
    if tables.content_hash(_TABLE, ws.key) and tables.read_rows(_TABLE, ws.key, IndexFile) == indexes:
        written = tables.keep(_TABLE, ws.key)
    else:
        written = tables.write_rows(_TABLE, ws.key, indexes, IndexFile)
    problems = tuple(f"{one.origin}: {one.problem}" for one in indexes if one.problem)
    return replace(
        report,
        table_hash=hash_of([report.table_hash, written.table_hash]),
        scip_indexes=len(indexes) - len(problems),
        scip_problems=problems,
    )


def index_state(entry: RepositoryEntry, layout: HomeLayout, settings: ScipSettings) -> str:
    """What tells the indexes that are not of a commit from others, without reading them; empty where there are none."""
    found = state_of_indexes(entry, layout)
    # A command that failed may do better with other settings.
    made = [entry.scip_command, settings.model_dump()] if entry.scip_command else []
    return hash_of([found, made]) if found or made else ""


def lend_indexes(ws: Workspace, scratch: Workspace) -> None:
    """Let a scratch read the copies of a home, and what lies beside its mirror."""
    folder, to = ws.layout.scip(ws.key), scratch.layout.scip(ws.key)
    beside = zip(ws.layout.indexes_beside_mirror(ws.key), scratch.layout.indexes_beside_mirror(ws.key), strict=True)
    copies = [(file, to / file.name) for file in folder.iterdir()] if folder.is_dir() else []
    for file, link in (*beside, *copies):
        if file.is_file():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.absolute())


def take_indexes(ws: Workspace, commit: str, *, progress: Progress = no_progress) -> list[IndexFile]:
    """Copy what is found, unless that was done; each problem belongs to its index alone.

    A preview takes the index that was made last: it runs no command.
    """
    rows = ws.tables.read_rows_or_empty(_TABLE, ws.key, IndexFile)
    if ws.tables.is_scratch:
        kept = (row for row in rows if row.origin.startswith(MADE_BY))
        made = [FoundIndex(row.origin, row.root, row.signature, Refusal(row.problem)) for row in kept]
    else:
        made = _made(ws, commit, progress)
    in_tree = indexes_in_tree(ws)
    # In the order of precedence: what a person named or put there first.
    found = (
        *named_indexes(ws.entry, ws.layout),
        *made,
        *indexes_beside_mirror(ws.entry, ws.layout),
        *in_tree.values(),
        *indexes_in_folder(ws.entry, ws.layout, besides=in_tree.keys()),
    )
    folder = ws.layout.scip(ws.key)
    if not found and not folder.exists():
        return []
    known = {(one.origin, one.signature): one for one in rows}
    taken: list[IndexFile] = []
    for one in found:
        most_bytes = (ws.settings.scip.max_index_mb << 20) - sum(file.size for file in taken)
        before = known.get((one.origin, one.signature))
        is_usable = before is not None and one.signature and before.size <= most_bytes and not ws.force
        # The same would come of it as in the last build.
        if before and is_usable and is_copied(folder, before.sha256, before.size):
            file = replace(before, root=one.root)
        else:
            progress(f"taking in {one.origin}", 0, 1)
            file = IndexFile(0, one.origin, one.root, one.signature, "", 0, "")
            try:
                copied = copy_index(one, folder, most_bytes=most_bytes)
                file = replace(file, sha256=copied.sha256, size=copied.size)
            except RefusedIndex as error:
                file = replace(file, problem=str(error))
            progress(f"taking in {one.origin}", 1, 1)
        taken.append(replace(file, position=len(taken)))
    drop_other_copies(folder, {one.sha256 for one in taken})
    if not ws.entry.scip_command:
        drop_made(folder)
    return taken


def _made(ws: Workspace, commit: str, progress: Progress) -> list[FoundIndex]:
    """The index of the entry's command, and why there is no newer one, if so."""
    mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.settings.git_timeout_s)
    made = made_index(ws, mirror, commit, progress=progress)
    if made is None:
        return []
    index = [on_disk(made.path, made.origin, ws.entry.subdir, ws.layout)] if made.path else []
    return [*index, *([FoundIndex(made.origin, ws.entry.subdir, "", Refusal(made.problem))] if made.problem else [])]
