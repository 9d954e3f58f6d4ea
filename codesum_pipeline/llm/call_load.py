"""Whether the processor is what calls wait for, so that worker processes pay."""

import time
from collections.abc import Callable

from codesum_pipeline.workers.pool import worker_count

# Below it one process is at nine tenths of what is possible and more; above, calls wait for each other.
_BUSY = 0.6
_WINDOW_S = 1.0
# A worker imports LiteLLM in about so much processor time: a run that ends just then has lost no more than it took.
_PAYS_AFTER_S = 3.0

Clock = Callable[[], float]


class CallLoad:
    """How busy this process has been since its first call was over; a single core is not shared."""

    def __init__(
        self,
        *,
        busy: float = _BUSY,
        pays_after_s: float = _PAYS_AFTER_S,
        cores: int | None = None,
        wall: Clock = time.monotonic,
        cpu: Clock = time.process_time,
    ) -> None:
        self._busy = busy
        self._pays_after_s = pays_after_s
        self._can_share = (worker_count() if cores is None else cores) > 1
        self._wall = wall
        self._cpu = cpu
        self._window: tuple[float, float] | None = None
        self._busy_s = 0.0

    def needs_workers(self) -> bool:
        """To be asked after each call: whether it has been busy, without a break, for as long as a start takes."""
        now = self._wall()
        if self._window is None:
            # What came before was the import of LiteLLM.
            self._window = now, self._cpu()
        since, cpu_then = self._window
        if now - since >= _WINDOW_S:
            cpu = self._cpu()
            is_busy = cpu - cpu_then >= self._busy * (now - since)
            self._busy_s = self._busy_s + now - since if is_busy else 0.0
            self._window = now, cpu
        return self._can_share and self._busy_s >= self._pays_after_s
