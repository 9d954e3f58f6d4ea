"""Questions that are being answered, in a thread with an event loop of their own.

A turn opens indexes, reads sources and writes to disk between two words of a model: the loop that serves pages does
not wait for it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event, Thread

from codesum_pipeline.asking.events import OnEvent
from codesum_pipeline.asking.session import AskedQuestion
from codesum_pipeline.asking.turn import TurnAnswer


class Turns:
    """Open while a server runs. What is not answered at its end is cancelled, and closed as that."""

    _loop: asyncio.AbstractEventLoop

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        began = Event()
        thread = Thread(target=self._live, args=(began,), name="questions", daemon=True)
        thread.start()
        began.wait()
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(thread.join)

    def answer(self, asked: AskedQuestion, on_event: OnEvent) -> "asyncio.Future[TurnAnswer]":
        """Begin a turn. Who cancels the answer cancels the turn; `on_event` is called from the other thread."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked.answer(on_event), self._loop))

    def _live(self, began: Event) -> None:
        # The end of the block cancels what is under way, and waits for it.
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            began.set()
            self._loop.run_forever()
