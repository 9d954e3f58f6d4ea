"""What each host's API is asked, and what its refusals come to: the same promises for all three."""

import time
from collections.abc import Iterator

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, HostUnavailable
from codesum_pipeline.source.code_hosts.syncing import HostClient, list_repositories
from codesum_pipeline.source.repositories.organisations import HostKind, ListedRepository, Organisation
from codesum_pipeline_tests.support.code_host import TOKEN, CodeHost, Repo, code_host

REPOS = [Repo(11, "acme/shop"), Repo(12, "acme/old", archived=True), Repo(7, "acme/copy", fork=True)]
KINDS = pytest.mark.parametrize("kind", list(HostKind))


@pytest.fixture
def host() -> Iterator[CodeHost]:
    with code_host(*REPOS) as found:
        yield found


def listed(
    host: CodeHost,
    kind: HostKind,
    *,
    token: str | None = TOKEN,
    max_wait_s: float = 5.0,
    slept: list[float] | None = None,
) -> list[ListedRepository]:
    organisation = Organisation(f"{kind}:{host.owner}", kind, host.owner, host.address, token_env="ACME_TOKEN")
    client = HostClient(organisation, token, timeout_s=10.0)
    waits: list[float] = [] if slept is None else slept
    return list_repositories(client, max_wait_s=max_wait_s, sleep=waits.append)


@KINDS
def test_every_page_of_an_organisation_is_listed_with_what_decides_about_each(kind: HostKind, host: CodeHost) -> None:
    found = listed(host, kind)

    assert found == [
        ListedRepository(
            f"127.0.0.1/{repo.number}",
            repo.path,
            f"https://git.example.org/{repo.path}.git",
            f"git@git.example.org:{repo.path}.git",
            is_archived=repo.archived,
            is_fork=repo.fork,
        )
        for repo in REPOS
    ]


@KINDS
def test_an_account_that_is_no_organisation_is_a_users(kind: HostKind) -> None:
    with code_host(*REPOS, is_user=True) as host:
        assert len(listed(host, kind)) == 3


def test_a_group_within_a_group_is_asked_for_by_its_whole_path() -> None:
    with code_host(Repo(1, "acme/backend/api"), owner="acme/backend") as host:
        assert [one.path for one in listed(host, HostKind.GITLAB)] == ["acme/backend/api"]
        assert host.requested[0].startswith("/api/v4/groups/acme%2Fbackend/projects?")
        assert "include_subgroups=true" in host.requested[0]


@KINDS
def test_without_a_token_none_is_sent(kind: HostKind, host: CodeHost) -> None:
    host.token = None

    assert len(listed(host, kind, token=None)) == 3
    assert set(host.authorizations) == {None}


@KINDS
def test_a_refused_token_says_where_it_is_read_from_and_never_what_it_is(kind: HostKind, host: CodeHost) -> None:
    with pytest.raises(ConfigurationError) as caught:
        listed(host, kind, token="a-wrong-token")

    assert "answers 401 (Bad credentials): give a token that may read it, in ACME_TOKEN" in str(caught.value)
    assert "a-wrong-token" not in str(caught.value)


@KINDS
def test_an_account_that_does_not_exist_is_named(kind: HostKind, host: CodeHost) -> None:
    host.owner = "another"
    organisation = Organisation(f"{kind}:acme", kind, "acme", host.address)

    with pytest.raises(ConfigurationError, match="it has no account 'acme', or none that it shows"):
        list_repositories(HostClient(organisation, TOKEN, timeout_s=10.0), max_wait_s=0)


@KINDS
def test_a_host_that_limits_requests_is_waited_for_and_the_same_page_asked_again(
    kind: HostKind, host: CodeHost
) -> None:
    host.refusals = [(429, {"Retry-After": "3"}, "Too Many Requests")]
    slept: list[float] = []

    assert len(listed(host, kind, slept=slept)) == 3
    assert slept == [3.0]


def test_githubs_limits_are_known_by_its_headers(host: CodeHost) -> None:
    reset = str(int(time.time()) + 2)
    host.refusals = [
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, "API rate limit exceeded"),
        (403, {"Retry-After": "1"}, "You have exceeded a secondary rate limit"),
    ]
    slept: list[float] = []

    assert len(listed(host, HostKind.GITHUB, slept=slept)) == 3
    assert 0 < slept[0] <= 4
    assert slept[1] == 1.0


@KINDS
def test_who_wants_more_patience_than_there_is_gives_nothing(kind: HostKind, host: CodeHost) -> None:
    host.refusals = [(429, {"Retry-After": "3600"}, "Too Many Requests")]

    with pytest.raises(HostUnavailable) as caught:
        listed(host, kind)

    assert caught.value.retry_after_s == 3600.0


@KINDS
def test_patience_has_an_end_however_short_each_wait_is(kind: HostKind, host: CodeHost) -> None:
    host.refusals = [(429, {"Retry-After": "0"}, "Too Many Requests")] * 100
    slept: list[float] = []

    with pytest.raises(HostUnavailable):
        listed(host, kind, slept=slept)

    assert len(slept) <= 6


@KINDS
def test_half_a_list_is_no_list(kind: HostKind, host: CodeHost) -> None:
    client = HostClient(Organisation(f"{kind}:acme", kind, "acme", host.address), TOKEN, timeout_s=10.0)
    assert len(client.fetch_page(1)) == 2
    host.refusals = [(502, {}, "Bad Gateway")]

    with pytest.raises(HostUnavailable, match="answers 502"):
        list_repositories(client, max_wait_s=5.0)


@KINDS
def test_forbidden_is_no_limit(kind: HostKind, host: CodeHost) -> None:
    host.refusals = [(403, {}, "Resource protected by organization SAML enforcement")]

    with pytest.raises(ConfigurationError, match="SAML enforcement"):
        listed(host, kind)


@KINDS
@pytest.mark.parametrize("body", [b"<html>", b"{}", b'[{"id": 1}]', b"null"])
def test_what_is_no_list_of_repositories_is_none(kind: HostKind, body: bytes, host: CodeHost) -> None:
    host.body = body

    with pytest.raises((HostUnavailable, ConfigurationError)):
        listed(host, kind)


@KINDS
def test_a_host_that_cannot_be_reached_may_be_later(kind: HostKind) -> None:
    with code_host() as host:
        pass

    with pytest.raises(HostUnavailable, match="cannot be reached"):
        listed(host, kind)
