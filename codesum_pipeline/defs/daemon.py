"""Dagster's daemon, whose sensors go on when the clock is set back.

Dagster lets a sensor rest for its interval after its last tick. A last tick
that lies in the future, as after the clock was set back by an hour, would
have it rest for that hour; here it counts for nothing.
"""

from typing import Any

MODULE = "codesum_pipeline.defs.daemon"
# The names of Dagster's that are exchanged; where one is gone, nothing is started.
_ELAPSED = "get_elapsed"
_LOOP = "execute_sensor_iteration_loop"


class ShortRest:
    """An event that is waited for no longer than the sensors' loop ever should."""

    def __init__(self, event: Any, longest_s: float) -> None:
        self._event = event
        self._longest_s = longest_s

    def wait(self, timeout: float) -> bool:
        return bool(self._event.wait(min(timeout, self._longest_s)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._event, name)


def steady_sensors() -> None:
    """Exchange what Dagster's sensors' loop measures times with."""
    from dagster._daemon import daemon, sensor

    elapsed, loop = getattr(sensor, _ELAPSED), getattr(daemon, _LOOP)

    def elapsed_if_past(state: Any) -> float | None:
        found = elapsed(state)
        return None if found is None or found < 0 else float(found)

    def rested_loop(workspace: Any, logger: Any, shutdown_event: Any, **options: Any) -> Any:
        return loop(workspace, logger, ShortRest(shutdown_event, sensor.MIN_INTERVAL_LOOP_TIME), **options)

    setattr(sensor, _ELAPSED, elapsed_if_past)
    setattr(daemon, _LOOP, rested_loop)


def main() -> None:
    """`dagster-daemon`."""
    from dagster._daemon import cli

    steady_sensors()
    cli.main()


if __name__ == "__main__":
    main()
