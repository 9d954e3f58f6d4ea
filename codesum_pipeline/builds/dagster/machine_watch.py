"""A worker whose machine fails takes no more runs, says so, tries its machine every 30 s, and comes back by itself.

The process of a run tells the worker's main process, over a pipe that it inherited, whose fault ended the run: a pipe
needs neither disk nor database. Celery tells of a process that was killed. While a worker takes no runs, a key in
Redis says why; the key expires soon after the worker does.
"""

import os
import socket
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import dagster as dg
import psutil
from celery import Celery, signals
from celery.exceptions import WorkerLostError
from msgspec import DecodeError, Struct, field, json

from codesum_pipeline.builds.dagster.celery_runs import errors_of_broker, logger
from codesum_pipeline.builds.dagster.run_tags import fault_of
from codesum_pipeline.builds.reports.faults import KILLED, STOPPED, Fault, FaultSource, sort_end, sort_fault
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now

TRY_EVERY_S = 30.0
# A build writes some MB at once, and needs some hundred MB of memory and a few dozen files.
_TRIED_BYTES = 8 << 20
_LEAST_MEMORY = 256 << 20
_TRIED_FILES = 64
_KEY = "codesum-paused-worker-"
# A worker that is gone is not named for longer.
_KEY_S = int(4 * TRY_EVERY_S)
_MOST_PAUSED = 1000


class PausedWorker(Struct, frozen=True):
    """A worker that takes no runs: on which machine, why, and since when."""

    host: str
    why: str
    since: str

    def __str__(self) -> str:
        return f"a worker on {self.host} takes no runs since {self.since}: {self.why}"


def paused_workers(app: Celery) -> list[PausedWorker]:
    """The workers that take no runs now. Raises an error of `errors_of_broker` if Redis cannot be reached."""
    client = app.backend.client
    keys = [key for key, _ in zip(client.scan_iter(f"{_KEY}*", count=_MOST_PAUSED), range(_MOST_PAUSED), strict=False)]
    found = []
    for value in client.mget(keys) if keys else ():
        with suppress(DecodeError):
            found.append(decode(value or b"", PausedWorker))
    return sorted(found, key=lambda worker: (worker.host, worker.since))


def fault_of_machine(folders: Sequence[Path]) -> str:
    """What is wrong with this machine, tried by writing to these folders; empty if nothing is."""
    for folder in folders:
        try:
            _write(folder)
        except OSError as error:
            return f"{sort_fault(error).part or 'disk'}: {folder} cannot be written: {error.strerror}"
    try:
        _open_files()
    except OSError as error:
        return f"descriptors: no {_TRIED_FILES} files can be opened: {error.strerror}"
    available = psutil.virtual_memory().available
    if available < _LEAST_MEMORY:
        return f"memory: {available >> 20} MB are left of the {_LEAST_MEMORY >> 20} MB that a build needs"
    return ""


def _write(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_TRIED_BYTES))
        file.flush()
        os.fsync(file.fileno())


def _open_files() -> None:
    with ExitStack() as opened:
        for _ in range(_TRIED_FILES):
            opened.enter_context(Path(os.devnull).open("rb"))


class MachineWatch(Struct, eq=False, kw_only=True):
    """Stops one worker from taking runs while its machine fails.

    `name` is the worker's name at Celery, and `look` tries the machine.
    """

    app: Celery
    name: str
    queue: str
    look: Callable[[], str]
    key: str = field(default_factory=lambda: f"{_KEY}{uuid.uuid4().hex}")
    pipe: tuple[int, int] = field(default_factory=os.pipe)

    def start(self) -> None:
        """Before the first process of a run begins, which inherits the pipe."""
        signals.task_postrun.connect(self._tell, weak=False)
        signals.task_failure.connect(self._tell_of_lost, weak=False)
        Thread(target=self._watch, name="machine watch", daemon=True).start()

    def _tell(self, task_id: str, **_: Any) -> None:
        """In the process of a run that has ended."""
        with dg.DagsterInstance.get() as instance:
            run = instance.get_run_by_id(task_id)
        fault = fault_of(run) if run else None
        if fault and fault.source is FaultSource.MACHINE and fault != STOPPED:
            self._write(fault)

    def _tell_of_lost(self, exception: BaseException, **_: Any) -> None:
        """In the worker's main process: the process of a run ended before it could say anything."""
        if isinstance(exception, WorkerLostError) and sort_end([str(exception)], []) == KILLED:
            self._write(KILLED)

    def _write(self, fault: Fault) -> None:
        os.write(self.pipe[1], f"{time.monotonic()} {fault.part}\n".encode())

    def _watch(self) -> None:
        resumed_at = 0.0
        with os.fdopen(self.pipe[0], encoding="utf-8") as told:
            for line in told:
                told_at, _, part = line.strip().partition(" ")
                # Several runs may end by one fault.
                if float(told_at) > resumed_at:
                    self._pause(part)
                    resumed_at = time.monotonic()

    def _pause(self, part: str) -> None:
        """Take no runs until the machine was tried and found well, and for `TRY_EVERY_S` at least."""
        worker = PausedWorker(
            socket.gethostname(), f"a run failed by a fault of this machine ({part})", iso_moment(utc_now())
        )
        self._ask(self.app.control.cancel_consumer)
        logger.warning("%s: takes no runs: %s; the machine is tried every %.0f s", worker.host, worker.why, TRY_EVERY_S)
        while True:
            self._say(worker)
            time.sleep(TRY_EVERY_S)
            why = self.look()
            if not why:
                break
            if why != worker.why:
                logger.warning("%s: still takes no runs: %s", worker.host, why)
            worker = PausedWorker(worker.host, why, worker.since)
        self._ask(self.app.control.add_consumer)
        with suppress(*errors_of_broker(self.app)):
            self.app.backend.client.delete(self.key)
        logger.warning("%s: takes runs again: its machine is well", worker.host)

    def _say(self, worker: PausedWorker) -> None:
        with suppress(*errors_of_broker(self.app)):
            self.app.backend.client.set(self.key, json.encode(worker), ex=_KEY_S)

    def _ask(self, command: Callable[..., Any]) -> None:
        """Have this worker's own queue cancelled or added, as soon as Redis can be reached."""
        while True:
            with suppress(*errors_of_broker(self.app)):
                if command(self.queue, destination=[self.name], reply=True, timeout=5.0):
                    return
            time.sleep(1.0)
