"""Settings of what keeps a home in order and serves it: none of them shapes an index."""

import re
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import field_validator, model_validator

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import read_scope
from codesum_pipeline.foundation.settings.marks import BELOW_HOME, SettingsGroup, setting

# Addresses of servers hold passwords, so they are no settings: the environment has them under these names.
POSTGRES_VARIABLE = "CODESUM_POSTGRES_URL"
BROKER_VARIABLE = "CODESUM_BROKER_URL"

_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_KUBERNETES_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


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

    lease_s: float = setting(
        60.0,
        "A worker renews its lease three times in N seconds; if it is silent for N, another takes over.",
        ge=1,
    )
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
    cache_gb: float = setting(
        20.0,
        "Home in a bucket: a machine caches at most N GB for a user; the least recently read files go first.",
        gt=0,
    )
    texts_gb: float = setting(
        10.0,
        "The home keeps at most N GB of the repositories' texts for `grep`; the least recently searched go first.",
        gt=0,
    )
    # One search for a pattern takes at most N seconds.
    grep_timeout_s: ClassVar[float] = 10.0


class PlannerSettings(SettingsGroup):
    """When Dagster looks at repositories and digests by itself, and how hard it asks remotes."""

    nightly_cron: str = setting("0 2 * * *", "The nightly schedule looks at every repository at this time (UTC).")
    digests_cron: str = setting(
        "*/15 * * * *",
        "The schedule looks for due digests at these times; intents have their own times and time zones.",
    )
    sensor_interval_s: int = setting(60, "The sensor looks for new commits every N seconds.", ge=5)
    # The sensor looks every N seconds for repositories that a webhook said were pushed to.
    push_interval_s: ClassVar[int] = 5
    poll_interval_s: float = setting(
        60.0,
        "The sensor asks each remote for its head every N seconds; with webhooks, once a day is enough.",
        gt=0,
    )
    polls_per_tick: int = setting(200, "One tick asks at most N remotes; those that waited longest go first.", ge=1)
    # The sensor polls N repositories at one time.
    poll_parallel: ClassVar[int] = 16
    # At most N of these polls go to one host.
    host_parallel: ClassVar[int] = 4
    # Two requests to one host begin at least N seconds apart.
    host_spacing_s: ClassVar[float] = 0.02
    max_attempts: int = setting(3, "Dagster tries to build one state of a repository N times.", ge=1)
    # One tick requests at most N runs.
    max_requests_per_tick: ClassVar[int] = 25
    # One repository may delay a tick by N seconds.
    ls_remote_timeout_s: ClassVar[float] = 20.0


class MaintenanceSettings(SettingsGroup):
    """When old records are pruned, and what is kept."""

    cron: str = setting("30 3 * * *", "The nightly pruning starts at this time (UTC).")
    keep_runs: int = setting(
        10,
        "Dagster keeps the last N runs of each repository and job, those under way, and those that last made an asset.",
        ge=1,
    )
    history_rows: int = setting(
        10,
        "The history keeps the last N rows of each document, besides those that its text and `codesum explain` need.",
        ge=1,
    )
    history_days: int = setting(90, "After N days the history drops these rows, too.", ge=1)
    # A call of a model has a row for N days; older ones are added up by month, model, level and outcome.
    books_days: ClassVar[int] = 90
    answers_days: int = setting(365, "The cache drops a model's text that no build used for N days; 0: never.", ge=0)
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
    max_connections: int = setting(500, "A server has at most N connections.", ge=1, le=100_000)
    # One address, or one network /64 of IPv6, has at most N connections. Proxies in `serving.trusted_proxies` may have
    # more.
    max_connections_per_address: ClassVar[int] = 250
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "The addresses and networks of your proxies: their X-Forwarded-For says whose a request is. "
        "Nobody else's counts.",
    )

    @property
    def max_body_bytes(self) -> int:
        return int(self.max_body_mb * 1024 * 1024)

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for each in proxies:
            try:
                ip_network(each)
            except ValueError as error:
                raise ValueError(f"{error}: write an address, or a network such as 10.0.0.0/8") from None
        return proxies


