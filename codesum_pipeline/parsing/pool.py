"""Parsing on all cores, in processes that are started for it.

Not through `multiprocessing`: forking a process that has threads and open
servers is unsafe, and a spawned one first imports whatever program the caller
is. Ours import the parsers alone.

At most `WINDOW` batches per worker are under way, so memory does not grow with
the repository. A worker that dies takes its batch with it: the batch is parsed
again file by file, and the file that kills a fresh worker is a failure.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Self

import codesum_pipeline
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing.batches import Failure, Parsed, Rows, SourceText, parse_batch
from codesum_pipeline.parsing.worker import Request, Response

# Batches that are parsed or wait to be, per worker: the next one lies ready when one is done.
WINDOW = 2
# A worker holds 100 MB of libraries; more of them than this wait for the one reader of blobs.
MOST_WORKERS = 16
# About 0.2 s of parsing.
BATCH_BYTES = 500_000
BATCH_FILES = 200
# Below this a worker's start, about half a second, costs more than it saves.
LEAST_BYTES = 4_000_000
WORKER = "codesum_pipeline.parsing.worker"


def worker_count() -> int:
    """One per core that this process may use."""
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def parse_all(
    files: Iterable[SourceText],
    hash_policy: HashPolicy,
    *,
    total_bytes: int,
    workers: int | None = None,
    worker_module: str = WORKER,
) -> Iterator[Parsed]:
    """What comes of all files, batch by batch in the order of the files, whatever the number of workers."""
    batches = in_batches(files)
    count = worker_count() if workers is None else workers
    if total_bytes < LEAST_BYTES or count < 2:
        yield from (parse_batch(batch, hash_policy) for batch in batches)
        return
    with _Pool(count, hash_policy, worker_module) as pool:
        yield from pool.map(batches)


def in_batches(files: Iterable[SourceText]) -> Iterator[list[SourceText]]:
    """Consecutive files, up to `BATCH_FILES` and about `BATCH_BYTES` of them together."""
    batch: list[SourceText] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.data or b"")
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class WorkerDied(Exception):
    """A worker ended before it answered; says how."""


class _Worker:
    """One worker process."""

    def __init__(self, module: str) -> None:
        package = str(Path(codesum_pipeline.__file__).parent.parent)
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )

    def parse(self, files: Sequence[SourceText], hash_policy: HashPolicy) -> Parsed:
        """Parse a batch; raises `WorkerDied`."""
        assert self._process.stdin and self._process.stdout
        try:
            pickle.dump(Request(tuple(files), hash_policy), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            response: Response = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise WorkerDied(_how_it_ended(self._process.wait())) from error
        return response.parsed()

    def end(self) -> None:
        """Whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # What was about to be sent has no receiver.
            with suppress(OSError):
                pipe.close() if pipe else None


class _Pool:
    """Some workers, each driven by one thread at a time."""

    def __init__(self, count: int, hash_policy: HashPolicy, worker_module: str) -> None:
        self._count = count
        self._module = worker_module
        self._hash_policy = hash_policy
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive: set[_Worker] = set()
        self._is_closed = False
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="parsing")

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self._idle.put(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers; a thread that waits for one then sees it gone."""
        with self._lock:
            self._is_closed = True
            alive = list(self._alive)
        for worker in alive:
            worker.end()
        self._threads.shutdown(cancel_futures=True)

    def map(self, batches: Iterator[list[SourceText]]) -> Iterator[Parsed]:
        """The results in the order of the batches."""
        waiting: deque[Future[Parsed]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._parse, batch))
            if len(waiting) >= self._count * WINDOW:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _parse(self, batch: list[SourceText]) -> Parsed:
        worker = self._idle.get()
        try:
            return worker.parse(batch, self._hash_policy)
        except WorkerDied:
            worker = self._replace(worker)
            parts = []
            for file in batch:
                try:
                    parts.append(worker.parse([file], self._hash_policy))
                except WorkerDied as error:
                    worker = self._replace(worker)
                    parts.append(Parsed(Rows.of_values([]), ((file.path, f"the parser ended: {error}"),)))
            return _joined(parts)
        finally:
            self._idle.put(worker)

    def _start(self) -> _Worker:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            worker = _Worker(self._module)
            self._alive.add(worker)
        return worker

    def _replace(self, worker: _Worker) -> _Worker:
        with self._lock:
            self._alive.discard(worker)
        worker.end()
        return self._start()


def _joined(parts: Sequence[Parsed]) -> Parsed:
    failures: list[Failure] = [failure for part in parts for failure in part.failures]
    return Parsed(Rows.joined(part.rows for part in parts), tuple(failures))


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"with status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"
