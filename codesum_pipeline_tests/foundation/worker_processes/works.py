"""Work that crashes or gets stuck on what it is given, as a fault in a library's C code would."""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from codesum_pipeline.foundation.worker_processes.limits import TooMuchHere
from codesum_pipeline.foundation.worker_processes.pool import WorkerDied

CRASH, FAIL, HANG, EAT, ABORT, COMPUTE = -1, -2, -3, -4, -5, -6
# What one batch takes that eats or computes.
EATEN_MB, COMPUTED_S = 400, 2.5


@dataclass(frozen=True, slots=True)
class Double:
    """Doubles numbers; `home` is the process that must survive."""

    home: int

    def __call__(self, numbers: Sequence[int]) -> list[int | str]:
        for number in numbers:
            if number == CRASH and os.getpid() != self.home:
                os.kill(os.getpid(), signal.SIGSEGV)
            if number == FAIL and os.getpid() != self.home:
                raise SystemExit(7)
            if number == HANG:
                time.sleep(600)
            if number == EAT:
                bytearray(EATEN_MB << 20)
            if number == ABORT:
                _grow_like_a_library()
            if number == COMPUTE:
                _compute()
        return [2 * number for number in numbers]

    def here(self, numbers: Sequence[int]) -> list[int | str]:
        return self(numbers)

    def rescue(self, numbers: Sequence[int], again: Callable[[Sequence[int]], list[int | str]]) -> list[int | str]:
        done: list[int | str] = []
        for number in numbers:
            try:
                done += again([number])
            except WorkerDied as error:
                done.append(str(error))
        return done


def _grow_like_a_library() -> None:
    """An array that doubles, and ends the process where it cannot, as C code does."""
    array = b"x" * (1 << 20)
    try:
        while len(array) < EATEN_MB << 20:
            array = array + array
    except MemoryError:
        os.abort()


def _compute() -> None:
    end = time.process_time() + COMPUTED_S
    while time.process_time() < end:
        pass


@dataclass(frozen=True, slots=True)
class OnlyOddHere:
    """Says which process worked on a number; even ones are too much for one without workers."""

    def __call__(self, number: int) -> int:
        return os.getpid()

    def here(self, number: int) -> int:
        if number % 2 == 0:
            raise TooMuchHere
        return self(number)

    def rescue(self, number: int, again: Callable[[int], int]) -> int:
        return again(number)


class CannotBeRead:
    """Work that a worker fails to unpickle, as it does where a module of it cannot be imported any more."""

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return import_module, ("a_module_that_is_gone",)

    def __call__(self, _batch: int) -> int:
        raise NotImplementedError

    def here(self, batch: int) -> int:
        return self(batch)

    def rescue(self, batch: int, again: Callable[[int], int]) -> int:
        return again(batch)


@dataclass(frozen=True)
class HasImported:
    """Tells whether the process that does the work has imported a module."""

    module: str

    def __call__(self, _batch: int) -> bool:
        return self.module in sys.modules

    def here(self, batch: int) -> bool:
        return self(batch)

    def rescue(self, batch: int, again: Callable[[int], bool]) -> bool:
        return again(batch)


@dataclass(frozen=True, slots=True)
class WhereItRuns:
    """Tells the process that does the work."""

    def __call__(self, _batch: int) -> int:
        return os.getpid()

    def here(self, batch: int) -> int:
        return self(batch)

    def rescue(self, batch: int, again: Callable[[int], int]) -> int:
        return again(batch)


@dataclass(frozen=True, slots=True)
class Noted:
    """Doubles numbers, and notes in a file what it begins."""

    notes: Path

    def __call__(self, numbers: Sequence[int]) -> list[int | str]:
        with self.notes.open("a") as notes:
            notes.write(f"{list(numbers)}\n")
        return Double(0)(numbers)

    here = __call__
    rescue = Double.rescue
