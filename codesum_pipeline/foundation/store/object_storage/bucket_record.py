"""A repository's record in a bucket: the worker that holds its lease fetches the files, and sends them back.

Only parts that the folder lacks are fetched. Files are put in their places with the times that they were first written
at, by which memos know them. Versions share what they have in common, as those of a folder home do.

A commit sends the parts that the bucket lacks, then the manifest that names all of them; then one swap of the head
makes tables and published version the new ones. Whoever is killed before the swap has changed nothing.
"""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.foundation.store.atomic import (
    read_json,
    replace_durably,
    replace_link,
    set_times,
    temporary_beside,
    write_json_atomically,
)
from codesum_pipeline.foundation.store.layout import MANIFEST_NAME, HomeLayout
from codesum_pipeline.foundation.store.object_storage.head_lease import HeadLease, take_head
from codesum_pipeline.foundation.store.object_storage.heads import (
    PublishedPointer,
    StateFile,
    StateLink,
    StateManifest,
    fetch_part,
    part_name,
    read_manifest,
)
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.foundation.store.object_storage.repository_files import (
    PartNotes,
    dump_ledger,
    files_of,
    links_of,
    restore_ledger,
)
from codesum_pipeline.foundation.store.repository_record import Entry

# What models cost a repository on a day. The amount is in the object's name, so that one listing gives the sum; within
# a day it only rises.
_SPENDING = "spending/"
_MICRO = 1_000_000


class Journal:
    """What the worker that holds a repository wrote into its ledger since its last commit, as objects of the bucket.

    What is paid for must outlive the worker that paid. Each transaction of the ledger is sent as one object before
    anybody may count on it. Whoever holds the repository next reads what a killed worker left, in order, and goes on
    from there; a commit, which keeps the ledger itself, deletes them. `names` are the objects that the ledger of this
    moment holds, or that somebody left.
    """

    def __init__(self, objects: Objects, key: str, *, fence: int) -> None:
        self._objects = objects
        self._prefix = f"journal/{key}/"
        self._fence = fence
        self._count = 0
        self.names: list[str] = []
        self.is_taken = False

    def take_left(self) -> list[Entry]:
        """What earlier workers left, oldest first; the second time nothing. Until then no commit deletes anything."""
        left = []
        for info in [] if self.is_taken else self._objects.infos(self._prefix):
            if found := self._objects.get(info.name):
                self.names.append(info.name)
                left.append(json.loads(found.data))
        self.is_taken = True
        return left

    def write(self, entry: Entry) -> None:
        """Keep one transaction; raises `BucketUnavailable`, and then nobody may count on it."""
        self._count += 1
        name = f"{self._prefix}{self._fence:012}-{self._count:09}-{uuid4().hex}"
        self._objects.put(name, json.dumps(entry).encode())
        self.names.append(name)

    def forget(self, names: Sequence[str]) -> None:
        """Delete what a commit keeps now."""
        if names:
            self._objects.delete(names)
            gone = {*names}
            self.names = [name for name in self.names if name not in gone]


