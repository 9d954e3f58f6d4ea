"""A bucket with what a home in a folder has, as workers would have committed it."""

from pathlib import Path

from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.object_storage.heads import (
    PublishedPointer,
    RepositoryHead,
    head_name,
    read_head,
)
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    StateFile,
    StateLink,
    StateManifest,
    part_name,
)
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats.version_folder import read_version


def commit(home: Path, url: str, *keys: str) -> Objects:
    """Put the tables and the published version of some repositories, or all, into a bucket, and the registry."""
    objects, layout = open_objects(url, retry_s=0), HomeLayout(home)
    if layout.repos_file.exists():
        objects.put("home/repos.yaml", layout.repos_file.read_bytes())
    there: set[str] = set()
    for key in keys or sorted(path.name for path in layout.summary_index.iterdir() if path.is_symlink()):
        _commit_one(layout, objects, key, there)
    return objects


def _commit_one(layout: HomeLayout, objects: Objects, key: str, there: set[str]) -> None:
    version = read_version(layout.published(key).resolve())
    tables = [layout.warehouse / table / f"repo={key}" / "part-0.parquet" for table in TABLES]
    index = layout.versions(key) / version.digest
    files = {}
    for path in [*index.rglob("*"), *tables]:
        if path.is_file():
            data = path.read_bytes()
            part = sha256_hex(data)
            if part not in there:
                objects.put(part_name(part), data)
                there.add(part)
            files[path.relative_to(layout.home).as_posix()] = StateFile(
                part=part, size=len(data), modified_ns=path.stat().st_mtime_ns
            )
    name = layout.published(key)
    link = StateLink(target=str(name.readlink()), modified_ns=name.lstat().st_mtime_ns)
    manifest = StateManifest(files=files, links={name.relative_to(layout.home).as_posix(): link}).encoded()
    state = sha256_hex(manifest)
    objects.put(part_name(state), manifest)
    known = read_head(objects, key)
    fields = ("commit", "content_digest", "fingerprint")
    published = PublishedPointer(digest=version.digest, **{name: version.manifest[name] for name in fields})
    head = (known[0] if known else RepositoryHead()).replaced(state=state, published=published)
    objects.put(head_name(key), head.encoded())
