"""Which repositories a push is about."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.organisations import HostKind
from codesum_pipeline.ways_in.webhooks.push_events import (
    READ_AGAIN_S,
    Push,
    RecentEntries,
    SignedEvent,
    UnreadablePayload,
    matching_keys,
    read_push,
)
from codesum_pipeline_tests.support.webhook_payloads import GONE, encoded, gitea_push, github_push, gitlab_push

GITHUB = SignedEvent(HostKind.GITHUB, "push")
GITLAB = SignedEvent(HostKind.GITLAB, "Push Hook")
GITEA = SignedEvent(HostKind.GITEA, "push")
SHOP = RepositoryEntry("shop", "https://github.com/acme/shop.git")


def push_of(payload: dict[str, Any], sender: SignedEvent = GITHUB) -> Push:
    found = read_push(sender, encoded(payload), content_type="application/json")
    assert found
    return found


@pytest.mark.parametrize(
    ("sender", "make", "location"),
    [
        (GITHUB, github_push, "https://github.com/Acme/shop"),
        (GITHUB, github_push, "git@github.com:acme/shop.git"),
        (GITLAB, gitlab_push, "https://gitlab.example.org/acme/backend/shop.git"),
        (GITLAB, gitlab_push, "ssh://git@gitlab.example.org:22/acme/backend/shop"),
        (GITEA, gitea_push, "https://git.example.org:3000/acme/shop"),
        (GITEA, gitea_push, "ssh://git@git.example.org:2222/acme/shop.git"),
    ],
)
def test_a_push_is_about_the_entries_of_its_repository_however_they_are_written(
    sender: SignedEvent, make: Callable[[], dict[str, Any]], location: str
) -> None:
    entries = [RepositoryEntry("mine", location), RepositoryEntry("other", f"{location}-too")]

    assert matching_keys(push_of(make(), sender), entries) == ["mine"]


def test_a_relay_may_send_numbers_and_truth_values_as_text() -> None:
    payload = github_push(deleted="false")
    payload["repository"]["id"] = str(payload["repository"]["id"])

    assert push_of(payload) == push_of(github_push())


def test_every_folder_of_a_monorepo_is_looked_at() -> None:
    entries = [RepositoryEntry(f"shop-{each}", SHOP.location, subdir=each) for each in ("web", "api")]

    assert matching_keys(push_of(github_push()), entries) == ["shop-api", "shop-web"]


@pytest.mark.parametrize(
    ("ref", "followed", "is_due"),
    [
        ("refs/heads/main", None, True),
        ("refs/heads/topic", None, False),
        ("refs/tags/v1", None, False),
        ("refs/heads/main", "HEAD", True),
        ("refs/heads/topic", "topic", True),
        ("refs/heads/main", "topic", False),
        ("refs/tags/v1", "v1", True),
        ("refs/heads/topic", "refs/heads/topic", True),
        ("refs/tags/topic", "refs/heads/topic", False),
        ("refs/heads/main", "28e1879d029cb852e4844d9c718537df08844e03", False),
    ],
)
def test_only_a_push_to_the_ref_that_an_entry_follows_makes_it_due(
    ref: str, followed: str | None, is_due: bool
) -> None:
    entry = RepositoryEntry("shop", SHOP.location, ref=followed)

    assert matching_keys(push_of(github_push(ref)), [entry]) == (["shop"] if is_due else [])


def test_a_deleted_branch_makes_nothing_due() -> None:
    for payload, sender in (
        (github_push(deleted=True, after=GONE), GITHUB),
        (gitlab_push(after=GONE, checkout_sha=None), GITLAB),
        (gitea_push(after=GONE), GITEA),
    ):
        assert matching_keys(push_of(payload, sender), [SHOP]) == []


def test_a_disabled_entry_is_never_due() -> None:
    assert matching_keys(push_of(github_push()), [RepositoryEntry("shop", SHOP.location, enabled=False)]) == []


def test_a_renamed_repository_is_known_by_the_id_that_its_host_gave_it() -> None:
    entry = RepositoryEntry(
        "shop", "https://github.com/acme/old-name.git", organisation="github:acme", host_id="github.com/186853002"
    )

    assert matching_keys(push_of(github_push()), [entry]) == ["shop"]


def test_a_system_hook_of_gitlab_tells_of_pushes_and_of_much_else() -> None:
    sender = SignedEvent(HostKind.GITLAB, "System Hook")

    assert push_of(gitlab_push(), sender).ref == "refs/heads/main"
    assert read_push(sender, encoded(gitlab_push(event_name="project_create")), content_type="") is None


@pytest.mark.parametrize("event", ["ping", "issues", "", "release", "push;"])
def test_any_other_event_is_no_push(event: str) -> None:
    assert read_push(SignedEvent(HostKind.GITHUB, event), b"no json at all", content_type="") is None


def test_a_form_holds_the_same_as_json() -> None:
    body = urlencode({"payload": encoded(github_push()).decode()}).encode()

    assert read_push(GITHUB, body, content_type="application/x-www-form-urlencoded") == push_of(github_push())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"ref": 1}',
        b'{"ref": "refs/heads/main"}',
        b'{"ref": "refs/heads/main", "repository": {}}',
        b'{"ref": "refs/heads/main", "repository": {"clone_url": {"a": 1}}}',
        b"[" * 100_000,
        b'{"ref": ' + b"9" * 10_000 + b"}",
        b'{"ref": "' + b"a" * 3_000 + b'", "repository": {"clone_url": "https://a.example/b"}}',
    ],
)
def test_a_body_that_no_host_sends_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadablePayload):
        read_push(GITHUB, body, content_type="application/json")


def test_a_registry_is_read_again_when_it_is_old() -> None:
    now, reads = [0.0], []

    def read() -> list[RepositoryEntry]:
        reads.append(now[0])
        return [SHOP]

    recent = RecentEntries(read, clock=lambda: now[0])
    for _ in range(61):
        assert recent.of(push_of(github_push())) == [SHOP]
        now[0] += 1.0

    assert reads == [0.0, READ_AGAIN_S, 2 * READ_AGAIN_S]
