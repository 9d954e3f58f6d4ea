"""How often and how hard remotes are asked, as the settings say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PollPolicy:
    """How often and how hard remotes are asked."""

    interval_s: float
    per_tick: int
    parallel: int
    host_parallel: int
    host_spacing_s: float
    timeout_s: float
