"""How patiently hosts are asked, and how far the registry follows them at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostOptions:
    """How hosts are asked, and how much one sync may retire."""

    timeout_s: float
    max_wait_s: float
    max_retired_share: float
