"""The settings of the stages of a build."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import field_validator, model_validator

from codesum_pipeline.foundation.data_model.patterns import any_of
from codesum_pipeline.foundation.settings.marks import (
    BELOW_HOME,
    BY_RUN,
    NOTHING,
    SettingsGroup,
    Shapes,
    setting,
    spelled,
)

_Variable = Annotated[
    str, spelled(r"[A-Za-z_][A-Za-z0-9_]*", "is not the name of an environment variable: give the name alone")
]
_Folder = Annotated[str, spelled(r"(?s)(?!.*/\.\.(/|$))/+[^/].*", "is not an absolute path of a folder below /")]


class GraphPolicy(StrEnum):
    """When a changed context alone has a model's text written again: past the thresholds, or on any change."""

    THRESHOLD = "threshold"
    STRICT = "strict"


# Several times what the most laborious of real files take: `benchmarks/results/file_work.md`.
STEPS_PER_BYTE = 20
# Five times what the largest of many repositories' files take: 138 MB, and 3.2 s of one core.
WORKER_MEMORY_MB = 768
WORKER_PROCESSOR_S = 15.0


class ScanSettings(SettingsGroup):
    """Which files are indexed, and how much work one may be."""

    offline: bool = setting(False, Shapes("scan"))
    lang_allowlist: tuple[str, ...] = setting((), Shapes("scan"))
    skip_patterns: tuple[str, ...] = setting((), Shapes("scan"))
    encodings: tuple[str, ...] = setting((), Shapes("scan"))
    max_file_size_mb: float = setting(1.0, Shapes("scan"), gt=0)
    max_steps_per_byte: int = setting(STEPS_PER_BYTE, Shapes("scan"), gt=0)
    worker_memory_mb: int = setting(WORKER_MEMORY_MB, NOTHING, ge=64)
    worker_processor_s: float = setting(WORKER_PROCESSOR_S, NOTHING, ge=1)
    git_timeout_s: float = setting(600.0, NOTHING, BY_RUN, gt=0)


class ContextSettings(SettingsGroup):
    """How many neighbours a document's context samples, and which change of them has a model's text written again.

    Under `GraphPolicy.THRESHOLD`: where the Jaccard index of the context that a text was written with and today's is at
    most `context_similarity_threshold`, and a cross-module call or more than `max_new_callers` callers came.
    """

    top_k_callers: int = setting(5, Shapes("graph"), BY_RUN, ge=0)
    top_k_callees: int = setting(5, Shapes("graph"), BY_RUN, ge=0)
    graph_policy: GraphPolicy = setting(GraphPolicy.THRESHOLD, Shapes("graph", "policy", by_model=True))
    context_similarity_threshold: float = setting(
        0.8, Shapes("graph", "similarity_threshold", by_model=True), ge=0, le=1
    )
    max_new_callers: int = setting(5, Shapes("graph", by_model=True), ge=0)


class FilterSettings(SettingsGroup):
    """Which functions get a placeholder instead of a text of their own."""

    min_lines: int = setting(3, Shapes("filter"), BY_RUN, ge=0)
    min_complexity: int = setting(2, Shapes("filter"), BY_RUN, ge=0)
    skip_patterns: tuple[str, ...] = setting(("^get_", "^set_", "^__.*__$"), Shapes("filter"))

    @field_validator("skip_patterns")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        any_of(patterns)
        return patterns


class EvaluationSettings(SettingsGroup):
    """Whether a build measures its retrieval, on which questions, and whether a worse index is held back."""

    enabled: bool = False
    questions: Path | None = setting(None, BELOW_HOME)
    # The docstrings of N functions and N classes are asked as questions.
    sample: ClassVar[int] = 200
    # The messages of the last N commits are asked as questions.
    commits: ClassVar[int] = 300
    gate: bool = False
    margin: float = setting(0.02, ge=0, le=1)

    @model_validator(mode="after")
    def _gate_has_figures(self) -> Self:
        if self.gate and not self.enabled:
            raise ValueError("gate = true needs enabled = true: it compares what was measured")
        return self


class ScipSettings(SettingsGroup):
    """How a `scip_command` of repos.yaml is run: [a compiler's index](scip.md)."""

    sandbox: Literal["bubblewrap", "none"] = "bubblewrap"
    network: bool = False
    timeout_s: float = setting(1800.0, gt=0)
    max_memory_mb: int = setting(4096, ge=16)
    max_index_mb: int = setting(4096, ge=1)
    environment: tuple[_Variable, ...] = ()
    read_only: tuple[_Folder, ...] = ()
