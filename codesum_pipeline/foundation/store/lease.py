"""One build of a repository at a time, whoever starts it and wherever its home is.

A lease names its holder (pid and its start time, boot id, host, run), so that a second build can say who has it and
take over from a process that is gone. A holder in another container of this machine cannot be found by its pid; a file
that it keeps locked as long as it lives shows whether it runs. A holder on another host cannot be checked at all: its
lease stays until it is released by hand.

In a bucket, a repository is also held by the lease of its head: this worker's folder is first updated from the bucket,
and the build's results are written back at each commit and at the end, even if the build failed.
"""

import logging
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from msgspec.structs import asdict, replace

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, LeaseHeld, LeaseLost
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import (
    ProcessIdentity,
    boot_id,
    is_free,
    is_of_this_namespace,
    process_started,
    take_own,
)
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD, RepositoryRecord
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, open_for_reading

_log = logging.getLogger(__name__)
# How often a waiting build looks again: builds take seconds.
POLL_S = 0.2
# A lock file that nobody holds belongs to a process that was killed, unless it is about to be locked.
DEAD_LOCK_AGE_S = 60.0
# The run that deletes a repository.
PURGE_RUN = "purge"
# The names of the lock files that this process holds; what other processes hold shows in the files alone.
_held_here: set[str] = set()


class LeaseHolder(ProcessIdentity, frozen=True, kw_only=True):
    """The process and run that hold a lease; times are Unix seconds.

    `lock` is the path of the file that the process keeps locked with the lease; the table of leases has its name alone.
    """

    run_id: str
    acquired_at: float
    lock: str = ""

    def is_gone(self) -> bool:
        """Whether the process certainly no longer runs."""
        if self.host != socket.gethostname():
            return False
        if self.boot_id != boot_id():
            return True
        if not is_of_this_namespace(self.pid_namespace):
            return bool(self.lock) and is_free(Path(self.lock))
        if process_started(self.pid) != self.process_started:
            return True
        # This process gave it back, and could not write that down.
        return self.pid == os.getpid() and bool(self.lock) and Path(self.lock).name not in _held_here

    def is_process_of(self, other: "LeaseHolder") -> bool:
        """Whether both are one process, whatever the run."""
        return all(getattr(self, name) == getattr(other, name) for name in OF_A_PROCESS)

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.acquired_at))
        return f"process {self.pid} on {self.host} (run {self.run_id}, since {since})"


OF_A_PROCESS = ProcessIdentity.__struct_fields__


class _LeaseFile(SqliteFile):
    tables: ClassVar = {
        "lease": "only_one INTEGER PRIMARY KEY CHECK (only_one = 1), pid INTEGER NOT NULL, "
        "process_started REAL NOT NULL, boot_id TEXT NOT NULL, host TEXT NOT NULL, run_id TEXT NOT NULL, "
        "acquired_at REAL NOT NULL, pid_namespace TEXT NOT NULL DEFAULT '', lock TEXT NOT NULL DEFAULT ''"
    }


def this_process(run_id: str, *, lock: str = "") -> LeaseHolder:
    """The process at hand, as the holder of a lease for a run."""
    return LeaseHolder(**asdict(ProcessIdentity.here()), run_id=run_id, acquired_at=time.time(), lock=lock)


@contextmanager
def hold_lease(
    state: Path, *, key: str, run_id: str, wait_s: float = 0.0, way_out: str | None = None
) -> Iterator[LeaseHolder]:
    """Hold the lease of a repository for the duration of the block.

    Waits up to `wait_s` seconds for another holder, then raises `LeaseHeld` naming it; `way_out` is what to do where
    its host is gone. A holder whose process is gone is replaced at once.
    """
    deadline = time.monotonic() + wait_s
    with _own_lock(state) as lock:
        while True:
            mine = this_process(run_id, lock=lock)
            other = _take(state, mine)
            if other is None:
                break
            if time.monotonic() >= deadline:
                what = f"repository {key!r} is being built" if way_out is None else f"{key} is held"
                release = way_out or f"run `codesum doctor {key} --release-lease`"
                raise LeaseHeld(f"{what} by {other}: wait for it, or, if that host is gone, {release}")
            time.sleep(POLL_S)
        try:
            yield mine
        finally:
            _give_back(state, mine)


