"""The ledger beside a running event loop: a thread writes its entries, several in one transaction.

A transaction takes milliseconds to reach the disk, in which the loop could not
read answers. All entries that wait when one transaction ends share the next one.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from msgspec import Struct

from codesum_pipeline.llm.ledger import Ledger

Result = TypeVar("Result")


class _PendingWrite(Struct, frozen=True):
    write: Callable[[], object]
    written: asyncio.Future[object]
    is_alone: bool


class Books:
    """A ledger that only this thread uses while the books are open."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: SimpleQueue[_PendingWrite | None] = SimpleQueue()

    @contextmanager
    def open(self) -> Iterator[None]:
        """For the time of a block inside a running loop, which must have waited for all its entries at the end."""
        writer = Thread(target=self._serve, args=(asyncio.get_running_loop(),), name="ledger", daemon=True)
        writer.start()
        try:
            yield
        finally:
            self._waiting.put(None)
            writer.join()

    async def enter(self, write: Callable[[Ledger], Result], *, is_alone: bool = False) -> Result:
        """What `write` returns, once it is on disk. An entry is finished even if its task is cancelled, which is then
        cancelled at its next wait. With `is_alone` it shares no transaction: what it reads is on disk."""
        task = asyncio.current_task()
        entry: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting.put(_PendingWrite(lambda: write(self._ledger), entry, is_alone))
        was_cancelled = False
        while not entry.done():
            try:
                await asyncio.wait([entry])
            except asyncio.CancelledError:
                was_cancelled = True
        if was_cancelled and task is not None:
            task.cancel()
        return entry.result()  # type: ignore[return-value]

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        is_last = False
        while not is_last:
            waiting = [self._waiting.get()]
            while not self._waiting.empty():
                waiting.append(self._waiting.get())
            is_last = waiting[-1] is None
            for together in _transactions([entry for entry in waiting if entry]):
                loop.call_soon_threadsafe(_settle, together, *self._written(together))

    def _written(self, together: Sequence[_PendingWrite]) -> tuple[list[object], BaseException | None]:
        """The results of some entries, of one transaction; or why none of them is written."""
        try:
            with nullcontext() if together[0].is_alone else self._ledger.together():
                return [entry.write() for entry in together], None
        except Exception as error:
            # Each task that waits for one of these raises it.
            return [], error


def _transactions(entries: Sequence[_PendingWrite]) -> Iterator[Sequence[_PendingWrite]]:
    """The entries in their order, those that share a transaction together."""
    for is_alone, found in groupby(entries, key=lambda entry: entry.is_alone):
        together = list(found)
        yield from ([entry] for entry in together) if is_alone else [together]


def _settle(together: Sequence[_PendingWrite], results: list[object], error: BaseException | None) -> None:
    for place, entry in enumerate(together):
        if error is not None:
            entry.written.set_exception(error)
        else:
            entry.written.set_result(results[place])
