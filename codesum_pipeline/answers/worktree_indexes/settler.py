"""A thread that settles work trees, one after the other, while other threads answer."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CodesumError

_log = logging.getLogger(__name__)
# Edits come in bursts: a tree is settled once, after the last of them.
QUIET_S = 1.0
# Requests without a pause put a tree off by no more than so many times this.
_MOST_QUIET = 5


class _PendingSettle(Struct, frozen=True):
    settle: Callable[[], None]
    due: float
    latest: float


class Settler:
    """Settles trees by repository and folder; a repeated request for a waiting tree puts it off, up to a limit."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        self._quiet_s = quiet_s
        self._waiting: dict[tuple[str, Path], _PendingSettle] = {}
        self._changed = threading.Condition()
        self._is_running = False

    def ask(self, repo: str, root: Path, settle: Callable[[], None]) -> None:
        """Settle a tree soon; returns at once."""
        now = time.monotonic()
        with self._changed:
            before = self._waiting.get((repo, root))
            latest = before.latest if before else now + _MOST_QUIET * self._quiet_s
            self._waiting[repo, root] = _PendingSettle(settle, min(now + self._quiet_s, latest), latest)
            if self._is_running:
                self._changed.notify()
                return
            self._is_running = True
        # An index gets its name when it is complete, so the thread may end with the process.
        threading.Thread(target=self._run, name="settler", daemon=True).start()

    def _run(self) -> None:
        while (taken := self._next()) is not None:
            (repo, root), settle = taken
            try:
                settle()
            except (CodesumError, OSError) as error:
                # The overlay answers meanwhile, and its answers say so.
                _log.warning("%s: the work tree %s was not settled: %s", repo, root, error)
            except Exception:
                _log.exception("%s: the work tree %s was not settled", repo, root)

    def _next(self) -> tuple[tuple[str, Path], Callable[[], None]] | None:
        """Wait for the tree that is due first; None if none waits."""
        with self._changed:
            while self._waiting:
                tree, first = min(self._waiting.items(), key=lambda each: each[1].due)
                left = first.due - time.monotonic()
                if left <= 0:
                    del self._waiting[tree]
                    return tree, first.settle
                self._changed.wait(left)
            self._is_running = False
            return None
