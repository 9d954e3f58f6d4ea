"""A command that is not trusted, run within bounds: of time, memory, processes, disk, and what it prints."""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field, json

from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.scip.supervisor import BY_SIGNAL, Task
from codesum_pipeline.settings.stages import ScipSettings

if TYPE_CHECKING:
    import psutil

# Not from a folder that may be anybody's.
_CODE = "import sys; sys.path[:] = {path!r}; from codesum_pipeline.scip.supervisor import main; main()"
_MB = 1024 * 1024
# How often bounds are looked at. One look costs about 10 ms of processor time.
_LOOK_EVERY_S = 0.25
# Of what a command prints.
_TAIL_BYTES = 16 * 1024
_PART = 1024 * 1024
# scip-typescript and scip-python are one process of 11 threads; builds of the JVM have some hundreds of tasks.
_MOST_PROCESSES = 1000
# Left free on the disk, where so much was.
_LEAST_FREE = 512 * _MB
# The supervisor kills within five seconds, or it is stuck itself.
_LONGEST_END_S = 10.0
# Between two looks at the sum, one process can have so many times the bound and no more.
_DATA_FACTOR = 2


class IndexerCommand(Struct, frozen=True):
    """Words that are run in a folder with exactly this environment."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]


class Ran(Struct, frozen=True):
    """How a command ended: its status (of a shell), the last that it printed, and which bound it went over."""

    status: int
    tail: bytes
    over: str = ""

    @property
    def signal(self) -> int:
        """The signal that ended it; 0: none did."""
        return self.status - BY_SIGNAL if self.status > BY_SIGNAL else 0


def run_bounded(command: IndexerCommand, settings: ScipSettings) -> Ran:
    """Run a command to its end, or until it goes over a bound; nothing that it started is left.

    Where the work is not wanted any more, or is interrupted, the command ends with it.
    """
    import psutil

    uid = os.getuid()
    found = (one.info for one in psutil.process_iter(["uids", "num_threads"]))
    task = Task(
        words=command.words,
        folder=str(command.folder),
        environment=command.environment,
        most_file_bytes=settings.max_index_mb * _MB,
        most_data_bytes=settings.max_memory_mb * _MB * _DATA_FACTOR,
        # Processes and threads that count against the user's limit, and those of the command.
        most_tasks=sum(one["num_threads"] or 1 for one in found if one["uids"] and one["uids"].real == uid)
        + _MOST_PROCESSES,
    )
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE.format(path=sys.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", process_group=0,
    )  # fmt: skip
    run = _Run(process, settings, command.folder)
    try:
        assert process.stdin is not None
        process.stdin.write(json.encode(task) + b"\n")
        process.stdin.flush()
        over = run.until_end()
    finally:
        _end(process)
    return Ran(process.returncode, bytes(run.tail), over)


class _Run(Struct):
    """A supervised command under way."""

    process: "subprocess.Popen[bytes]"
    settings: ScipSettings
    folder: Path
    tail: bytearray = field(default_factory=bytearray)
    free_at_first: int = 0

    def until_end(self) -> str:
        """Wait for the end, or say which bound was passed."""
        until = time.monotonic() + self.settings.timeout_s
        self.free_at_first = shutil.disk_usage(self.folder).free
        look_at = 0.0
        while self._goes_on(min(_LOOK_EVERY_S, max(until - time.monotonic(), 0.0))):
            checkpoint()
            now = time.monotonic()
            if now > until:
                return f"it took longer than {self.settings.timeout_s:g} s: raise scip.timeout_s, or have it do less"
            if now > look_at:
                if over := self._over():
                    return over
                look_at = now + _LOOK_EVERY_S
        return ""

    def _goes_on(self, wait_s: float) -> bool:
        """Read what was printed meanwhile; False once the command has ended."""
        stdout = self.process.stdout
        assert stdout is not None
        if not stdout.closed:
            if not select.select([stdout], [], [], wait_s)[0]:
                return self.process.poll() is None
            if part := os.read(stdout.fileno(), _PART):
                self.tail += part
                del self.tail[:-_TAIL_BYTES]
                return True
            stdout.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=wait_s)
        return self.process.returncode is None

    def _over(self) -> str:
        import psutil

        processes, memory = _descendants(self.process.pid), 0
        for process in processes:
            with suppress(psutil.Error):
                memory += process.memory_info().rss
        if len(processes) > _MOST_PROCESSES:
            return f"it started more than {_MOST_PROCESSES} processes: have it do less at a time"
        if memory > self.settings.max_memory_mb * _MB:
            most = self.settings.max_memory_mb
            return f"it took more than {most} MB of memory: raise scip.max_memory_mb, or have it do less"
        if shutil.disk_usage(self.folder).free < min(_LEAST_FREE, self.free_at_first // 2):
            return f"it filled the disk of {self.folder.parent}: free space there, or set TMPDIR to another disk"
        return ""


def _descendants(pid: int) -> "list[psutil.Process]":
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the supervisor, which ends what it supervises; what is left after a while is killed one by one."""
    import psutil

    left = _descendants(process.pid) if process.poll() is None else []
    for stream in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            stream.close() if stream else None
    try:
        process.wait(timeout=_LONGEST_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        for each in (*left, *_descendants(process.pid)):
            with suppress(psutil.Error):
                each.kill()
        process.wait()
