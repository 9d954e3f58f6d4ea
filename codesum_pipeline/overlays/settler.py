"""A thread that settles work trees while others answer: one after the other, each as it is by then."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from codesum_pipeline.model.errors import CodesumError

_log = logging.getLogger(__name__)
# Edits come in bursts: a tree is settled once, after the last of them.
QUIET_S = 1.0


class Settler:
    """Trees are known by repository and folder; whoever asks for one that waits already changes nothing."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        self._quiet_s = quiet_s
        self._waiting: dict[tuple[str, Path], Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._is_running = False

    def ask(self, repo: str, root: Path, settle: Callable[[], None]) -> None:
        """Settle a tree soon; returns at once."""
        with self._lock:
            self._waiting[repo, root] = settle
            if self._is_running:
                return
            self._is_running = True
        # What it writes has its name only when it is whole, so that it may end with the process.
        threading.Thread(target=self._run, name="settler", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(self._quiet_s)
            with self._lock:
                if not self._waiting:
                    self._is_running = False
                    return
                (repo, root), settle = self._waiting.popitem()
            try:
                settle()
            except (CodesumError, OSError) as error:
                # The overlay answers meanwhile, and says so.
                _log.warning("%s: the work tree %s was not settled: %s", repo, root, error)
            except Exception:
                _log.exception("%s: the work tree %s was not settled", repo, root)
