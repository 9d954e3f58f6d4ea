"""Settings of the engine: where runs are carried out, and where Dagster keeps its records.

Addresses of servers hold passwords. They are no settings: they are read from the environment, under the names here.
"""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

POSTGRES_VARIABLE = "CODESUM_POSTGRES_URL"
BROKER_VARIABLE = "CODESUM_BROKER_URL"

_KUBERNETES_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class KubernetesSettings(BaseModel):
    """The Kubernetes jobs that carry out runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: str = Field("default", description="The namespace in which jobs are made.")
    image: str | None = Field(None, description="The image of a job; must be set where `engine.launcher` is k8s.")
    service_account: str = Field("default", description="The service account of a job's pod.")
    instance_config_map: str = Field(
        "dagster-instance", description="The ConfigMap that holds `dagster.yaml`; a job's pod reads it."
    )
    kubeconfig: Path | None = Field(
        None, description="How the cluster is reached; default: as a pod of it, by its service account."
    )
    secrets: tuple[str, ...] = Field((), description="Secrets that become environment variables of a job.")
    config_maps: tuple[str, ...] = Field((), description="ConfigMaps that become environment variables of a job.")

    @model_validator(mode="after")
    def _are_names(self) -> Self:
        named = (self.namespace, self.service_account, self.instance_config_map, *self.secrets, *self.config_maps)
        for name in named:
            if not _KUBERNETES_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a Kubernetes object")
        return self


class EngineSettings(BaseModel):
    """Where runs are carried out, and where Dagster keeps its records; see [deploy](deploy.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    launcher: Literal["local", "celery", "k8s"] = Field(
        "local",
        description="Where a run is carried out: local (a process of this machine), celery (`codesum worker` on any "
        "machine; the Redis in `CODESUM_BROKER_URL`) or k8s (a Kubernetes job).",
    )
    storage: Literal["sqlite", "postgres"] = Field(
        "sqlite",
        description="Where Dagster keeps runs, events and schedules: sqlite (files in the home) or postgres (the "
        "database in `CODESUM_POSTGRES_URL`).",
    )
    max_concurrent_runs: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="Runs at a time, in all; with celery as many as all workers have processes. Default: as the "
        "home's `dagster.yaml` says, which is 4.",
    )
    worker_processes: int = Field(1, ge=1, le=1024, description="Runs at a time of one `codesum worker`.")
    worker_lost_after_s: float = Field(
        90.0,
        ge=5,
        description="A run fails, and is started anew, once no Celery worker has said for so long that it carries "
        "the run out.",
    )
    k8s: KubernetesSettings = Field(default_factory=KubernetesSettings)  # type: ignore[arg-type]

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.launcher == "k8s" and not self.k8s.image:
            raise ValueError('launcher = "k8s" needs k8s.image, the image of a job')
        if self.launcher != "local" and self.storage != "postgres":
            raise ValueError(
                f'launcher = "{self.launcher}" needs storage = "postgres": files of SQLite cannot be shared by machines'
            )
        return self