class BucketRecord:
    """The record, from when its lease is taken until it is given back."""

    def __init__(self, layout: HomeLayout, key: str, objects: Objects, lease: HeadLease, *, transfers: int) -> None:
        self._layout = layout
        self._key = key
        self._objects = objects
        self._lease = lease
        self._transfers = transfers
        self._notes = PartNotes.read(layout.part_notes(key), url=objects.url)
        self.journal = Journal(objects, key, fence=lease.head.fence)

    def check(self) -> None:
        """Raises `LeaseLost` if it is known that another worker took over."""
        self._lease.check()

    def note_spending(self, *, day: date, usd: float) -> None:
        """Tell all workers what models cost the repository on a day."""
        if usd:
            self._objects.put(f"{_SPENDING}{day.isoformat()}/{self._key}/{round(usd * _MICRO):015}", b"")

    def close(self) -> None:
        """Let other workers hold the repository."""
        self._lease.give_back()

    def commit(self) -> None:
        """This worker's folder becomes the record; raises `BucketUnavailable`, and `LeaseLost`: nothing has changed."""
        kept = [*self.journal.names] if self.journal.is_taken else []
        self._lease.check()
        layout, notes = self._layout, self._notes
        dump_ledger(layout.state(self._key), layout.kept_ledger(self._key))
        manifest = self._manifest()
        is_based_on_head = notes.based_on == self._lease.head.state
        if not is_based_on_head or manifest.content != notes.manifest.content:
            known = {file.part for file in notes.manifest.files.values()} if is_based_on_head else set()
            new = {file.part: layout.home / path for path, file in manifest.files.items() if file.part not in known}

            with ThreadPoolExecutor(self._transfers) as threads:
                list(threads.map(self._objects.put, map(part_name, new), new.values()))
            encoded = manifest.encoded()
            state = sha256_hex(encoded)
            self._objects.put(part_name(state), encoded)
            self._lease.commit(state, self._published())
            self._note_state(state, manifest)
        self.journal.forget(kept)

    def hydrate(self) -> None:
        """Make the files of the repository those of the bucket's state.

        Where the folder was made from the very same state, what a killed build added to it is kept, as in a home that
        is a folder. Raises `BrokenStore` if the bucket lacks a part.
        """
        layout, notes, state = self._layout, self._notes, self._lease.head.state
        home, kept = layout.home, notes.manifest
        is_whole = all((home / p).is_file() for p in kept.files) and all((home / p).is_symlink() for p in kept.links)
        if notes.based_on == state and is_whole:
            return
        manifest = read_manifest(self._objects, state) if state else StateManifest()
        # Until all is in place the folder is made from no state.
        notes.based_on = None
        write_json_atomically(layout.part_notes(self._key), notes)
        self._remove_others(manifest)
        self._fetch(manifest)
        for path, link in manifest.links.items():
            replace_link(layout.home / path, link.target, modified_ns=link.modified_ns)
        restore_ledger(layout.state(self._key), layout.kept_ledger(self._key))
        self._note_state(state, manifest)

    def _note_state(self, state: str | None, manifest: StateManifest) -> None:
        """The folder is what this state says."""
        self._notes.based_on, self._notes.manifest = state, manifest
        self._notes.keep_only(manifest.files)
        write_json_atomically(self._layout.part_notes(self._key), self._notes)

    def _manifest(self) -> StateManifest:
        """What the folder holds."""
        files, links, home = {}, {}, self._layout.home
        for file in files_of(self._layout, self._key):
            path = str(file.relative_to(home))
            part, found = self._notes.part_of(home, path), file.stat()
            if part is None:
                part = sha256_of_file(file)
                self._notes.note(home, path, part)
            files[path] = StateFile(part=part, size=found.st_size, modified_ns=found.st_mtime_ns)
        for link in links_of(self._layout, self._key):
            modified_ns = link.lstat().st_mtime_ns
            links[str(link.relative_to(home))] = StateLink(target=str(link.readlink()), modified_ns=modified_ns)
        return StateManifest(files=files, links=links)

    def _published(self) -> PublishedPointer | None:
        name = self._layout.published(self._key)
        # The manifest does not hold its own digest, which names its folder.
        found = read_json(name / MANIFEST_NAME, PublishedPointer)
        return replace(found, digest=name.readlink().name) if found else None

    def _remove_others(self, manifest: StateManifest) -> None:
        home = self._layout.home
        for path in links_of(self._layout, self._key):
            if str(path.relative_to(home)) not in manifest.links:
                path.unlink()
        for path in [*files_of(self._layout, self._key)]:
            if str(path.relative_to(home)) not in manifest.files:
                path.unlink()
                # Nothing is left of a version or a table that is no longer kept.
                with suppress(OSError):
                    for folder in path.parents[: path.parents.index(home)]:
                        folder.rmdir()

    def _fetch(self, manifest: StateManifest) -> None:
        home, notes = self._layout.home, self._notes
        wanted: dict[str, dict[str, StateFile]] = defaultdict(dict)
        for path, file in manifest.files.items():
            if notes.part_of(home, path) != file.part:
                wanted[file.part][path] = file
            elif (home / path).stat().st_mtime_ns != file.modified_ns:
                set_times(home / path, file.modified_ns)
                notes.note(home, path, file.part)
        at_hand = {noted.part: home / path for path, noted in notes.files.items() if notes.part_of(home, path)}
        with ThreadPoolExecutor(self._transfers) as threads:
            list(threads.map(lambda part: self._place(part, wanted[part], at_hand.get(part)), sorted(wanted)))
        for part, files in wanted.items():
            for path in files:
                notes.note(home, path, part)

    def _place(self, part: str, files: Mapping[str, StateFile], source: Path | None) -> None:
        """Put one part in all its places: linked where the time is the same, too, and both lie among versions."""
        versions = self._layout.versions("")
        placed: dict[int, Path] = {}
        for path, file in sorted(files.items()):
            target = self._layout.home / path
            aside = temporary_beside(target)
            shared = placed.get(file.modified_ns) if target.is_relative_to(versions) else None
            if shared:
                os.link(shared, aside)
            elif source:
                with replace_durably(aside) as copy, source.open("rb") as original:
                    shutil.copyfileobj(original, copy)
            else:
                try:
                    fetch_part(self._objects, file, aside)
                except BrokenStore as error:
                    aside.unlink(missing_ok=True)
                    way_out = "delete the head of the repository and index it again"
                    raise BrokenStore(f"{error}: it is {path}: {way_out}") from error
            if not shared:
                set_times(aside, file.modified_ns)
            os.replace(aside, target)
            source = target
            if target.is_relative_to(versions):
                placed[file.modified_ns] = target


def open_record(layout: HomeLayout, key: str, *, run_id: str, wait_s: float) -> BucketRecord:
    """Take the lease of a repository in the home's bucket, and make this worker's folder what the bucket holds.

    Raises `LeaseHeld`, `BucketUnavailable`, `BrokenStore`.
    """
    place = layout.bucket
    assert place is not None, "a home in a folder has no record elsewhere"
    objects = OPENED_HOMES.objects(place)
    lease = take_head(objects, key, run_id=run_id, lease_s=place.storage.lease_s, wait_s=wait_s)
    try:
        record = BucketRecord(layout, key, objects, lease, transfers=place.storage.transfers)
        record.hydrate()
    except BaseException:
        lease.give_back()
        raise
    return record


def spending_of_all(objects: Objects, *, day: date) -> float:
    """US dollars of all repositories on a day (UTC), as their workers last noted them."""
    highest: dict[str, int] = {}
    for info in objects.infos(f"{_SPENDING}{day.isoformat()}/"):
        folder, _, amount = info.name.rpartition("/")
        highest[folder] = max(highest.get(folder, 0), int(amount))
    return sum(highest.values()) / _MICRO
