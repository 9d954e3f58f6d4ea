"""What the tables hold becomes one version folder, ready to be published.

It is written aside and renamed when every byte is on the disk, so that a folder
named by a digest is always whole; a scratch folder, which can be made again, is not
flushed. The same tables give the same bytes.
"""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.indexes.candidate_files import read_candidate_tables, write_files
from codesum_pipeline.indexes.candidate_parts import Parts, link_or_copy
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.indexes.manifest import build_manifest, describe_files
from codesum_pipeline.indexes.version_folder import (
    ASIDE,
    MANIFEST,
    Manifest,
    Version,
    manifest_bytes,
    read_version,
)
from codesum_pipeline.model.errors import BrokenIndex
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace


class CandidateReport(Struct, frozen=True):
    """`table_hash` is the content digest: what the folder holds, provenance apart."""

    digest: str
    content_digest: str
    folder: str
    bytes: int
    files: int
    documents: int
    placeholders: int
    levels: dict[str, int]
    table_hash: str


def write_candidate(ws: Workspace, *, progress: Progress = no_progress) -> CandidateReport:
    """Write `.versions/<key>/<digest>/` and the table `candidate` that names it."""
    embedder = embedder_of(ws.settings)
    snapshot = ws.tables.read_rows("snapshot", ws.key, Snapshot)[0]
    tables = read_candidate_tables(ws, embedder)
    versions = ws.layout.versions(ws.key)
    with _folder_aside(versions) as folder:
        parts = Parts.of(ws, folder)
        files = describe_files(folder, write_files(parts, tables, progress=progress), known=parts.shared)
        manifest = build_manifest(ws, snapshot, tables, embedder, files)
        data = manifest_bytes(manifest)
        (folder / MANIFEST).write_bytes(data)
        version = Version(folder=versions / sha256_hex(data), digest=sha256_hex(data), manifest=manifest)
        shared = _share_files(parts, ws.layout.published(ws.key), manifest)
        for path in (*sorted(folder.rglob("*")), folder):
            if path not in shared and not ws.tables.is_scratch:
                _flush(path)
        _put_in_place(folder, version, read_content=ws.force)
    if not ws.tables.is_scratch:
        parts.keep(ws, version.digest)
    _name_candidate(ws, version)
    return CandidateReport(
        digest=version.digest,
        content_digest=manifest["content_digest"],
        folder=str(version.folder),
        bytes=sum(entry["bytes"] for entry in files.values()),
        files=len(files),
        documents=manifest["counts"]["documents"],
        placeholders=manifest["counts"]["placeholders"],
        levels=manifest["counts"]["levels"],
        table_hash=manifest["content_digest"],
    )


@contextmanager
def _folder_aside(versions: Path) -> Iterator[Path]:
    """A new folder beside the versions, gone after the block unless it was renamed."""
    with writing(versions):
        versions.mkdir(parents=True, exist_ok=True)
        # Its mode is that of the home's other folders, which no folder of `tempfile` has.
        folder = versions / f"{ASIDE}{uuid.uuid4().hex}"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _share_files(parts: Parts, published: Path, manifest: Manifest) -> set[Path]:
    """Replace files that the published version has too by hard links to its files; returns all shared files.

    K versions then cost little more than one. Contents are compared, so that damage is not passed on.
    """
    shared = {parts.folder / name for name in parts.shared}
    known = _files_of(published)
    for name, entry in manifest["files"].items():
        theirs, ours = published / name, parts.folder / name
        if (
            ours not in shared
            and known.get(name, {}).get("sha256") == entry["sha256"]
            and theirs.is_file()
            and sha256_of_file(theirs) == entry["sha256"]
        ):
            ours.unlink()
            link_or_copy(theirs, ours)
            shared.add(ours)
    return shared


def _files_of(published: Path) -> Mapping[str, Mapping[str, Any]]:
    """The files in the manifest of the published version; none where nothing is published."""
    try:
        files: Mapping[str, Mapping[str, Any]] = read_version(published.resolve()).manifest["files"]
    except (BrokenIndex, OSError):
        return {}
    return files


def _put_in_place(folder: Path, version: Version, *, read_content: bool) -> None:
    """Give the folder its name; a whole folder of that name is kept."""
    if version.folder.exists():
        if not _is_damaged(version.folder, read_content=read_content):
            return
        version.folder.replace(version.folder.with_name(f"{ASIDE}{uuid.uuid4().hex}"))
    folder.replace(version.folder)
    _flush(version.folder.parent)


def _is_damaged(folder: Path, *, read_content: bool) -> bool:
    try:
        return bool(read_version(folder).damaged_files(read_content=read_content))
    except (BrokenIndex, FileNotFoundError):
        return True


def _name_candidate(ws: Workspace, version: Version) -> None:
    row = {
        "digest": version.digest,
        "content_digest": version.manifest["content_digest"],
        "commit": version.manifest["commit"],
        "fingerprint": version.manifest["fingerprint"],
    }
    ws.tables.write("candidate", ws.key, pa.Table.from_pylist([row], schema=TABLES["candidate"].schema))


def _flush(path: Path) -> None:
    """Ask the disk to keep a file or folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
