"""Dagster's own programs as this package runs them: the webserver behind a guard, and the daemon with a steady clock.

`python -m codesum_pipeline.ways_in.dagster_ui.guarded_ui PART [--serve NAME …] [--limits JSON] -- ARGUMENTS` is
`dagster dev`, its webserver or its daemon. `dagster dev` starts the other two as processes of their own, which are
exchanged for those of this module. Where a name of Dagster's that is exchanged here is gone, or Dagster starts
something else, nothing is started.

Dagster's webserver has no log-in, runs whatever it is asked for, takes mutations by GET and in the bodies that forms
send, and looks at neither Host nor Origin. Any page in the same browser could thus start runs: directly, or, under a
name of its own that leads to this machine, read everything as well. The guard lets its own pages pass, and programs on
this machine; no page of somebody else.
"""

import argparse
import ipaddress
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from types import FrameType, SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.ending import end_children, ended_in_time
from codesum_pipeline.ways_in.http_serving.http_server import listen_on, serve_app

MODULE = "codesum_pipeline.ways_in.dagster_ui.guarded_ui"

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_READING = ("GET", "HEAD", "OPTIONS")
# A page may send any other to anybody without asking first.
_CONTENT_TYPES = ("application/json", "application/graphql")
_POLICY_VIOLATION = 1008
# With the seconds that requests get, less than `PATIENCE_S`.
_CHILDREN_END_S = 1.5

_log = logging.getLogger("dagster-webserver")


def served_hosts(listened: str, allowed: Iterable[str] = ()) -> frozenset[str]:
    """The names under which browsers may ask for the UI; raises `ConfigurationError`."""
    names = [name.lower() for name in allowed]
    for name in names:
        if not re.fullmatch(_HOST, name) or ":" in name.partition("]")[2] or (":" in name and name[0] != "["):
            raise ConfigurationError(f"--allow-host {name!r} is no host name: write it without scheme, port and path")
    try:
        address = ipaddress.ip_address(listened)
    except ValueError:
        return frozenset((*_LOOPBACK, *names, listened.lower()))
    if not address.is_unspecified:
        return frozenset((*_LOOPBACK, *names, f"[{address}]" if address.version == 6 else str(address)))
    if not names:
        raise ConfigurationError(
            f"--host {listened} listens on every address of this machine: say with --allow-host NAME, for each name "
            "or address that browsers will use, that the UI answers to it (it has no log-in)"
        )
    return frozenset((*_LOOPBACK, *names))


class UiGuard:
    """An ASGI application that answers refused requests itself and passes on all others."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_unframed(message: Message) -> None:
            """Nobody else's page shows the UI in a frame, where a click could be meant for something else."""
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-frame-options", b"SAMEORIGIN")]
            await send(message)

        refusal = why_refused(scope, self._hosts)
        if refusal is None:
            await self._app(scope, receive, send_unframed)
            return
        _log.warning("refused: %s", refusal)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": f"Refused: {refusal}\n".encode()})


def why_refused(scope: Scope, hosts: Collection[str]) -> str | None:
    """Why a request is refused; None if it is not."""
    # A header that comes twice with two values is as good as none that can be trusted.
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.lower().decode("latin-1"), value.decode("latin-1").strip().lower()
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    requested, origin = headers.get("host", ""), headers.get("origin", "")
    host = re.fullmatch(_HOST, requested)
    if not host or host["name"] not in hosts:
        return (
            f"the request is for the host {requested!a}, and this UI answers to {', '.join(sorted(hosts))}; "
            "start it with `codesum dev --allow-host NAME` for another name"
        )
    # A proxy in front may speak https.
    if origin not in ("", f"http://{requested}", f"https://{requested}"):
        return f"the request comes from a page of {origin!a}, which is not this UI"
    # Browsers say it of every request; others send nothing of it. A link may lead here, a frame may not.
    if headers.get("sec-fetch-site", "") not in ("", "none", "same-origin"):
        goes_here = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        if not goes_here or scope.get("method") not in _READING:
            return "the request comes from a page that is not this UI"
    if scope["type"] != "http":
        return None
    if scope["method"] not in _READING:
        kind = headers.get("content-type", "").partition(";")[0].strip()
        known = " or ".join(_CONTENT_TYPES)
        return None if kind in _CONTENT_TYPES else f"the content type is {kind!a}: send {known}"
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(name == "query" and _changes_something(value) for name, value in parameters):
        return "the address holds a GraphQL operation that is no query: send it as POST"
    return None


def _changes_something(text: str) -> bool:
    # The command line imports this module, and the library takes longer than all else in it.
    from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse

    try:
        found = parse(text).definitions
    except GraphQLError:
        # No GraphQL, or none that anybody will execute.
        return False
    return any(isinstance(each, OperationDefinitionNode) and each.operation != OperationType.QUERY for each in found)


