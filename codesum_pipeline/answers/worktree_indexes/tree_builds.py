"""Indexes of a work tree that differs from the published index, made by the usual build steps without calling a model.

The *overlay* has only the differing files, from a commit of these. Where a model wrote texts, or vectors take long, it
reads the base's tables; else it takes over rows of the nearest kept overlay, the one with most of its files, and, for
edited files, of the base, which has most texts, vectors and words of them. Rows are taken over by the hash of their
inputs, so that they equal newly made ones.

The *settled* index has the whole tree. Unchanged rows are carried over, so that it costs as much as an incremental
build, and it equals a clean build of the tree.
"""

import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
from msgspec.structs import replace

from codesum_pipeline.builds.maintenance.tree_indexes import ASIDE, drop_oldest, kept_overlays
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.store.memory_tables import MemoryTables
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, TABLES, texts_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.graph_step import build_call_graph
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of, is_asked_over_the_network
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.search.evaluation.scratch import index_texts, scratch_in, write_texts
from codesum_pipeline.source.files.declared_encodings import DeclaredEncodings, read_declared
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.files.snapshot import snapshot_of
from codesum_pipeline.source.git.folder_commits import FolderScan
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.source.git.mirror import Head, Mirror, make_borrowing
from codesum_pipeline.symbols.parsing.symbols_step import facts_note, parse_symbols

# Kept beside the index of an overlay: the blobs of its files, and its tables for later overlays.
_FILES = "files.json"
_TABLES = "tables"
# Tables whose rows are taken over for unchanged files.
_PARSED = ("files", "symbols", "compiler_files", "file_facts")
# Tables in which edited files share rows with their last version.
_MADE = (*(texts_table(level) for level in (Level.FUNCTION, Level.CLASS, Level.FILE)), "vectors", "terms")
_WRITING = ipc.IpcWriteOptions(compression="zstd")
# Making one document takes as long as reading the rows of this many.
_READ_WHILE_ONE_IS_MADE = 100


def carried_tables(ws: Workspace, scan: FolderScan, overlays: Path) -> MemoryTables:
    """The tables that an overlay of these files begins with; `overlays` is the folder of the repository's overlays."""
    wanted = _blobs(scan)
    nearest: tuple[int, str, Mapping[str, str]] = (0, "", {})
    for folder in kept_overlays(overlays):
        # One that read the base's tables keeps none, and another process may delete one now.
        with suppress(OSError, ValueError):
            blobs = json.loads((folder / _FILES).read_bytes())
            nearest = max(nearest, (len(wanted.items() & blobs.items()), folder.name, blobs), key=itemgetter(0, 1))
    count, name, blobs = nearest
    kept = _read_all(overlays / name) if count else {}
    edited = pa.array(sorted(wanted.keys() - (blobs if kept else {})), pa.string())
    tables = MemoryTables(overlays)
    for name in (*_PARSED, *_MADE):
        parts = [kept[name]] if kept else []
        parts += [*_rows_of(ws.tables, name, ws.key, edited)] if name in _MADE and len(edited) else []
        if parts:
            # The note of `file_facts` names the tables that it belongs to.
            note = facts_note("symbols", "compiler_files") if name == "file_facts" else ""
            tables.write(name, ws.key, pa.concat_tables(parts), note=note)
    return tables


def keep_tables(tables: MemoryTables, scan: FolderScan, key: str, folder: Path) -> None:
    """Write the tables of an overlay into its folder, for later overlays."""
    (folder / _TABLES).mkdir()
    for name in (*_PARSED, *_MADE):
        rows = tables.read(name, key)
        with ipc.new_file(str(_path(folder, name)), rows.schema, options=_WRITING) as file:
            file.write_table(rows)
    (folder / _FILES).write_text(json.dumps(_blobs(scan)), encoding="utf-8")


def _blobs(scan: FolderScan) -> dict[str, str]:
    return {path.decode(): file.blob for path, file in scan.files.items()}


def _read_all(folder: Path) -> Mapping[str, pa.Table]:
    """The tables of an overlay; none if one of them is damaged, deleted now or of another version."""
    found = {}
    for name in (*_PARSED, *_MADE):
        try:
            with pa.memory_map(str(_path(folder, name))) as file:
                found[name] = ipc.open_file(file).read_all()
        except (OSError, pa.ArrowInvalid):
            return {}
        if found[name].schema != TABLES[name].schema:
            return {}
    return found


def _rows_of(tables: TableStore, name: str, key: str, paths: pa.Array) -> Iterator[pa.Table]:
    """A table's rows of some files, from row groups that have enough of them."""
    first, sought = 0, []
    for ids in tables.read_parts(name, key, columns=["id"]):
        in_file = pc.list_element(pc.split_pattern(ids.column("id"), SEPARATOR, max_splits=1), 0)
        rows = pc.indices_nonzero(pc.is_in(in_file, value_set=paths)).to_numpy().astype("int64")
        if len(rows) * _READ_WHILE_ONE_IS_MADE > len(ids):
            sought.extend((rows + first).tolist())
        first += len(ids)
    if sought:
        yield tables.read_at(name, key, pa.array(sought).to_numpy(), columns=TABLES[name].schema.names)