class AuditSettings(SettingsGroup):
    """What is written down of those who ask with a token."""

    enabled: bool = setting(
        True, "Servers that require a token write a line for each request into audit/audit.jsonl in the home."
    )
    questions: bool = setting(False, "The lines of the audit log also contain the questions.")
    # A new file is begun where one would exceed N MB.
    max_mb: ClassVar[float] = 10.0
    files: int = setting(10, "The last N files of the audit log are kept.", ge=1, le=1000)


class BundleSettings(SettingsGroup):
    """Whose shared builds are taken, and what taking one may cost."""

    allowed_signers: Path = setting(
        Path("bundle_signers"),
        "The file of those whose shared builds `codesum import` takes, in OpenSSH's format; relative to the home.",
        BELOW_HOME,
    )
    max_mb: int = setting(2000, "A shared build has at most N MB.", ge=1, le=2047)
    # The tables of a shared build take at most N MB of memory when they are read.
    max_memory_mb: ClassVar[int] = 8192
    # The download of a shared build takes at most N seconds.
    timeout_s: ClassVar[float] = 600.0


class CheckSettings(SettingsGroup):
    """What an operator expects of each repository: shares between 0 and 1 where nothing else is said."""

    errors: tuple[CheckName, ...] = setting(
        (CheckName.VERIFIED,), "These checks fail with an ERROR, the others with a WARN. None of them stops a build."
    )
    behind_hours: float = setting(24.0, "A published index may be N hours behind its repository.", gt=0)
    behind_hours_of: dict[str, float] = setting(
        {},
        'Other hours for some repositories, by patterns as of a token: `{"payments-*" = 1, "acme/*" = 72}`; the '
        "first pattern that fits counts.",
    )
    resolved_calls_least: float = setting(
        0.0, "At least this share of calls has a known target, in the repository or outside.", ge=0, le=1
    )
    resolved_calls_drop: float = setting(
        0.1, "That share may be at most N below the median of the repository's last ten commits.", ge=0, le=1
    )
    placeholders_most: float = setting(0.95, "At most this share of documents are placeholders.", ge=0, le=1)
    model_texts_least: float = setting(
        0.5,
        "Where a model writes texts, it wrote at least this share of the documents that are no placeholders.",
        ge=0,
        le=1,
    )
    failures_most: float = setting(0.05, "At most N failures of files and texts for each document.", ge=0, le=1)
    cost_usd_most: float | None = setting(
        None, "A repository's texts cost at most N US dollars a day (UTC); default: not checked.", ge=0
    )
    verify_days: float = setting(
        7.0, "Each published index is compared with its tables, byte by byte, every N days.", gt=0
    )

    @field_validator("behind_hours_of")
    @classmethod
    def _are_targets(cls, targets: dict[str, float]) -> dict[str, float]:
        for pattern, hours in targets.items():
            try:
                read_scope([pattern])
            except ConfigurationError as error:
                raise ValueError(str(error)) from None
            if hours <= 0:
                raise ValueError(f"{pattern!r} = {hours:g}: give more than 0 hours")
        return targets

    def hours_behind(self, key: str, slug: str | None) -> float:
        """How many hours the published index of a repository may be behind it; `slug` is its owner/name, if any."""
        fitting = (hours for pattern, hours in self.behind_hours_of.items() if read_scope([pattern]).opens(key, slug))
        return next(fitting, self.behind_hours)


class AlertSettings(SettingsGroup):
    """Who is told when something breaks or recovers, and how soon; nothing is said while a state lasts."""

    channels: tuple[str, ...] = setting(
        (), "Alerts go to these channels of `delivery.channels`; empty: to those of `delivery.operator_channels`."
    )
    severity: Literal["WARN", "ERROR"] = setting("WARN", "Checks whose failure is less severe cause no alert.")
    failed_builds: int = setting(3, "N failed runs in a row of one repository (or job) cause an alert.", ge=1)
    settle_minutes: float = setting(
        5.0,
        "A new state is reported once it has lasted N minutes; each alert about the same thing within a "
        "day doubles that time.",
        ge=0,
    )
    # More than N changes at one time are reported in one message.
    digest_above: ClassVar[int] = 5
    # The sensor `alerts` ticks every N seconds.
    interval_s: ClassVar[int] = 60


