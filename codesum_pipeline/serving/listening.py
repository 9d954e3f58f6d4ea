"""The address on which a server listens, and the names by which clients may reach it."""

import os
import re
import socket
from dataclasses import dataclass, field

import uvicorn
from starlette.types import ASGIApp

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.locations import is_loopback

DEFAULT_HOST = "127.0.0.1"
_MOST_PORT = 65_535
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]:|(?P<host>[^:\[\]]+):)?(?P<port>\d{1,5})")
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Address:
    """The address on which a server listens; port 0 is any free one. `option` is the option that gave it."""

    host: str
    port: int
    option: str = field(default="", compare=False)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        return f"http://{self._shown_host}:{self.port}"

    @property
    def names(self) -> list[str]:
        """The names by which a client may reach the server."""
        if self.is_loopback:
            return list(dict.fromkeys((self._shown_host, "127.0.0.1", "localhost", "[::1]")))
        return list(dict.fromkeys((self._shown_host, socket.gethostname(), socket.getfqdn())))

    @property
    def _shown_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_address(text: str, *, option: str) -> Address:
    """`PORT`, `HOST:PORT` or `[HOST]:PORT`."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > _MOST_PORT:
        raise ConfigurationError(f"{option} {text!r} is no address: give PORT, HOST:PORT or [HOST]:PORT")
    host, port = match["v6"] or match["host"] or DEFAULT_HOST, int(match["port"])
    return Address(host, port, f"{option} {host}:{port}")


def allowed_hosts(address: Address, others: list[str]) -> list[str]:
    """The Host headers of this server, for its own names and `others`."""
    names = [*others, *address.names]
    return [f"{name}:{address.port}" for name in names] + (names if address.port == 80 else [])


def allowed_origins(address: Address, others: list[str]) -> list[str]:
    """The Origin headers of this server's pages."""
    return [f"{scheme}://{name}:{address.port}" for name in [*others, *address.names] for scheme in ("http", "https")]


def listen(address: Address) -> tuple[socket.socket, Address]:
    """A listening socket and its address."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        bound = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        # Python adds the address; the number of an unknown host is none of the system's errors.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigurationError(
            f"{address.option}: {reason}: choose another address, or port 0 for a free one"
        ) from error
    return bound, Address(address.host, bound.getsockname()[1], address.option)


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, access_log=False)
    uvicorn.Server(config).run(sockets=[bound])
