"""What is still being answered ends with the token that it was asked with."""

import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from codesum_pipeline.ways_in.http_serving.access_tokens import TokenSource
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.http_serving.gate import TokenGate
from codesum_pipeline_tests.support.serving import served
from codesum_pipeline_tests.ways_in.access.asking import HEADERS, SECRET, mcp, pages
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

OTHER = "the-token-of-somebody-else"
BEGAN = datetime(2026, 11, 24, tzinfo=UTC)


def write_tokens(file: Path, *entries: str) -> Path:
    new = file.with_suffix(".new")
    new.write_text("\n".join(entries) or "# All were taken away.\n# Nobody is served.\n")
    new.chmod(0o600)
    return new.replace(file)


def entry(name: str, secret: str, *more: str) -> str:
    return "\n".join([f"[{name}]", f"token = '{secret}'", "repos = ['till']", *more])


async def forever(_: Request) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        while True:
            yield "another line\n"
            await anyio.sleep(0.01)

    return StreamingResponse(lines())


async def listen(gate: TokenGate, secret: str, heard: list[int]) -> None:
    """Ask for the endless stream until the server ends it."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(b"authorization", f"Bearer {secret}".encode())],
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "asgi": {"version": "3.0", "spec_version": "2.4"},
    }

    async def send(message: object) -> None:
        heard[0] += 1

    await gate(scope, anyio.sleep_forever, send)


async def run_gate(gate: TokenGate, ended: dict[str, bool], file: Path) -> None:
    """One listener's token is taken out of the file, then all tokens are; the other's goes on until then."""
    received = ({"type": f"lifespan.{word}"} for word in ("startup", "shutdown"))
    is_over, is_up = anyio.Event(), anyio.Event()

    async def receive() -> dict[str, str]:
        message = next(received)
        if message["type"] == "lifespan.shutdown":
            await is_over.wait()
        return message

    async def send(message: dict[str, str]) -> None:
        is_up.set()

    heard: dict[str, list[int]] = {"left": [0], "removed": [0]}

    async def keep(name: str, secret: str) -> None:
        await listen(gate, secret, heard[name])
        ended[name] = True

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gate, {"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
            await is_up.wait()
            tasks.start_soon(keep, "left", SECRET)
            tasks.start_soon(keep, "removed", OTHER)
            while min(count for (count,) in heard.values()) < 3:
                await anyio.sleep(0.01)
            write_tokens(file, entry("left", SECRET, "expires = 2026-11-25"))
            while not ended:
                await anyio.sleep(0.01)
            before, _ = heard["left"][0], ended.setdefault("left", False)
            while heard["left"][0] < before + 3:
                await anyio.sleep(0.01)
            assert ended == {"removed": True, "left": False}
            gate.now = lambda: BEGAN + timedelta(days=1)
            while not ended["left"]:
                await anyio.sleep(0.01)
            is_over.set()


def test_a_stream_ends_when_its_token_leaves_the_file_or_expires_and_no_other_does(tmp_path: Path) -> None:
    file = write_tokens(tmp_path / "tokens", entry("left", SECRET, "expires = 2026-11-25"), entry("removed", OTHER))
    gate = TokenGate(
        TokenSource.of(file, {}, variable="X"),
        lambda _: Starlette(routes=[Route("/", forever)]),
        Auditor(None, "test"),
        looked_after_s=0.05,
        now=lambda: BEGAN,
    )
    ended: dict[str, bool] = {}

    anyio.run(run_gate, gate, ended, file)

    assert ended == {"left": True, "removed": True}


@pytest.mark.slow
def test_a_session_of_a_client_ends_with_its_token(homes: Homes, tmp_path: Path) -> None:
    file = write_tokens(tmp_path / "tokens", entry("a", SECRET), entry("b", OTHER))
    headers = {**HEADERS, "Accept": "application/json, text/event-stream"}
    began = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    with (
        served(homes.both, tmp_path, "mcp", "--http", "0", "--token-file", str(file)) as address,
        httpx.Client(headers=headers, timeout=20) as client,
    ):
        url = address if address.endswith("/mcp") else f"{address}/mcp"
        session = client.post(url, json=began).headers["mcp-session-id"]
        with client.stream("GET", url, headers={"mcp-session-id": session}) as stream:
            assert stream.status_code == 200
            write_tokens(file, entry("b", OTHER))
            since = time.monotonic()
            text = ""
            # The connection ends in the middle of the stream.
            with suppress(httpx.RemoteProtocolError):
                text = "".join(stream.iter_text())
            assert time.monotonic() - since < 15
        refused = client.post(url, json=began)

    assert refused.status_code == 401
    assert KEY_OF_B not in text


@pytest.mark.parametrize("way", ["web", "mcp"])
@pytest.mark.slow
def test_a_file_without_tokens_serves_nobody(homes: Homes, tmp_path: Path, way: str) -> None:
    file = write_tokens(tmp_path / "tokens")
    options = ["web", "--port", "0"] if way == "web" else ["mcp", "--http", "0"]
    with served(homes.both, tmp_path, *options, "--token-file", str(file)) as address:
        assert httpx.get(address, timeout=20).status_code == 401
        write_tokens(file, entry("a", SECRET))

        assert httpx.get(address, headers=HEADERS, timeout=20).status_code != 401


def test_a_server_whose_file_has_no_token_asks_for_one(homes: Homes, tmp_path: Path) -> None:
    source = TokenSource.of(write_tokens(tmp_path / "tokens"), {}, variable="X")
    assert source.tokens == ()
    with pages(homes.both, source) as site, mcp(homes.both, source) as tools:
        assert (site.get("/").status_code, tools.post("/mcp").status_code) == (401, 401)
