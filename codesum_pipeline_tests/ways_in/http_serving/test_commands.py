"""The limits hold for every command that serves, with the settings of its home, and each ends in time."""

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from codesum_pipeline.ways_in.http_serving.audit_log import read_audit
from codesum_pipeline_tests.support.attacking import (
    Target,
    answer_of,
    half_open,
    large_body,
    many_headers,
    one_long_line,
    slow_heads,
)
from codesum_pipeline_tests.support.commands import COMMAND, environment

SECRET = "a-secret-that-hosts-sign-with-and-nobody-guesses"
TOKEN = "a-token-that-nobody-guesses"
SETTINGS = {"CODESUM_SERVING__MAX_CONNECTIONS": "40", "CODESUM_WEBHOOK_SECRET": SECRET}
SERVERS = {
    "web": (["web", "--port", "0"], "/", "/ask", "200"),
    "mcp": (["mcp", "--http", "0"], "/", "/mcp", "404"),
    "webhooks": (["webhooks", "--port", "0"], "/health", "/webhooks", "200"),
}
ENDED_S = 20.0
_ATTACK_S = 1.5
WAIT_S = 60


@contextmanager
def started(
    name: str, folder: Path, env: Mapping[str, str], log: Path | None = None
) -> Iterator[tuple["subprocess.Popen[str]", Target]]:
    """One of the servers, on a home without an index."""
    options, get, post, _ = SERVERS[name]
    log = log or folder / "server.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [*COMMAND, "--home", str(folder / "home"), *options],
            stdin=subprocess.DEVNULL,
            stderr=output,
            text=True,
            cwd=folder,
            env=environment({**SETTINGS, **env}),
        ) as process,
    ):
        try:
            yield process, Target(_port(process, log), get=get, post=post)
        finally:
            process.kill()


def _port(process: "subprocess.Popen[str]", log: Path) -> int:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text()):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", int(found[1]))) == 0:
                    return int(found[1])
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module", params=SERVERS)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple["subprocess.Popen[str]", Target, str]]:
    with started(request.param, tmp_path_factory.mktemp(request.param), {}) as (process, target):
        yield process, target, SERVERS[request.param][3]


def status_of(target: Target) -> str:
    with target.connected() as client:
        client.sendall(target.head("GET", target.get, "Connection: close"))
        return answer_of(client, WAIT_S)


def test_heads_and_bodies_have_limits(served: tuple["subprocess.Popen[str]", Target, str]) -> None:
    _, target, status = served

    assert status_of(target) == status
    assert one_long_line(target, _ATTACK_S, size=8 << 20).startswith("431")
    assert many_headers(target, _ATTACK_S, number=101).startswith("431")
    assert large_body(target, _ATTACK_S, size=6 << 20).startswith("413")


@pytest.mark.slow
def test_whoever_says_nothing_or_little_shuts_nobody_out(
    served: tuple["subprocess.Popen[str]", Target, str],
) -> None:
    _, target, status = served
    with ExitStack() as held:
        for _ in range(100):
            held.enter_context(target.connected())
        assert status_of(target) == status

    assert "held" not in half_open(target, 15.0, number=60)
    assert "held" not in slow_heads(target, 15.0, number=30)
    assert status_of(target) == status


def test_an_application_stands_behind_its_limits_and_is_told_nothing_of_websockets(
    served: tuple["subprocess.Popen[str]", Target, str],
) -> None:
    _, target, status = served
    with target.connected() as client:
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: YQ==")
        client.sendall(target.head("GET", target.get, *upgrade))

        assert answer_of(client, WAIT_S) == status


@pytest.mark.parametrize("name", SERVERS)
def test_each_server_ends_by_sigterm_while_clients_hold_connections(name: str, tmp_path: Path) -> None:
    with started(name, tmp_path, {}) as (process, target), ExitStack() as held:
        for _ in range(20):
            client = held.enter_context(target.connected())
            client.sendall(target.head("POST", target.post, "Content-Length: 100")[: -2 if held else 0])
        process.send_signal(signal.SIGTERM)

        assert process.wait(ENDED_S) == -signal.SIGTERM
        with socket.create_server(("127.0.0.1", target.port)):
            pass


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)], ids=["SIGTERM", "SIGINT"]
)
def test_the_server_over_stdio_ends_by_a_signal(number: signal.Signals, tmp_path: Path, interruptible: None) -> None:
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}
    with subprocess.Popen(
        [*COMMAND, "--home", str(tmp_path / "home"), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(begin) + "\n")
        process.stdin.flush()
        assert '"serverInfo"' in process.stdout.readline()

        process.send_signal(number)

        assert process.wait(ENDED_S) != 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proxies", "address"), [("[]", "127.0.0.1"), ('["127.0.0.0/8"]', "203.0.113.9")], ids=["unnamed", "named"]
)
@pytest.mark.parametrize("name", ["web", "mcp"])
def test_the_audit_log_has_whom_a_named_proxy_names(name: str, proxies: str, address: str, tmp_path: Path) -> None:
    env = {
        "CODESUM_WEB_TOKEN": TOKEN,
        "CODESUM_MCP_TOKEN": TOKEN,
        "CODESUM_SERVING__TRUSTED_PROXIES": proxies,
    }
    with started(name, tmp_path, env) as (process, target):
        headers = {"Authorization": "Bearer no-token-of-this-server", "X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
        answer = requests.get(f"http://127.0.0.1:{target.port}{target.get}", headers=headers, timeout=WAIT_S)
        process.send_signal(signal.SIGTERM)
        process.wait(ENDED_S)

    assert answer.status_code == 401
    assert [each["address"] for each in read_audit(tmp_path / "home" / "audit")] == [address]


@pytest.mark.parametrize(
    ("proxies", "address"), [("[]", "127.0.0.1"), ('["127.0.0.0/8"]', "203.0.113.9")], ids=["unnamed", "named"]
)
def test_webhooks_count_requests_by_whom_a_named_proxy_names(proxies: str, address: str, tmp_path: Path) -> None:
    with started("webhooks", tmp_path, {"CODESUM_SERVING__TRUSTED_PROXIES": proxies}) as (_, target):
        url = f"http://127.0.0.1:{target.port}{target.post}"
        answer = requests.post(url, data=b"{}", headers={"X-Forwarded-For": "203.0.113.9"}, timeout=WAIT_S)

    assert answer.status_code == 401
    assert f"{address}: refused: no valid signature" in (tmp_path / "server.log").read_text()


def test_a_limit_that_is_no_limit_is_an_error_that_names_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--home", str(tmp_path / "home"), "web", "--port", "0"],
        env=environment({"CODESUM_SERVING__MAX_CONNECTIONS": "0"}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )

    assert done.returncode != 0
    assert "'serving.max_connections' = '0'" in done.stderr
