"""A repository's record in a bucket: the worker that holds its lease fetches the files, and sends them back.

Only pieces that the folder lacks are fetched. Files are put in their places with the times that they were first written
at, by which memos know them. Versions share what they have in common, as those of a folder home do.

A commit sends the pieces that the bucket lacks, then the manifest that names all of them; then one swap of the head
makes tables and published version the new ones. Whoever is killed before the swap has changed nothing.
"""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import identify_algorithms, sha256_hex
from codesum_pipeline.foundation.store.atomic import (
    read_json,
    replace_durably,
    replace_link,
    set_times,
    temporary_beside,
    write_json_atomically,
)
from codesum_pipeline.foundation.store.layout import MANIFEST_NAME, HomeLayout, PublishedPointer
from codesum_pipeline.foundation.store.object_storage.bucket_findings import broken_parts
from codesum_pipeline.foundation.store.object_storage.head_lease import HeadLease, take_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.foundation.store.object_storage.pieces import cut_file, from_bytes, to_bytes
from codesum_pipeline.foundation.store.object_storage.repository_files import (
    PartNotes,
    dump_ledger,
    files_of,
    links_of,
    restore_ledger,
)
from codesum_pipeline.foundation.store.object_storage.state_files import CutFile, fetch_files, send_files
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    PARTS,
    StateFile,
    StateLink,
    StateManifest,
    part_name,
    read_manifest,
)
from codesum_pipeline.foundation.store.repository_record import Entry, RepositoryRecord

# What models cost a repository on a day. The amount is in the object's name, so that one listing gives the sum; within
# a day it only rises.
_SPENDING = "spending/"
_MICRO = 1_000_000


class _PublishedManifest(Struct, frozen=True):
    """The fields of a manifest that a head repeats."""

    commit: str
    content_digest: str
    fingerprint: str
    versions: dict[str, str]


class Journal(Struct, eq=False):
    """What the worker that holds a repository wrote into its ledger since its last commit, as objects of the bucket.

    What is paid for must outlive the worker that paid. Each transaction of the ledger is sent as one object before
    anybody may count on it. Whoever holds the repository next reads what a killed worker left, in order, and goes on
    from there; a commit, which keeps the ledger itself, deletes them. `names` are the objects that the ledger of this
    moment holds, or that somebody left.
    """

    objects: Objects
    prefix: str
    fence: int
    names: list[str] = []
    is_taken: bool = False
    _count: int = 0

    def take_left(self) -> list[Entry]:
        """What earlier workers left, oldest first; the second time nothing. Until then no commit deletes anything."""
        left = []
        for info in [] if self.is_taken else self.objects.infos(self.prefix):
            if found := self.objects.get(info.name):
                self.names.append(info.name)
                left.append(json.loads(found.data))
        self.is_taken = True
        return left

    def write(self, entry: Entry) -> None:
        """Keep one transaction; raises `BucketUnavailable`, and then nobody may count on it."""
        self._count += 1
        name = f"{self.prefix}{self.fence:012}-{self._count:09}-{uuid4().hex}"
        self.objects.put(name, json.dumps(entry).encode())
        self.names.append(name)

    def forget(self, names: Sequence[str]) -> None:
        """Delete what a commit keeps now."""
        if names:
            self.objects.delete(names)
            gone = {*names}
            self.names = [name for name in self.names if name not in gone]


