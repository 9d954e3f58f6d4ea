"""The settings of a home, as a person writes them; `Settings.options` is how the stages take them."""

import os
import re
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.config import JsonDict

from codesum_pipeline.delivery.options import DeliveryOptions, unknown_channel
from codesum_pipeline.model.options import (
    EvaluationOptions,
    ExtraLane,
    FilterOptions,
    GraphOptions,
    GraphPolicy,
    HashPolicy,
    IndexOptions,
    Options,
    ScanOptions,
)
from codesum_pipeline.settings.addresses import address_without_secret
from codesum_pipeline.settings.alerts import AlertSettings
from codesum_pipeline.settings.ask import AskSettings
from codesum_pipeline.settings.audit import AuditSettings
from codesum_pipeline.settings.checks import CheckSettings
from codesum_pipeline.settings.compaction import CompactionSettings
from codesum_pipeline.settings.digests import DigestSettings
from codesum_pipeline.settings.engine import EngineSettings
from codesum_pipeline.settings.hosts import HostSettings
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.maintenance import MaintenanceSettings
from codesum_pipeline.settings.planner import PlannerSettings
from codesum_pipeline.settings.reading import ReadingSettings
from codesum_pipeline.settings.scip import ScipSettings
from codesum_pipeline.settings.storage import StorageSettings
from codesum_pipeline.settings.webhooks import WebhookSettings
from codesum_pipeline.store.layout import HomeLayout

# The mark of what the config of a run may say for that run. Nothing that names a place, an address, a key or a model,
# sends more to one, or lets it cost more.
SETTABLE_BY_RUN: JsonDict = {"settable_by_run": True}


class FilterSettings(BaseModel):
    """Which functions get a placeholder instead of a text of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_lines: int = Field(
        3, ge=0, description="Functions with fewer canonical lines are placeholders.", json_schema_extra=SETTABLE_BY_RUN
    )
    min_complexity: int = Field(
        2,
        ge=0,
        description="Below it, a name that matches a skip pattern is a placeholder.",
        json_schema_extra=SETTABLE_BY_RUN,
    )
    skip_patterns: tuple[str, ...] = Field(
        ("^get_", "^set_", "^__.*__$"), description="Regular expressions for names of trivial functions."
    )

    @field_validator("skip_patterns")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
        return patterns


class EvaluationSettings(BaseModel):
    """Whether and on what each build measures its retrieval."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    enabled: bool = Field(
        False,
        description="Measure each new index before it is published. Off, because asking a repository's own questions "
        "takes longer than a first build of it.",
    )
    questions: Path | None = Field(
        None,
        description="A file of questions, one JSON object a line, relative to the home; default: the repository's own "
        "docstrings (asked in a copy without them) and commit messages.",
    )
    sample: int = Field(200, ge=1, description="Functions, and classes, whose docstrings are asked for.")
    commits: int = Field(300, ge=0, description="Commits whose messages are looked at for questions.")
    gate: bool = Field(
        False, description="Keep the published index where the new one is worse by more than the margin."
    )
    margin: float = Field(
        0.02, ge=0, le=1, description="The gate's margin: the whole 95 % interval of the difference lies below it."
    )

    @model_validator(mode="after")
    def _gate_has_figures(self) -> Self:
        if self.gate and not self.enabled:
            raise ValueError("gate = true needs enabled = true: it compares what was measured")
        return self


