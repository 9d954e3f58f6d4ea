"""Dagster's own programs as this package runs them: the webserver behind the guard, and the daemon with a steady clock.

`python -m codesum_pipeline.defs.guarded_ui PART [--serve NAME …] -- ARGUMENTS` is `dagster dev`, its webserver or its
daemon. `dagster dev` starts the other two as processes of their own, which are exchanged for those of this module.
Where a name of Dagster's that is exchanged here is gone, or Dagster starts something else, nothing is started.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from codesum_pipeline.defs.guard import UiGuard

MODULE = "codesum_pipeline.defs.guarded_ui"


def guarded_command(part: str, hosts: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command line of one of the parts, as `python` takes it; nothing of the folder at hand is imported."""
    served = [word for host in hosts for word in ("--serve", host)]
    return ["-P", "-W", "ignore", "-m", MODULE, part, *served, "--", *arguments]


def run_dev(hosts: Sequence[str], arguments: Sequence[str]) -> None:
    """`dagster dev`, with the guarded webserver."""
    # Private: the command has no option for the programs that it starts.
    from dagster._cli import dev

    start = vars(dev)["open_ipc_subprocess"]

    def start_guarded(command: list[str], **options: Any) -> Any:
        return start(_exchanged(command, hosts), **options)

    vars(dev)["open_ipc_subprocess"] = start_guarded
    dev.dev_command.main(list(arguments), prog_name="dagster dev")


def _exchanged(command: list[str], hosts: Sequence[str]) -> list[str]:
    parts = {"dagster_webserver": "webserver", "dagster._daemon": "daemon"}
    if command[1] != "-m" or command[2] not in parts:
        raise RuntimeError(f"this Dagster starts {command[:4]}, which `codesum dev` does not know how to guard")
    return [command[0], *guarded_command(parts[command[2]], hosts, command[3:])]


def run_webserver(hosts: Sequence[str], arguments: Sequence[str]) -> None:
    """Dagster's webserver, guarded."""
    from dagster_webserver import cli

    make_app = vars(cli)["create_app_from_workspace_process_context"]

    def make_guarded(*given: Any, **named: Any) -> UiGuard:
        return UiGuard(make_app(*given, **named), hosts=frozenset(hosts))

    vars(cli)["create_app_from_workspace_process_context"] = make_guarded
    cli.dagster_webserver.main(list(arguments), prog_name="dagster-webserver", auto_envvar_prefix="DAGSTER_WEBSERVER")


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
    """Exchange what Dagster's sensors' loop measures times with.

    Dagster lets a sensor rest for its interval after its last tick. A last tick that lies in the future, as after the
    clock was set back by an hour, would have it rest for that hour; here it counts for nothing.
    """
    # Private: the loop has no setting for this.
    from dagster._daemon import daemon, sensor

    elapsed, loop = vars(sensor)["get_elapsed"], vars(daemon)["execute_sensor_iteration_loop"]

    def elapsed_if_past(state: Any) -> float | None:
        found = elapsed(state)
        return None if found is None or found < 0 else float(found)

    def rested_loop(workspace: Any, logger: Any, shutdown_event: Any, **options: Any) -> Any:
        return loop(workspace, logger, ShortRest(shutdown_event, sensor.MIN_INTERVAL_LOOP_TIME), **options)

    vars(sensor)["get_elapsed"] = elapsed_if_past
    vars(daemon)["execute_sensor_iteration_loop"] = rested_loop


def run_daemon(_hosts: Sequence[str], arguments: Sequence[str]) -> None:
    """`dagster-daemon`, whose sensors go on when the clock is set back."""
    # Private: the program is a script of this name, which nothing can be changed in.
    from dagster._daemon import cli

    steady_sensors()
    cli.cli.main(list(arguments), prog_name="dagster-daemon", obj={})


_PARTS = {"dev": run_dev, "webserver": run_webserver, "daemon": run_daemon}


def main() -> None:
    """One of the parts."""
    parser = argparse.ArgumentParser(prog=MODULE)
    parser.add_argument("part", choices=_PARTS)
    parser.add_argument("--serve", action="append", default=[])
    end = sys.argv.index("--")
    asked = parser.parse_args(sys.argv[1:end])
    _PARTS[asked.part](asked.serve, sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
