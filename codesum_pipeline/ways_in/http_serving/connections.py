"""The connections of a server within bounds, so that a client costs little and shuts nobody out.

Uvicorn itself bounds the bytes of a head and the seconds between two requests. It has no setting for the number of
headers, the seconds for a head, the seconds in which a client reads nothing, and the number of connections: these
bounds are here. A new connection beyond the bounds takes the place of the one that has waited longest for its client;
it is refused if all the others are being answered.
"""

import asyncio
import ipaddress
import logging
import socket
import time
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from msgspec import Struct, field
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from codesum_pipeline.foundation.data_model.client_addresses import customer_of
from codesum_pipeline.foundation.settings.operation_settings import ServingSettings

_log = logging.getLogger(__name__)
# Uvicorn would write a line for every request that is no HTTP.
_quiet = logging.getLogger("uvicorn.error.requests")

# A refused client gets so long to read why, before its connection is cut.
_LINGER_S = 1.0
_SWEEP_S = 0.25
# Refusals are logged, but not so many that they fill a disk.
_LOGGED_EVERY_S = 1.0
# Nobody splits a message into more; empty parts would fit into any number of bytes.
_MOST_FRAGMENTS = 1_024
_POLICY_VIOLATION = 1008
_READ_BYTES = 16 * 1024
# Whoever reads less in `write_timeout_s` reads as good as nothing.
_LEAST_READ = 64 * 1024


