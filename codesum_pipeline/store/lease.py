"""One build of a repository at a time, whoever starts it.

A lease names its holder (pid and its start time, boot id, host, run), so that
a second build can say who has it and take over from a process that is gone. A
holder on another host cannot be looked at: its lease stays until it is
released by hand.
"""

import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from codesum_pipeline.model.errors import BrokenStore, LeaseHeld
from codesum_pipeline.store.refusals import writing

# How often a waiting build looks again: builds take seconds.
POLL_S = 0.2
# Slices in which an interrupt is noticed while SQLite waits for another writer.
BUSY_TIMEOUT_S = 10.0

_CREATE = """
CREATE TABLE IF NOT EXISTS lease (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    pid INTEGER NOT NULL, process_started REAL NOT NULL, boot_id TEXT NOT NULL, host TEXT NOT NULL,
    run_id TEXT NOT NULL, acquired_at REAL NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process and run that hold a lease; times are Unix seconds."""

    pid: int
    process_started: float
    boot_id: str
    host: str
    run_id: str
    acquired_at: float

    def is_gone(self) -> bool:
        """Whether the process certainly no longer runs."""
        if self.host != socket.gethostname():
            return False
        if self.boot_id != boot_id():
            return True
        return _process_started(self.pid) != self.process_started

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.acquired_at))
        return f"process {self.pid} on {self.host} (run {self.run_id}, since {since})"


def this_process(run_id: str) -> Holder:
    """The process at hand, as the holder of a lease for a run."""
    return Holder(os.getpid(), _process_started(os.getpid()), boot_id(), socket.gethostname(), run_id, time.time())


@contextmanager
def hold_lease(state: Path, *, key: str, run_id: str, wait_s: float = 0.0) -> Iterator[Holder]:
    """Hold the lease of a repository for the duration of the block.

    Waits up to `wait_s` seconds for another holder, then raises `LeaseHeld`
    naming it. A holder whose process is gone is replaced at once.
    """
    deadline = time.monotonic() + wait_s
    while True:
        mine = this_process(run_id)
        other = _take(state, mine)
        if other is None:
            break
        if time.monotonic() >= deadline:
            raise LeaseHeld(
                f"repository {key!r} is being built by {other}: wait for it, or, if that host is gone, "
                f"run `codesum doctor {key} --release-lease`"
            )
        time.sleep(POLL_S)
    try:
        yield mine
    finally:
        _give_back(state, mine)


def current_holder(state: Path) -> Holder | None:
    """Who holds the lease, dead or alive; nothing is written. Raises `BrokenStore` for a file that holds no lease."""
    if not state.exists():
        return None
    try:
        try:
            return _look(state, "mode=ro")
        except sqlite3.OperationalError:
            # What SQLite shares between processes cannot be written there, so that nobody changes the file either.
            return _look(state, "immutable=1")
    except sqlite3.DatabaseError as error:
        raise BrokenStore(f"the lease {state} cannot be read: {error}: where nothing builds it, delete it") from error


def release_lease(state: Path) -> Holder | None:
    """Take the lease away from whoever holds it, and say who that was."""
    holder = current_holder(state)
    if holder:
        _give_back(state, holder)
    return holder


def boot_id() -> str:
    """What changes when the machine restarts."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else f"{psutil.boot_time():.0f}"


def _process_started(pid: int) -> float:
    """When a process started, in a unit that setting the clock does not move; 0 where there is none."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        if stat.parent.parent.joinpath("self").exists():
            # After the name in brackets, which may hold anything: the state first, the start in ticks as the 20th.
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            return 0.0 if fields[0] == "Z" else float(fields[19])
        process = psutil.Process(pid)
        return 0.0 if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time(), 2)
    except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
        return 0.0


def _open(state: Path) -> sqlite3.Connection:
    state.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(state, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(_CREATE)
    return connection


def _look(state: Path, how: str) -> Holder | None:
    connection = sqlite3.connect(f"{state.absolute().as_uri()}?{how}", timeout=BUSY_TIMEOUT_S, uri=True)
    with closing(connection):
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lease'").fetchone()
        return _read(connection) if known else None


def _read(connection: sqlite3.Connection) -> Holder | None:
    row = connection.execute("SELECT pid, process_started, boot_id, host, run_id, acquired_at FROM lease").fetchone()
    return Holder(*row) if row else None


def _take(state: Path, mine: Holder) -> Holder | None:
    """Become the holder, or return the one that is alive."""
    with writing(state), closing(_open(state)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        other = _read(connection)
        if other and not other.is_gone():
            connection.execute("ROLLBACK")
            return other
        connection.execute(
            "INSERT OR REPLACE INTO lease VALUES (1, ?, ?, ?, ?, ?, ?)",
            (mine.pid, mine.process_started, mine.boot_id, mine.host, mine.run_id, mine.acquired_at),
        )
        connection.execute("COMMIT")
    return None


def _give_back(state: Path, holder: Holder) -> None:
    with writing(state), closing(_open(state)) as connection:
        connection.execute(
            "DELETE FROM lease WHERE pid = ? AND run_id = ? AND acquired_at = ?",
            (holder.pid, holder.run_id, holder.acquired_at),
        )
