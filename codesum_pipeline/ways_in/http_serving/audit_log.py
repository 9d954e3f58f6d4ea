"""The audit log: for each request, who asked, what kind of request, and the repositories of the answer.

The words of a question are logged only where the operator wants that. The log is a line of JSON for each request, in
files of the home that only the owner may read. Requests never wait for the disk: lines go through a queue to a thread.
Several processes may write: one line is one write to a file opened for appending, under a lock, and the process that
finds the file full begins a new one.
"""

import fcntl
import json
import logging
import os
import queue
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CodesumError

_log = logging.getLogger(__name__)

FILE = "audit.jsonl"
# Some minutes of a busy server. Lines that find the queue full are counted, and the count is logged.
_MOST_WAITING = 10_000
_MOST_AT_ONCE = 500
_CLOSED_WITHIN_S = 5.0
_MODE = 0o600
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

Line = Mapping[str, Any]


class AuditLog(Struct):
    """`files` of at most `max_bytes` each: the newest is `audit.jsonl`, the others have numbers, older ones higher."""

    folder: Path
    max_bytes: int
    files: int
    # Each thread has its own queue, so that the end of one is never taken by the next.
    _waiting: "queue.Queue[Line | None]" = field(default_factory=queue.Queue)
    _dropped: int = 0
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, line: Line) -> None:
        """Write a line soon; it is lost where too many wait."""
        with self._lock:
            if self._thread is None:
                self._waiting = queue.Queue(_MOST_WAITING)
                self._thread = threading.Thread(target=self._live, args=(self._waiting,), name="audit", daemon=True)
                self._thread.start()
            try:
                self._waiting.put_nowait(line)
            except queue.Full:
                self._dropped += 1

    def close(self) -> None:
        """Write the waiting lines, and end the thread; a later line starts another."""
        with self._lock:
            thread, waiting, self._thread = self._thread, self._waiting, None
        if thread is not None:
            waiting.put(None)
            thread.join(_CLOSED_WITHIN_S)

    def _live(self, waiting: "queue.Queue[Line | None]") -> None:
        is_over = False
        while not is_over:
            taken = [waiting.get()]
            while len(taken) < _MOST_AT_ONCE and not waiting.empty():
                taken.append(waiting.get())
            is_over = None in taken
            lines = [line for line in taken if line is not None]
            with self._lock:
                dropped, self._dropped = self._dropped, 0
            if dropped:
                lines.append({"lines_lost": dropped})
            try:
                self._append(lines)
            except OSError as error:
                _log.warning("%d lines of the audit log are lost: %s", len(lines), error)

    def _append(self, lines: list[Line]) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            for line in lines:
                # In ASCII, Unicode's other line breaks are escaped.
                content = f"{json.dumps(line)}\n".encode("ascii")
                newest = self.folder / FILE
                size = newest.lstat().st_size if os.path.lexists(newest) else 0
                if size + len(content) > self.max_bytes:
                    for number in range(self.files - 1, 0, -1):
                        older = self.folder / _numbered(number - 1)
                        if older.exists():
                            os.replace(older, self.folder / _numbered(number))
                    newest.unlink(missing_ok=True)
                self._write(content, is_last=line is lines[-1])

    def _write(self, content: bytes, *, is_last: bool) -> None:
        handle = os.open(self.folder / FILE, _FLAGS, _MODE)
        try:
            if stat.S_IMODE(os.fstat(handle).st_mode) != _MODE:
                os.fchmod(handle, _MODE)
            os.write(handle, content)
            if is_last:
                os.fsync(handle)
        finally:
            os.close(handle)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        handle = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def read_audit(folder: Path) -> Iterator[dict[str, Any]]:
    """The lines, oldest first, without malformed ones."""
    named = (path.name.removeprefix("audit").removesuffix("jsonl").strip(".") for path in folder.glob("audit*.jsonl"))
    numbers = sorted((int(number) if number.isdecimal() else 0 for number in named), reverse=True)
    for number in numbers:
        try:
            with (folder / _numbered(number)).open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    with suppress(ValueError):
                        found = json.loads(line)
                        if isinstance(found, dict):
                            yield found
        except FileNotFoundError:
            continue


