"""The server over streamable HTTP: on loopback by default, with Host and Origin checked; elsewhere with a token."""

import hmac
import ipaddress
import os
import re
import socket
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.model.errors import ConfigurationError

PATH = "/mcp"
TOKEN_VARIABLE = "CODESUM_MCP_TOKEN"
DEFAULT_HOST = "127.0.0.1"
# Guessing a shorter one takes no more than patience.
_SHORTEST_TOKEN = 16
_MOST_PORT = 65_535
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]:|(?P<host>[^:\[\]]+):)?(?P<port>\d{1,5})")
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens; port 0 is any that is free."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(text: str) -> Address:
    """`PORT`, `HOST:PORT` or `[HOST]:PORT`."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > _MOST_PORT:
        raise ConfigurationError(f"--http {text!r} is no address: give PORT, HOST:PORT or [HOST]:PORT")
    return Address(match["v6"] or match["host"] or DEFAULT_HOST, int(match["port"]))


def read_token(file: Path | None, environ: Mapping[str, str]) -> str | None:
    """The token of a file that nobody else may read, else of the environment; None without either."""
    if file is None:
        token = environ.get(TOKEN_VARIABLE)
        source = TOKEN_VARIABLE
        if not token:
            return None
    else:
        source = f"--token-file {file}"
        try:
            if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigurationError(f"{source}: others may read it: run `chmod 600 {file}`")
            token = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{source}: {error}") from error
    token = token.strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or any(each.isspace() for each in token):
        raise ConfigurationError(f"{source}: a token has at least {_SHORTEST_TOKEN} letters and digits, without spaces")
    return token


def check_reachable(address: Address, token: str | None) -> None:
    """Raise `ConfigurationError` where others could reach the server without a token."""
    if token is None and not address.is_loopback:
        raise ConfigurationError(
            f"--http {address.host}:{address.port} can be reached from other machines: give a token with --token-file "
            f"or {TOKEN_VARIABLE}, or listen on {DEFAULT_HOST}"
        )


def make_app(server: MCPServer[Any], address: Address, *, token: str | None, host_names: Sequence[str] = ()) -> ASGIApp:
    """The server behind its checks."""
    check_reachable(address, token)
    names = [*host_names, *_names_of(address)]
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{address.port}" for name in names] + (names if address.port == 80 else []),
        allowed_origins=[f"{scheme}://{name}:{address.port}" for name in names for scheme in ("http", "https")],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=address.host)
    return app if token is None else _TokenChecked(app, token)


def listen(address: Address) -> tuple[socket.socket, Address]:
    """A listening socket, and where it listens."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        bound = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        # Python adds the address; the number of an unknown host is none of the system's errors.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigurationError(
            f"--http {address.host}:{address.port}: {reason}: choose another address, or port 0 for a free one"
        ) from error
    return bound, Address(address.host, bound.getsockname()[1])


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Until SIGINT or SIGTERM."""
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, access_log=False)
    uvicorn.Server(config).run(sockets=[bound])


def _names_of(address: Address) -> list[str]:
    """What a client may call the server."""
    shown = f"[{address.host}]" if ":" in address.host else address.host
    if address.is_loopback:
        return list(dict.fromkeys((shown, "127.0.0.1", "localhost", "[::1]")))
    return list(dict.fromkeys((shown, socket.gethostname(), socket.getfqdn())))


@dataclass(frozen=True, slots=True)
class _TokenChecked:
    """Whoever does not say the token gets no further."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_said(Headers(scope=scope)):
            answer = PlainTextResponse(
                "give the server's token: Authorization: Bearer TOKEN\n",
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_said(self, headers: Headers) -> bool:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        # Bytes, since of texts only those in ASCII can be compared in a time that tells nothing.
        is_same = hmac.compare_digest(said.strip().encode(), self.token.encode())
        return scheme.lower() == "bearer" and is_same
