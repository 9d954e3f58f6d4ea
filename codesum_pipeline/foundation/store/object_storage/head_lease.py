"""The lease of a repository in a bucket: one build at a time, by whichever worker.

Whoever takes the lease swaps the head for one with a fence that is higher by one. From that moment each swap of the
former holder fails, whatever its clock says and however long it was stopped: it names a tag that the head no longer
has. Clocks decide only when another worker may try.

Another worker may try once the head has not changed for the length of a lease on its own monotonic clock, so a clock
that was set back blocks no one; at once, where the head is older than two leases by the bucket's date, or where the
holder was a process of this machine that is gone.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

from msgspec.structs import asdict

from codesum_pipeline.foundation.data_model.errors import (
    AlreadyThere,
    BucketUnavailable,
    LeaseHeld,
    LeaseLost,
    Superseded,
)
from codesum_pipeline.foundation.store.layout import PublishedPointer
from codesum_pipeline.foundation.store.locks import ProcessIdentity, boot_id, pid_namespace, process_started
from codesum_pipeline.foundation.store.object_storage.heads import (
    FoundHead,
    HeadHolder,
    RepositoryHead,
    head_name,
    read_head,
)
from codesum_pipeline.foundation.store.object_storage.objects import Objects

_log = logging.getLogger(__name__)
# How often a waiting build asks for the head.
POLL_S = 1.0
# A lease is renewed so many times in its length.
_RENEWALS = 3
# A head that is so many leases old by the bucket's date is nobody's, unless two clocks differ by as much.
_SURELY_OLD = 2.0

# The leases that this process holds, by their nonces.
_held_here: set[str] = set()


class HeadLease:
    """A repository that this process holds, until it is given back or lost."""

    def __init__(self, objects: Objects, key: str, *, head: RepositoryHead, etag: str, lease_s: float) -> None:
        self._objects = objects
        self._key = key
        self._head = head
        self._etag = etag
        self._lease_s = lease_s
        self._lock = threading.Lock()
        self._is_lost = threading.Event()
        self._is_over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name=f"lease of {key}", daemon=True)
        self._renewing.start()

    @property
    def head(self) -> RepositoryHead:
        """The head as this holder last wrote it."""
        return self._head

    def check(self) -> None:
        """Raises `LeaseLost` if it is known that another worker took over."""
        if self._is_lost.is_set():
            raise LeaseLost(
                f"repository {self._key!r}: another worker took it over, since this one did not renew its lease in "
                "time: what it built since its last commit is not published; the next build goes on from there"
            )

    def commit(self, state: str, published: PublishedPointer | None) -> None:
        """Make a state that of the repository, all at once; raises `LeaseLost`, and then nothing has changed."""
        self._write(
            lambda head: head.replaced(
                state=state, published=published, generation=head.generation + 1, expires_at=self._expiry()
            )
        )

    def give_back(self) -> None:
        """Let others take the lease; one that is lost is no longer this holder's to give."""
        self._is_over.set()
        self._renewing.join()
        nonce = _nonce(self._head)
        try:
            self._write(lambda head: head.replaced(holder=None, expires_at=0.0))
        except LeaseLost:
            pass
        except BucketUnavailable as error:
            _log.warning("%s: the lease was not given back, and is free once it has expired: %s", self._key, error)
        finally:
            _held_here.discard(nonce)

    def _renew(self) -> None:
        while not self._is_over.wait(self._lease_s / _RENEWALS):
            try:
                self._write(lambda head: head.replaced(expires_at=self._expiry()))
            except LeaseLost:
                return
            except BucketUnavailable as error:
                _log.warning("%s: its lease could not be renewed yet: %s", self._key, error)

    def _expiry(self) -> float:
        return time.time() + self._lease_s

    def _write(self, change: Callable[[RepositoryHead], RepositoryHead]) -> None:
        with self._lock:
            self.check()
            while True:
                head = change(self._head)
                try:
                    self._etag = self._objects.swap(head_name(self._key), head.encoded(), etag=self._etag)
                    self._head = head
                    return
                except Superseded:
                    # It may go on from an earlier write of this holder that was done and not answered.
                    found, mine = read_head(self._objects, self._key), self._head
                    if found is None or (_nonce(found.head), found.head.fence) != (_nonce(mine), mine.fence):
                        self._is_lost.set()
                        self.check()
                    else:
                        self._head, self._etag = found.head, found.etag


def take_head(objects: Objects, key: str, *, run_id: str, lease_s: float, wait_s: float = 0.0) -> HeadLease:
    """Hold a repository of a bucket; waits up to `wait_s` seconds for another holder, then raises `LeaseHeld`."""
    deadline = time.monotonic() + wait_s
    seen, seen_at = "", 0.0
    while True:
        found = read_head(objects, key)
        if found and found.etag != seen:
            seen, seen_at = found.etag, time.monotonic()
        held_by = found.head.holder if found else None
        is_free = (
            found is None
            or held_by is None
            or _is_gone(held_by)
            or time.monotonic() - seen_at >= held_by.lease_s
            or (datetime.now(UTC) - found.modified).total_seconds() >= _SURELY_OLD * held_by.lease_s
        )
        if is_free and (taken := _taken(objects, key, found, run_id, lease_s)):
            return taken
        if held_by and not is_free and time.monotonic() >= deadline:
            raise LeaseHeld(
                f"repository {key!r} is being built by process {held_by.pid} on {held_by.host} (run {held_by.run_id}): "
                f"wait for it; if that worker is gone, its lease ends {held_by.lease_s:g} s after its last sign of life"
            )
        if not is_free:
            time.sleep(min(POLL_S, lease_s / (2 * _RENEWALS)))


def _taken(objects: Objects, key: str, found: FoundHead | None, run_id: str, lease_s: float) -> HeadLease | None:
    """The lease, unless another worker was quicker."""
    before = found.head if found else RepositoryHead()
    holder = HeadHolder(**asdict(ProcessIdentity.here()), run_id=run_id, nonce=uuid4().hex, lease_s=lease_s)
    head = before.replaced(fence=before.fence + 1, holder=holder, expires_at=time.time() + lease_s)
    _held_here.add(holder.nonce)
    try:
        name, data = head_name(key), head.encoded()
        etag = objects.swap(name, data, etag=found.etag) if found else objects.create(name, data)
    except (AlreadyThere, Superseded):
        _held_here.discard(holder.nonce)
        return None
    except BaseException:
        _held_here.discard(holder.nonce)
        raise
    return HeadLease(objects, key, head=head, etag=etag, lease_s=lease_s)


def _is_gone(holder: HeadHolder) -> bool:
    """Whether the holder certainly no longer runs: it can be looked up where it ran on this boot of this machine."""
    if (holder.boot_id, holder.pid_namespace) != (boot_id(), pid_namespace()):
        return False
    if process_started(holder.pid) != holder.process_started:
        return True
    return holder.pid == os.getpid() and holder.nonce not in _held_here


def _nonce(head: RepositoryHead) -> str:
    return head.holder.nonce if head.holder else ""
