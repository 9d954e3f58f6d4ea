"""Each limit of a server, on both of its sides, over real sockets."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
import requests
import websockets.sync.client
from websockets.exceptions import ConnectionClosed

from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline_tests.support.attacking import (
    ATTACKS,
    ODD_REQUESTS,
    OF_WEBSOCKETS,
    Attack,
    Target,
    answer_of,
    endless_message,
    endless_pings,
    odd_request,
)
from codesum_pipeline_tests.ways_in.http_serving.odd_app import LARGE
from codesum_pipeline_tests.ways_in.http_serving.odd_server import OddServer, odd_server

# Small enough to be reached at once, and far enough apart to tell which of them was.
LIMITS = {
    "max_head_kb": 4,
    "max_headers": 20,
    "max_body_mb": 0.1,
    "head_timeout_s": 1.0,
    "body_timeout_s": 1.5,
    "idle_timeout_s": 1.0,
    "write_timeout_s": 1.5,
    "max_connections": 30,
    "max_connections_per_address": 20,
}
BODY = 100 * 1024
WAIT_S = 30
_ATTACK_S = 1.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OddServer]:
    with odd_server(tmp_path_factory.mktemp("limits"), **LIMITS) as running:
        yield running


@pytest.fixture
def target(server: OddServer) -> Target:
    return server.target


def ask(target: Target, content: bytes) -> str:
    with target.connected() as client:
        client.sendall(content)
        client.settimeout(WAIT_S)
        received = b""
        with suppress(ConnectionError):
            while part := client.recv(65_536):
                received += part
        return received.decode("latin-1")


def is_answered(target: Target) -> bool:
    return requests.get(f"http://127.0.0.1:{target.port}/", timeout=WAIT_S).ok


@pytest.mark.parametrize(("bytes_more", "status"), [(3_000, "200"), (4_200, "431")], ids=["below", "above"])
@pytest.mark.parametrize("is_address", [True, False], ids=["address", "header"])
def test_a_head_has_at_most_so_many_bytes(target: Target, bytes_more: int, status: str, is_address: bool) -> None:
    filling = "a" * bytes_more
    path, header = (f"/?{filling}", "X: 1") if is_address else ("/", f"X: {filling}")

    answer = ask(target, target.head("GET", path, header, "Connection: close"))

    assert answer.startswith(f"HTTP/1.1 {status} ")
    if status == "431":
        assert "and 4 KB are allowed" in answer


@pytest.mark.parametrize(("count", "status"), [(20, "200"), (21, "431")], ids=["below", "above"])
def test_a_request_has_at_most_so_many_headers(target: Target, count: int, status: str) -> None:
    headers = [f"X-{number}: 1" for number in range(count - 2)]

    answer = ask(target, target.head("GET", "/", *headers, "Connection: close"))

    assert answer.startswith(f"HTTP/1.1 {status} ")
    if status == "431":
        assert "the request has 21 headers, and 20 are allowed" in answer


@pytest.mark.parametrize(("more", "status"), [(0, 200), (5_000, 413)], ids=["below", "above"])
@pytest.mark.parametrize("is_chunked", [True, False], ids=["chunked", "announced"])
def test_a_body_has_at_most_so_many_bytes(server: OddServer, more: int, status: int, is_chunked: bool) -> None:
    size = int(LIMITS["max_body_mb"] * 1024 * 1024) + more
    content = b"x" * size

    answer = requests.post(f"{server.url}/length", data=iter([content]) if is_chunked else content, timeout=WAIT_S)

    text = str(size) if status == 200 else "the body of the request has more than 0.1 MB"
    assert (answer.status_code, answer.text.strip()) == (status, text)


@pytest.mark.parametrize("is_begun", [True, False], ids=["a part of it", "none of it"])
def test_a_head_arrives_in_time_or_its_connection_ends(target: Target, is_begun: bool) -> None:
    answer = ask(target, target.head("GET", "/")[: -2 if is_begun else 0])

    assert answer.startswith("HTTP/1.1 408 ")
    assert "the head of the request took more than 1 s" in answer


def test_a_head_that_takes_a_while_is_answered(target: Target) -> None:
    content = target.head("GET", "/", "Connection: close")
    with target.connected() as client:
        for part in (content[:20], content[20:40], content[40:]):
            client.sendall(part)
            time.sleep(0.2)
        assert answer_of(client, WAIT_S) == "200"


def test_bytes_that_come_one_by_one_do_not_make_the_time_longer(target: Target) -> None:
    began = time.monotonic()
    with target.connected() as client, suppress(ConnectionError):
        client.sendall(target.head("GET", "/")[:-2] + b"X: ")
        client.settimeout(0.05)
        while True:
            client.sendall(b"a")
            with suppress(TimeoutError):
                assert client.recv(100).startswith(b"HTTP/1.1 408 ")
                break
            assert time.monotonic() - began < WAIT_S


def test_a_body_arrives_in_time_or_its_request_is_refused(target: Target) -> None:
    answer = ask(target, target.head("POST", "/length", "Content-Length: 10") + b"12345")

    assert answer.startswith("HTTP/1.1 408 ")
    assert "the body of the request took more than 1.5 s" in answer


def test_a_body_that_takes_a_while_is_read(target: Target) -> None:
    with target.connected() as client:
        client.sendall(target.head("POST", "/length", "Content-Length: 10") + b"12345")
        time.sleep(0.5)
        client.sendall(b"67890")
        assert answer_of(client, WAIT_S) == "200"


def test_the_rest_of_a_body_that_nobody_reads_is_not_waited_for(target: Target) -> None:
    answer = ask(target, target.head("POST", "/unread", f"Content-Length: {BODY}") + b"12345")

    assert answer.endswith("answered without the body")


def test_a_connection_waits_for_the_next_request_for_a_while(target: Target) -> None:
    with target.connected() as client:
        for _ in range(3):
            client.sendall(target.head("GET", "/"))
            assert answer_of(client, WAIT_S) == "200"
            time.sleep(0.4)
        client.settimeout(WAIT_S)
        while client.recv(4096):
            pass


def test_a_second_head_on_a_connection_has_its_own_time(target: Target) -> None:
    with target.connected() as client:
        client.sendall(target.head("GET", "/"))
        assert answer_of(client, WAIT_S) == "200"
        time.sleep(0.7)
        content = target.head("GET", "/")
        client.sendall(content[:10])
        time.sleep(0.7)
        client.sendall(content[10:])
        assert answer_of(client, WAIT_S) == "200"


@pytest.mark.slow
def test_an_answer_may_take_longer_than_all_the_limits(target: Target) -> None:
    with target.connected() as client:
        client.sendall(target.head("GET", "/stream"))
        until = time.monotonic() + 4
        while time.monotonic() < until:
            assert client.recv(4096)


def test_a_client_that_reads_nothing_of_an_answer_is_cut(server: OddServer, target: Target) -> None:
    with target.connected(reads_slowly=True) as client:
        client.sendall(target.head("GET", "/large") * 5)
        _wait_until(lambda: _open_connections(server) == 1)
        _wait_until(lambda: _open_connections(server) == 0)
        received = 0
        with suppress(ConnectionError):
            while part := client.recv(65_536):
                received += len(part)
    assert received < LARGE


@pytest.mark.slow
def test_a_client_that_reads_slowly_but_steadily_gets_its_answer(target: Target) -> None:
    with target.connected(reads_slowly=True) as client:
        client.sendall(target.head("GET", "/large", "Connection: close"))
        received, step = 0, LARGE // 30
        while part := client.recv(65_536):
            received += len(part)
            if received > step:
                step += LARGE // 30
                time.sleep(0.1)
    assert received > LARGE


def test_connections_that_wait_make_room_for_a_new_one_of_the_same_address(target: Target) -> None:
    with ExitStack() as held:
        clients = [held.enter_context(target.connected()) for _ in range(60)]
        assert is_answered(target)
        assert _ended(clients) >= 40


def test_one_address_has_at_most_so_many_answers_under_way(server: OddServer, target: Target) -> None:
    with ExitStack() as held:
        for _ in range(LIMITS["max_connections_per_address"]):
            client = held.enter_context(target.connected())
            client.sendall(target.head("GET", "/stream"))
            assert answer_of(client, WAIT_S) == "200"
        answer = ask(target, b"")
        assert answer.startswith("HTTP/1.1 503 ")
        assert "20 connections of 127.0.0.1 are being answered, and 20 are allowed" in answer
        with socket.socket() as other:
            # All of 127.0.0.0/8 is this machine.
            other.bind(("127.0.0.2", 0))
            other.connect(("127.0.0.1", target.port))
            other.sendall(target.head("GET", "/"))
            assert answer_of(other, WAIT_S) == "200"
    _wait_until(lambda: _open_connections(server) == 0)
    assert is_answered(target)


def test_all_addresses_together_have_at_most_so_many_answers_under_way(server: OddServer, target: Target) -> None:
    with ExitStack() as held:

        def begin(address: str) -> socket.socket:
            client = held.enter_context(socket.socket())
            client.bind((address, 0))
            client.connect(("127.0.0.1", target.port))
            client.sendall(target.head("GET", "/stream"))
            return client

        for number in range(LIMITS["max_connections"]):
            assert answer_of(begin(f"127.0.1.{number + 1}"), WAIT_S) == "200"
        client = begin("127.0.2.1")
        client.settimeout(WAIT_S)
        assert "30 are allowed (serving.max_connections)" in client.recv(4096).decode()
    _wait_until(lambda: _open_connections(server) == 0)


def test_a_named_proxy_may_have_more_connections_than_one_address(tmp_path: Path) -> None:
    with (
        odd_server(tmp_path, max_connections_per_address=3, trusted_proxies=["127.0.0.1"]) as server,
        ExitStack() as held,
    ):
        for _ in range(10):
            client = held.enter_context(server.target.connected())
            client.sendall(server.target.head("GET", "/stream"))
            assert answer_of(client, WAIT_S) == "200"


def test_a_websocket_counts_as_a_connection_until_it_ends(tmp_path: Path) -> None:
    with odd_server(tmp_path, max_connections_per_address=2) as server:
        address = f"ws://127.0.0.1:{server.target.port}/repeat"
        with websockets.sync.client.connect(address), websockets.sync.client.connect(address):
            assert ask(server.target, b"").startswith("HTTP/1.1 503 ")
        _wait_until(
            lambda: ask(server.target, server.target.head("GET", "/", "Connection: close")).startswith("HTTP/1.1 200")
        )


@pytest.mark.parametrize(("more", "code"), [(0, None), (1, 1009)], ids=["below", "above"])
def test_a_message_of_a_websocket_has_at_most_so_many_bytes(target: Target, more: int, code: int | None) -> None:
    size = int(LIMITS["max_body_mb"] * 1024 * 1024) + more
    with websockets.sync.client.connect(f"ws://127.0.0.1:{target.port}/repeat") as client:
        client.send("x" * size)
        if code is None:
            assert client.recv(WAIT_S) == str(size)
        else:
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(WAIT_S)
            assert closed.value.rcvd and closed.value.rcvd.code == code


def test_a_message_in_many_parts_is_read_and_one_in_parts_without_end_is_not(target: Target) -> None:
    with websockets.sync.client.connect(f"ws://127.0.0.1:{target.port}/repeat") as client:
        client.send(iter(["x"] * 500))
        assert client.recv(WAIT_S) == "500"

    assert "closed with 1008" in endless_message(target, _ATTACK_S)


def test_a_websocket_whose_client_reads_nothing_is_cut(server: OddServer, target: Target) -> None:
    before = psutil.Process(server.process.pid).memory_info().rss

    taken = endless_pings(target, 20, most=60 << 20)

    assert not taken.endswith("still open"), taken
    assert psutil.Process(server.process.pid).memory_info().rss - before < 30 << 20


@pytest.mark.parametrize("attack", [*ATTACKS.values(), *OF_WEBSOCKETS.values()], ids=[*ATTACKS, *OF_WEBSOCKETS])
def test_after_an_attack_everybody_is_answered_and_no_memory_is_lost(
    server: OddServer, target: Target, attack: Attack
) -> None:
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss

    attack(target, _ATTACK_S)

    assert is_answered(target)
    # Each connection may have one answer that nobody reads.
    assert process.memory_info().rss - before < (LIMITS["max_connections_per_address"] + 10) * LARGE


def test_during_an_attack_from_the_same_address_everybody_is_answered(target: Target) -> None:
    """For good, connections that said nothing once took all that the server had."""
    with ExitStack() as held:
        for _ in range(10):
            clients = [held.enter_context(target.connected()) for _ in range(30)]
            assert clients
            assert is_answered(target)


@pytest.mark.parametrize("name", ODD_REQUESTS)
def test_an_odd_request_is_refused_or_answered_and_ends_nothing(target: Target, name: str) -> None:
    expected = {
        "an absolute address": "404",
        "an encoded null byte": "404",
        "an encoded path that is no UTF-8": "404",
        "bare line feeds": "200",
        "a chunk of 16 digits": "408",
    }

    assert odd_request(target, name) == expected.get(name, "400")
    assert is_answered(target)


def test_refusals_do_not_fill_the_log(server: OddServer, target: Target) -> None:
    before = server.log.stat().st_size

    for _ in range(200):
        odd_request(target, "no HTTP")

    assert server.log.stat().st_size - before < 5_000


def test_the_defaults_let_a_browser_and_agents_in() -> None:
    found = ServingSettings()

    assert (found.max_head_kb, found.max_headers, found.max_connections_per_address) == (64, 100, 250)
    assert found.max_connections < 1_024


def _open_connections(server: OddServer) -> int:
    return sum(each.status == psutil.CONN_ESTABLISHED for each in psutil.Process(server.process.pid).net_connections())


def _wait_until(is_so: object) -> None:
    assert callable(is_so)
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _ended(clients: list[socket.socket]) -> int:
    ended = 0
    for client in clients:
        client.setblocking(False)
        try:
            ended += client.recv(1) in (b"", b"H")
        except BlockingIOError:
            continue
        except OSError:
            ended += 1
    return ended
