"""The index of a repository becomes a bundle: the rows that another home's builds can take over.

What was paid, in which run, and by whom stays in this home.
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, json
from msgspec.structs import replace

from codesum_pipeline.builds.bundles.bundle_file import (
    BUNDLED_TABLES,
    RESOLUTION,
    BundledTable,
    BundleHeader,
    describe_parts,
    table_member,
    write_bundle,
)
from codesum_pipeline.builds.compaction.ssh_signatures import sign_data
from codesum_pipeline.foundation.data_model.document import HistoryEvent
from codesum_pipeline.foundation.data_model.errors import BundleRefused
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_files import hash_rows
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace, fingerprint_of, shared_part
from codesum_pipeline.graph.resolution import Resolution
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import FOLDER_LABEL
from codesum_pipeline.source.git.remote import is_git_repository

NAMESPACE = "codesum-bundle"
# The run that rows of a bundle name.
BUNDLE_RUN = "bundle"
_MB = 1 << 20


class ExportReport(Struct, frozen=True):
    """What a bundle holds, in bytes and documents; `digest` is the sha256 of its header, which stands for all of it."""

    key: str
    commit: str
    documents: int
    bytes: int
    digest: str
    is_signed: bool


def export_bundle(ws: Workspace, path: Path, *, key: Path | None = None) -> ExportReport:
    """Write the index of a repository as a bundle, signed with `key`; the caller holds the lease.

    Raises `BundleRefused`, `CannotWrite`, and `ConfigurationError` for a key that cannot sign.
    """
    snapshot = _exported_snapshot(ws)
    resolution = Resolution.of_last_build(ws)
    with tempfile.TemporaryDirectory(prefix="codesum-export-") as folder:
        store = TableStore(Path(folder))
        tables = {name: _write_table(ws, name, store) for name in BUNDLED_TABLES}
        parts: dict[str, Path | bytes] = {table_member(name): store.path(name, ws.key) for name in BUNDLED_TABLES}
        if resolution:
            # Its settings are those of this home; the header's `shaping` says what they are to others.
            parts[RESOLUTION] = json.encode(replace(resolution, settings=""))
        header = BundleHeader(
            made_by=installed_version(),
            key=ws.key,
            commit=snapshot.commit,
            shaping=shaping_of(ws),
            documents=tables["documents"].rows,
            tables=tables,
            parts=describe_parts(parts.items()),
        )
        size = sum(part.bytes for part in header.parts.values())
        if size > ws.settings.bundles.max_mb * _MB:
            raise BundleRefused(
                f"{ws.key}: its bundle would have {size:,} bytes, more than {ws.settings.bundles.max_mb:,} MB "
                "(bundles.max_mb): register parts of it by --subdir"
            )
        data = header.to_bytes()
        write_bundle(path, data, sign_data(data, key, namespace=NAMESPACE) if key else None, parts)
    size = path.stat().st_size
    return ExportReport(ws.key, snapshot.commit, header.documents, size, sha256_hex(data), key is not None)


def shaping_of(ws: Workspace) -> str:
    """A hash of all that shapes an index but its commit, its key and where the repository lies."""
    anywhere = replace(ws.entry, key="", location="", ref=None, worktree=False)
    return fingerprint_of(anywhere, shared_part(ws.settings, ws.versions), commit="")


def _exported_snapshot(ws: Workspace) -> Snapshot:
    """The snapshot of a published index that a build would give again; raises `BundleRefused` where there is none."""
    published = published_version(ws.layout, ws.key)
    snapshots = ws.tables.read_rows_or_empty("snapshot", ws.key, Snapshot)
    location = ws.entry.location
    if ws.entry.worktree or (snapshots and snapshots[0].ref == FOLDER_LABEL):
        raise BundleRefused(
            f"{ws.key}: it is indexed as a folder, committed or not, and a bundle is of a commit: register it with "
            "--no-worktree"
        )
    if not is_url(location) and not is_git_repository(Path(location)):
        raise BundleRefused(f"{ws.key}: {location} is no git repository, and a bundle is of a commit")
    if published is None or not snapshots:
        raise BundleRefused(f"{ws.key}: nothing is published that could be exported: run `codesum index {ws.key}`")
    (snapshot,) = snapshots
    if published.manifest["fingerprint"] != ws.fingerprint(snapshot.commit, snapshot.index_state):
        raise BundleRefused(
            f"{ws.key}: the published index is not that of the last build under the present settings: run "
            f"`codesum index {ws.key}` first"
        )
    return snapshot


def _write_table(ws: Workspace, name: str, store: TableStore) -> BundledTable:
    rows = ws.tables.read(name, ws.key)
    if "event" in rows.column_names:
        # Attestations name persons.
        rows = rows.filter(pc.not_equal(rows["event"], HistoryEvent.COMPACTED.value))
    for column, value in (("cost_usd", 0.0), ("run_id", BUNDLE_RUN)):
        if column in rows.column_names:
            place = rows.column_names.index(column)
            rows = rows.set_column(
                place, rows.schema.field(place), pa.array([value] * len(rows), rows.schema.types[place])
            )
    store.write(name, ws.key, rows)
    return BundledTable(len(rows), hash_rows(TABLES[name], rows))
