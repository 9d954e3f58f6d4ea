"""The registry follows what hosts list."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from codesum_pipeline.hosts.api import Access, HostApi, list_repositories
from codesum_pipeline.hosts.planning import SyncPlan, SyncRules, plan_sync
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.organisation import HostKind, ListedRepository, Organisation
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.operation import HostSettings
from codesum_pipeline.source.organisations import token_variable
from codesum_pipeline.source.registry import Registry


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
        rules = SyncRules(self.now().strftime("%Y-%m-%dT%H:%M:%SZ"), self.settings.max_retired_share, is_confirmed)
        api = open_host(Access(organisation, self._token(organisation), self.settings.timeout_s))
        listed = self._listed(api)
        entries = self.registry.entries()
        planned = plan_sync(organisation, listed, entries, _keys(entries), rules)
        if planned.retired or planned.held:
            listed = _together(listed, self._listed(api))
        made: list[SyncPlan] = []

        def change(entries: Sequence[RepositoryEntry], taken: frozenset[str]) -> Sequence[RepositoryEntry]:
            made.append(plan_sync(organisation, listed, entries, taken, rules))
            return made[-1].written

        if is_preview:
            return plan_sync(organisation, listed, entries, _keys(entries), rules)
        self.registry.revise(change)
        return made[-1]

    def _listed(self, api: HostApi) -> list[ListedRepository]:
        return list_repositories(api, max_wait_s=self.settings.max_wait_s)

    def _token(self, organisation: Organisation) -> str | None:
        """The token, if there is one; raises `ConfigurationError` for a variable that is named and not set."""
        variable = token_variable(organisation)
        token = self.environ.get(variable or "", "").strip()
        if organisation.token_env and not token:
            raise ConfigurationError(f"{organisation.name}: token_env: {organisation.token_env} is not set")
        if any(not each.isprintable() or each.isspace() or not each.isascii() for each in token):
            raise ConfigurationError(f"{organisation.name}: {variable} holds no token: it has spaces or other letters")
        return token or None


def open_host(access: Access) -> HostApi:
    """The API of an organisation's server; raises `ConfigurationError` where its client is not installed."""
    try:
        match access.organisation.host:
            case HostKind.GITHUB:
                from codesum_pipeline.hosts.github import GitHubApi

                return GitHubApi(access)
            case HostKind.GITLAB:
                from codesum_pipeline.hosts.gitlab import GitLabApi

                return GitLabApi(access)
            case HostKind.GITEA:
                from codesum_pipeline.hosts.gitea import GiteaApi

                return GiteaApi(access)
    except ImportError as error:
        raise ConfigurationError(
            f"{access.organisation.name}: {access.organisation.host} needs a client: "
            "pip install 'codesum-pipeline[hosts]'"
        ) from error


def _keys(entries: Sequence[RepositoryEntry]) -> frozenset[str]:
    return frozenset(entry.key.lower() for entry in entries)


def _together(*lists: Sequence[ListedRepository]) -> list[ListedRepository]:
    """What is in any of the lists, as the last one has it."""
    found = {one.host_id: one for each in lists for one in each}
    return [found[host_id] for host_id in sorted(found)]