class BoundedParser(h11.Connection):
    """Reads requests; `why` has the status and the text of a refusal."""

    def __init__(self, limits: ServingSettings) -> None:
        self._limits, self._max_bytes = limits, int(limits.max_head_kb * 1024)
        super().__init__(h11.SERVER, self._max_bytes)
        self.why: tuple[int, str] = (400, "the request is no valid HTTP")

    def next_event(self) -> Any:
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                self.why = self._too_large(len(self.trailing_data[0]))
            raise
        if isinstance(event, h11.Request) and (why := self._fault_of(event)):
            self.why = why
            raise h11.RemoteProtocolError(why[1], error_status_hint=why[0])
        return event

    def _fault_of(self, request: h11.Request) -> tuple[int, str] | None:
        size = len(request.target) + sum(len(name) + len(value) + 4 for name, value in request.headers)
        if size > self._max_bytes:
            return self._too_large(size)
        count, most = len(request.headers), self._limits.max_headers
        if count > most:
            return 431, f"the request has {count} headers, and {most} are allowed"
        names = {name for name, _ in request.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            # A proxy may have read another end of the request than we would.
            return 400, "the request has both Content-Length and Transfer-Encoding"
        return None

    def _too_large(self, size: int) -> tuple[int, str]:
        kb = self._limits.max_head_kb
        return 431, f"the head of the request has {size} bytes or more, and {kb:g} KB are allowed"


class Connections(Struct):
    """All connections of one server, by their transports."""

    limits: ServingSettings
    _open: "dict[asyncio.BaseTransport, BoundedHttp | BoundedWebSocket]" = field(default_factory=dict)
    _proxies: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None
    _logged_at: float = 0.0

    def __post_init__(self) -> None:
        self._proxies = [ipaddress.ip_network(each) for each in self.limits.trusted_proxies]

    def room_for(self, address: str) -> str:
        """Make room for a connection of an address; the reason if there is none."""
        limits = self.limits
        if not self._is_proxy(address):
            customer = customer_of(address)
            same = [each for each in self._open.values() if each.customer == customer]
            if len(same) >= limits.max_connections_per_address and not _ended_one(same):
                most = f"{limits.max_connections_per_address} are allowed"
                return f"{len(same)} connections of {customer} are being answered, and {most}"
        every = [*self._open.values()]
        if len(every) >= limits.max_connections and not _ended_one(every):
            most = f"{limits.max_connections} are allowed (serving.max_connections)"
            return f"{len(every)} connections are being answered, and {most}"
        return ""

    def add(self, connection: "BoundedHttp | BoundedWebSocket") -> None:
        self._open[connection.transport] = connection
        if self._timer is None:
            self._timer = connection.loop.call_later(_SWEEP_S, self._sweep, connection.loop)

    def drop(self, transport: asyncio.BaseTransport) -> None:
        self._open.pop(transport, None)

    def tell(self, refusal: str) -> None:
        now = time.monotonic()
        if now - self._logged_at >= _LOGGED_EVERY_S:
            self._logged_at = now
            _log.warning("refused: %s", refusal)

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections that have waited for their client too long."""
        now = time.monotonic()
        for connection in [*self._open.values()]:
            try:
                connection.look(now)
            except Exception:
                # Without the next sweep, no connection would ever be ended again.
                _log.exception("a connection of %s is ended: it could not be checked", connection.customer)
                connection.end()
        self._timer = loop.call_later(_SWEEP_S, self._sweep, loop) if self._open else None


def _ended_one(connections: "list[BoundedHttp | BoundedWebSocket]") -> bool:
    """Whether one of them waited for its client; the one that waited longest is ended."""
    waiting = [each for each in connections if each.waits_since is not None]
    if not waiting:
        return False
    longest = min(waiting, key=lambda each: each.waits_since or 0.0)
    longest.end()
    return True


class BoundedConfig(uvicorn.Config):
    """The configuration of a server, with its connections."""

    def __init__(self, app: Any, limits: ServingSettings, **options: Any) -> None:
        super().__init__(app, http=BoundedHttp, **options)
        self.bounded = Connections(limits)
        # After it has configured the logs, which sets the level of this one anew.
        _quiet.setLevel(logging.ERROR)


class BoundedServer(uvicorn.Server):
    """A server with a `queue` of connections that wait in the system to be accepted. Uvicorn has one number for both:
    for that queue, and for what is accepted at once."""

    def __init__(self, config: BoundedConfig, *, queue: int) -> None:
        super().__init__(config)
        self._queue = queue

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(self._queue)


class _Bounded(asyncio.Protocol):
    """What both kinds of connections do: they are counted, and end if their client reads nothing for too long."""

    config: Any
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    client: tuple[str, int] | None
    customer = ""
    waits_since: float | None = None
    # The bytes that the client had to read at a moment; None if there is nothing that it has to read.
    _unread: tuple[float, int] | None = None

    @property
    def _bounded(self) -> Connections:
        found: Connections = self.config.bounded
        return found

    def end(self) -> None:
        """End it at once; it is no longer counted."""
        self._bounded.drop(self.transport)
        self.transport.abort()

    def pause_writing(self) -> None:
        self._unread = time.monotonic(), self.transport.get_write_buffer_size()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread = None
        super().resume_writing()

    def look(self, now: float) -> None:
        """End it if its client has read too little of an answer."""
        size = self.transport.get_write_buffer_size()
        since, before = self._unread or (now, size)
        if self._unread is None and not self.transport.is_closing():
            return
        if self._unread is None or before - size >= _LEAST_READ:
            self._unread = now, size
        elif now - since > self._bounded.limits.write_timeout_s:
            limit = f"{_LEAST_READ >> 10} KB of an answer in {self._bounded.limits.write_timeout_s:g} s"
            self._bounded.tell(f"{self.customer} read less than {limit}")
            self.end()


class BoundedHttp(_Bounded, H11Protocol):
    """An HTTP connection. `waits_since` is None while a request is answered that has arrived as a whole."""

    def __init__(self, config: Any, *arguments: Any, **keywords: Any) -> None:
        super().__init__(config, *arguments, **keywords)
        self.logger = _quiet
        self.conn = self._parser = BoundedParser(config.bounded.limits)
        self._head_since: float | None = None
        self._refused_at: float | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # What is read at once is parsed at once, and the others wait.
        transport.max_size = _READ_BYTES
        address = self.client[0] if self.client else ""
        self.customer = customer_of(address)
        if refusal := self._bounded.room_for(address):
            self._bounded.tell(refusal)
            self._write(503, f"too many connections: {refusal}")
            self._refused_at = time.monotonic()
            transport.close()
            return
        self.waits_since = self._head_since = time.monotonic()
        self._bounded.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounded.drop(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused_at is None:
            super().data_received(data)
            self._note(has_begun=True)

    def on_response_complete(self) -> None:
        has_body_left = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if has_body_left and not self.transport.is_closing():
            # Nobody will read the rest of the body.
            self._linger()
        # The next of many requests that were sent at once may be under way already.
        self._note(has_begun=self.cycle.response_complete and bool(self.conn.trailing_data[0]))

    def _note(self, *, has_begun: bool) -> None:
        """Note since when it has waited for its client, and since when for a head."""
        now = time.monotonic()
        if self.cycle is None or self.cycle.response_complete:
            self.waits_since = now if self.waits_since is None else self.waits_since
            self._head_since = (now if has_begun else None) if self._head_since is None else self._head_since
        else:
            self._head_since = None
            self.waits_since = (self.waits_since or now) if self.cycle.more_body else None

    def look(self, now: float) -> None:
        limit = self._bounded.limits.head_timeout_s
        if self._refused_at is not None:
            if now - self._refused_at > _LINGER_S:
                self.end()
        elif self._head_since is not None and now - self._head_since > limit:
            self._refuse(408, f"the head of the request took more than {limit:g} s")
        else:
            super().look(now)

    def send_400_response(self, msg: str) -> None:
        """The parser cannot go on."""
        self._refuse(*self._parser.why)

    def _refuse(self, status: int, reason: str) -> None:
        self._bounded.tell(f"{self.customer}: {reason}")
        if self.cycle is not None and not self.cycle.response_complete:
            # The beginning of an answer may have been sent.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.end()
            return
        self._write(status, reason)
        self._linger()

    def _write(self, status: int, reason: str) -> None:
        body = f"{reason}\n".encode()
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)

    def _linger(self) -> None:
        """Say that no more comes, and let the client read: cutting at once would throw away what it has not read."""
        self._refused_at = self.waits_since = time.monotonic()
        self._unset_keepalive_if_required()
        self.flow.resume_reading()
        try:
            self.transport.write_eof()
        except OSError:
            # The client has closed its end since the loop last looked at the socket.
            self.end()


class BoundedWebSocket(_Bounded, WebSocketsSansIOProtocol):
    """A connection that was upgraded; it takes the place of the one that it was before."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.customer = customer_of(self.client[0] if self.client else "")
        self._bounded.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounded.drop(self.transport)
        super().connection_lost(exc)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < _MOST_FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self._bounded.tell(f"{self.customer}: a message has more than {_MOST_FRAGMENTS} parts")
            self.conn.send_close(_POLICY_VIOLATION)
            self.handle_parser_exception()

    def pause_writing(self) -> None:
        """Read no more either: what is answered at once, as pings are, would be kept in memory."""
        if not self.read_paused:
            self.transport.pause_reading()
        super().pause_writing()

    def resume_writing(self) -> None:
        if not self.read_paused:
            self.transport.resume_reading()
        super().resume_writing()
