"""Work on all cores, in processes that are started for it (decision 103).

One process imports what the work is made of, and workers are forked from it.
A worker ends with the process that drives it, on Linux in the middle of a batch
too.

At most `WINDOW` batches per worker are under way, so memory does not grow with
the repository. A worker that dies takes its batch with it, and nothing else.
One that needs more memory or processor time for a batch than `WorkLimits` say
ends, too (decision 117). What is too much for the process that has the pool is
given to a worker, also where there was none.
"""

import ctypes
import gc
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
from importlib import import_module
from io import BufferedIOBase, BufferedRWPair
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa

from codesum_pipeline.foundation.data_model.errors import ProcessGone
from codesum_pipeline.foundation.store.memory import collect_seldom
from codesum_pipeline.foundation.worker_processes.child import start_child
from codesum_pipeline.foundation.worker_processes.limits import TooMuchHere, WorkLimits

# Batches that are worked on or wait to be, per worker: the next one lies ready when one is done.
WINDOW = 2
# A worker holds 100 MB of libraries; more of them than this wait for the one process that feeds them.
MOST_WORKERS = 16
WORKER = "codesum_pipeline.foundation.worker_processes.pool"
# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
# How a worker ends after an error of its work, or without memory; Python's own errors end it in another way.
_WORK_FAILED = 70
_OUT_OF_MEMORY = 71
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024

B = TypeVar("B")
R = TypeVar("R")

_forked_with: set[str] = set()


def fork_with(module: str) -> None:
    """Have workers forked from a process that has also imported this module, for the work that they do after their
    first: else each of them would import it."""
    _forked_with.add(module)


class WorkerDied(Exception):
    """A worker ended before it answered; says how, and whether by one of the limits."""

    def __init__(self, how: str, *, is_limit: bool) -> None:
        super().__init__(how)
        self.is_limit = is_limit


class Work(Protocol[B, R]):
    """What is done with a batch: a pure function of it, in whatever process. It is pickled, as its batches are."""

    def __call__(self, batch: B, /) -> R: ...

    def here(self, batch: B, /) -> R:
        """The same where there are no workers; raises `TooMuchHere` for what should be given to one."""

    def rescue(self, batch: B, again: Callable[[B], R], /) -> R:
        """The result of a batch whose worker died. `again` gives a batch to a fresh worker, or raises `WorkerDied`."""


def worker_count() -> int:
    """One per core that this process may use."""
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)


class _PoolProcess:
    """One worker process, at the other end of a pipe."""

    def __init__(self, crew: "_Crew", pid: int, pipe: BufferedRWPair) -> None:
        self._crew = crew
        self.pid = pid
        self._pipe = pipe

    def do(self, work: Callable[[B], R], batch: B, limits: WorkLimits) -> R:
        """Have a batch worked on; raises `WorkerDied`."""
        try:
            send_message((work, batch, limits), self._pipe)
            response: R = receive_message(self._pipe)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            how = _how_it_ended(*self._crew.end_of(self), limits)
            is_limit = how in (limits.seconds_exceeded, limits.memory_exceeded)
            raise WorkerDied(how, is_limit=is_limit) from error
        return response


class _Crew:
    """Workers, and the process that they are forked from.

    That one imports what their first work is made of and what `fork_with` named, once for all of them, and does nothing
    else: it has no threads.
    """

    def __init__(self, work: object) -> None:
        self._thread = threading.current_thread()
        self._process, ours = start_child(WORKER)
        self._parent = Connection(ours.detach())
        self._lock = threading.Lock()
        self._is_ended = False
        self.workers: set[_PoolProcess] = set()
        # Where it has ended, that is said of the first worker.
        with suppress(OSError):
            self._parent.send((work, sorted(_forked_with)))

    def start(self) -> _PoolProcess:
        """One more worker; raises `ProcessGone` if their work cannot be imported."""
        ours, theirs = socket.socketpair()
        with ours, theirs, self._lock:
            if self._is_ended:
                raise CancelledError
            try:
                self._parent.send(None)
                send_handle(self._parent, theirs.fileno(), self._process.pid)
                worker = _PoolProcess(self, self._parent.recv(), ours.makefile("rwb"))
            except (EOFError, OSError) as error:
                raise ProcessGone(
                    f"a worker process ended with status {self._process.wait()} before it began, as said above: where "
                    "codesum was being installed at that moment, run the same command again"
                ) from error
            self.workers.add(worker)
        return worker

    def is_alive(self) -> bool:
        """Not where somebody killed the process that they are forked from, or where the thread that started it ended:
        on Linux it ends with that thread."""
        return self._thread.is_alive() and self._process.poll() is None

    def end_of(self, worker: _PoolProcess) -> tuple[int, int]:
        """How a worker ended that did, and the most memory that it held, in bytes."""
        with self._lock:
            if worker not in self.workers:
                return -signal.SIGKILL, 0
            self.workers.discard(worker)
            try:
                self._parent.send(worker.pid)
                status, held = self._parent.recv()
            except (EOFError, OSError):
                return -signal.SIGKILL, 0
            return os.waitstatus_to_exitcode(status), held

    def end(self) -> None:
        """End all, whatever they are doing; a thread that waits for one then sees it gone."""
        with self._lock:
            self._is_ended = True
            # Without their parent they are ended, and their numbers may be those of other processes.
            while self.workers and self._process.poll() is None:
                worker = self.workers.pop()
                os.kill(worker.pid, signal.SIGKILL)
                with suppress(EOFError, OSError):
                    self._parent.send(worker.pid)
                    self._parent.recv()
            self._parent.close()
        self._process.wait()


