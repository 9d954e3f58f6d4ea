"""Publishes a version: the name of a repository's index points at it from one moment to the next.

The name is a relative symbolic link that a rename swaps. Readers resolve it once and map every file of the version they
find, after which the version may be deleted; the present and the previous version always stay, for a reader that has
resolved the name and not yet opened the files.
"""

import shutil
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import BrokenIndex, BrokenStore
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.atomic import flush_to_disk, replace_link, write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.workspace import Workspace, write_serving_file
from codesum_pipeline.indexes.file_formats.version_folder import ASIDE, Version, read_version, version_at
from codesum_pipeline.indexes.publishing.releases import note_release, refuse_older_release

# Beside the versions: the digests that were published, one a line, the latest last.
PUBLISHED_LOG = "published.txt"


class PublishReport(Struct, frozen=True):
    """`published` is false where the published version has the same content and commit."""

    published: bool
    digest: str
    content_digest: str
    commit: str
    documents: int
    versions_kept: int
    versions_deleted: int
    table_hash: str


def publish_candidate(ws: Workspace, *, progress: Progress = no_progress) -> PublishReport:
    """Point the repository's name at its candidate, and delete what is no longer needed. Nothing is published when
    commit, fingerprint and content digest are those of the published version. The caller holds the repository's lease:
    whatever a killed build left behind is swept. Raises `OlderRelease`, unless the build is forced.
    """
    progress("publishing the index", 0, 1)
    if not ws.force:
        refuse_older_release(ws.layout, ws.key)
    name, versions = ws.layout.published(ws.key), ws.layout.versions(ws.key)
    candidate = ws.tables.read("candidate", ws.key).to_pylist()[0]
    present = published_version(ws.layout, ws.key, read_content=ws.force)
    is_new = present is None or not all(
        present.manifest[field] == candidate[field] for field in ("commit", "fingerprint", "content_digest")
    )
    version = present
    if version is None or is_new:
        try:
            version = read_version(versions / candidate["digest"])
        except FileNotFoundError as error:
            gone = f"repository {ws.key!r}: candidate {candidate['digest']} is gone"
            raise BrokenStore(f"{gone}: run `codesum index {ws.key}` again") from error
    log = _published_before(versions, version.digest, present)
    note_release(ws.layout, ws.key)
    if is_new:
        write_text_atomically(versions / PUBLISHED_LOG, "".join(f"{digest}\n" for digest in log))
        _point(name, versions, version.digest)
    if is_new or not ws.layout.duckdb_file.exists():
        write_serving_file(ws.tables, ws.layout.duckdb_file)
    kept = set(log[-ws.settings.keep_versions :])
    deleted = _sweep(versions, keep=kept)
    progress("publishing the index", 1, 1)
    manifest = version.manifest
    return PublishReport(
        published=is_new,
        digest=version.digest,
        content_digest=manifest["content_digest"],
        commit=manifest["commit"],
        documents=manifest["counts"]["documents"],
        versions_kept=len(kept),
        versions_deleted=deleted,
        table_hash=manifest["content_digest"],
    )


def sweep_versions(ws: Workspace, present: Version) -> None:
    """Delete versions that are not kept, where the candidate is not published; it is kept until the next one."""
    versions = ws.layout.versions(ws.key)
    (candidate,) = ws.tables.read("candidate", ws.key).to_pylist()
    log = _published_before(versions, present.digest, None)
    _sweep(versions, keep={*log[-ws.settings.keep_versions :], candidate["digest"]})


def published_version(layout: HomeLayout, key: str, *, read_content: bool = False) -> Version | None:
    """The version that a repository's name points at; None when there is none, or none that is whole. Files are
    compared with the manifest by size, and by content when asked for."""
    name, versions = layout.published(key), layout.versions(key)
    try:
        version = version_at(name)
    except BrokenIndex:
        return None
    if version is None or name.readlink() != link_target(name, versions, version.digest):
        return None
    return None if version.damaged_files(read_content=read_content) else version


def link_target(name: Path, versions: Path, digest: str) -> Path:
    """The link's target: the version's folder, relative to the folder of the link."""
    return versions.relative_to(name.parent) / digest


def _published_before(versions: Path, digest: str, present: Version | None) -> list[str]:
    """The digests published so far that are still there, in order, ending with the present one and the new one."""
    log = versions / PUBLISHED_LOG
    before = log.read_text(encoding="utf-8").split() if log.exists() else []
    last = [*([present.digest] if present else []), digest]
    names = dict.fromkeys(name for name in before if name not in last and (versions / name).is_dir())
    return [*names, *dict.fromkeys(name for name in last if name != digest), digest]


def _point(name: Path, versions: Path, digest: str) -> None:
    if name.is_dir() and not name.is_symlink():
        raise BrokenStore(f"{name} is a folder where a link to a version should be: move it away")
    replace_link(name, link_target(name, versions, digest))
    flush_to_disk(name.parent)


def _sweep(versions: Path, *, keep: set[str]) -> int:
    """Delete versions that are not kept, and leftovers; returns how many versions went."""
    deleted = 0
    for folder in sorted(path for path in versions.iterdir() if path.is_dir() and path.name not in keep):
        if not folder.name.startswith(ASIDE):
            deleted += 1
            # Under its own name a folder is whole, also when this process is killed now.
            folder = folder.rename(folder.with_name(f"{ASIDE}{folder.name}"))
        shutil.rmtree(folder)
    return deleted
