"""What clients that listen hear of a work tree: which files of it were edited.

`subscriptions/listen` of the protocol of 2026-07-28 names resources, and lasts as long as its request: no session is
needed. Edits are noticed in the follower's thread and told in the event loop of each listener.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mcp.server.subscriptions import ResourceUpdated, ServerEvent

from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.catalogue import IndexCatalogue

Listener = Callable[[ServerEvent], None]


@dataclass
class ResourceEvents:
    """The server's subscription bus. The tree of `folder` is followed as soon as somebody listens."""

    catalogue: IndexCatalogue
    folder: Path
    _listeners: dict[object, tuple[asyncio.AbstractEventLoop, Listener]] = field(default_factory=dict)
    _is_followed: bool = False

    async def publish(self, event: ServerEvent) -> None:
        self._tell(event)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        token = object()
        self._listeners[token] = asyncio.get_running_loop(), listener
        if self.catalogue.follower and not self._is_followed:
            self._is_followed = True
            self.catalogue.follower.listen(self._changed)
        threading.Thread(target=self._follow, name="listened to", daemon=True).start()
        return lambda: self._forget(token)

    def _follow(self) -> None:
        """As a call does; a checkout that is not indexed yet is followed from the first call on that is answered."""
        with suppress(CodesumError, OSError):
            ToolContext(self.catalogue, self.folder).current()

    def _forget(self, token: object) -> None:
        self._listeners.pop(token, None)

    def _changed(self, key: str, paths: frozenset[str]) -> None:
        """The repository's own document says what is in it, so it is another one, too."""
        try:
            if not self.catalogue.opens_all([key]):
                return
        except CodesumError:
            return
        for path in (".", *sorted(paths)):
            self._tell(ResourceUpdated(f"codesum://{key}/{path}"))

    def _tell(self, event: ServerEvent) -> None:
        for loop, listener in list(self._listeners.values()):
            # A loop that ended has nobody to be told.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(listener, event)