# The workers that a pool left to the next one of this process: what they have imported they need not import again.
_resting: list[_Crew] = []


def resting_workers() -> int:
    """How many workers are ready: another step started them."""
    return sum(len(crew.workers) for crew in _resting if crew.is_alive())


class Pool:
    """`count` workers, started for the first work; with fewer than two the work is done in this process.

    What is too much for this process is done by one worker then. With `keep`, workers that are idle in the end stay
    for the next pool, which takes them or ends them.
    """

    def __init__(self, count: int, *, keep: bool = False, limits: WorkLimits | None = None) -> None:
        self._count = count if count > 1 else 0
        self._keep = keep
        self._limits = limits or WorkLimits()
        self._crew: _Crew | None = None
        self._idle: queue.SimpleQueue[_PoolProcess] = queue.SimpleQueue()
        # One thread drives one worker at a time.
        self._threads = ThreadPoolExecutor(max(self._count, 1), thread_name_prefix="worker")

    def __enter__(self) -> Self:
        # Another thread may take the last one at this moment.
        with suppress(IndexError):
            while True:
                crew = _resting.pop()
                if self._count and self._crew is None and crew.is_alive():
                    self._crew = crew
                else:
                    crew.end()
        for worker in self._crew.workers if self._crew else ():
            self._idle.put(worker)
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if self._crew and self._keep and failure is None and self._idle.qsize() == len(self._crew.workers):
            _resting.append(self._crew)
        elif self._crew:
            self._crew.end()
        self._threads.shutdown(cancel_futures=True)

    def map(self, work: Work[B, R], batches: Iterable[B]) -> Iterator[R]:
        """The results in the order of the batches, whatever the number of workers."""
        if not self._count:
            for batch in batches:
                yield self._here(work, batch)
            return
        self._start(work, self._count)
        waiting: deque[Future[R]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._do, work, batch))
            if len(waiting) >= self._count * WINDOW:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _here(self, work: Work[B, R], batch: B) -> R:
        try:
            return work.here(batch)
        except TooMuchHere:
            self._start(work, 1)
            return self._threads.submit(self._do, work, batch).result()

    def _start(self, work: object, count: int) -> None:
        """Have at least so many workers."""
        self._crew = self._crew or _Crew(work)
        while len(self._crew.workers) < count:
            self._idle.put(self._crew.start())

    def _do(self, work: Work[B, R], batch: B) -> R:
        assert self._crew
        start, worker = self._crew.start, self._idle.get()
        met: WorkerDied | None = None

        def again(part: B) -> R:
            nonlocal worker
            # What met a limit would meet it again.
            if met is not None and part == batch:
                raise met
            try:
                return worker.do(work, part, self._limits)
            except WorkerDied:
                worker = start()
                raise

        try:
            return again(batch)
        except WorkerDied as error:
            met = error if error.is_limit else None
            return work.rescue(batch, again)
        finally:
            self._idle.put(worker)


def _how_it_ended(status: int, held: int, limits: WorkLimits) -> str:
    """In words. A library that gets no more memory ends its process by a signal of its own."""
    if status == -signal.SIGXCPU:
        return limits.seconds_exceeded
    if status == _OUT_OF_MEMORY or (status in (-signal.SIGABRT, -signal.SIGSEGV) and limits.is_near(held)):
        return limits.memory_exceeded
    if status >= 0:
        return f"with status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"


def send_message(value: Any, pipe: BufferedIOBase) -> None:
    """Write one value; `receive` reads it."""
    _Pickler(pipe, pickle.HIGHEST_PROTOCOL).dump(value)
    pipe.flush()


def receive_message(pipe: BufferedIOBase) -> Any:
    """Read one value; raises `EOFError` if there are no more."""
    return pickle.load(pipe)


class _Pickler(pickle.Pickler):
    """Tables go as Arrow streams: pickled otherwise, a slice takes along the whole that it was cut from."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, pa.Table):
            return NotImplemented
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as stream:
            stream.write_table(value)
        return _table, (bytes(sink.getvalue()),)


def _table(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


def main(descriptor: int) -> None:
    """What the process does that workers are forked from; whatever a library prints goes to the standard error."""
    os.dup2(2, 1)
    _end_with_parent()
    collect_seldom()
    # An interrupt may have ended the process that waited for the answer.
    with Connection(descriptor) as pool, suppress(EOFError, ConnectionError):
        # This imports what the work is made of.
        _, modules = pool.recv()
        for module in modules:
            import_module(module)
        gc.freeze()
        while True:
            ended = pool.recv()
            if ended:
                _, status, used = os.wait4(ended, 0)
                pool.send((status, used.ru_maxrss * _MAXRSS_UNIT))
                continue
            pipe = recv_handle(pool)
            pid = os.fork()
            if not pid:
                pool.close()
                _work(pipe)
                return
            os.close(pipe)
            pool.send(pid)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(descriptor: int) -> None:
    _end_with_parent()
    pa.set_cpu_count(1)
    pipe = socket.socket(fileno=descriptor).makefile("rwb")
    while True:
        try:
            work, batch, limits = receive_message(pipe)
        except EOFError:
            return
        try:
            with limits.applied():
                found = work(batch)
            send_message(found, pipe)
        except BrokenPipeError:
            # An interrupt ended the process that waited for it.
            return
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        except Exception:
            traceback.print_exc()
            sys.exit(_WORK_FAILED)
