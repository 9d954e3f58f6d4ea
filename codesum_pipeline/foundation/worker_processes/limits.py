"""What one file, and one batch, may cost its process: the backstop behind all counted bounds.

Memory and seconds differ between machines, so what meets these limits is never settled: it is tried again by the next
build.
"""

import math
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from msgspec import Struct

from codesum_pipeline.foundation.settings.stage_settings import WORKER_MEMORY_MB, WORKER_PROCESSOR_S, ScanSettings

_MB = 1 << 20
# Not all of what a process asks for is memory that it uses.
_UNUSED = 4 / 3
# A library that asks for twice of what it holds, as growing arrays do, ends at half.
_NEAR = 0.4


class TooMuchHere(BaseException):
    """A batch is too much for a process that nothing ends: it is for a worker.

    No error of an item: it passes the guard of each.
    """


class WorkLimits(Struct, frozen=True):
    """Memory that a file or a batch may take besides what its process holds before, and seconds of processor time."""

    memory_mb: int = WORKER_MEMORY_MB
    processor_s: float = WORKER_PROCESSOR_S

    @property
    def memory_exceeded(self) -> str:
        return f"it needed more than {self.memory_mb:,} MB of memory (worker_memory_mb)"

    @property
    def seconds_exceeded(self) -> str:
        return f"it took more than {self.processor_s:g} s of processor time (worker_processor_s)"

    def is_near(self, held: int) -> bool:
        """Whether a process that held so many bytes may have asked for more than it may have."""
        return held > _NEAR * self.memory_mb * _MB

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Bound this process, which ends by SIGXCPU or meets a `MemoryError`, until the block ends."""
        before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)}
        _limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + self.processor_s))
        # Only Linux keeps this one.
        if sys.platform == "linux":
            _limit(resource.RLIMIT_AS, psutil.Process().memory_info().vms + int(_UNUSED * self.memory_mb * _MB))
        try:
            yield
        finally:
            for kind, limits in before.items():
                resource.setrlimit(kind, limits)


class Meter:
    """What the work on one file has cost this process so far, against limits."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._process = psutil.Process()
        self._most_bytes = self._process.memory_info().rss + limits.memory_mb * _MB
        self._most_s = time.thread_time() + limits.processor_s

    def exceeded(self) -> str:
        """Which limit was met, in words; empty for none."""
        if time.thread_time() > self._most_s:
            return self._limits.seconds_exceeded
        if self._process.memory_info().rss > self._most_bytes:
            return self._limits.memory_exceeded
        return ""


def work_limits(settings: ScanSettings) -> WorkLimits:
    """The limits that the settings give."""
    return WorkLimits(settings.worker_memory_mb, settings.worker_processor_s)


def _limit(kind: int, wanted: int) -> None:
    """Set the soft limit, at most to the hard one."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
