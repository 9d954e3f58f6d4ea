"""What a sender may say that is no push of a host's, over real connections."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import mark_due, marked_keys
from codesum_pipeline_tests.support.webhook_payloads import encoded, github_headers, github_push
from codesum_pipeline_tests.ways_in.webhooks.test_receiving import BODY, Running, running, wait_until

SHOP = RepositoryEntry("shop", "https://github.com/acme/shop.git")
ELSEWHERE = RepositoryEntry("elsewhere", "https://gitlab.example.org/acme/shop.git")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(entries=lambda: [SHOP, ELSEWHERE]) as found:
        yield found


@pytest.mark.parametrize(
    "body",
    [
        b'{"ref": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"ref": "refs/heads/main", "repository": {"id": ' + b"9" * 10_000 + b"}}",
        b'{"ref": "refs/heads/main", "repository": {"id": 1e999, "clone_url": "x"}}',
        b'{"ref": "\\ud800", "repository": {"clone_url": "https://github.com/acme/\\ud800"}}',
        b'{"ref": NaN}',
        b"\xff\xfe{",
        b"",
    ],
    ids=["deep", "a long number", "no number", "half a character", "NaN", "no text", "nothing"],
)
def test_a_signed_body_that_is_no_payload_ends_in_an_answer_and_marks_nothing(server: Running, body: bytes) -> None:
    status, _ = server.send(body, github_headers(body))

    assert status in (202, 400)
    assert server.due_marks.keys == []


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "\xe9/\xe9", ""])
def test_the_type_of_a_body_opens_nothing(kind: str) -> None:
    with running() as server:
        assert server.send(BODY, {"Content-Type": kind})[0] == 401


def test_an_answer_is_the_same_for_every_host_name_and_registered_repository(server: Running) -> None:
    others = [encoded(github_push(name=name, after=f"{number}" * 40)) for number, name in
              enumerate(("acme/shop", "acme/unknown"), start=1)]  # fmt: skip

    answers = {
        server.send(body, {**github_headers(body, delivery=f"{host}-{number}"), "Host": host})
        for host in ("127.0.0.1", "evil.example", "")
        for number, body in enumerate(others)
    }

    assert answers == {(202, "accepted\n")}
    wait_until(lambda: server.due_marks.keys == [["shop"]] * 3)


def test_a_push_marks_the_repository_of_its_own_host_alone() -> None:
    with running(entries=lambda: [ELSEWHERE]) as server:
        assert server.send(BODY, github_headers(BODY)) == (202, "accepted\n")
        later = encoded(github_push(after="1" * 40) | {"project": {"web_url": ELSEWHERE.location}})
        assert server.send(later, github_headers(later, delivery="2")) == (202, "accepted\n")

    assert server.due_marks.keys == []
    assert json.loads(later)["project"]


def test_a_push_marks_a_repository_of_a_home_in_a_bucket_on_the_daemons_own_disk(tmp_path: Path) -> None:
    """The receiver and the daemon run on one machine, with one copy of the home."""
    address, environ = f"memory://{tmp_path.name}/home", {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    receiver, daemon = (Home(load_settings({"home": address}, environ=environ)) for _ in range(2))
    with running() as server:
        server.send(BODY, github_headers(BODY))
        wait_until(lambda: server.due_marks.keys == [["shop"]])
    mark_due(receiver.layout, server.due_marks.keys[0])

    assert marked_keys(daemon.layout) == ["shop"]
