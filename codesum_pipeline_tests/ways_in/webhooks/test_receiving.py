"""A server that hosts tell of pushes, asked over real connections."""

import http.client
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.http_server import listen_on
from codesum_pipeline.ways_in.webhooks.push_events import RecentEntries, Secret
from codesum_pipeline.ways_in.webhooks.webhook_app import (
    HEALTH_PATH,
    PATH,
    Receiver,
    make_app,
)
from codesum_pipeline_tests.support.webhook_payloads import SECRET, encoded, gitea_headers, github_headers, github_push

SHOP = RepositoryEntry("shop", "https://github.com/acme/shop.git")
BODY = encoded(github_push())


@dataclass
class DueMarks:
    """What the server asked for, and who waits until it did."""

    keys: list[list[str]] = field(default_factory=list)

    def mark_due(self, keys: Sequence[str]) -> None:
        self.keys.append(list(keys))


@dataclass(frozen=True)
class Running:
    """A server that runs, and what it asked for."""

    port: int
    due_marks: DueMarks

    def send(
        self, body: bytes = b"", headers: Mapping[str, str] | None = None, *, method: str = "POST", path: str = PATH
    ) -> tuple[int, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@contextmanager
def running(*, entries: Callable[[], Sequence[RepositoryEntry]] = lambda: [SHOP]) -> Iterator[Running]:
    due_marks = DueMarks()
    receiver = Receiver([Secret(SECRET.encode())], RecentEntries(entries), due_marks.mark_due)
    bound, address = listen_on(Address("127.0.0.1", 0, "--port 0"))
    server = uvicorn.Server(uvicorn.Config(make_app(receiver), log_level="warning", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield Running(address.port, due_marks)
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as found:
        yield found


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(400):
        if is_so():
            return
        time.sleep(0.025)
    raise AssertionError("it never was")


def test_a_signed_push_makes_its_repository_due_each_time_it_is_sent() -> None:
    with running() as server:
        for _ in range(2):
            assert server.send(BODY, github_headers(BODY)) == (202, "accepted\n")
        wait_until(lambda: len(server.due_marks.keys) == 2)

    assert server.due_marks.keys == [["shop"], ["shop"]]


def test_whoever_may_send_does_not_learn_which_repositories_are_registered(server: Running) -> None:
    unknown, other_event = encoded(github_push(name="acme/unknown")), b'{"zen": "Keep it logically awesome."}'

    answers = {
        server.send(unknown, github_headers(unknown, delivery="u")),
        server.send(other_event, github_headers(other_event, event="ping", delivery="p")),
        server.send(other_event, github_headers(other_event, event="issues", delivery="i")),
    }

    assert answers == {(202, "accepted\n")}


@pytest.mark.parametrize(
    ("headers", "answer"),
    [
        ({}, (401, "no valid signature\n")),
        (github_headers(BODY, secret="some-other-secret-of-theirs"), (401, "no valid signature\n")),
        (github_headers(b"another body"), (401, "no valid signature\n")),
        (gitea_headers(b"another body"), (401, "no valid signature\n")),
    ],
)
def test_what_is_not_signed_is_refused(headers: dict[str, str], answer: tuple[int, str], server: Running) -> None:
    assert server.send(BODY, headers) == answer


def test_a_signed_body_that_no_host_sends_is_refused(server: Running) -> None:
    assert server.send(b"[]", github_headers(b"[]")) == (400, "not a payload of this event\n")


def test_only_events_are_taken_and_a_proxy_sees_that_the_server_lives(server: Running) -> None:
    assert server.send(method="GET")[0] == 405
    assert server.send(path="/", body=BODY, headers=github_headers(BODY))[0] == 404
    assert server.send(method="GET", path=HEALTH_PATH) == (200, "ok\n")


def test_a_registry_that_cannot_be_read_leaves_the_push_to_polling(caplog: pytest.LogCaptureFixture) -> None:
    def unreadable() -> Sequence[RepositoryEntry]:
        raise ConfigurationError("repos.yaml: not valid YAML")

    with caplog.at_level(logging.INFO), running(entries=unreadable) as server:
        assert server.send(BODY, github_headers(BODY)) == (202, "accepted\n")
        wait_until(lambda: "left to polling: repos.yaml" in caplog.text)

    assert server.due_marks.keys == []


def test_nothing_that_a_sender_says_reaches_a_log_unescaped_or_at_length(caplog: pytest.LogCaptureFixture) -> None:
    hostile = encoded(github_push(ref="refs/heads/\x1b]0;title\x07\nfake line " + "a" * 1_500, name="acme/\x1b[2Jx"))
    event = json.dumps([]).encode()

    with caplog.at_level(logging.INFO), running() as server:
        server.send(hostile, github_headers(hostile))
        server.send(event, github_headers(event, event="push"))
        server.send(b"x", {"x-github-event": "push", "x-hub-signature-256": f"sha256={SECRET}"})
        wait_until(lambda: "no repository follows it" in caplog.text)

    lines = [
        record.getMessage() for record in caplog.records if record.name.startswith("codesum_pipeline.ways_in.webhooks")
    ]
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 400 for line in lines), lines
    assert SECRET not in caplog.text
