"""The registry follows what GitHub, GitLab, Gitea and Forgejo list of an account."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx
from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, HostUnavailable
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import HostSettings
from codesum_pipeline.source.code_hosts.registry_changes import SyncPlan, SyncRules, plan_sync
from codesum_pipeline.source.git.locations import host_id_of
from codesum_pipeline.source.repositories.organisations import (
    PUBLIC_SERVERS,
    HostKind,
    ListedRepository,
    Organisation,
    token_variable,
)
from codesum_pipeline.source.repositories.registry import Registry

_PUBLIC_GITHUB = "https://api.github.com"
_SHOWN = 200
# Longer than any header's number of seconds.
_LONGEST_NUMBER = 12


class OwnerNotFound(ConfigurationError):
    """The host has no account of that name, or does not show it to this token."""


class _HostApi(Struct, frozen=True):
    """Where a kind of host lists the repositories of an organisation or of a user, and the names of its fields.

    `options` ask for long pages, and for an order in which new repositories come last, so that they move nothing to
    another page.
    """

    path: str
    of_organisation: str
    of_user: str
    options: Mapping[str, Any]
    full_path: str = "full_name"
    https_url: str = "clone_url"
    ssh_url: str = "ssh_url"
    fork: str = "fork"


_APIS = {
    HostKind.GITHUB: _HostApi(
        "api/v3", "orgs/{}/repos", "users/{}/repos", {"per_page": 100, "sort": "created", "direction": "asc"}
    ),
    # Fifty is the most that a server gives unless its administrator allows more.
    HostKind.GITEA: _HostApi("api/v1", "orgs/{}/repos", "users/{}/repos", {"limit": 50}),
    HostKind.GITLAB: _HostApi(
        "api/v4",
        "groups/{}/projects",
        "users/{}/projects",
        {"per_page": 100, "order_by": "id", "sort": "asc", "include_subgroups": True, "with_shared": False},
        full_path="path_with_namespace",
        https_url="http_url_to_repo",
        ssh_url="ssh_url_to_repo",
        fork="forked_from_project",
    ),
}


class HostClient:
    """Asks the server of an organisation for its repositories, with one token or none."""

    def __init__(self, organisation: Organisation, token: str | None, *, timeout_s: float) -> None:
        self._organisation = organisation
        self._api = _APIS[organisation.host]
        self._listing = self._api.of_organisation
        self._has_token = token is not None
        is_public = organisation.url == PUBLIC_SERVERS[HostKind.GITHUB]
        self._client = httpx.Client(
            base_url=_PUBLIC_GITHUB if is_public else f"{organisation.url}/{self._api.path}",
            # Not sent to another server that an answer redirects to.
            headers={"Authorization": f"Bearer {token}"} if token else {},
            follow_redirects=True,
            timeout=timeout_s,
        )

    def fetch_page(self, number: int) -> list[ListedRepository]:
        """A page of the account's repositories, counted from 1; empty behind the last one.

        Raises `OwnerNotFound`, `ConfigurationError` for a token that may not, and `HostUnavailable` where the same
        request may go well later.
        """
        if number > 1:
            return self._listed(number)
        self._listing = self._api.of_organisation
        try:
            return self._listed(1)
        except OwnerNotFound:
            self._listing = self._api.of_user
        return self._listed(1)

    def _listed(self, number: int) -> list[ListedRepository]:
        api, server = self._api, self._organisation.url
        address = self._listing.format(quote(self._organisation.owner, safe=""))
        try:
            answer = self._client.get(address, params={**api.options, "page": number})
            if answer.status_code != 200:
                raise self._refusal(answer)
            found = answer.json()
        except httpx.HTTPError as error:
            reason = one_line(str(error))[:_SHOWN] or type(error).__name__
            raise HostUnavailable(f"{self._organisation.name}: {server} cannot be reached: {reason}") from error
        if not isinstance(found, list):
            raise TypeError("the answer is no list")
        return [
            ListedRepository(
                host_id=host_id_of(server, one["id"]),
                path=one[api.full_path],
                https_url=one[api.https_url],
                ssh_url=one[api.ssh_url],
                is_archived=bool(one.get("archived")),
                is_fork=bool(one.get(api.fork)),
            )
            for one in found
        ]

    def _refusal(self, answer: httpx.Response) -> Exception:
        """The error that an answer with another status than 200 is."""
        status, headers, account = answer.status_code, answer.headers, self._organisation
        message = one_line(_message(answer))[:_SHOWN]
        where = f"{account.name}: {account.url} answers {status}{f' ({message})' if message else ''}"
        is_limit = status == 429 or headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
        if status >= 500 or status == 408 or (status in (403, 429) and (is_limit or "rate limit" in message.lower())):
            return HostUnavailable(where, retry_after_s=_wait_of(headers))
        if status == 404:
            return OwnerNotFound(f"{where}: it has no account {account.owner!r}, or none that it shows")
        variable = token_variable(account)
        if variable is None:
            return ConfigurationError(f"{where}: name the environment variable of its token: token_env")
        unset = "" if self._has_token else ", which is not set"
        return ConfigurationError(f"{where}: give a token that may read it, in {variable}{unset}")


def list_repositories(
    client: HostClient, *, max_wait_s: float, sleep: Callable[[float], None] = time.sleep
) -> list[ListedRepository]:
    """All of an account's repositories, by their host's id.

    Where the host asks for patience, it gets `max_wait_s` in all. Raises what a page raises: half a list is none.
    """
    found: dict[str, ListedRepository] = {}
    patience = max_wait_s
    number = 1
    while True:
        try:
            page = client.fetch_page(number)
        except HostUnavailable as error:
            wait = error.retry_after_s
            if wait is None or wait > patience:
                raise
            patience -= max(wait, 1.0)
            sleep(wait)
            continue
        # What comes from outside and is not what the host documents.
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise HostUnavailable(
                f"page {number} of the list does not have the form of this kind of host: {error!r}"
            ) from error
        new = {each.host_id: each for each in page if each.host_id not in found}
        # A host that does not know pages gives the first one again and again.
        if not new:
            return [found[host_id] for host_id in sorted(found)]
        found |= new
        number += 1


def _message(answer: httpx.Response) -> str:
    try:
        content = answer.json()
    except ValueError:
        return ""
    return str(content.get("message") or content.get("error") or "") if isinstance(content, dict) else ""


def _wait_of(headers: Mapping[str, str]) -> float | None:
    """After how many seconds a host wants to be asked again."""
    for name in ("retry-after", "x-ratelimit-reset", "ratelimit-reset"):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < _LONGEST_NUMBER:
            # GitHub gives the moment, others the seconds, and some either.
            return float(value) if name == "retry-after" else max(0.0, float(value) - time.time()) + 1
    return None


class Syncer(Struct, frozen=True):
    """Asks hosts, and has one registry follow them. Tokens come from `environ`."""

    registry: Registry
    settings: HostSettings
    environ: Mapping[str, str]
    now: Callable[[], datetime]

    def sync(self, organisation: Organisation, *, is_confirmed: bool = False, is_preview: bool = False) -> SyncPlan:
        """Register, bring up to date and retire one organisation's repositories, and say what was done.

        What would be retired is looked for in a second list: a repository that is deleted while the first one is read
        can hide another. Raises `ConfigurationError` or `HostUnavailable`; then nothing has changed.
        """
        settings, at = self.settings, self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        rules = SyncRules(at, settings.max_retired_share, is_confirmed, settings.over_http)
        client = HostClient(organisation, self._token(organisation), timeout_s=self.settings.timeout_s)
        listed = list_repositories(client, max_wait_s=self.settings.max_wait_s)
        entries = self.registry.entries()
        plan = plan_sync(organisation, listed, entries, _keys(entries), rules)
        if plan.retired or plan.held:
            again = list_repositories(client, max_wait_s=self.settings.max_wait_s)
            both = {one.host_id: one for one in (*listed, *again)}
            listed = [both[host_id] for host_id in sorted(both)]
            plan = plan_sync(organisation, listed, entries, _keys(entries), rules)
        if is_preview:
            return plan
        made: list[SyncPlan] = []

        def change(entries: Sequence[RepositoryEntry], taken: frozenset[str]) -> Sequence[RepositoryEntry]:
            made.append(plan_sync(organisation, listed, entries, taken, rules))
            return made[-1].written

        self.registry.revise(change)
        return made[-1]

    def _token(self, organisation: Organisation) -> str | None:
        """The token, if there is one; raises `ConfigurationError` for a variable that is named and not set."""
        variable = token_variable(organisation)
        token = self.environ.get(variable or "", "").strip()
        if organisation.token_env and not token:
            raise ConfigurationError(f"{organisation.name}: token_env: {organisation.token_env} is not set")
        if any(not each.isprintable() or each.isspace() or not each.isascii() for each in token):
            raise ConfigurationError(f"{organisation.name}: {variable} holds no token: it has spaces or other letters")
        return token or None


def _keys(entries: Sequence[RepositoryEntry]) -> frozenset[str]:
    return frozenset(entry.key.lower() for entry in entries)
