"""A repository's record in a bucket, for the worker that holds it."""

from datetime import date

from codesum_pipeline.store.bucket_place import BucketPlace
from codesum_pipeline.store.committing import commit
from codesum_pipeline.store.head_lease import HeadLease, take_head
from codesum_pipeline.store.hydrating import hydrate
from codesum_pipeline.store.journal import Journal
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.objects import Objects
from codesum_pipeline.store.part_notes import PartNotes

# What models cost a repository on a day. The amount is in the object's name, so that one listing tells the sum; within
# a day it only rises.
_SPENDING = "spending/"
_MICRO = 1_000_000


class BucketRecord:
    """The record, from when its lease is taken until it is given back."""

    def __init__(
        self, layout: HomeLayout, key: str, place: BucketPlace, objects: Objects, lease: HeadLease, notes: PartNotes
    ) -> None:
        self._layout = layout
        self._key = key
        self._place = place
        self._objects = objects
        self._lease = lease
        self._notes = notes
        self.journal = Journal(objects, key, fence=lease.head.fence)

    def check(self) -> None:
        """Raises `LeaseLost` where it is known that another worker took over."""
        self._lease.check()

    def commit(self) -> None:
        """What this worker's folder holds becomes the record; raises `LeaseLost`, `BucketUnavailable`."""
        kept = self.journal.names() if self.journal.is_taken else []
        commit(
            self._layout, self._key, self._objects, self._lease, self._notes, transfers=self._place.storage.transfers
        )
        self.journal.forget(kept)

    def note_spending(self, *, day: date, usd: float) -> None:
        """Tell all workers what models cost the repository on a day."""
        if usd:
            self._objects.put(f"{_SPENDING}{day.isoformat()}/{self._key}/{round(usd * _MICRO):015}", b"")

    def close(self) -> None:
        """Let other workers hold the repository."""
        self._lease.give_back()


def open_record(layout: HomeLayout, key: str, *, run_id: str, wait_s: float) -> BucketRecord:
    """Take the lease of a repository in the home's bucket, and make this worker's folder what the bucket holds.

    Raises `LeaseHeld`, `BucketUnavailable`, `BrokenStore`.
    """
    place = layout.bucket
    assert place is not None, "a home in a folder has no record elsewhere"
    objects = place.objects()
    lease = take_head(objects, key, run_id=run_id, lease_s=place.storage.lease_s, wait_s=wait_s)
    try:
        notes = hydrate(layout, key, objects, state=lease.head.state, transfers=place.storage.transfers)
    except BaseException:
        lease.give_back()
        raise
    return BucketRecord(layout, key, place, objects, lease, notes)


def spending_of_all(objects: Objects, *, day: date) -> float:
    """US dollars of all repositories on a day (UTC), as their workers last noted them."""
    highest: dict[str, int] = {}
    for info in objects.infos(f"{_SPENDING}{day.isoformat()}/"):
        folder, _, amount = info.name.rpartition("/")
        highest[folder] = max(highest.get(folder, 0), int(amount))
    return sum(highest.values()) / _MICRO