class MetricsSettings(SettingsGroup):
    """What `codesum web` and `codesum mcp` measure, and how it leaves them; see [metrics](metrics.md)."""

    exporters: tuple[Literal["prometheus", "otlp"], ...] = setting(
        (),
        "How a server hands on what it measures: prometheus (at `/metrics` of its own address) and otlp (sent to "
        "`OTEL_EXPORTER_OTLP_ENDPOINT`). Default: nothing is measured.",
    )
    # At most N repositories have series of their own: those that are late, then the first by name.
    max_repositories: ClassVar[int] = 1000


class KubernetesSettings(SettingsGroup):
    """The Kubernetes jobs that carry out runs."""

    namespace: str = setting("default", "Jobs are made in this namespace.")
    image: str | None = setting(None, "A job runs this image; must be set where `engine.launcher` is k8s.")
    service_account: str = setting("default", "A job's pod has this service account.")
    instance_config_map: str = setting("dagster-instance", "This ConfigMap holds `dagster.yaml`; a job's pod reads it.")
    kubeconfig: Path | None = setting(
        None, "The file that says how to reach the cluster; default: the service account of this pod."
    )
    secrets: tuple[str, ...] = setting((), "These Secrets become environment variables of a job.")
    config_maps: tuple[str, ...] = setting((), "These ConfigMaps become environment variables of a job.")

    @model_validator(mode="after")
    def _are_names(self) -> Self:
        named = (self.namespace, self.service_account, self.instance_config_map, *self.secrets, *self.config_maps)
        for name in named:
            if not _KUBERNETES_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a Kubernetes object")
        return self


class EngineSettings(SettingsGroup):
    """Where runs are carried out, and where Dagster keeps its records; see [deploy](deploy.md)."""

    launcher: Literal["local", "celery", "k8s"] = setting(
        "local",
        "Where runs are carried out: local (this machine), celery (workers at the broker in "
        "`CODESUM_BROKER_URL`) or k8s (jobs).",
    )
    storage: Literal["sqlite", "postgres"] = setting(
        "sqlite",
        "Where Dagster keeps its records: sqlite (files in the home) or postgres (the server in "
        "`CODESUM_POSTGRES_URL`).",
    )
    max_concurrent_runs: int | None = setting(
        None,
        "At most N runs are under way at a time; with celery, set the number of all workers' processes. "
        "Default: see `dagster.yaml`.",
        ge=1,
        le=10_000,
    )
    worker_processes: int = setting(1, "One `codesum worker` carries out N runs at a time.", ge=1, le=1024)
    worker_lost_after_s: float = setting(
        90.0, "A run is started anew if no Celery worker has reported it for N seconds.", ge=5
    )
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

    over_http: tuple[str, ...] = setting(
        (),
        "Repositories on these hosts, each HOST or HOST:PORT, may have http:// addresses. Anybody on the way there can "
        "read and change what is fetched; no password is sent.",
    )
    sync_cron: str = setting(
        "23 * * * *", "At these times (UTC) the schedule asks code hosts which repositories their organisations have."
    )
    # One request to a host's API takes at most N seconds.
    timeout_s: ClassVar[float] = 30.0
    # If a host limits requests, one sync waits at most N seconds in all; the next sync tries again.
    max_wait_s: ClassVar[float] = 60.0
    # A sync that would retire more than this share of an organisation's repositories, and more than two, waits for a
    # confirmation.
    max_retired_share: ClassVar[float] = 0.2

    @field_validator("over_http")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for each in hosts:
            if not _HOST_AND_PORT.fullmatch(each):
                raise ValueError(f"{each!r} is no host: write HOST or HOST:PORT, as in git.example.org:3000")
        return tuple(each.lower() for each in hosts)
