"""`dagster dev`, its webserver behind the guard.

`python -m codesum_pipeline.defs.guarded_ui dev --serve NAME … -- ARGUMENTS` is
Dagster's own command, which starts its webserver as a process of its own. That
one process is exchanged for this module's other part, which is Dagster's own
webserver with the guard around the application, and its daemon for the one of
`defs.daemon`. Where Dagster starts something that is not known here, nothing
is started.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from codesum_pipeline.defs.daemon import MODULE as DAEMON
from codesum_pipeline.defs.guard import UiGuard

MODULE = "codesum_pipeline.defs.guarded_ui"
# Nothing of the folder that it is started in is imported.
_PLAIN = ["-P", "-W", "ignore"]
_WEBSERVER = ["-m", "dagster_webserver"]
_DAEMON = ["-m", "dagster._daemon"]
# The two names of Dagster's that are exchanged; where one is gone, nothing is started.
_STARTS_PROCESS = "open_ipc_subprocess"
_MAKES_APP = "create_app_from_workspace_process_context"


def guarded_command(part: str, hosts: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command line of one of the two parts, as `python` takes it."""
    served = [word for host in hosts for word in ("--serve", host)]
    return [*_PLAIN, "-m", MODULE, part, *served, "--", *arguments]


def run_dev(hosts: Sequence[str], arguments: Sequence[str]) -> None:
    """`dagster dev`, with the guarded webserver."""
    from dagster._cli import dev

    start = getattr(dev, _STARTS_PROCESS)

    def start_guarded(command: list[str], **options: Any) -> Any:
        return start(_exchanged(command, hosts), **options)

    setattr(dev, _STARTS_PROCESS, start_guarded)
    dev.dev_command.main(list(arguments), prog_name="dagster dev")


def _exchanged(command: list[str], hosts: Sequence[str]) -> list[str]:
    if command[1:3] == _WEBSERVER:
        return [command[0], *guarded_command("webserver", hosts, command[3:])]
    if command[1:3] == _DAEMON:
        return [command[0], *_PLAIN, "-m", DAEMON, *command[3:]]
    raise RuntimeError(f"this Dagster starts {command[:4]}, which `codesum dev` does not know how to guard")


def run_webserver(hosts: Sequence[str], arguments: Sequence[str]) -> None:
    """Dagster's webserver, guarded."""
    from dagster_webserver import cli

    make_app = getattr(cli, _MAKES_APP)

    def make_guarded(*given: Any, **named: Any) -> UiGuard:
        return UiGuard(make_app(*given, **named), hosts=frozenset(hosts))

    setattr(cli, _MAKES_APP, make_guarded)
    cli.dagster_webserver.main(list(arguments), prog_name="dagster-webserver", auto_envvar_prefix="DAGSTER_WEBSERVER")


def main() -> None:
    """One of the two parts."""
    parser = argparse.ArgumentParser(prog=MODULE)
    parser.add_argument("part", choices=["dev", "webserver"])
    parser.add_argument("--serve", action="append", required=True)
    end = sys.argv.index("--")
    asked = parser.parse_args(sys.argv[1:end])
    (run_dev if asked.part == "dev" else run_webserver)(asked.serve, sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
