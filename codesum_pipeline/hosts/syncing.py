"""The registry follows what hosts list."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from codesum_pipeline.hosts.listing import HostClient, list_repositories
from codesum_pipeline.hosts.planning import SyncPlan, SyncRules, plan_sync
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.operation import HostSettings
from codesum_pipeline.source.organisations import Organisation, token_variable
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
