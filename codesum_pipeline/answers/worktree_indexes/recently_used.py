"""What a process keeps open because it was used lately."""

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class RecentlyUsed(Generic[V]):
    """Values by key, for several threads, until too many others were used since."""

    def __init__(self) -> None:
        # The last used is last.
        self._kept: dict[Hashable, V] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def find(self, key: Hashable) -> V | None:
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
            return found

    def keep(self, key: Hashable, value: V, *, most: int) -> None:
        """Keep a value; of more than `most`, the longest unused are forgotten."""
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = value
            while len(self._kept) > most:
                del self._kept[next(iter(self._kept))]

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._kept.pop(key, None)
