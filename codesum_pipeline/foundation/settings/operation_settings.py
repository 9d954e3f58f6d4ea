"""Settings of what keeps a home in order and serves it: none of them shapes an index."""

from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codesum_pipeline.foundation.data_model.repository import read_scope
from codesum_pipeline.foundation.settings.marks import BELOW_HOME, SettingsGroup, check_pattern, setting, spelled

# Addresses of servers hold passwords, so they are no settings: the environment has them under these names.
POSTGRES_VARIABLE = "CODESUM_POSTGRES_URL"
BROKER_VARIABLE = "CODESUM_BROKER_URL"

_HOST_AND_PORT = r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
_HostName = Annotated[
    str,
    spelled(_HOST_AND_PORT, "is no host: write HOST or HOST:PORT, as in git.example.org:3000"),
    AfterValidator(str.lower),
]
_KubernetesName = Annotated[str, spelled(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", "is no name of a Kubernetes object")]


def _check_network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError(f"{error}: write an address, or a network such as 10.0.0.0/8") from None
    return text


_Network = Annotated[str, AfterValidator(_check_network)]


class CheckName(StrEnum):
    """The checks that have a threshold. None of them stops a build."""

    FRESH = "index_is_fresh"
    CALLS = "calls_are_resolved"
    PLACEHOLDERS = "placeholders_in_band"
    MODEL_TEXTS = "model_texts_in_band"
    FAILURES = "failures_in_band"
    COST = "cost_of_day_in_band"
    VERIFIED = "published_index_equals_tables"


class StorageSettings(SettingsGroup):
    """How a worker uses the bucket of its home; a home in a folder has no use for them."""

    lease_s: float = setting(60.0, ge=1)
    # A worker repeats a request for N seconds if the bucket does not answer or is too busy.
    retry_s: ClassVar[float] = 60.0
    # A worker sends or fetches N files at once.
    transfers: ClassVar[int] = 8


class ReadingSettings(SettingsGroup):
    """How many indexes a long-lived process keeps open, and how much a machine keeps for readers."""

    # A process keeps at most N indexes open between questions; it closes the least recently used first.
    open_indexes: ClassVar[int] = 1000
    # Home in a bucket: a process looks for new versions at most every N seconds.
    fresh_s: ClassVar[float] = 5.0
    cache_gb: float = setting(20.0, gt=0)
    texts_gb: float = setting(10.0, gt=0)
    # One search for a pattern takes at most N seconds.
    grep_timeout_s: ClassVar[float] = 10.0


class PlannerSettings(SettingsGroup):
    """When Dagster looks at repositories and digests by itself, and how hard it asks remotes."""

    nightly_cron: str = "0 2 * * *"
    digests_cron: str = "*/15 * * * *"
    sensor_interval_s: int = setting(60, ge=5)
    # The sensor looks every N seconds for repositories that a webhook said were pushed to.
    push_interval_s: ClassVar[int] = 5
    poll_interval_s: float = setting(60.0, gt=0)
    polls_per_tick: int = setting(200, ge=1)
    # The sensor polls N repositories at one time.
    poll_parallel: ClassVar[int] = 16
    # At most N of these polls go to one host.
    host_parallel: ClassVar[int] = 4
    # Two requests to one host begin at least N seconds apart.
    host_spacing_s: ClassVar[float] = 0.02
    max_attempts: int = setting(3, ge=1)
    # One tick requests at most N runs.
    max_requests_per_tick: ClassVar[int] = 25
    # One repository may delay a tick by N seconds.
    ls_remote_timeout_s: ClassVar[float] = 20.0


class MaintenanceSettings(SettingsGroup):
    """When old records are pruned, and what is kept."""

    cron: str = "30 3 * * *"
    keep_runs: int = setting(10, ge=1)
    history_rows: int = setting(10, ge=1)
    history_days: int = setting(90, ge=1)
    # A call of a model has a row for N days; older ones are added up by month, model, level and outcome.
    books_days: ClassVar[int] = 90
    answers_days: int = setting(365, ge=0)
    # The index of a work tree is deleted if nobody opened it for N days.
    overlays_days: ClassVar[int] = 30
    # The mirror of a repository that is not registered is deleted after N days.
    mirrors_days: ClassVar[int] = 30
    # A bucket keeps files that no current state names for N hours, so that readers of earlier states can finish.
    parts_hours: ClassVar[int] = 24
    # A mirror keeps a commit for N days after the last kept index and registered ref that lead to it are gone.
    unreachable_days: ClassVar[int] = 14


class ServingSettings(SettingsGroup):
    """What one client of a server may cost: of `codesum web`, `mcp --http`, `webhooks` and the UI of `codesum dev`."""

    # The first line and the headers of a request have at most N KB.
    max_head_kb: ClassVar[float] = 64.0
    # A request has at most N headers.
    max_headers: ClassVar[int] = 100
    # The body of a request has at most N MB, as has a message of a WebSocket.
    max_body_mb: ClassVar[float] = 5.0
    # The head of a request arrives within N seconds.
    head_timeout_s: ClassVar[float] = 10.0
    # The body of a request arrives within N seconds.
    body_timeout_s: ClassVar[float] = 30.0
    # A connection may wait N seconds for the next request.
    idle_timeout_s: ClassVar[float] = 30.0
    # A connection is cut if its client reads less than 64 KB of an answer in N seconds.
    write_timeout_s: ClassVar[float] = 30.0
    max_connections: int = setting(500, ge=1, le=100_000)
    # One address, or one network /64 of IPv6, has at most N connections. Proxies in `serving.trusted_proxies` may have
    # more.
    max_connections_per_address: ClassVar[int] = 250
    trusted_proxies: tuple[_Network, ...] = ()

    @property
    def max_body_bytes(self) -> int:
        return int(self.max_body_mb * 1024 * 1024)


class AuditSettings(SettingsGroup):
    """What is written down of those who ask with a token."""

    enabled: bool = True
    questions: bool = False
    # A new file is begun where one would exceed N MB.
    max_mb: ClassVar[float] = 10.0
    files: int = setting(10, ge=1, le=1000)


class BundleSettings(SettingsGroup):
    """Whose shared builds are taken, and what taking one may cost."""

    allowed_signers: Path = setting(Path("bundle_signers"), BELOW_HOME)
    max_mb: int = setting(2000, ge=1, le=2047)
    # The tables of a shared build take at most N MB of memory when they are read.
    max_memory_mb: ClassVar[int] = 8192
    # The download of a shared build takes at most N seconds.
    timeout_s: ClassVar[float] = 600.0


class CheckSettings(SettingsGroup):
    """What an operator expects of each repository: shares between 0 and 1 where nothing else is said."""

    errors: tuple[CheckName, ...] = (CheckName.VERIFIED,)
    behind_hours: float = setting(24.0, gt=0)
    behind_hours_of: dict[Annotated[str, AfterValidator(check_pattern)], Annotated[float, Field(gt=0)]] = setting({})
    resolved_calls_least: float = setting(0.0, ge=0, le=1)
    resolved_calls_drop: float = setting(0.1, ge=0, le=1)
    placeholders_most: float = setting(0.95, ge=0, le=1)
    model_texts_least: float = setting(0.5, ge=0, le=1)
    failures_most: float = setting(0.05, ge=0, le=1)
    cost_usd_most: float | None = setting(None, ge=0)
    verify_days: float = setting(7.0, gt=0)

    def hours_behind(self, key: str, slug: str | None) -> float:
        """How many hours the published index of a repository may be behind it; `slug` is its owner/name, if any."""
        fitting = (hours for pattern, hours in self.behind_hours_of.items() if read_scope([pattern]).opens(key, slug))
        return next(fitting, self.behind_hours)


class AlertSettings(SettingsGroup):
    """Who is told when something breaks or recovers, and how soon; nothing is said while a state lasts."""

    channels: tuple[str, ...] = ()
    severity: Literal["WARN", "ERROR"] = "WARN"
    failed_builds: int = setting(3, ge=1)
    settle_minutes: float = setting(5.0, ge=0)
    # More than N changes at one time are reported in one message.
    digest_above: ClassVar[int] = 5
    # The sensor `alerts` ticks every N seconds.
    interval_s: ClassVar[int] = 60


class MetricsSettings(SettingsGroup):
    """What `codesum web` and `codesum mcp` measure, and how it leaves them; see [metrics](metrics.md)."""

    exporters: tuple[Literal["prometheus", "otlp"], ...] = ()
    # At most N repositories have series of their own: those that are late, then the first by name.
    max_repositories: ClassVar[int] = 1000


class KubernetesSettings(SettingsGroup):
    """The Kubernetes jobs that carry out runs."""

    namespace: _KubernetesName = "default"
    image: str | None = None
    service_account: _KubernetesName = "default"
    instance_config_map: _KubernetesName = "dagster-instance"
    kubeconfig: Path | None = None
    secrets: tuple[_KubernetesName, ...] = ()
    config_maps: tuple[_KubernetesName, ...] = ()


class EngineSettings(SettingsGroup):
    """Where runs are carried out, and where Dagster keeps its records; see [deploy](deploy.md)."""

    launcher: Literal["local", "celery", "k8s"] = "local"
    storage: Literal["sqlite", "postgres"] = "sqlite"
    max_concurrent_runs: int | None = setting(None, ge=1, le=10_000)
    worker_processes: int = setting(1, ge=1, le=1024)
    worker_lost_after_s: float = setting(90.0, ge=5)
    k8s: KubernetesSettings = KubernetesSettings()

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.launcher == "k8s" and not self.k8s.image:
            raise ValueError('launcher = "k8s" needs k8s.image, the image of a job')
        if self.launcher != "local" and self.storage != "postgres":
            raise ValueError(
                f'launcher = "{self.launcher}" needs storage = "postgres": files of SQLite cannot be shared by machines'
            )
        return self


class HostSettings(SettingsGroup):
    """How hosts are asked. Which organisations: `codesum org`, [organisations](organisations.md)."""

    over_http: tuple[_HostName, ...] = ()
    sync_cron: str = "23 * * * *"
    # One request to a host's API takes at most N seconds.
    timeout_s: ClassVar[float] = 30.0
    # If a host limits requests, one sync waits at most N seconds in all; the next sync tries again.
    max_wait_s: ClassVar[float] = 60.0
    # A sync that would retire more than this share of an organisation's repositories, and more than two, waits for a
    # confirmation.
    max_retired_share: ClassVar[float] = 0.2