def _numbered(number: int) -> str:
    return f"audit.{number}.jsonl" if number else FILE


ANSWERED, REFUSED, FAILED, CANCELLED = "answered", "refused", "failed", "cancelled"
# The beginning of a question says what it is about.
_LONGEST_QUESTION = 2_000


class AuditedRequest(Struct):
    """A request while it is answered."""

    kind: str
    repos: set[str] = field(default_factory=set)
    hits: int | None = None
    outcome: str = ""
    question: str = ""
    # Of a search: whether any hit fits the question.
    fits: bool | None = None
    tokens: int = 0

    def answered(self, repos: Iterable[str], hits: int | None = None, *, fits: bool | None = None) -> None:
        """Add the repositories of a part of the answer."""
        self.repos.update(repos)
        if hits is not None:
            self.hits = (self.hits or 0) + hits
        self.fits = self.fits if fits is None else fits


_NOW: ContextVar[AuditedRequest | None] = ContextVar("audited request", default=None)


def current_request() -> AuditedRequest:
    """The request that is being answered; without an audit log, one that is written nowhere."""
    return _NOW.get() or AuditedRequest("")


NOBODY: Mapping[str, str] = MappingProxyType({"token": ""})


class Auditor(Struct, frozen=True):
    """Writes the lines for one entrance and one holder, with what names the holder; without a `log`, none. `measure`
    gets each request that has ended, with its seconds."""

    log: AuditLog | None
    entrance: str
    has_questions: bool = False
    holder: Mapping[str, str] = NOBODY
    measure: Callable[[AuditedRequest, float], None] | None = None

    @property
    def of_nobody(self) -> "Auditor":
        """The same without a log: where nobody says who they are, there is nobody to write down."""
        return replace(self, log=None)

    def of(self, holder: Mapping[str, str]) -> "Auditor":
        return replace(self, holder=holder)

    @contextmanager
    def auditing(self, kind: str) -> Iterator[AuditedRequest]:
        """The block answers a request; its errors and cancellations are outcomes."""
        request, began = AuditedRequest(kind), time.monotonic()
        token = _NOW.set(request)
        try:
            yield request
            request.outcome = request.outcome or ANSWERED
        except CodesumError:
            request.outcome = REFUSED
            raise
        except Exception:
            request.outcome = FAILED
            raise
        except BaseException:
            request.outcome = CANCELLED
            raise
        finally:
            _NOW.reset(token)
            duration_s = time.monotonic() - began
            if self.measure:
                self.measure(request, duration_s)
            self._write(request, duration_ms=round(duration_s * 1000))

    def was_refused(self, address: str, known: Mapping[str, str], *, asked: str = "a wrong token") -> None:
        """Log a token or sign-in that opens nothing, with what is known of who sent it."""
        if self.log:
            self.log.write({**self._head(NOBODY, asked), "outcome": REFUSED, "address": address, **known})

    def close(self) -> None:
        if self.log:
            self.log.close()

    def _write(self, request: AuditedRequest, *, duration_ms: int) -> None:
        if self.log is None:
            return
        line: dict[str, object] = {
            **self._head(self.holder, request.kind),
            "repos": sorted(request.repos),
            "outcome": request.outcome,
            "duration_ms": duration_ms,
            "hits": request.hits,
        }
        if self.has_questions:
            line["question"] = request.question[:_LONGEST_QUESTION]
        self.log.write(line)

    def _head(self, holder: Mapping[str, str], kind: str) -> Line:
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"time": moment.replace("+00:00", "Z"), **holder, "entrance": self.entrance, "asked": kind}
