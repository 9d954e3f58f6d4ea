"""Settings of what keeps a home in order and serves it: none of them shapes an index."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.settings.marks import SettingsGroup

# Addresses of servers hold passwords, so they are no settings: the environment has them under these names.
POSTGRES_VARIABLE = "CODESUM_POSTGRES_URL"
BROKER_VARIABLE = "CODESUM_BROKER_URL"

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

    lease_s: float = Field(
        default=60.0,
        ge=1,
        description="A worker renews the lease of a repository that it builds three times in so many seconds. Another "
        "may replace one that was silent for so long.",
    )
    retry_s: float = Field(
        default=60.0,
        ge=0,
        description="A worker tries a request for so many seconds where the bucket does not answer, or is too busy.",
    )
    transfers: int = Field(default=8, ge=1, description="A worker sends or fetches so many files at once.")


class ReadingSettings(SettingsGroup):
    """How many indexes a long-lived process keeps open, and how much of a bucket a machine keeps."""

    open_indexes: int = Field(
        default=1000,
        ge=1,
        description="A process keeps so many indexes open between questions and closes those that were not asked for "
        "longest. A question about more opens these for itself.",
    )
    fresh_s: float = Field(
        default=5.0,
        ge=0,
        description="Home in a bucket: a process looks again for what is published after so many seconds.",
    )
    cache_gb: float = Field(
        default=20.0,
        gt=0,
        description="Home in a bucket: a machine keeps so much of its indexes and tables in the user's cache folder; "
        "what was not read for longest goes first.",
    )


class PlannerSettings(SettingsGroup):
    """When Dagster looks at repositories and digests by itself, and how hard it asks remotes."""

    nightly_cron: str = Field(
        default="0 2 * * *", description="The nightly schedule looks at every repository at this time (UTC)."
    )
    digests_cron: str = Field(
        default="*/15 * * * *",
        description="The schedule looks for digests that are due at these times, so a digest is at most so late. "
        "Intents have their own times and time zones.",
    )
    sensor_interval_s: int = Field(default=60, ge=5, description="The sensor looks for new commits so often.")
    push_interval_s: int = Field(
        default=5, ge=1, description="The sensor looks for repositories that a webhook said were pushed to so often."
    )
    poll_interval_s: float = Field(
        default=60.0,
        gt=0,
        description="Each remote is asked for its head so often, give or take a tenth. A day or more is enough where "
        "webhooks tell of pushes.",
    )
    polls_per_tick: int = Field(
        default=200, ge=1, description="One tick asks so many remotes; those that waited longest go first."
    )
    poll_parallel: int = Field(default=16, ge=1, le=256, description="So many repositories are looked at at one time.")
    host_parallel: int = Field(default=4, ge=1, description="So many of them may be of one host.")
    host_spacing_s: float = Field(
        default=0.02, ge=0, description="A host is left alone for so long between the beginnings of two requests."
    )
    max_attempts: int = Field(default=3, ge=1, description="One state of a repository is tried so often.")
    max_requests_per_tick: int = Field(default=25, ge=1, description="One tick asks for so many runs.")
    ls_remote_timeout_s: float = Field(default=20.0, gt=0, description="One repository keeps a tick waiting so long.")


class MaintenanceSettings(SettingsGroup):
    """When old records are pruned, and what is kept."""

    cron: str = Field(default="30 3 * * *", description="The schedule prunes at this time (UTC).")
    keep_runs: int = Field(
        default=10,
        ge=1,
        description="Dagster keeps so many runs of each repository and job, with their events. Never deleted: runs "
        "that are under way, and those with the last materialisation or check of an asset of a repository.",
    )
    history_rows: int = Field(
        default=10,
        ge=1,
        description="Each document keeps so many rows of the history, besides those that its present text and `codesum "
        "explain` need.",
    )
    history_days: int = Field(default=90, ge=1, description="Such rows are kept for so many days.")
    books_days: int = Field(
        default=90,
        ge=31,
        description="Each call of a model has a row of its own for so many days; older ones are added up by month, "
        "model, level and outcome.",
    )
    answers_days: int = Field(
        default=365,
        ge=0,
        description="A model's text that no build takes from the cache goes after so many days; 0: never.",
    )
    overlays_days: int = Field(
        default=30, ge=1, description="The index of a work tree that nobody opens goes after so many days."
    )
    mirrors_days: int = Field(
        default=30, ge=1, description="The mirror of a repository that is not registered goes after so many days."
    )
    parts_hours: int = Field(
        default=24,
        ge=1,
        description="Parts that no repository's state names any more stay in a bucket for so many hours: readers of an "
        "earlier state have so long to finish.",
    )
    unreachable_days: int = Field(
        default=14,
        ge=1,
        description="A mirror keeps commits that no kept index and no registered ref leads to for so many days.",
    )

    def history_since(self, now: datetime) -> str:
        """The moment before which the history is pruned."""
        return iso_moment(now - timedelta(days=self.history_days))

    def books_since(self, now: datetime) -> str:
        """The moment before which the books are added up."""
        return iso_moment(now - timedelta(days=self.books_days))


class AuditSettings(SettingsGroup):
    """What is written down of those who ask with a token."""

    enabled: bool = Field(
        default=True,
        description="Servers that ask for a token write a line for each request into audit/audit.jsonl in the home: "
        "when, which token, what kind of request, which repositories answered, outcome, duration, hits.",
    )
    questions: bool = Field(default=False, description="The lines have the questions themselves, too.")
    max_mb: float = Field(default=10.0, gt=0, le=1024, description="A file that would get larger is closed.")
    files: int = Field(default=10, ge=1, le=1000, description="So many files are kept; the oldest goes first.")


class CheckSettings(SettingsGroup):
    """What an operator expects of each repository: shares between 0 and 1 where nothing else is said."""

    errors: tuple[CheckName, ...] = Field(
        default=(CheckName.VERIFIED,),
        description="These checks fail with an ERROR, the others with a WARN. None of them stops a build.",
    )
    behind_hours: float = Field(
        default=24.0, gt=0, description="A published index may be so many hours behind its repository."
    )
    resolved_calls_least: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="At least this share of calls has a known target, in the repository or outside.",
    )
    resolved_calls_drop: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="That share may be so much below the median of the repository's last ten commits; 1: as much as it "
        "likes.",
    )
    placeholders_most: float = Field(
        default=0.95, ge=0, le=1, description="At most this share of documents are placeholders."
    )
    model_texts_least: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Where a model writes, it wrote at least this share of documents, placeholders aside.",
    )
    failures_most: float = Field(
        default=0.05, ge=0, le=1, description="Files and texts fail at most so often for each document."
    )
    cost_usd_most: float | None = Field(
        default=None,
        ge=0,
        description="A repository's texts cost at most so many US dollars on one day (UTC); default: not looked at.",
    )
    verify_days: float = Field(
        default=7.0,
        gt=0,
        description="Each published index is compared with its tables, byte by byte, in so many days.",
    )


class AlertSettings(SettingsGroup):
    """Who is told when something breaks or recovers, and how soon; nothing is said while a state lasts."""

    channels: tuple[str, ...] = Field(
        default=(),
        description="These channels of `delivery.channels` are told; empty: those of `delivery.operator_channels`.",
    )
    severity: Literal["WARN", "ERROR"] = Field(
        default="WARN", description="Checks whose failure is less than this are left out."
    )
    failed_builds: int = Field(
        default=3, ge=1, description="An alert tells of so many failed runs in a row of one repository (or job)."
    )
    settle_minutes: float = Field(
        default=5.0,
        ge=0,
        description="A new state is told once it has lasted so long. Each alert about the same thing "
        "within a day doubles that, so that what goes on and off is told seldom.",
    )
    digest_above: int = Field(
        default=5, ge=1, description="More changes than this at one time are one message, not one each."
    )
    away_hours: float = Field(
        default=1.0, ge=0, description="The sensor says that it was away after so many hours without a look; 0: never."
    )
    interval_s: int = Field(default=60, ge=10, description="The sensor `alerts` looks so often.")


class KubernetesSettings(SettingsGroup):
    """The Kubernetes jobs that carry out runs."""

    namespace: str = Field(default="default", description="Jobs are made in this namespace.")
    image: str | None = Field(
        default=None, description="A job runs this image; must be set where `engine.launcher` is k8s."
    )
    service_account: str = Field(default="default", description="A job's pod has this service account.")
    instance_config_map: str = Field(
        default="dagster-instance", description="This ConfigMap holds `dagster.yaml`; a job's pod reads it."
    )
    kubeconfig: Path | None = Field(
        default=None,
        description="This file says how the cluster is reached; default: as a pod of it, by its service account.",
    )
    secrets: tuple[str, ...] = Field(default=(), description="These Secrets become environment variables of a job.")
    config_maps: tuple[str, ...] = Field(
        default=(), description="These ConfigMaps become environment variables of a job."
    )

    @model_validator(mode="after")
    def _are_names(self) -> Self:
        named = (self.namespace, self.service_account, self.instance_config_map, *self.secrets, *self.config_maps)
        for name in named:
            if not _KUBERNETES_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a Kubernetes object")
        return self


class EngineSettings(SettingsGroup):
    """Where runs are carried out, and where Dagster keeps its records; see [deploy](deploy.md)."""

    launcher: Literal["local", "celery", "k8s"] = Field(
        default="local",
        description="A run is carried out by: local (a process of this machine), celery (`codesum worker` on any "
        "machine; the Redis in `CODESUM_BROKER_URL`) or k8s (a Kubernetes job).",
    )
    storage: Literal["sqlite", "postgres"] = Field(
        default="sqlite",
        description="Dagster keeps runs, events and schedules in: sqlite (files in the home) or postgres (the database "
        "in `CODESUM_POSTGRES_URL`).",
    )
    max_concurrent_runs: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="So many runs are under way at a time, in all; with celery as many as all workers have processes. "
        "Default: as the home's `dagster.yaml` says, which is 4.",
    )
    worker_processes: int = Field(
        default=1, ge=1, le=1024, description="One `codesum worker` carries out so many runs at a time."
    )
    worker_lost_after_s: float = Field(
        default=90.0,
        ge=5,
        description="A run fails, and is started anew, once no Celery worker has said for so long that it carries the "
        "run out.",
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

    sync_cron: str = Field(
        default="23 * * * *",
        description="The schedule asks hosts which repositories their organisations have at these times (UTC).",
    )
    timeout_s: float = Field(
        default=30.0, gt=0, description="One request to a host's API takes at most so many seconds."
    )
    max_wait_s: float = Field(
        default=60.0,
        ge=0,
        description="One sync waits so many seconds in all where a host limits requests; the next sync tries again.",
    )
    max_retired_share: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="A sync that would retire more of an organisation's repositories (and more than two) retires none "
        "until that is confirmed.",
    )


class WebhookSettings(SettingsGroup):
    """What hosts that tell of pushes may send. Their secrets are in no settings: see [webhooks](webhooks.md)."""

    max_body_mb: float = Field(
        default=5.0,
        gt=0,
        le=25,
        description="A larger event is refused; what it tells of is found by polling. Hosts send up to 25 MB.",
    )
    max_per_minute: int = Field(default=600, ge=1, description="One address gets so many answers in a minute.")
