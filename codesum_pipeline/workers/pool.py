"""Work on all cores, in processes that are started for it.

Not through `multiprocessing`: forking a process that has threads and open
servers is unsafe, and a spawned one first imports whatever program the caller
is. Ours import what their work is made of.

At most `WINDOW` batches per worker are under way, so memory does not grow with
the repository. A worker that dies takes its batch with it, and nothing else.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import Protocol, Self, TypeVar

import codesum_pipeline
from codesum_pipeline.model.errors import ProcessGone
from codesum_pipeline.workers.process import COULD_NOT_BEGIN, receive, send

# Batches that are worked on or wait to be, per worker: the next one lies ready when one is done.
WINDOW = 2
# A worker holds 100 MB of libraries; more of them than this wait for the one process that feeds them.
MOST_WORKERS = 16
WORKER = "codesum_pipeline.workers.process"

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
        package = str(Path(codesum_pipeline.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )

    def do(self, work: Callable[[B], R], batch: B) -> R:
        """Have a batch worked on; raises `WorkerDied`, or `ProcessGone` where it cannot work at all."""
        assert self._process.stdin and self._process.stdout
        try:
            send((work, batch), self._process.stdin)
            response: R = receive(self._process.stdout)
        except (EOFError, OSError, UnpicklingError) as error:
            status = self._process.wait()
            if status == COULD_NOT_BEGIN:
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
        for pipe in (self._process.stdin, self._process.stdout):
            # What was about to be sent has no receiver.
            with suppress(OSError):
                pipe.close() if pipe else None


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
