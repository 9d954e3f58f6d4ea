"""All settings of a home."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, model_validator

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.settings import llm_settings, operation_settings, stage_settings
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings, unknown_channel
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings
from codesum_pipeline.foundation.settings.marks import (
    BELOW_HOME,
    BY_RUN,
    LIMITS,
    NOTHING,
    Shapes,
    group_of,
    marked_settings,
    setting,
)


class Settings(stage_settings.ContextSettings, stage_settings.ScanSettings):
    """The settings of one home."""

    home: Annotated[Path, NOTHING]
    bucket: str | None = setting(None, NOTHING)
    home_mode: Literal["0700", "0750", "0755"] = setting("0700", NOTHING)
    repos_file: Path = setting(Path("repos.yaml"), NOTHING, BELOW_HOME)
    ca_bundle: Path | None = setting(None, NOTHING)
    hash_policy: HashPolicy = setting(HashPolicy.CANONICAL, Shapes(), BY_RUN)
    filter: stage_settings.FilterSettings = stage_settings.FilterSettings()
    embedder: str = setting("static", Shapes("index"))
    embedder_api_base: llm_settings.ApiBase = setting(None, Shapes("index"))
    summary_embed_max_tokens: int = setting(512, Shapes("index"), ge=16)
    keep_versions: int = setting(3, NOTHING, ge=2)
    lease_wait_s: float = setting(600.0, NOTHING, BY_RUN, ge=0)
    llm: llm_settings.LlmSettings = llm_settings.LlmSettings()
    max_rewrite_fraction: float = setting(0.5, LIMITS, ge=0, le=1)
    summary_cache_dir: Path = setting(Path("cache"), NOTHING, BELOW_HOME)
    prompts_dir: Path = setting(Path("prompts"), NOTHING, BELOW_HOME)
    evaluation: Annotated[stage_settings.EvaluationSettings, NOTHING] = stage_settings.EvaluationSettings()
    ask: Annotated[llm_settings.AskSettings, NOTHING] = llm_settings.AskSettings()
    compaction: Annotated[llm_settings.CompactionSettings, NOTHING] = llm_settings.CompactionSettings()
    digests: Annotated[llm_settings.DigestSettings, NOTHING] = llm_settings.DigestSettings()
    # The content of an index counts, not how it was made.
    scip: Annotated[stage_settings.ScipSettings, NOTHING] = stage_settings.ScipSettings()
    bundles: Annotated[operation_settings.BundleSettings, NOTHING] = operation_settings.BundleSettings()
    storage: Annotated[operation_settings.StorageSettings, NOTHING] = operation_settings.StorageSettings()
    planner: Annotated[operation_settings.PlannerSettings, NOTHING] = operation_settings.PlannerSettings()
    maintenance: Annotated[operation_settings.MaintenanceSettings, NOTHING] = operation_settings.MaintenanceSettings()
    serving: Annotated[operation_settings.ServingSettings, NOTHING] = operation_settings.ServingSettings()
    audit: Annotated[operation_settings.AuditSettings, NOTHING] = operation_settings.AuditSettings()
    identity: Annotated[IdentitySettings, NOTHING] = IdentitySettings()
    delivery: Annotated[DeliverySettings, NOTHING] = DeliverySettings()
    checks: Annotated[operation_settings.CheckSettings, NOTHING] = operation_settings.CheckSettings()
    alerts: Annotated[operation_settings.AlertSettings, NOTHING] = operation_settings.AlertSettings()
    metrics: Annotated[operation_settings.MetricsSettings, NOTHING] = operation_settings.MetricsSettings()
    engine: Annotated[operation_settings.EngineSettings, NOTHING] = operation_settings.EngineSettings()
    reading: Annotated[operation_settings.ReadingSettings, NOTHING] = operation_settings.ReadingSettings()
    hosts: Annotated[operation_settings.HostSettings, NOTHING] = operation_settings.HostSettings()

    @model_validator(mode="before")
    @classmethod
    def _paths_begin_at_home(cls, values: Any) -> Any:
        return (
            _begun_at(Path(values["home"]), cls, values) if isinstance(values, Mapping) and "home" in values else values
        )

    @model_validator(mode="after")
    def _alert_channels_exist(self) -> Self:
        for name in self.alerts.channels:
            if problem := unknown_channel(name, self.delivery):
                raise ValueError(f"alerts.channels: {problem}")
        return self

    def shaping(self) -> dict[str, Any]:
        """The settings that an index depends on now, as the fingerprint of a build has them."""
        shaping: dict[str, Any] = {}
        for name, mark, value in marked_settings(self):
            if isinstance(mark, Shapes) and (self.llm.enabled or not mark.by_model):
                part = shaping.setdefault(mark.part, {}) if mark.part else shaping
                part[mark.name or name.rpartition(".")[2]] = value
        return shaping

    def shaping_by_key(self) -> dict[str, Any]:
        """The same by key, and whether a model writes."""
        marked = ((name, mark, value) for name, mark, value in marked_settings(self) if isinstance(mark, Shapes))
        return {name: value for name, mark, value in marked if self.llm.enabled or not mark.by_model} | {
            "llm.enabled": self.llm.enabled
        }

    def limits(self) -> list[Any]:
        """What limits how much a model writes in one build."""
        return [value for _, mark, value in marked_settings(self) if mark is LIMITS]

    @property
    def address(self) -> str:
        """What names the home to another process: a path, or the URL of a bucket."""
        return self.bucket or str(self.home)

    @property
    def folder_mode(self) -> int:
        """The mode of folders in the home; files have the same without the right to execute."""
        return int(self.home_mode, 8)

    def apply_mode(self) -> None:
        """Create files and folders from now on, in this process and those it starts, with the modes of the home."""
        os.umask(0o777 & ~self.folder_mode)


def _begun_at(home: Path, model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The given values; every path that is relative to the home, its default too, is absolute."""
    begun = dict(values)
    for name, field in model.model_fields.items():
        if group := group_of(field):
            value = begun.get(name, {})
            if isinstance(value, group):
                value = {key: getattr(value, key) for key in value.model_fields_set}
            if isinstance(value, Mapping) and (inner := _begun_at(home, group, value)):
                begun[name] = inner
        elif BELOW_HOME in field.metadata and isinstance(path := begun.get(name, field.default), str | Path):
            begun[name] = home / Path(path).expanduser()
    return begun
