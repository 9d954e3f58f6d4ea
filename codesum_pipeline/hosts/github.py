"""GitHub, on github.com or a server of one's own, through PyGithub."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from codesum_pipeline.hosts.api import PAGE_SIZE, Access, OwnerNotFound
from codesum_pipeline.model.organisation import HostKind, ListedRepository
from codesum_pipeline.source.addresses import host_id_of
from codesum_pipeline.source.organisations import PUBLIC_SERVERS

if TYPE_CHECKING:
    from github import PaginatedList, Repository

_PUBLIC_API = "https://api.github.com"


class GitHubApi:
    """Lists an organisation's repositories, or the public ones of a user."""

    def __init__(self, access: Access) -> None:
        import github

        self._access = access
        server = access.organisation.url
        self._client = github.Github(
            base_url=_PUBLIC_API if server == PUBLIC_SERVERS[HostKind.GITHUB] else f"{server}/api/v3",
            auth=github.Auth.Token(access.token) if access.token else None,
            per_page=PAGE_SIZE,
            timeout=max(1, round(access.timeout_s)),
            # Waiting is up to the caller, who has no hour.
            retry=None,
            seconds_between_requests=None,
            lazy=True,
        )
        self._is_user = False

    def page(self, number: int) -> Sequence[ListedRepository]:
        """As `HostApi` says."""
        if number == 1:
            return self._first_page()
        with _translated(self._access):
            return self._listed(number)

    def _first_page(self) -> Sequence[ListedRepository]:
        self._is_user = False
        try:
            with _translated(self._access):
                return self._listed(1)
        except OwnerNotFound:
            self._is_user = True
        with _translated(self._access):
            return self._listed(1)

    def _listed(self, number: int) -> list[ListedRepository]:
        return [self._one(each) for each in self._all().get_page(number - 1)]

    def _all(self) -> "PaginatedList.PaginatedList[Repository.Repository]":
        owner = self._access.organisation.owner
        # In an order in which what is new comes last, so that it moves nothing to another page.
        order: dict[str, Any] = {"sort": "created", "direction": "asc"}
        if self._is_user:
            return self._client.get_user(owner, lazy=True).get_repos(type="owner", **order)
        return self._client.get_organization(owner).get_repos(type="all", **order)

    def _one(self, found: "Repository.Repository") -> ListedRepository:
        return ListedRepository(
            host_id=host_id_of(self._access.organisation.url, found.id),
            path=found.full_name,
            https_url=found.clone_url,
            ssh_url=found.ssh_url,
            is_archived=bool(found.archived),
            is_fork=bool(found.fork),
        )


@contextmanager
def _translated(access: Access) -> Iterator[None]:
    import github
    import requests

    try:
        yield
    except github.GithubException as error:
        headers: Mapping[str, str] = error.headers or {}
        said = error.data.get("message", "") if isinstance(error.data, dict) else ""
        raise access.refusal(int(error.status or 0), headers, str(said)) from error
    except requests.RequestException as error:
        raise access.unreachable(error) from error
