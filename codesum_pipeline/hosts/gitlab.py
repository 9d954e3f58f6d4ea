"""GitLab, on gitlab.com or a server of one's own, through python-gitlab."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from codesum_pipeline.hosts.api import PAGE_SIZE, Access, OwnerNotFound
from codesum_pipeline.model.organisation import ListedRepository
from codesum_pipeline.source.addresses import host_id_of


class GitLabApi:
    """Lists a group's projects with those of its subgroups, or a user's own."""

    def __init__(self, access: Access) -> None:
        import gitlab

        self._access = access
        self._client = gitlab.Gitlab(
            access.organisation.url,
            # As a bearer token, which no redirect to another server takes along.
            oauth_token=access.token,
            timeout=access.timeout_s,
            keep_base_url=True,
        )
        # python-gitlab's errors have no headers, and these say how long to wait.
        self._headers: Mapping[str, str] = {}
        self._client.session.hooks["response"].append(self._note_headers)
        self._is_user = False

    def page(self, number: int) -> Sequence[ListedRepository]:
        """As `HostApi` says."""
        if number > 1:
            return self._listed(number)
        self._is_user = False
        try:
            return self._listed(1)
        except OwnerNotFound:
            self._is_user = True
        return self._listed(1)

    def _listed(self, number: int) -> list[ListedRepository]:
        with self._translated():
            return [self._one(each.attributes) for each in self._projects(number)]

    def _projects(self, number: int) -> Any:
        owner = self._access.organisation.owner
        # Waiting is up to the caller. What is new comes last, so that it moves nothing to another page.
        options: dict[str, Any] = {
            "page": number,
            "per_page": PAGE_SIZE,
            "order_by": "id",
            "sort": "asc",
            "get_all": False,
            "obey_rate_limit": False,
        }
        if self._is_user:
            return self._client.users.get(owner, lazy=True).projects.list(**options)
        group = self._client.groups.get(owner, lazy=True)
        return group.projects.list(include_subgroups=True, with_shared=False, **options)

    def _one(self, found: Mapping[str, Any]) -> ListedRepository:
        return ListedRepository(
            host_id=host_id_of(self._access.organisation.url, found["id"]),
            path=found["path_with_namespace"],
            https_url=found["http_url_to_repo"],
            ssh_url=found["ssh_url_to_repo"],
            is_archived=bool(found.get("archived")),
            is_fork=bool(found.get("forked_from_project")),
        )

    def _note_headers(self, response: Any, *_: Any, **__: Any) -> None:
        self._headers = response.headers

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import gitlab
        import requests

        try:
            yield
        except gitlab.GitlabError as error:
            status = int(error.response_code or 0)
            raise self._access.refusal(status, self._headers, str(error.error_message or "")) from error
        except requests.RequestException as error:
            raise self._access.unreachable(error) from error