class UiOptions(Struct, frozen=True):
    """The names under which browsers may ask for the UI, and what one client may cost."""

    hosts: Sequence[str]
    limits: ServingSettings = ServingSettings()


def guarded_command(part: str, options: UiOptions, arguments: Sequence[str]) -> list[str]:
    """The command line of one of the parts, as `python` takes it; nothing of the folder at hand is imported."""
    served = [word for host in options.hosts for word in ("--serve", host)]
    limits = ["--limits", options.limits.model_dump_json()]
    return ["-P", "-W", "ignore", "-m", MODULE, part, *served, *limits, "--", *arguments]


def run_dev(options: UiOptions, arguments: Sequence[str]) -> None:
    """`dagster dev`, with the guarded webserver. It ends with all that it has started; runs are interrupted."""
    from codesum_pipeline.builds.dagster.private_names import dev_command_module

    dev = dev_command_module()
    start = vars(dev)["open_ipc_subprocess"]
    vars(dev)["open_ipc_subprocess"] = lambda command, **keywords: start(_exchanged(command, options), **keywords)
    with tempfile.TemporaryDirectory() as own, ended_in_time():
        # What Dagster would remove at its own end.
        tempfile.tempdir = own

        def end(_number: int, _frame: FrameType | None) -> None:
            end_children(_CHILDREN_END_S)
            shutil.rmtree(own, ignore_errors=True)
            os._exit(0)

        # Dagster would wait for ten seconds, and for as long as a run takes. It gives SIGTERM the same handler.
        signal.signal(signal.SIGINT, end)
        dev.dev_command.main(list(arguments), prog_name="dagster dev")


def _exchanged(command: list[str], options: UiOptions) -> list[str]:
    parts = {"dagster_webserver": "webserver", "dagster._daemon": "daemon"}
    if command[1] != "-m" or command[2] not in parts:
        raise RuntimeError(f"this Dagster starts {command[:4]}, which `codesum dev` does not know how to guard")
    return [command[0], *guarded_command(parts[command[2]], options, command[3:])]


def run_webserver(options: UiOptions, arguments: Sequence[str]) -> None:
    """Dagster's webserver, guarded, within the limits of this package's own servers."""
    from dagster_webserver import cli

    def run(app: Any, *, host: str, port: int, log_level: str) -> None:
        bound, _ = listen_on(Address(host, port, f"--host {host} --port {port}"))
        with suppress(KeyboardInterrupt):
            serve_app(app, bound, options.limits, has_websockets=True, log_level=log_level)
        # Dagster would wait for its code servers longer than anybody waits for a server.
        end_children(_CHILDREN_END_S)
        os._exit(0)

    name, served = "create_app_from_workspace_process_context", frozenset(options.hosts)
    make_app, _ = vars(cli)[name], vars(cli)["uvicorn"].run
    vars(cli)[name] = lambda *values, **keywords: UiGuard(make_app(*values, **keywords), hosts=served)
    vars(cli)["uvicorn"] = SimpleNamespace(run=run)
    with ended_in_time():
        cli.dagster_webserver.main(
            list(arguments), prog_name="dagster-webserver", auto_envvar_prefix="DAGSTER_WEBSERVER"
        )


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
    from codesum_pipeline.builds.dagster.private_names import daemon_module, sensor_module

    daemon, sensor = daemon_module(), sensor_module()
    elapsed, loop = vars(sensor)["get_elapsed"], vars(daemon)["execute_sensor_iteration_loop"]

    def elapsed_if_past(state: Any) -> float | None:
        found = elapsed(state)
        return None if found is None or found < 0 else float(found)

    def rested_loop(workspace: Any, logger: Any, shutdown_event: Any, **options: Any) -> Any:
        return loop(workspace, logger, ShortRest(shutdown_event, sensor.MIN_INTERVAL_LOOP_TIME), **options)

    vars(sensor)["get_elapsed"] = elapsed_if_past
    vars(daemon)["execute_sensor_iteration_loop"] = rested_loop


def run_daemon(_options: UiOptions, arguments: Sequence[str]) -> None:
    """`dagster-daemon`, whose sensors go on when the clock is set back."""
    from codesum_pipeline.builds.dagster.private_names import daemon_command_module

    steady_sensors()
    daemon_command_module().cli.main(list(arguments), prog_name="dagster-daemon", obj={})


_PARTS = {"dev": run_dev, "webserver": run_webserver, "daemon": run_daemon}


def main() -> None:
    """One of the parts."""
    parser = argparse.ArgumentParser(prog=MODULE)
    parser.add_argument("part", choices=_PARTS)
    parser.add_argument("--serve", action="append", default=[])
    parser.add_argument("--limits", type=ServingSettings.model_validate_json, default=ServingSettings())
    end = sys.argv.index("--")
    parsed = parser.parse_args(sys.argv[1:end])
    _PARTS[parsed.part](UiOptions(parsed.serve, parsed.limits), sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
