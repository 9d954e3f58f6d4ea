"""A registry that follows a host: a real file, and a server on loopback."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, HostUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, Retirement
from codesum_pipeline.foundation.settings.operation_settings import HostSettings
from codesum_pipeline.source.code_hosts.syncing import Syncer
from codesum_pipeline.source.repositories.organisations import HostKind, Organisation, organisation_of, token_variable
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline_tests.support.code_host import TOKEN, CodeHost, Repo, code_host
from codesum_pipeline_tests.support.settings import changed

NOW = datetime(2026, 11, 24, tzinfo=UTC)


@pytest.fixture
def host() -> Iterator[CodeHost]:
    with code_host(Repo(1, "acme/api"), Repo(2, "acme/shop"), Repo(3, "acme/web")) as found:
        yield found


@pytest.fixture
def syncer(tmp_path: Path) -> Syncer:
    return Syncer(
        Registry(tmp_path / "repos.yaml"),
        changed(HostSettings(), timeout_s=10.0, max_wait_s=0.0),
        {"ACME_TOKEN": TOKEN},
        lambda: NOW,
    )


@pytest.fixture
def acme(host: CodeHost, syncer: Syncer) -> Organisation:
    wanted = Organisation("acme", HostKind.GITEA, "acme", host.address, token_env="ACME_TOKEN")
    return syncer.registry.add_organisation(wanted)


def test_repositories_come_are_retired_and_come_back(acme: Organisation, host: CodeHost, syncer: Syncer) -> None:
    syncer.sync(acme)
    shop = RepositoryEntry("shop", "https://git.example.org/acme/shop.git", organisation="acme", host_id="127.0.0.1/2")
    assert [entry.key for entry in syncer.registry.entries()] == ["api", "shop", "web"]
    assert syncer.registry.get("shop") == shop

    there = list(host.repos)
    del host.repos[1]
    syncer.sync(acme)
    assert syncer.registry.get("shop") == replace(
        shop, enabled=False, retired=Retirement("2026-11-24T00:00:00Z", "no longer listed by acme")
    )

    host.repos[:] = there
    syncer.sync(acme)
    assert syncer.registry.get("shop") == shop


def test_a_sync_that_changes_nothing_writes_nothing(acme: Organisation, syncer: Syncer) -> None:
    syncer.sync(acme)
    before = syncer.registry.file.stat()

    assert syncer.sync(acme).kept == 3
    assert syncer.registry.file.stat().st_ino == before.st_ino


def test_a_preview_writes_nothing(acme: Organisation, syncer: Syncer) -> None:
    assert len(syncer.sync(acme, is_preview=True).added) == 3
    assert syncer.registry.entries() == []


def test_an_error_changes_nothing(acme: Organisation, host: CodeHost, syncer: Syncer) -> None:
    syncer.sync(acme)
    before = syncer.registry.file.read_text()
    del host.repos[:2]

    for refusals in ([(500, {}, "")], [(429, {"Retry-After": "60"}, "")]):
        host.refusals = list(refusals)
        with pytest.raises(HostUnavailable):
            syncer.sync(acme)
    host.refusals = [(401, {}, "")]
    with pytest.raises(ConfigurationError):
        syncer.sync(acme)

    assert syncer.registry.file.read_text() == before


def test_what_is_missing_from_one_list_alone_stays(acme: Organisation, host: CodeHost, syncer: Syncer) -> None:
    syncer.sync(acme)
    there = list(host.repos)
    host.repos.remove(there[2])
    real, requests_before = host.answer, len(host.requested)

    def answer(target: str, headers: object) -> tuple[int, dict[str, str], object]:
        # The first list has two pages, of which the second is empty.
        if len(host.requested) == requests_before + 2:
            host.repos[:] = there
        return real(target, headers)

    host.answer = answer  # type: ignore[method-assign]

    assert syncer.sync(acme).kept == 3


def test_a_person_who_puts_a_retired_repository_back_keeps_it(
    acme: Organisation, host: CodeHost, syncer: Syncer
) -> None:
    syncer.sync(acme)
    del host.repos[1]
    syncer.sync(acme)

    syncer.registry.add(replace(syncer.registry.get("shop"), enabled=True))
    syncer.sync(acme)

    assert syncer.registry.get("shop").enabled
    assert syncer.registry.get("shop").organisation is None


def test_forgetting_an_organisation_leaves_its_repositories(acme: Organisation, syncer: Syncer) -> None:
    syncer.sync(acme)

    left = syncer.registry.remove_organisation("acme")

    assert [entry.key for entry in left] == ["api", "shop", "web"]
    assert syncer.registry.organisations() == []
    assert {entry.organisation for entry in syncer.registry.entries()} == {None}
    with pytest.raises(ConfigurationError, match="no organisation 'acme'; registered: there is none"):
        syncer.registry.remove_organisation("acme")


def test_an_organisation_comes_back_as_it_was_written(syncer: Syncer) -> None:
    full = Organisation(
        "backend", HostKind.GITLAB, "acme/backend", "https://git.example.org", ("svc-*",), ("*-old",),
        archived=True, forks=True, ssh=True, token_env="ACME_TOKEN",
    )  # fmt: skip
    short = organisation_of("github:acme", None)

    for each in (full, short):
        syncer.registry.add_organisation(each)

    assert syncer.registry.organisations() == [full, short]
    assert "github:acme: {}" in syncer.registry.file.read_text()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("acme", {}, "host 'acme': it is one of github, gitlab, gitea"),
        ("github:", {}, "owner '' cannot be"),
        ("github:../x", {}, "name is HOST:OWNER|owner '../x' cannot be"),
        ("gitea:acme", {}, "gitea has no public server"),
        ("github:acme", {"url": "http://git.example.org"}, "give https://SERVER"),
        ("github:acme", {"url": "https://me:secret@git.example.org"}, "give https://SERVER"),
        ("github:acme", {"token_env": "ghp_an-example"}, "the name of an environment variable, not the token"),
        ("github:acme", {"includes": []}, "includes: Extra inputs"),
    ],
)
def test_an_organisation_that_cannot_be_is_an_error(name: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        organisation_of(name, fields)
    assert "secret" not in str(caught.value)


def test_tokens_of_the_public_servers_are_sent_to_no_other() -> None:
    assert token_variable(organisation_of("github:acme", {})) == "GITHUB_TOKEN"
    assert token_variable(organisation_of("github:acme", {"url": "https://git.example.org"})) is None
    assert token_variable(organisation_of("gitlab:acme", {"token_env": "MINE"})) == "MINE"


@pytest.mark.parametrize(("token", "message"), [("", "ACME_TOKEN is not set"), ("a b", "ACME_TOKEN holds no token")])
def test_a_token_that_cannot_be_one_is_never_sent(
    token: str, message: str, acme: Organisation, host: CodeHost, syncer: Syncer
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        replace(syncer, environ={"ACME_TOKEN": token}).sync(acme)
    assert host.requested == []
