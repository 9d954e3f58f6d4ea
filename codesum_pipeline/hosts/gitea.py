"""Gitea and Forgejo, whose listing is one request a page."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx

from codesum_pipeline.hosts.api import Access, OwnerNotFound
from codesum_pipeline.model.organisation import ListedRepository
from codesum_pipeline.source.addresses import host_id_of

# The most that a server gives unless its administrator allows more.
_PAGE_SIZE = 50


class GiteaApi:
    """Lists an organisation's repositories, or a user's."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._account = "orgs"
        self._client = httpx.Client(
            base_url=f"{access.organisation.url}/api/v1",
            headers={"Authorization": f"token {access.token}"} if access.token else {},
            timeout=access.timeout_s,
        )

    def page(self, number: int) -> Sequence[ListedRepository]:
        """As `HostApi` says."""
        if number > 1:
            return self._listed(number)
        self._account = "orgs"
        try:
            return self._listed(1)
        except OwnerNotFound:
            self._account = "users"
        return self._listed(1)

    def _listed(self, number: int) -> list[ListedRepository]:
        owner = quote(self._access.organisation.owner, safe="")
        try:
            answer = self._client.get(f"/{self._account}/{owner}/repos", params={"page": number, "limit": _PAGE_SIZE})
            if answer.status_code != 200:
                raise self._access.refusal(answer.status_code, answer.headers, _message(answer))
            content = answer.json()
        except httpx.HTTPError as error:
            raise self._access.unreachable(error) from error
        if not isinstance(content, list):
            raise TypeError("the answer is no list")
        return [self._one(each) for each in content]

    def _one(self, found: dict[str, Any]) -> ListedRepository:
        return ListedRepository(
            host_id=host_id_of(self._access.organisation.url, found["id"]),
            path=found["full_name"],
            https_url=found["clone_url"],
            ssh_url=found["ssh_url"],
            is_archived=bool(found.get("archived")),
            is_fork=bool(found.get("fork")),
        )


def _message(answer: httpx.Response) -> str:
    try:
        content = answer.json()
    except ValueError:
        return ""
    return str(content.get("message", "")) if isinstance(content, dict) else ""
