"""Work on all cores, in processes that are started for it (decision 103).

A worker imports what its work is made of when the first batch comes, and
nothing before. It ends with the process that drives it, on Linux in the middle
of a batch too.

At most `WINDOW` batches per worker are under way, so memory does not grow with
the repository. A worker that dies takes its batch with it, and nothing else.
"""

import ctypes
import os
import pickle
import queue
import signal
import socket
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from io import BufferedIOBase
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa

from codesum_pipeline.model.errors import ProcessGone
from codesum_pipeline.model.garbage import collect_seldom
from codesum_pipeline.workers.child import start_child

# Batches that are worked on or wait to be, per worker: the next one lies ready when one is done.
WINDOW = 2
# A worker holds 100 MB of libraries; more of them than this wait for the one process that feeds them.
MOST_WORKERS = 16
WORKER = "codesum_pipeline.workers.pool"
# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
# How Python ends after an error of its own; one of the work ends its worker in the other way.
_COULD_NOT_BEGIN, _WORK_FAILED = 1, 70

B = TypeVar("B")
R = TypeVar("R")


class WorkerDied(Exception):
    """A worker ended before it answered; says how."""


class Work(Protocol[B, R]):
    """What is done with a batch: a pure function of it, in whatever process. It is pickled, as its batches are."""

    def __call__(self, batch: B, /) -> R: ...

    def rescue(self, batch: B, again: Callable[[B], R], /) -> R:
        """The result of a batch whose worker died. `again` gives a batch to a fresh worker, or raises `WorkerDied`."""
        ...


def worker_count() -> int:
    """One per core that this process may use."""
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)


class _PoolProcess:
    """One worker process."""

    def __init__(self) -> None:
        self._process, ours = start_child(WORKER)
        with ours:
            self._pipe = ours.makefile("rwb")

    def do(self, work: Callable[[B], R], batch: B) -> R:
        """Have a batch worked on; raises `WorkerDied`, or `ProcessGone` where it cannot work at all."""
        try:
            send((work, batch), self._pipe)
            response: R = receive(self._pipe)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            status = self._process.wait()
            if status == _COULD_NOT_BEGIN:
                raise ProcessGone(
                    f"a worker process ended with status {status} before it began, as said above: where codesum was "
                    "being installed at that moment, run the same command again"
                ) from error
            raise WorkerDied(_how_it_ended(status)) from error
        return response

    def end(self) -> None:
        """Whatever it is doing."""
        self._process.kill()
        self._process.wait()
        # What was about to be sent has no receiver.
        with suppress(OSError):
            self._pipe.close()


# Workers that a pool left to the next one of this process: what they have imported they need not import again.
_resting: list[_PoolProcess] = []


class Pool:
    """`count` workers, there once it is entered; with fewer than two the work is done in this process.

    With `keep`, those that are idle in the end stay for the next pool, which ends those that it does not take.
    """

    def __init__(self, count: int, *, keep: bool = False) -> None:
        self._count = count if count > 1 else 0
        self._keep = keep
        self._idle: queue.SimpleQueue[_PoolProcess] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive: set[_PoolProcess] = set()
        self._is_closed = False
        # One thread drives one worker at a time.
        self._threads = ThreadPoolExecutor(max(self._count, 1), thread_name_prefix="worker")

    def __enter__(self) -> Self:
        with suppress(IndexError):
            while len(self._alive) < self._count:
                worker = _resting.pop()
                self._alive.add(worker)
                self._idle.put(worker)
        for _ in range(self._count - len(self._alive)):
            self._idle.put(self._start())
        _end_all(_resting)
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """End the workers that are not kept; a thread that waits for one then sees it gone."""
        with self._lock:
            self._is_closed = True
            alive = list(self._alive)
        if self._keep and failure is None and self._idle.qsize() == len(alive):
            _resting.extend(alive)
        else:
            _end_all(alive)
        self._threads.shutdown(cancel_futures=True)

    def map(self, work: Work[B, R], batches: Iterable[B]) -> Iterator[R]:
        """The results in the order of the batches, whatever the number of workers."""
        if not self._count:
            yield from map(work, batches)
            return
        waiting: deque[Future[R]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._do, work, batch))
            if len(waiting) >= self._count * WINDOW:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _do(self, work: Work[B, R], batch: B) -> R:
        worker = self._idle.get()

        def again(part: B) -> R:
            nonlocal worker
            try:
                return worker.do(work, part)
            except WorkerDied:
                worker = self._replace(worker)
                raise

        try:
            return again(batch)
        except WorkerDied:
            return work.rescue(batch, again)
        finally:
            self._idle.put(worker)

    def _start(self) -> _PoolProcess:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            worker = _PoolProcess()
            self._alive.add(worker)
        return worker

    def _replace(self, worker: _PoolProcess) -> _PoolProcess:
        with self._lock:
            self._alive.discard(worker)
        worker.end()
        return self._start()


def _end_all(workers: list[_PoolProcess]) -> None:
    while workers:
        workers.pop().end()


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"with status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"


def send(value: Any, pipe: BufferedIOBase) -> None:
    """Write one value; `receive` reads it."""
    _Pickler(pipe, pickle.HIGHEST_PROTOCOL).dump(value)
    pipe.flush()


def receive(pipe: BufferedIOBase) -> Any:
    """Read one value; raises `EOFError` where there are no more."""
    return pickle.load(pipe)


class _Pickler(pickle.Pickler):
    """Tables go as Arrow streams: pickled otherwise, a slice takes along the whole that it was cut from."""

    def reducer_override(self, value: Any) -> Any:
        return (_table, (_stream(value),)) if isinstance(value, pa.Table) else NotImplemented


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _table(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


def main(descriptor: int) -> None:
    """What a worker does; whatever a library prints goes to the standard error."""
    os.dup2(2, 1)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    pa.set_cpu_count(1)
    collect_seldom()
    pipe = socket.socket(fileno=descriptor).makefile("rwb")
    while True:
        try:
            request: tuple[Callable[[Any], Any], Any] = receive(pipe)
        except EOFError:
            return
        work, batch = request
        try:
            send(work(batch), pipe)
        except Exception:
            traceback.print_exc()
            sys.exit(_WORK_FAILED)
