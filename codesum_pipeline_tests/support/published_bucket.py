"""A bucket with what a home in a folder has, as workers would have committed it."""

from pathlib import Path

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.layout import HomeLayout, PublishedPointer
from codesum_pipeline.foundation.store.object_storage.heads import (
    RepositoryHead,
    head_name,
    read_head,
)
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline.foundation.store.object_storage.pieces import cut_file
from codesum_pipeline.foundation.store.object_storage.state_files import CutFile, send_files
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    StateFile,
    StateLink,
    StateManifest,
    part_name,
    read_manifest,
)
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats.version_folder import read_version


def commit(home: Path, url: str, *keys: str, as_whole_files: bool = False) -> Objects:
    """Put the tables and the published version of some repositories, or all, into a bucket, and the registry; each file
    is an object of its own as in earlier versions, or files are pieces."""
    objects, layout = open_objects(url, retry_s=0), HomeLayout(home)
    if layout.repos_file.exists():
        objects.put("home/repos.yaml", layout.repos_file.read_bytes())
    for key in keys or sorted(path.name for path in layout.summary_index.iterdir() if path.is_symlink()):
        _commit_one(layout, objects, key, as_whole_files=as_whole_files)
    return objects


def state_of(objects: Objects, key: str) -> StateManifest:
    """What the bucket has of a repository."""
    found = read_head(objects, key)
    assert found and found.head.state, "nothing was committed"
    return read_manifest(objects, found.head.state)


def object_with(objects: Objects, key: str, ending: str) -> str:
    """The name of an object that holds bytes of a file whose path ends so."""
    found = state_of(objects, key).paths_by_object().items()
    return next(part_name(name) for name, paths in found if any(path.endswith(ending) for path in paths))


def _commit_one(layout: HomeLayout, objects: Objects, key: str, *, as_whole_files: bool) -> None:
    version = read_version(layout.published(key).resolve())
    tables = [layout.warehouse / table / f"repo={key}" / "part-0.parquet" for table in TABLES]
    index = layout.versions(key) / version.digest
    files = {}
    for path in [*index.rglob("*"), *tables]:
        if path.is_file():
            part, pieces = cut_file(path)
            found = path.stat()
            file = StateFile(part=part, size=found.st_size, modified_ns=found.st_mtime_ns)
            files[path.relative_to(layout.home).as_posix()] = CutFile(file, pieces)
            if as_whole_files:
                objects.put(part_name(part), path.read_bytes())
    name = layout.published(key)
    link = StateLink(target=str(name.readlink()), modified_ns=name.lstat().st_mtime_ns)
    base = StateManifest(files={path: file for path, (file, _) in files.items()} if as_whole_files else {})
    sent = send_files(objects, layout.home, files, base, transfers=1)
    manifest = replace(sent, links={name.relative_to(layout.home).as_posix(): link}).encoded()
    state = sha256_hex(manifest)
    objects.put(part_name(state), manifest)
    known = read_head(objects, key)
    fields = ("commit", "content_digest", "fingerprint")
    published = PublishedPointer(digest=version.digest, **{name: version.manifest[name] for name in fields})
    head = (known[0] if known else RepositoryHead()).replaced(state=state, published=published)
    objects.put(head_name(key), head.encoded())
