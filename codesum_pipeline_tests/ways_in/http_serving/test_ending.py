"""A server ends within seconds of SIGTERM or SIGINT, whatever its requests do."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import requests

from codesum_pipeline_tests.support.attacking import answer_of
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.ways_in.http_serving.odd_server import OddServer, odd_server

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
# Less than 5 s pass; a busy machine takes longer to start and end processes.
ENDED_S = 20.0


@pytest.fixture
def server(tmp_path: Path, interruptible: None) -> Iterator[OddServer]:
    with odd_server(tmp_path) as running:
        # The port is known before anybody is served.
        assert requests.get(running.url, timeout=60).ok
        yield running


def begin(server: OddServer, path: str) -> threading.Thread:
    """A request under way."""

    def ask() -> None:
        with suppress(requests.RequestException):
            requests.get(f"{server.url}{path}", timeout=60)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    time.sleep(1)
    return thread


def is_free(port: int) -> bool:
    with suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


@SIGNALS
def test_an_idle_server_ends_by_the_signal(server: OddServer, number: signal.Signals) -> None:
    server.process.send_signal(number)

    # SIGINT ends as an exception here, which the command line turns into a status.
    assert server.process.wait(ENDED_S) in (-number, 1)
    assert is_free(server.target.port)
    assert "killed" not in server.log.read_text()


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/spin", signal.SIGTERM), ("/freeze", signal.SIGTERM), ("/stream", signal.SIGTERM),
        *(pytest.param(path, signal.SIGINT, marks=pytest.mark.slow) for path in ("/spin", "/freeze", "/stream")),
    ],
)  # fmt: skip
def test_a_request_that_never_ends_does_not_hold_the_process(
    server: OddServer, path: str, number: signal.Signals
) -> None:
    begin(server, path)

    server.process.send_signal(number)

    server.process.wait(ENDED_S)
    assert is_free(server.target.port)


@pytest.mark.slow
def test_a_process_that_had_to_be_killed_says_so(server: OddServer) -> None:
    begin(server, "/freeze")

    server.process.send_signal(signal.SIGTERM)

    assert server.process.wait(ENDED_S) == -signal.SIGKILL
    assert "codesum: killed: it did not end within 4 s of the signal" in server.log.read_text()


def test_connections_that_wait_do_not_hold_the_process(server: OddServer) -> None:
    with server.target.connected(), server.target.connected() as begun, server.target.connected() as idle:
        begun.sendall(b"GET / HTTP/1.1\r\nX: ")
        idle.sendall(server.target.head("GET", "/"))
        assert answer_of(idle, 60) == "200"

        server.process.send_signal(signal.SIGTERM)

        assert server.process.wait(ENDED_S) == -signal.SIGTERM


def test_a_request_under_way_is_answered_first(server: OddServer) -> None:
    with server.target.connected() as client:
        client.sendall(server.target.head("POST", "/length", "Content-Length: 10") + b"12345")
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        client.sendall(b"67890")

        assert answer_of(client, 60) == "200"
    assert server.process.wait(ENDED_S) == -signal.SIGTERM


def test_what_a_killed_server_has_started_ends_too_but_no_browser(server: OddServer) -> None:
    # What has a session of its own, as a browser has, is not the server's.
    started = [psutil.Process(int(requests.get(f"{server.url}/child{end}", timeout=60).text)) for end in ("", "?alone")]
    begin(server, "/freeze")

    server.process.send_signal(signal.SIGTERM)

    server.process.wait(ENDED_S)
    assert _is_gone(started[0].pid)
    assert started[1].is_running()
    started[1].kill()


def test_what_watches_a_server_ends_with_it_however_it_ends(server: OddServer) -> None:
    (watcher,) = psutil.Process(server.process.pid).children()

    server.process.kill()

    server.process.wait(ENDED_S)
    assert _is_gone(watcher.pid)


def test_signals_of_a_process_that_serves_no_more_kill_nothing(tmp_path: Path) -> None:
    code = (
        "import signal, time\n"
        "from codesum_pipeline.ways_in.http_serving.ending import ended_in_time\n"
        "with ended_in_time(0.2):\n    pass\n"
        "signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "signal.raise_signal(signal.SIGTERM)\n"
        "time.sleep(2)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), cwd=tmp_path, timeout=60, check=False)

    assert done.returncode == 0


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + ENDED_S
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False
