"""Which process this is, so that another one can tell later whether it still runs."""

import os
from functools import cache
from pathlib import Path


def boot_id() -> str:
    """What changes when the machine restarts."""
    path = Path("/proc/sys/kernel/random/boot_id")
    if path.exists():
        return path.read_text().strip()
    import psutil

    return f"{psutil.boot_time():.0f}"


@cache
def pid_namespace() -> str:
    """What processes see each other by their numbers: those of a container do not see the others of its machine.

    Empty where there is only one such space, as on macOS.
    """
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")  # noqa: PTH115 - no path: `pid:[4026531836]`
    except OSError:
        return ""


def is_of_this_namespace(namespace: str) -> bool:
    """Whether a process that was recorded in a namespace can be looked up here; older records name none."""
    return namespace in ("", pid_namespace())


def process_started(pid: int) -> float:
    """When a process started, in a unit that setting the clock does not move; 0 where there is none."""
    if not Path("/proc/self").exists():
        return _started_without_proc(pid)
    try:
        # After the name in brackets, which may hold anything: the state first, the start in ticks as the 20th.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return 0.0 if fields[0] == "Z" else float(fields[19])


def _started_without_proc(pid: int) -> float:
    # Thirty milliseconds, which commands on Linux need not wait.
    import psutil

    try:
        process = psutil.Process(pid)
        return 0.0 if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time(), 2)
    except psutil.NoSuchProcess:
        return 0.0