@contextmanager
def hold_repository(
    layout: HomeLayout, key: str, *, run_id: str, wait_s: float = 0.0, called: str | None = None
) -> Iterator[RepositoryRecord]:
    """Hold a repository for the duration of the block, which gets its record; raises `LeaseHeld`, and `LeaseLost` at
    the end of a block whose work another worker has made void."""
    way_out = f"run `codesum doctor {key} --release-lease`" if called else None
    with hold_lease(layout.state(key), key=called or key, run_id=run_id, wait_s=wait_s, way_out=way_out):
        if layout.bucket is None:
            yield FOLDER_RECORD
        else:
            with _hold_record(layout, key, run_id=run_id, wait_s=wait_s) as record:
                yield record


@contextmanager
def hold_unless_held(
    layout: HomeLayout, key: str, *, run_id: str, wait_s: float = 0.0, here_only: bool = False
) -> Iterator[None]:
    """Hold a repository for the duration of the block, unless this run holds it already; raises `LeaseHeld`.

    With `here_only`, also of a home in a bucket just what this worker's folder has.
    """
    holder = current_holder(layout.state(key))
    if holder and holder.run_id == run_id and holder.is_process_of(this_process(run_id)):
        yield
    elif here_only:
        with hold_lease(layout.state(key), key=key, run_id=run_id, wait_s=wait_s):
            yield
    else:
        with hold_repository(layout, key, run_id=run_id, wait_s=wait_s):
            yield


@contextmanager
def _hold_record(layout: HomeLayout, key: str, *, run_id: str, wait_s: float) -> Iterator[RepositoryRecord]:
    # A home in a folder does not need it.
    from codesum_pipeline.foundation.store.object_storage.bucket_record import open_record

    record = open_record(layout, key, run_id=run_id, wait_s=wait_s)
    try:
        yield record
    except BaseException:
        try:
            record.commit()
        except (BucketUnavailable, LeaseLost) as error:
            _log.warning("%s: what the build came to before it failed is not kept in the bucket: %s", key, error)
        raise
    else:
        record.commit()
    finally:
        record.close()


def current_holder(state: Path) -> LeaseHolder | None:
    """Who holds the lease, dead or alive; nothing is written. Raises `BrokenStore` for a file that holds no lease."""
    with open_for_reading(state, "lease") as connection:
        return _read(connection, state) if connection else None


def release_lease(state: Path) -> LeaseHolder | None:
    """Take the lease away from its holder, and return the holder."""
    holder = current_holder(state)
    if holder:
        _give_back(state, holder)
    return holder


@contextmanager
def _own_lock(state: Path) -> Iterator[str]:
    """The path of a file beside the lease that is locked until the process ends; empty where files cannot be locked."""
    path = state.with_name(f".{state.stem}.{uuid.uuid4().hex}.lock")
    with explain_refused_writes(state):
        state.parent.mkdir(parents=True, exist_ok=True)
        _drop_dead_locks(state)
        handle = take_own(path)
    if handle is None:
        yield ""
        return
    _held_here.add(path.name)
    try:
        yield str(path)
    finally:
        _held_here.discard(path.name)
        os.close(handle)
        with suppress(OSError):
            path.unlink()


def _drop_dead_locks(state: Path) -> None:
    """Remove the files of processes that were killed, except the lease's: it shows that its holder ended."""
    holder = current_holder(state)
    for path in state.parent.glob(f".{state.stem}.*.lock"):
        with suppress(FileNotFoundError):
            is_old = abs(time.time() - path.stat().st_mtime) > DEAD_LOCK_AGE_S
            if is_old and is_free(path) and not (holder and Path(holder.lock).name == path.name):
                path.unlink()


def _read(connection: sqlite3.Connection, state: Path) -> LeaseHolder | None:
    # Leases of earlier versions name neither a namespace nor a lock.
    found = connection.execute("SELECT * FROM lease")
    names = [name for name, *_ in found.description]
    row = found.fetchone()
    if row is None:
        return None
    holder = convert(dict(zip(names, row, strict=True)), LeaseHolder)
    return replace(holder, lock=str(state.with_name(holder.lock))) if holder.lock else holder


def _take(state: Path, mine: LeaseHolder) -> LeaseHolder | None:
    """Become the holder, or return the one that is alive."""
    with _LeaseFile.opened(state, now=utc_now) as file, file.together():
        other = _read(file.connection, state)
        if other and not other.is_gone():
            return other
        file.connection.execute("DELETE FROM lease")
        file.insert("lease", replace(mine, lock=Path(mine.lock).name))
    if other and other.lock:
        Path(other.lock).unlink(missing_ok=True)
    return None


def _give_back(state: Path, holder: LeaseHolder) -> None:
    with _LeaseFile.opened(state, now=utc_now) as file, file.together():
        file.connection.execute(
            "DELETE FROM lease WHERE pid = ? AND run_id = ? AND acquired_at = ?",
            (holder.pid, holder.run_id, holder.acquired_at),
        )
