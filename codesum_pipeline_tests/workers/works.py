"""Work that crashes or gets stuck on what it is given, as a fault in a library's C code would."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from codesum_pipeline.workers.pool import WorkerDied

CRASH, FAIL, HANG = -1, -2, -3


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


@dataclass(frozen=True, slots=True)
class WhereItRuns:
    """Tells the process that does the work."""

    def __call__(self, _batch: int) -> int:
        return os.getpid()

    def here(self, batch: int) -> int:
        return self(batch)

    def rescue(self, batch: int, again: Callable[[int], int]) -> int:
        return again(batch)
