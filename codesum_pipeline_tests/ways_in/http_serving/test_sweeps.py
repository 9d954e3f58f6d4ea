"""The look at all connections goes on, whatever happens to one of them. The server runs in the loop of the test."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest
from starlette.responses import PlainTextResponse

from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.connections import BoundedConfig, BoundedServer
from codesum_pipeline.ways_in.http_serving.http_server import listen_on
from codesum_pipeline_tests.support.settings import changed

LIMITS = changed(ServingSettings(), head_timeout_s=0.5)
WAIT_S = 30
PART_OF_A_HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"


async def hello(scope: dict[str, str], receive: object, send: object) -> None:
    if scope["type"] == "http":
        await PlainTextResponse("hello")(scope, receive, send)  # type: ignore[arg-type]


def serve_while(work: Callable[[int], Awaitable[None]]) -> None:
    """Serve until `work`, which gets the port, has ended."""

    async def run() -> None:
        bound, address = listen_on(Address("127.0.0.1", 0))
        server = BoundedServer(BoundedConfig(hello, LIMITS, ws="none", loop="asyncio", lifespan="off"), queue=10)
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            await asyncio.wait_for(work(address.port), WAIT_S)
        finally:
            server.should_exit = True
            await serving

    asyncio.run(run())


async def connect(port: int, content: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port))
    client.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(client, content)
    return client


async def answer_of(client: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(client, 4096)


def test_a_client_that_closes_while_it_is_refused_ends_no_limit_of_the_others() -> None:
    """It closes after the loop last looked at its socket, and before the loop refuses it."""

    async def work(port: int) -> None:
        client = await connect(port, PART_OF_A_HEAD)
        await asyncio.sleep(0.1)
        # When the loop goes on, this is due first, and then the look at all connections.
        asyncio.get_running_loop().call_at(0, client.close)
        time.sleep(LIMITS.head_timeout_s + 0.5)
        await asyncio.sleep(0.5)

        with await connect(port, PART_OF_A_HEAD) as other:
            assert (await answer_of(other)).startswith(b"HTTP/1.1 408 ")

    serve_while(work)


def test_a_name_that_has_only_addresses_of_version_6_is_listened_on(monkeypatch: pytest.MonkeyPatch) -> None:
    families = []

    def bind(_address: tuple[str, int], *, family: int, backlog: int) -> socket.socket:
        families.append(family)
        return socket.socket()

    monkeypatch.setattr(socket, "create_server", bind)
    for found in ([socket.AF_INET6], [socket.AF_INET6, socket.AF_INET]):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: [(family, 0) for family in found])
        with listen_on(Address("some-name", 0))[0]:
            pass

    assert families == [socket.AF_INET6, socket.AF_INET]