def _path(folder: Path, name: str) -> Path:
    return folder / _TABLES / f"{name}-{SCHEMA_VERSION}.arrow"


_REF = "refs/codesum/overlay"


def build_overlay(ws: Workspace, scan: FolderScan, folder: Path, *, tree: FolderScan) -> None:
    """Index only the files of a scan, which are of a `tree`, into `folder`, which appears when it is complete.

    Raises `ConfigurationError` if the embedding model is called over the network, or the repository has sha256 ids;
    `RepositoryUnavailable` where files were written meanwhile, or a base that is read was built anew.
    """
    _check(ws)
    with _aside(folder) as aside:
        scratch = scratch_in(ws, aside)
        mirror = Mirror(scratch.layout.mirror(ws.key), ws.settings.git_timeout_s)
        mirror.create("sha1")
        if ws.settings.llm.enabled or not isinstance(embedder_of(ws.settings), StaticEmbedder):
            with _in_one_state(ws):
                _build(scratch, mirror, scan, around=(ws, tree))
        else:
            tables = carried_tables(ws, scan, folder.parent)
            _build(replace(scratch, tables=tables), mirror, scan, around=(ws, tree))
            keep_tables(tables, scan, ws.key, aside)
    drop_oldest(folder.parent)


def build_settled(ws: Workspace, scan: FolderScan, folder: Path) -> None:
    """Index a whole tree: `scan` has all files, and those that the mirror lacks are read. Raises as `build_overlay`."""
    _check(ws)
    with _aside(folder) as aside:
        scratch = replace(scratch_in(ws, aside), base=ws)
        mirror = make_borrowing(ws.layout.mirror(ws.key), scratch.layout.mirror(ws.key))
        with _in_one_state(ws):
            _build(scratch, mirror, scan)
    drop_oldest(folder.parent)


@contextmanager
def _in_one_state(ws: Workspace) -> Iterator[None]:
    """Raises `RepositoryUnavailable` where another process writes tables of the base in the block: rows are taken over
    by their places, too, so those of two states would be mixed."""
    state = _state(ws)
    try:
        yield
    finally:
        if _state(ws) != state:
            raise RepositoryUnavailable(f"{ws.key}: its index was built anew meanwhile")


def _state(ws: Workspace) -> list[str | None]:
    return [ws.tables.content_hash(name, ws.key) for name, spec in TABLES.items() if spec.cut_by]


def _check(ws: Workspace) -> None:
    if is_asked_over_the_network(ws.settings):
        raise ConfigurationError(
            f"a provider's model, {ws.settings.embedder!r}, makes the vectors, and edits are not sent to it"
        )
    if Mirror(ws.layout.mirror(ws.key)).object_format() != "sha1":
        raise ConfigurationError("the repository has sha256 ids, and edits are indexed only for sha1")


def _build(
    scratch: Workspace,
    mirror: Mirror,
    scan: FolderScan,
    *,
    around: tuple[Workspace, FolderScan] | None = None,
) -> None:
    """Run the build steps; `around` is the base with the whole tree where the scan is a part of it."""
    written = scan.write(mirror.git_dir, ref=_REF, timeout_s=mirror.timeout_s)
    if written.files != scan.files:
        raise RepositoryUnavailable(f"files in {scan.root} were written while they were read")
    commit = written.commit_id()
    entry = replace(scratch.entry, location=str(mirror.git_dir), ref=commit, worktree=False)
    scratch = replace(scratch, entry=entry)
    declared = _declared(mirror, *around) if around else None
    snapshot_of(scratch, mirror, Head(commit, commit), declared=declared, is_filtered=True)
    parse_symbols(scratch)
    build_call_graph(scratch)
    write_texts(scratch, progress=no_progress)
    index_texts(scratch, progress=no_progress)
    shutil.rmtree(scratch.layout.warehouse, ignore_errors=True)


def _declared(mirror: Mirror, base: Workspace, tree: FolderScan) -> DeclaredEncodings:
    """The encodings that a whole tree declares: also in files that are only in the base's mirror."""
    blobs = {path.decode("utf-8", "replace"): file.blob for path, file in tree.files.items()}
    rules = PathRules.of(base.entry, base.settings)
    with BlobReader(mirror.git_dir) as own, BlobReader(base.layout.mirror(base.key)) as others:

        def read(blob: str) -> bytes | None:
            return next((data for reader in (own, others) for data in reader.read_many([blob]) if data), None)

        return read_declared(rules.encodings, blobs, read)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A new folder that gets the name of `folder` after the block, unless another process was faster."""
    aside = folder.with_name(f"{ASIDE}{uuid.uuid4().hex}")
    aside.mkdir(parents=True)
    try:
        yield aside
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
