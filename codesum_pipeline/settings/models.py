"""All settings of a home."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.settings.delivery import DeliverySettings, unknown_channel
from codesum_pipeline.settings.llm import ApiBase, AskSettings, CompactionSettings, DigestSettings, LlmSettings
from codesum_pipeline.settings.marks import BELOW_HOME, BY_RUN, LIMITS, NOTHING, Shapes, group_of, marked_settings
from codesum_pipeline.settings.operation import (
    AlertSettings,
    AuditSettings,
    CheckSettings,
    EngineSettings,
    HostSettings,
    MaintenanceSettings,
    PlannerSettings,
    ReadingSettings,
    StorageSettings,
    WebhookSettings,
)
from codesum_pipeline.settings.stages import (
    ContextSettings,
    EvaluationSettings,
    ExtraLane,
    FilterSettings,
    ScanSettings,
    ScipSettings,
)


class Settings(ContextSettings, ScanSettings):
    """The settings of one home."""

    home: Annotated[Path, NOTHING] = Field(
        description="This folder keeps everything; of a home in a bucket, what this worker uses of it."
    )
    bucket: Annotated[str | None, NOTHING] = Field(
        default=None,
        description="Set by the home alone: the URL of a home in a bucket, of which `home` is a local copy.",
    )
    home_mode: Annotated[Literal["0700", "0750", "0755"], NOTHING] = Field(
        default="0700",
        description="Who may read what is written there: its owner, also the group, or everybody. Only the owner "
        "writes.",
    )
    repos_file: Annotated[Path, NOTHING, BELOW_HOME] = Field(
        default=Path("repos.yaml"), description="This file is the registry; relative to the home."
    )
    hash_policy: Annotated[HashPolicy, Shapes(), BY_RUN] = Field(
        default=HashPolicy.CANONICAL,
        description="content_hash covers: canonical (the source without layout) or raw (its bytes).",
    )
    filter: FilterSettings = FilterSettings()
    embedder: Annotated[str, Shapes("index")] = Field(
        default="static",
        description="This model makes the vectors: static, minilm, sentence-transformers/ORG/NAME, a folder, "
        "litellm/MODEL or text-embedding-…; see [operations](operations.md#choosing-an-embedding-model).",
    )
    embedder_api_base: Annotated[ApiBase, Shapes("index")] = Field(
        default=None, description="A LiteLLM embedding model is asked at this address; default: at its provider."
    )
    summary_embed_max_tokens: Annotated[int, Shapes("index")] = Field(
        default=512, ge=16, description="So many tokens of a document's text are embedded."
    )
    extra_lanes: Annotated[tuple[ExtraLane, ...], Shapes("index")] = Field(
        default=(),
        description="Vectors of these lanes are made besides those of `summary` and `fused`: code. Only a search that "
        "names the lane reads them.",
    )
    keep_versions: Annotated[int, NOTHING] = Field(default=3, ge=2, description="So many published versions are kept.")
    lease_wait_s: Annotated[float, NOTHING, BY_RUN] = Field(
        default=600.0, ge=0, description="A build waits so many seconds for another of the same repository."
    )
    llm: LlmSettings = LlmSettings()
    max_rewrite_fraction: Annotated[float, LIMITS] = Field(
        default=0.5,
        ge=0,
        le=1,
        description="A model that would write more of an existing index again waits until that is confirmed.",
    )
    summary_cache_dir: Annotated[Path, NOTHING, BELOW_HOME] = Field(
        default=Path("cache"),
        description="This folder keeps models' texts for all repositories; relative to the home.",
    )
    prompts_dir: Annotated[Path, NOTHING, BELOW_HOME] = Field(
        default=Path("prompts"),
        description="system/ and instruction/ templates in this folder count before those of codesum; relative to the "
        "home.",
    )
    evaluation: Annotated[EvaluationSettings, NOTHING] = EvaluationSettings()
    ask: Annotated[AskSettings, NOTHING] = AskSettings()
    compaction: Annotated[CompactionSettings, NOTHING] = CompactionSettings()
    digests: Annotated[DigestSettings, NOTHING] = DigestSettings()
    # The content of an index counts, not how it was made.
    scip: Annotated[ScipSettings, NOTHING] = ScipSettings()
    storage: Annotated[StorageSettings, NOTHING] = StorageSettings()
    planner: Annotated[PlannerSettings, NOTHING] = PlannerSettings()
    maintenance: Annotated[MaintenanceSettings, NOTHING] = MaintenanceSettings()
    audit: Annotated[AuditSettings, NOTHING] = AuditSettings()
    delivery: Annotated[DeliverySettings, NOTHING] = DeliverySettings()
    checks: Annotated[CheckSettings, NOTHING] = CheckSettings()
    alerts: Annotated[AlertSettings, NOTHING] = AlertSettings()
    engine: Annotated[EngineSettings, NOTHING] = EngineSettings()
    reading: Annotated[ReadingSettings, NOTHING] = ReadingSettings()
    hosts: Annotated[HostSettings, NOTHING] = HostSettings()
    webhooks: Annotated[WebhookSettings, NOTHING] = WebhookSettings()

    @model_validator(mode="before")
    @classmethod
    def _paths_begin_at_home(cls, values: Any) -> Any:
        return (
            _begun_at(Path(values["home"]), cls, values) if isinstance(values, Mapping) and "home" in values else values
        )

    @field_validator("extra_lanes")
    @classmethod
    def _are_a_set(cls, lanes: tuple[ExtraLane, ...]) -> tuple[ExtraLane, ...]:
        return tuple(sorted({*lanes}))

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
                part[mark.name or name] = value
        return shaping

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


def _begun_at(home: Path, model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values; every path that is relative to the home, its default too, is absolute."""
    begun = dict(given)
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
