"""Serves an application on a socket: one server, with one set of limits, for all that this package serves."""

import os
import socket

from starlette.types import ASGIApp

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.ending import ended_in_time

# Fewer than the connections that one address may have: so many are accepted before any of them is read.
_ACCEPTED_AT_ONCE = 64
# So many wait in the system to be accepted.
_QUEUE = 1_024
# Requests that are being answered get so long after SIGTERM.
_GRACE_S = 2


def listen_on(address: Address) -> tuple[socket.socket, Address]:
    """A listening socket and its address."""
    try:
        found = {family for family, *_ in socket.getaddrinfo(address.host or None, 0, type=socket.SOCK_STREAM)}
        family = socket.AF_INET if socket.AF_INET in found else socket.AF_INET6
        bound = socket.create_server((address.host, address.port), family=family, backlog=_QUEUE)
    except OSError as error:
        # Python adds the address to the system's errors; the number of an unknown host is none of them.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise ConfigurationError(f"{address.option}: {reason}: choose another address or port") from error
    return bound, Address(address.host, bound.getsockname()[1], address.option)


def serve_app(
    app: ASGIApp,
    bound: socket.socket,
    limits: ServingSettings,
    *,
    has_websockets: bool = False,
    log_level: str = "warning",
) -> None:
    """Serve until SIGINT or SIGTERM, after which the process ends within seconds."""
    # They import Uvicorn: a tenth of a second, which commands that only make or read tokens do not wait for.
    from codesum_pipeline.ways_in.http_serving.connections import BoundedConfig, BoundedServer, BoundedWebSocket
    from codesum_pipeline.ways_in.http_serving.request_checks import BodyBounds, KnownClients

    config = BoundedConfig(
        KnownClients(BodyBounds(app, limits), limits.trusted_proxies),
        limits,
        # The other loop takes the descriptor by which `ended_in_time` hears of signals.
        loop="asyncio",
        ws=BoundedWebSocket if has_websockets else "none",
        ws_max_size=limits.max_body_bytes,
        proxy_headers=False,
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=limits.idle_timeout_s,
        timeout_graceful_shutdown=_GRACE_S,
        log_level=log_level,
        access_log=False,
    )
    with ended_in_time():
        BoundedServer(config, queue=_QUEUE).run(sockets=[bound])
