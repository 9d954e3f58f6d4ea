"""What a worker's folder holds of a repository becomes its state in a bucket, all at once.

Parts that the bucket lacks are sent first, then the manifest that names all of
them; then one swap of the head makes tables and published version the new ones.
Whoever is killed before the swap has changed nothing.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.model.hashing import sha256_hex
from codesum_pipeline.store.head_lease import HeadLease
from codesum_pipeline.store.heads import PublishedPointer, StateFile, StateLink, StateManifest, part_name
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.objects import Objects
from codesum_pipeline.store.part_notes import PartNotes, content_to_keep, part_with
from codesum_pipeline.store.repository_files import dump_ledger, files_of, links_of

_VERSION_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class CommitCounts:
    """What a commit sent; nothing where the bucket had it all."""

    parts: int = 0
    part_bytes: int = 0
    is_new: bool = False


def commit(
    layout: HomeLayout, key: str, objects: Objects, lease: HeadLease, notes: PartNotes, *, transfers: int
) -> CommitCounts:
    """Bring the bucket up to date with the folder. Raises `LeaseLost`, and then nothing has changed there."""
    lease.check()
    dump_ledger(layout.state(key), layout.kept_ledger(key))
    manifest = _manifest(layout, key, notes)
    if _says_the_same(manifest, notes.manifest) and notes.based_on == lease.head.state:
        return CommitCounts()
    known = {file.part for file in notes.manifest.files.values()} if notes.based_on == lease.head.state else set()
    new = {file.part: path for path, file in manifest.files.items() if file.part not in known}
    with ThreadPoolExecutor(transfers) as threads:
        sent = [threads.submit(_send, objects, part, layout.home / path) for part, path in sorted(new.items())]
        for one in sent:
            one.result()
    encoded = manifest.encoded()
    state = sha256_hex(encoded)
    objects.put(part_name(state), encoded)
    lease.commit(state, _published(layout, key))
    notes.based_on, notes.manifest = state, manifest
    notes.keep_only(manifest.files)
    notes.write(layout.part_notes(key))
    return CommitCounts(len(new), sum(manifest.files[path].size for path in new.values()), is_new=True)


def _manifest(layout: HomeLayout, key: str, notes: PartNotes) -> StateManifest:
    files, links = {}, {}
    for file in files_of(layout, key):
        path = str(file.relative_to(layout.home))
        part = notes.part_of(layout.home, path)
        if part is None:
            part = part_with(file)
            notes.note(layout.home, path, part)
        found, kept = file.stat(), content_to_keep(file)
        size = found.st_size if kept is None else len(kept)
        files[path] = StateFile(part=part, size=size, modified_ns=found.st_mtime_ns)
    for link in links_of(layout, key):
        modified_ns = link.lstat().st_mtime_ns
        links[str(link.relative_to(layout.home))] = StateLink(target=str(link.readlink()), modified_ns=modified_ns)
    return StateManifest(files=files, links=links)


def _send(objects: Objects, part: str, file: Path) -> None:
    kept = content_to_keep(file)
    objects.put(part_name(part), file if kept is None else kept)


def _says_the_same(one: StateManifest, other: StateManifest) -> bool:
    """Whether both name the same content; when it was written may differ."""
    return {path: file.part for path, file in one.files.items()} == {
        path: file.part for path, file in other.files.items()
    } and {path: link.target for path, link in one.links.items()} == {
        path: link.target for path, link in other.links.items()
    }


def _published(layout: HomeLayout, key: str) -> PublishedPointer | None:
    name = layout.published(key)
    try:
        manifest = json.loads((name / _VERSION_MANIFEST).read_bytes())
        return PublishedPointer(
            digest=name.readlink().name,
            commit=manifest["commit"],
            content_digest=manifest["content_digest"],
            fingerprint=manifest["fingerprint"],
        )
    except (OSError, ValueError, KeyError):
        return None