class BucketRecord(RepositoryRecord):
    """The record, from when its lease is taken until it is given back."""

    def __init__(self, layout: HomeLayout, key: str, objects: Objects, lease: HeadLease, *, transfers: int) -> None:
        self._layout = layout
        self._key = key
        self._objects = objects
        self._lease = lease
        self._transfers = transfers
        self._notes = PartNotes.read(layout.part_notes(key), url=objects.url)
        self.journal = self._written = Journal(objects, f"journal/{key}/", lease.head.fence)

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

    def commit(self, *, lost: Collection[str] = ()) -> None:
        """This worker's folder becomes the record; raises `BucketUnavailable`, and `LeaseLost`: nothing has changed.

        What the objects `lost` held, by their sha256, is sent again.
        """
        kept = [*self._written.names] if self._written.is_taken else []
        self._lease.check()
        layout, notes = self._layout, self._notes
        dump_ledger(layout.state(self._key), layout.kept_ledger(self._key))
        files, links = self._cut_files(), self._links()
        base = notes.manifest if notes.based_on == self._lease.head.state else None
        now = StateManifest(files={path: each.file for path, each in files.items()}, links=links)
        if base is None or lost or now.content != base.content:
            base = (base or StateManifest()).without(lost)
            sent = send_files(self._objects, layout.home, files, base, transfers=self._transfers)
            manifest = replace(sent, links=links)
            encoded = manifest.encoded()
            state = sha256_hex(encoded)
            self._objects.put(part_name(state), encoded)
            self._lease.commit(state, self._published())
            self._note_state(state, manifest)
        self._written.forget(kept)

    def hydrate(self) -> None:
        """Make the files of the repository those of the bucket's state.

        Where the folder was made from the very same state, what a killed build added to it is kept, as in a home that
        is a folder. Raises `BrokenStore` if the bucket lacks a part.
        """
        layout, notes, state = self._layout, self._notes, self._lease.head.state
        if notes.based_on == state and notes.is_whole(layout.home):
            return
        manifest = read_manifest(self._objects, state) if state else StateManifest()
        # Until all is in place the folder is made from no state.
        notes.based_on = None
        write_json_atomically(layout.part_notes(self._key), notes)
        self._fetch(manifest)
        for path, link in manifest.links.items():
            replace_link(layout.home / path, link.target, modified_ns=link.modified_ns)
        self._remove_others(manifest)
        restore_ledger(layout.state(self._key), layout.kept_ledger(self._key))
        self._note_state(state, manifest)

    def _note_state(self, state: str | None, manifest: StateManifest) -> None:
        """The folder is what this state says."""
        self._notes.based_on, self._notes.manifest = state, manifest
        self._notes.keep_only(manifest.files)
        write_json_atomically(self._layout.part_notes(self._key), self._notes)

    def _cut_files(self) -> dict[str, CutFile]:
        """What the folder holds; files are only read where their pieces are not known."""
        files, home = {}, self._layout.home
        for file in files_of(self._layout, self._key):
            path, found = str(file.relative_to(home)), file.stat()
            noted = self._notes.note_of(home, path)
            if noted is None or (found.st_size and not noted.pieces):
                part, pieces = cut_file(file)
                noted = self._notes.note(home, path, part, to_bytes(pieces))
            state_file = StateFile(part=noted.part, size=found.st_size, modified_ns=found.st_mtime_ns)
            files[path] = CutFile(state_file, from_bytes(noted.pieces))
        return files

    def _links(self) -> dict[str, StateLink]:
        home = self._layout.home
        return {
            str(link.relative_to(home)): StateLink(target=str(link.readlink()), modified_ns=link.lstat().st_mtime_ns)
            for link in links_of(self._layout, self._key)
        }

    def _published(self) -> PublishedPointer | None:
        name = self._layout.published(self._key)
        # The manifest does not hold its own digest, which names its folder.
        found = read_json(name / MANIFEST_NAME, _PublishedManifest)
        if found is None:
            return None
        digest, algorithms = name.readlink().name, identify_algorithms(found.versions)
        return PublishedPointer(found.commit, found.content_digest, found.fingerprint, digest, algorithms)

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
            noted = notes.note_of(home, path)
            if noted is None or noted.part != file.part:
                wanted[file.part][path] = file
            elif noted.stat.modified_ns != file.modified_ns:
                set_times(home / path, file.modified_ns)
                notes.note(home, path, file.part, noted.pieces)
        changed = {path for files in wanted.values() for path in files}
        at_hand = {
            noted.part: home / path
            for path, noted in notes.files.items()
            if path not in changed and notes.part_of(home, path)
        }
        missing = [path for part, files in wanted.items() if part not in at_hand for path in files]
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home, prefix=".fetched-", suffix=".tmp") as folder:
            here = notes.pieces_here(home) if missing else {}
            try:
                fetch_files(self._objects, manifest, missing, Path(folder), here=here, transfers=self._transfers)
            except BrokenStore as error:
                way_out = "run `codesum doctor` on the worker that built it last, which sends again what it has"
                raise BrokenStore(f"{error}: {way_out}") from error
            for part, files in wanted.items():
                self._place(files, at_hand.get(part), Path(folder) / part)
        for path, pieces in manifest.pieces_of(changed).items():
            notes.note(home, path, manifest.files[path].part, pieces)

    def _place(self, files: Mapping[str, StateFile], source: Path | None, fetched: Path) -> None:
        """Put one content in all its places: linked where the time is the same, too, and both lie among versions."""
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
                os.replace(fetched, aside)
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


def send_again(layout: HomeLayout, key: str, *, run_id: str) -> tuple[list[tuple[str, str]], bool]:
    """Objects of a repository's state that are not there or not what their names say, as `broken_parts` has them, and
    whether they were sent again: that is done where this worker's folder was made from the very state.

    Raises `LeaseHeld`, `BucketUnavailable`, and `BrokenStore` for a broken list of objects that is not here, either.
    """
    place = layout.bucket
    assert place is not None, "a home in a folder has no record elsewhere"
    objects, notes = OPENED_HOMES.objects(place), PartNotes.read(layout.part_notes(key), url=place.url)
    try:
        broken = broken_parts(objects, key, near=layout.home, transfers=place.storage.transfers)
    except BrokenStore as error:
        if notes.based_on is None:
            raise
        broken = [(part_name(notes.based_on), str(error))]
    if not broken or notes.based_on is None or not notes.is_whole(layout.home):
        return broken, False
    lease = take_head(objects, key, run_id=run_id, lease_s=place.storage.lease_s)
    record = BucketRecord(layout, key, objects, lease, transfers=place.storage.transfers)
    try:
        is_here = notes.based_on == lease.head.state
        if is_here:
            record.commit(lost={name.removeprefix(PARTS) for name, _ in broken})
        return broken, is_here
    finally:
        record.close()


def spending_of_all(objects: Objects, *, day: date) -> float:
    """US dollars of all repositories on a day (UTC), as their workers last noted them."""
    highest: dict[str, int] = {}
    for info in objects.infos(f"{_SPENDING}{day.isoformat()}/"):
        folder, _, amount = info.name.rpartition("/")
        highest[folder] = max(highest.get(folder, 0), int(amount))
    return sum(highest.values()) / _MICRO