class Settings(BaseModel):
    """The settings of one home."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    home: Path = Field(
        description="Where everything is kept; of a home in a bucket, the folder of what this worker uses of it."
    )
    bucket: str | None = Field(
        None, description="Set by the home alone: the URL of a home in a bucket, of which `home` is a local copy."
    )
    home_mode: Literal["0700", "0750", "0755"] = Field(
        "0700",
        description="Who may read what is written there: its owner, also the group, or everybody. Only the owner "
        "writes.",
    )
    repos_file: Path | None = Field(None, description="The registry; default: repos.yaml in the home.")
    offline: bool = Field(False, description="Never fetch over the network: index what the mirrors hold.")
    hash_policy: HashPolicy = Field(
        HashPolicy.CANONICAL,
        description="What content_hash covers: canonical or raw.",
        json_schema_extra=SETTABLE_BY_RUN,
    )
    top_k_callers: int = Field(
        5, ge=0, description="Callers that a document's context samples.", json_schema_extra=SETTABLE_BY_RUN
    )
    top_k_callees: int = Field(
        5, ge=0, description="Callees that a document's context samples.", json_schema_extra=SETTABLE_BY_RUN
    )
    graph_policy: GraphPolicy = Field(
        GraphPolicy.THRESHOLD,
        description="When a changed context alone has a model's text written again: threshold (the next two keys) or "
        "strict (always).",
    )
    context_similarity_threshold: float = Field(
        0.8, ge=0, le=1, description="Contexts whose Jaccard index is higher count as the same."
    )
    max_new_callers: int = Field(
        5, ge=0, description="More new callers, or a new call across modules, make a context another one."
    )
    max_rewrite_fraction: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A model that would write more of an existing index again waits until that is confirmed.",
    )
    summary_cache_dir: Path | None = Field(
        None, description="Where models' texts are kept for all repositories; default: cache in the home."
    )
    prompts_dir: Path | None = Field(
        None,
        description="Where system/ and instruction/ templates are looked for first, relative to the home; "
        "default: prompts in the home.",
    )
    filter: FilterSettings = Field(default_factory=FilterSettings)  # type: ignore[arg-type]
    lang_allowlist: tuple[str, ...] = Field((), description="Languages to index; empty: all.")
    skip_patterns: tuple[str, ...] = Field((), description="More gitignore-style patterns of files to skip.")
    max_file_size_mb: float = Field(1.0, gt=0, description="Larger files are skipped.")
    embedder: str = Field(
        "static",
        description="The embedding model: static, minilm, sentence-transformers/ORG/NAME, a folder, litellm/MODEL or "
        "text-embedding-…; see [operations](operations.md#choosing-an-embedding-model).",
    )
    embedder_api_base: str | None = Field(
        None, description="Where a LiteLLM embedding model is asked; default: at its provider."
    )
    summary_embed_max_tokens: int = Field(512, ge=16, description="Tokens of a document's text that are embedded.")
    extra_lanes: tuple[ExtraLane, ...] = Field(
        (),
        description="Vectors that are made besides those of the lanes `summary` and `fused`: code. Only a search that "
        "names the lane reads them.",
    )
    keep_versions: int = Field(3, ge=2, description="Published versions that are kept.")
    git_timeout_s: float = Field(
        600.0, gt=0, description="How long one git command may take.", json_schema_extra=SETTABLE_BY_RUN
    )
    lease_wait_s: float = Field(
        600.0,
        ge=0,
        description="How long a build waits for another of the same repository.",
        json_schema_extra=SETTABLE_BY_RUN,
    )
    storage: StorageSettings = Field(default_factory=StorageSettings)  # type: ignore[arg-type]
    planner: PlannerSettings = Field(default_factory=PlannerSettings)  # type: ignore[arg-type]
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)  # type: ignore[arg-type]
    llm: LlmSettings = Field(default_factory=LlmSettings)  # type: ignore[arg-type]
    ask: AskSettings = Field(default_factory=AskSettings)  # type: ignore[arg-type]
    compaction: CompactionSettings = Field(default_factory=CompactionSettings)  # type: ignore[arg-type]
    digests: DigestSettings = Field(default_factory=DigestSettings)
    scip: ScipSettings = Field(default_factory=ScipSettings)  # type: ignore[arg-type]
    maintenance: MaintenanceSettings = Field(default_factory=MaintenanceSettings)  # type: ignore[arg-type]
    audit: AuditSettings = Field(default_factory=AuditSettings)
    delivery: DeliveryOptions = Field(default_factory=DeliveryOptions)  # type: ignore[arg-type]
    checks: CheckSettings = Field(default_factory=CheckSettings)  # type: ignore[arg-type]
    alerts: AlertSettings = Field(default_factory=AlertSettings)  # type: ignore[arg-type]
    engine: EngineSettings = Field(default_factory=EngineSettings)  # type: ignore[arg-type]
    reading: ReadingSettings = Field(default_factory=ReadingSettings)
    hosts: HostSettings = Field(default_factory=HostSettings)  # type: ignore[arg-type]
    webhooks: WebhookSettings = Field(default_factory=WebhookSettings)  # type: ignore[arg-type]

    _holds_no_secret = field_validator("embedder_api_base")(address_without_secret)

    @model_validator(mode="after")
    def _alert_channels_exist(self) -> Self:
        for name in self.alerts.channels:
            if problem := unknown_channel(name, self.delivery):
                raise ValueError(f"alerts.channels: {problem}")
        return self

    @property
    def layout(self) -> HomeLayout:
        """The paths of the home."""
        return HomeLayout(self.home, self.storage.place(self.bucket))

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

    @property
    def options(self) -> Options:
        """The settings that shape an index, as the stages take them."""
        return Options(
            hash_policy=self.hash_policy,
            scan=ScanOptions(
                skip_patterns=self.skip_patterns,
                lang_allowlist=self.lang_allowlist,
                max_file_size_mb=self.max_file_size_mb,
                offline=self.offline,
                git_timeout_s=self.git_timeout_s,
            ),
            filter=FilterOptions(
                min_lines=self.filter.min_lines,
                min_complexity=self.filter.min_complexity,
                skip_patterns=self.filter.skip_patterns,
            ),
            graph=GraphOptions(
                top_k_callers=self.top_k_callers,
                top_k_callees=self.top_k_callees,
                policy=self.graph_policy,
                similarity_threshold=self.context_similarity_threshold,
                max_new_callers=self.max_new_callers,
            ),
            index=IndexOptions(
                embedder=self.embedder,
                embedder_api_base=self.embedder_api_base,
                summary_embed_max_tokens=self.summary_embed_max_tokens,
                extra_lanes=tuple(sorted({*self.extra_lanes})),
                keep_versions=self.keep_versions,
            ),
            evaluation=EvaluationOptions(
                enabled=self.evaluation.enabled,
                questions=str(self.home / self.evaluation.questions) if self.evaluation.questions else "",
                sample=self.evaluation.sample,
                commits=self.evaluation.commits,
                gate=self.evaluation.gate,
                margin=self.evaluation.margin,
            ),
            llm=self.llm.options(
                home=self.home,
                cache=self.home / (self.summary_cache_dir or "cache"),
                prompts=self.home / (self.prompts_dir or "prompts"),
                max_rewrite_fraction=self.max_rewrite_fraction,
            ),
            ask=self.ask.options(),
            compaction=self.compaction.options(home=self.home),
            digests=self.digests.options(home=self.home),
            scip=self.scip.options(),
        )
