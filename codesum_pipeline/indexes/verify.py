"""Whether a published index is what its manifest and the warehouse say.

The link is looked at first, then the manifest, then the bytes of every file;
what the files say is compared only when their bytes are right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.indexes.publish import link_target
from codesum_pipeline.indexes.verify_content import (
    check_documents,
    check_lanes,
    check_shown,
    check_warehouse,
    read_content,
)
from codesum_pipeline.indexes.version_folder import (
    INDEX_SCHEMA_VERSION,
    MANIFEST,
    Version,
    content_digest,
    read_version,
)
from codesum_pipeline.model.errors import BrokenIndex
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.tables import TableStore


@dataclass(frozen=True, slots=True)
class IndexFault:
    """Something wrong: `check` is the rule, `subject` the file or document, `detail` what is and what should be."""

    check: str
    subject: str
    detail: str


def verify_index(layout: HomeLayout, key: str, *, tables: TableStore | None = None) -> list[IndexFault]:
    """Everything wrong with a repository's published index; an empty list means that it is sound.

    With `tables`, an index of the commit that the warehouse stands at is
    compared with it document by document.
    """
    name, versions = layout.published(key), layout.versions(key)
    findings = list(_check_link(name, versions))
    if findings:
        return findings
    try:
        version = read_version(versions / name.readlink().name)
    except BrokenIndex as error:
        return [IndexFault("manifest", MANIFEST, str(error))]
    findings = [*_check_manifest(version, key), *_check_files(version)]
    if findings:
        return findings
    content = read_content(version)
    problems = [*check_documents(content), *check_shown(content), *check_lanes(content)]
    if tables is not None:
        problems += check_warehouse(content, tables, key)
    return [IndexFault(*problem) for problem in problems]


def _check_link(name: Path, versions: Path) -> Iterator[IndexFault]:
    if not name.is_symlink():
        detail = "is a folder or file, not a link" if name.exists() else "nothing is published"
        yield IndexFault("link", str(name), detail)
        return
    target = name.readlink()
    if target != link_target(name, versions, target.name):
        yield IndexFault("link", str(name), f"points at {target}, which is no version of this repository")
    elif not (versions / target.name / MANIFEST).is_file():
        yield IndexFault("link", str(name), f"points at {target}, which is gone")


def _check_manifest(version: Version, key: str) -> Iterator[IndexFault]:
    manifest = version.manifest
    if manifest.get("schema_version") != INDEX_SCHEMA_VERSION:
        detail = f"schema version {manifest.get('schema_version')}, this package reads {INDEX_SCHEMA_VERSION}"
        yield IndexFault("manifest", MANIFEST, detail)
    elif manifest["repo"] != key:
        yield IndexFault("manifest", MANIFEST, f"is of repository {manifest['repo']!r}")
    elif (computed := content_digest(manifest)) != manifest["content_digest"]:
        yield IndexFault("manifest", MANIFEST, f"content digest is {manifest['content_digest']}, should be {computed}")


def _check_files(version: Version) -> Iterator[IndexFault]:
    for name in version.damaged_files(read_content=True):
        state = "differs from the manifest" if (version.folder / name).is_file() else "is missing"
        yield IndexFault("files", name, state)
    listed = {*version.manifest["files"], MANIFEST}
    for path in sorted(path for path in version.folder.rglob("*") if path.is_file()):
        name = path.relative_to(version.folder).as_posix()
        if name not in listed:
            yield IndexFault("files", name, "is not in the manifest")
