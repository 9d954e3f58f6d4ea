"""The UI that `codesum dev` starts has the limits of the other servers, and ends with all its processes."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import websockets.sync.client

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.attacking import (
    Target,
    answer_of,
    endless_message,
    half_open,
    large_body,
    large_message,
    many_headers,
    one_long_line,
)
from codesum_pipeline_tests.support.dagster_dev import DagsterDev, dagster_dev, launch_params, wait_for
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SETTINGS = {"CODESUM_SERVING__MAX_CONNECTIONS": "40"}
WAIT_S = 60
ENDED_S = 20.0
START = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) { __typename } }"""


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    folder = tmp_path_factory.mktemp("limited")
    with dagster_dev(open_home(folder / "home"), folder / "dagster.log", env=SETTINGS) as running:
        yield running


def target_of(dev: DagsterDev) -> Target:
    port = urlsplit(dev.url).port
    assert port
    return Target(port, get="/server_info", post="/graphql", page="/", websocket="/graphql")


def is_answered(target: Target) -> bool:
    with target.connected() as client:
        client.sendall(target.head("GET", target.get, "Connection: close"))
        return answer_of(client, WAIT_S) == "200"


def test_heads_and_bodies_of_the_ui_have_limits(dev: DagsterDev) -> None:
    target = target_of(dev)

    assert one_long_line(target, 2, size=8 << 20).startswith("431")
    assert many_headers(target, 2, number=101).startswith("431")
    assert large_body(target, 2, size=6 << 20).startswith("413")
    assert is_answered(target)


def test_whoever_says_nothing_shuts_nobody_out_of_the_ui(dev: DagsterDev) -> None:
    target = target_of(dev)
    with ExitStack() as held:
        for _ in range(100):
            held.enter_context(target.connected())
        assert is_answered(target)

    assert "held" not in half_open(target, 15.0, number=60)


def test_messages_of_websockets_have_limits(dev: DagsterDev) -> None:
    target = target_of(dev)

    assert "closed with 1009" in large_message(target, 5, size=8 << 20)
    assert "closed with 1008" in endless_message(target, 5)
    assert is_answered(target)


def test_a_page_of_the_ui_stays_connected_longer_than_any_limit(dev: DagsterDev) -> None:
    address = dev.url.replace("http:", "ws:") + "/graphql"
    with websockets.sync.client.connect(address, subprotocols=["graphql-ws"]) as client:  # type: ignore[list-item]
        for _ in range(3):
            client.send('{"type": "connection_init"}')
            assert "connection_ack" in str(client.recv(WAIT_S))
            with pytest.raises(TimeoutError):
                client.recv(2)


def test_codesum_dev_ends_by_sigterm_with_all_its_processes(
    git_repo: Callable[..., GitRepo], tmp_path: Path, interruptible: None
) -> None:
    """A run is under way, and a client holds a connection."""
    home = open_home(tmp_path / "home", lease_wait_s=0)
    home.registry.add(RepositoryEntry(key="shop", location=str(git_repo({"cart.py": "TOTAL = 0\n"}).path)))
    with dagster_dev(home, tmp_path / "dagster.log") as dev, target_of(dev).connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert dev.ask(START, params=launch_params())["__typename"] == "LaunchRunSuccess"
        tree = psutil.Process(dev.process.pid).children(recursive=True)
        assert len(tree) >= 4

        dev.process.send_signal(signal.SIGTERM)

        assert dev.process.wait(ENDED_S) == 0
        wait_for(lambda: not any(map(_runs, tree)), timeout_s=ENDED_S, what="the processes of codesum dev to end")
        with socket.create_server(("127.0.0.1", target_of(dev).port)):
            pass


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
