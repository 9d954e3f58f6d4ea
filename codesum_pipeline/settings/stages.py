"""What the stages of a build are told."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from codesum_pipeline.settings.marks import BELOW_HOME, BY_RUN, NOTHING, SettingsGroup, Shapes

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class GraphPolicy(StrEnum):
    """When a changed context alone has a model's text written again: past the thresholds, or on any change."""

    THRESHOLD = "threshold"
    STRICT = "strict"


class ExtraLane(StrEnum):
    """Vectors that no search reads unless it names their lane."""

    CODE = "code"


class ScanSettings(SettingsGroup):
    """Which files are indexed."""

    offline: Annotated[bool, Shapes("scan")] = Field(
        default=False, description="codesum fetches nothing over the network and indexes what the mirrors hold."
    )
    lang_allowlist: Annotated[tuple[str, ...], Shapes("scan")] = Field(
        default=(), description="Only these languages are indexed; empty: all."
    )
    skip_patterns: Annotated[tuple[str, ...], Shapes("scan")] = Field(
        default=(), description="Files that match these further patterns, written as in .gitignore, are skipped."
    )
    max_file_size_mb: Annotated[float, Shapes("scan")] = Field(
        default=1.0, gt=0, description="Larger files are skipped."
    )
    git_timeout_s: Annotated[float, NOTHING, BY_RUN] = Field(
        default=600.0, gt=0, description="A git command is ended after so many seconds."
    )


class ContextSettings(SettingsGroup):
    """How many neighbours a document's context samples, and which change of them has a model's text written again.

    Under `GraphPolicy.THRESHOLD`: where the Jaccard index of the context that a text was written with and today's is at
    most `context_similarity_threshold`, and a cross-module call or more than `max_new_callers` callers came.
    """

    top_k_callers: Annotated[int, Shapes("graph"), BY_RUN] = Field(
        default=5, ge=0, description="A document's context samples so many callers."
    )
    top_k_callees: Annotated[int, Shapes("graph"), BY_RUN] = Field(
        default=5, ge=0, description="A document's context samples so many callees."
    )
    graph_policy: Annotated[GraphPolicy, Shapes("graph", "policy", by_model=True)] = Field(
        default=GraphPolicy.THRESHOLD,
        description="When a model writes a text again because its context changed: threshold (as the next two keys "
        "say) or strict (always).",
    )
    context_similarity_threshold: Annotated[float, Shapes("graph", "similarity_threshold", by_model=True)] = Field(
        default=0.8, ge=0, le=1, description="Two contexts with a higher Jaccard index count as the same."
    )
    max_new_callers: Annotated[int, Shapes("graph", by_model=True)] = Field(
        default=5, ge=0, description="A context is another one with more new callers, or a new call across modules."
    )


class FilterSettings(SettingsGroup):
    """Which functions get a placeholder instead of a text of their own."""

    min_lines: Annotated[int, Shapes("filter"), BY_RUN] = Field(
        default=3, ge=0, description="A function with fewer canonical lines gets a placeholder."
    )
    min_complexity: Annotated[int, Shapes("filter"), BY_RUN] = Field(
        default=2, ge=0, description="A function of less complexity gets one if its name matches a skip pattern."
    )
    skip_patterns: Annotated[tuple[str, ...], Shapes("filter")] = Field(
        default=("^get_", "^set_", "^__.*__$"), description="Regular expressions match the names of trivial functions."
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


class EvaluationSettings(SettingsGroup):
    """Whether a build measures its retrieval, on which questions, and whether a worse index is held back."""

    enabled: bool = Field(
        default=False,
        description="Each new index is measured before it is published. Off, because the repository's own questions "
        "take longer than its first build.",
    )
    questions: Annotated[Path | None, BELOW_HOME] = Field(
        default=None,
        description="This file has the questions, one JSON object a line; relative to the home. Default: the "
        "repository's own docstrings (asked in a copy without them) and commit messages.",
    )
    sample: int = Field(default=200, ge=1, description="So many functions, and classes, are asked for by docstring.")
    commits: int = Field(default=300, ge=0, description="The messages of so many commits are tried as questions.")
    gate: bool = Field(
        default=False, description="The published index stays where the new one is worse by more than the margin."
    )
    margin: float = Field(
        default=0.02, ge=0, le=1, description="An index is worse if the whole 95 % interval lies below this difference."
    )

    @model_validator(mode="after")
    def _gate_has_figures(self) -> Self:
        if self.gate and not self.enabled:
            raise ValueError("gate = true needs enabled = true: it compares what was measured")
        return self


class ScipSettings(SettingsGroup):
    """How a `scip_command` of repos.yaml is run: [a compiler's index](scip.md)."""

    sandbox: Literal["bubblewrap", "none"] = Field(
        default="bubblewrap",
        description="A `scip_command` runs in bubblewrap (it sees its checkout and the system's programs alone) or in "
        "none (it may do whatever the user who builds may do).",
    )
    network: bool = Field(default=False, description="A command in the sandbox may use the network.")
    timeout_s: float = Field(default=1800.0, gt=0, description="A command is ended after so many seconds.")
    max_memory_mb: int = Field(
        default=4096, ge=16, description="A command, with all that it starts, may have so much memory at one time."
    )
    max_index_mb: int = Field(
        default=4096,
        ge=1,
        description="All indexes of a repository together may be so large, uncompressed, and so may each file that a "
        "command writes.",
    )
    environment: tuple[str, ...] = Field(
        default=(), description="A command gets the environment variables of these names, PATH and the like."
    )
    read_only: tuple[str, ...] = Field(
        default=(), description="A command may read these folders, too, such as the one that holds an indexer."
    )

    @field_validator("environment")
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name[:60]!r} is not the name of an environment variable: give the name alone")
        return names

    @field_validator("read_only")
    @classmethod
    def _are_folders(cls, folders: tuple[str, ...]) -> tuple[str, ...]:
        for folder in folders:
            if not folder.startswith("/") or not folder.strip("/") or ".." in folder.split("/"):
                raise ValueError(f"{folder!r} is not an absolute path of a folder below /")
        return folders
