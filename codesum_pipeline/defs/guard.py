"""What the UI answers to: its own pages, and programs on this machine; no page of somebody else.

Dagster's webserver has no log-in, runs whatever it is asked for, takes mutations
by GET and in the bodies that forms send, and looks at neither Host nor Origin.
Any page in the same browser can thus start runs: directly, or, under a name of
its own that leads to this machine, read everything as well.
"""

import ipaddress
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from codesum_pipeline.model.errors import ConfigurationError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_READING = ("GET", "HEAD", "OPTIONS")
# A page may send any other to anybody without asking first.
_CONTENT_TYPES = ("application/json", "application/graphql")
_POLICY_VIOLATION = 1008

_log = logging.getLogger("dagster-webserver")


def served_hosts(listen_on: str, allowed: Iterable[str] = ()) -> frozenset[str]:
    """The names under which browsers may ask for the UI; raises `ConfigurationError`."""
    names = [name.lower() for name in allowed]
    for name in names:
        if not re.fullmatch(_HOST, name) or ":" in name.partition("]")[2] or (":" in name and name[0] != "["):
            raise ConfigurationError(f"--allow-host {name!r} is no host name: write it without scheme, port and path")
    try:
        address = ipaddress.ip_address(listen_on)
    except ValueError:
        return frozenset((*_LOOPBACK, *names, listen_on.lower()))
    if not address.is_unspecified:
        return frozenset((*_LOOPBACK, *names, f"[{address}]" if address.version == 6 else str(address)))
    if not names:
        raise ConfigurationError(
            f"--host {listen_on} listens on every address of this machine: say with --allow-host NAME, for each name "
            "or address that browsers will use, that the UI answers to it (it has no log-in)"
        )
    return frozenset((*_LOOPBACK, *names))


class UiGuard:
    """An ASGI application that passes on what is not refused."""

    def __init__(self, app: App, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = why_refused(scope, self._hosts)
        if refusal is None:
            await self._app(scope, receive, _unframed(send))
            return
        _log.warning("refused: %s", refusal)
        await _refuse(scope, send, refusal)


def why_refused(scope: Scope, hosts: Collection[str]) -> str | None:
    """Why a request is not answered; None where it is."""
    headers = _Headers(scope)
    return (
        _wrong_host(headers, hosts)
        or _wrong_origin(headers)
        or _wrong_site(headers, scope)
        or (_wrong_request(headers, scope) if scope["type"] == "http" else None)
    )


class _Headers:
    """The headers of a request; one that comes twice with two values is as good as none that can be trusted."""

    def __init__(self, scope: Scope) -> None:
        self._raw = [(name.lower(), value.decode("latin-1").strip().lower()) for name, value in scope["headers"]]

    def get(self, name: str) -> str:
        found = [value for each, value in self._raw if each == name.encode()]
        return ", ".join(found)


def _wrong_host(headers: _Headers, hosts: Collection[str]) -> str | None:
    host = re.fullmatch(_HOST, headers.get("host"))
    if host and host["name"] in hosts:
        return None
    return (
        f"the request is for the host {headers.get('host')!a}, and this UI answers to {', '.join(sorted(hosts))}; "
        "start it with `codesum dev --allow-host NAME` for another name"
    )


def _wrong_origin(headers: _Headers) -> str | None:
    origin, host = headers.get("origin"), headers.get("host")
    # A proxy in front may speak https.
    if not origin or origin in (f"http://{host}", f"https://{host}"):
        return None
    return f"the request comes from a page of {origin!a}, which is not this UI"


def _wrong_site(headers: _Headers, scope: Scope) -> str | None:
    """Browsers say it of every request; others send nothing of it. A link may lead here, a frame may not."""
    if headers.get("sec-fetch-site") in ("", "none", "same-origin"):
        return None
    goes_here = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if goes_here and scope.get("method") in _READING:
        return None
    return "the request comes from a page that is not this UI"


def _wrong_request(headers: _Headers, scope: Scope) -> str | None:
    if scope["method"] not in _READING:
        kind = headers.get("content-type").partition(";")[0].strip()
        known = " or ".join(_CONTENT_TYPES)
        return None if kind in _CONTENT_TYPES else f"the content type is {kind!a}: send {known}"
    given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(name == "query" and _changes_something(value) for name, value in given):
        return "the address holds a GraphQL operation that is no query: send it as POST"
    return None


def _changes_something(text: str) -> bool:
    # Every build imports this module, and the library takes longer than all else in it.
    from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse

    try:
        found = parse(text).definitions
    except GraphQLError:
        # No GraphQL, or none that anybody will execute.
        return False
    return any(isinstance(each, OperationDefinitionNode) and each.operation != OperationType.QUERY for each in found)


def _unframed(send: Send) -> Send:
    """Nobody else's page shows the UI in a frame, where a click could be meant for something else."""

    async def with_header(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"x-frame-options", b"SAMEORIGIN")]
        await send(message)

    return with_header


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"Refused: {why}\n".encode()})
