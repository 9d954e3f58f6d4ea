"""The first index of the checkout that a server was started in, made while the server answers.

It is made by `codesum index` in a process of its own, with its lease and checks, which ends with the server. Of several
servers in one checkout the first one starts it: it holds a file locked as long as that process lives. What the process
says goes into a file beside, so that all of them know how far it is, and why it failed.
"""

import fcntl
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from msgspec import Struct, field

from codesum_pipeline.cli.first_use import UnindexedCheckout, in_time
from codesum_pipeline.cli.invocation import Invocation, make_home
from codesum_pipeline.model.errors import BeingIndexed, CodesumError, MissingTable
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.tools.catalogue import Checkout, checkout_of

# What stopped a build may be gone by the time that somebody asks again.
_AGAIN_AFTER_S = 30.0
# Nothing is ready sooner.
_LEAST_WAIT_S = 2.0
# Of the last thing that a build said.
_TAIL_BYTES = 4000
_COMPLAINT = "codesum: "


class FirstIndex(Struct):
    """Answers why there is no index yet, and sees to it that there will be one. Several threads may ask."""

    called: Invocation
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: "subprocess.Popen[bytes] | None" = None
    _seconds: float = 0.0
    _failed_at: float | None = None
    _failure: str = ""
    _has_ended: bool = False

    @contextmanager
    def running(self) -> Iterator["FirstIndex"]:
        """Begin at once, if the current folder is a checkout without an index; what is not done at the end is given up.

        Finished steps are kept: the next server goes on from there.
        """
        threading.Thread(target=self._begin, name="first index", daemon=True).start()
        is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if is_default:
            signal.signal(signal.SIGTERM, self._end_by_signal)
        try:
            yield self
        finally:
            with self._lock:
                self._end()
            if is_default:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def state(self, checkout: Checkout) -> CodesumError | None:
        """None where the checkout has an index; else how far it is, or why there will be none, and the way out."""
        with self._lock:
            try:
                found = UnindexedCheckout.find(self.called, checkout)
                return None if found is None else self._advance(found)
            except CodesumError as error:
                return error
            except OSError as error:
                return MissingTable(
                    f"{checkout.root} cannot be indexed in {self.called.settings.home}: "
                    f"{error.filename or 'a file'}: {error.strerror}; name another folder with --home or CODESUM_HOME"
                )

    def _begin(self) -> None:
        with suppress(CodesumError):
            if checkout := checkout_of(Path.cwd()):
                self.state(checkout)

    def _end(self) -> None:
        self._has_ended = True
        if self._process and self._process.poll() is None:
            # As Ctrl-C in its terminal.
            os.killpg(self._process.pid, signal.SIGINT)

    def _end_by_signal(self, number: int, _frame: FrameType | None) -> None:
        """Whoever ends a server by a signal waits for nothing else."""
        self._end()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    def _advance(self, found: UnindexedCheckout) -> CodesumError:
        """Start what is to be started, and say how far it is."""
        files = _Files.of(found)
        if self._process and self._process.poll() is not None:
            self._failure = files.failure(self._process.returncode)
            self._process, self._failed_at = None, time.monotonic()
        if found.problem:
            return MissingTable(found.problem)
        if self._failed_at is not None and time.monotonic() - self._failed_at < _AGAIN_AFTER_S:
            return MissingTable(
                f"{found.name} could not be indexed: {self._failure}; it is tried again {_AGAIN_AFTER_S:.0f} s later, "
                f"or at once by `{found.command}`"
            )
        if self._process is None and not self._has_ended:
            self._start(found, files)
        return self._told(found, files)

    def _start(self, found: UnindexedCheckout, files: "_Files") -> None:
        """Unless another server did."""
        make_home(self.called.settings)
        files.folder.mkdir(parents=True, exist_ok=True)
        self._seconds = self._seconds or found.size().seconds
        with files.lock.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            os.utime(files.lock)
            with files.log.open("wb") as log:
                self._process = subprocess.Popen(
                    found.build_command(),
                    # Nobody was asked whether a model may be paid.
                    env={**os.environ, "CODESUM_LLM__ENABLED": "false"},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    # Held by the process from now on, and free when it has ended.
                    pass_fds=[lock.fileno()],
                    # An interrupt of a terminal is for the server, which tells it.
                    start_new_session=True,
                )

    def _told(self, found: UnindexedCheckout, files: "_Files") -> BeingIndexed:
        passed = files.seconds_since_start()
        # Beside other work it takes longer, and who knows how much.
        left = max(self._seconds - passed, passed / 2, _LEAST_WAIT_S)
        return BeingIndexed(
            f"{found.name} is being indexed for the first time ({in_time(passed)} so far): {files.last_line()}; ask "
            f"again in about {in_time(left)}"
        )


class _Files(Struct, frozen=True):
    """Where a build is locked, and where it says what it does."""

    folder: Path
    name: str

    @classmethod
    def of(cls, found: UnindexedCheckout) -> "_Files":
        return cls(found.called.layout.first_uses, hash_of([str(found.checkout.git_dir)]))

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.txt"

    def seconds_since_start(self) -> float:
        return max(0.0, time.time() - self.lock.stat().st_mtime)

    def last_line(self) -> str:
        """What is being done."""
        return next(reversed(self._lines()), "starting")

    def failure(self, status: int) -> str:
        """Why the build failed."""
        lines = self._lines()
        told = [line.removeprefix(_COMPLAINT) for line in lines if line.startswith(_COMPLAINT)]
        return next(reversed(told or lines), f"its process ended with status {status}")

    def _lines(self) -> list[str]:
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                return file.read().decode("utf-8", "replace").split("\n")[:-1]
        except FileNotFoundError:
            return []
