"""The settings of the stages of a build."""

import re
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import field_validator, model_validator

from codesum_pipeline.foundation.data_model.patterns import any_of
from codesum_pipeline.foundation.settings.marks import BELOW_HOME, BY_RUN, NOTHING, SettingsGroup, Shapes, setting

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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

    offline: bool = setting(
        False, "codesum fetches nothing over the network and indexes what the mirrors hold.", Shapes("scan")
    )
    lang_allowlist: tuple[str, ...] = setting((), "Only these languages are indexed; empty: all.", Shapes("scan"))
    skip_patterns: tuple[str, ...] = setting(
        (), "Files that match these patterns, written as in .gitignore, are skipped, too.", Shapes("scan")
    )
    encodings: tuple[str, ...] = setting(
        (),
        'The encodings of files, where you know them, each as "PATTERN = ENCODING". Patterns are written as in '
        ".gitignore, and the last that matches counts.",
        Shapes("scan"),
    )
    max_file_size_mb: float = setting(
        1.0,
        "Files of more than N MB are skipped. Of a notebook, only the text of its cells counts.",
        Shapes("scan"),
        gt=0,
    )
    max_steps_per_byte: int = setting(
        STEPS_PER_BYTE,
        "A file that takes its parser more than N steps for each byte is indexed as plain text and counted as failed.",
        Shapes("scan"),
        gt=0,
    )
    worker_memory_mb: int = setting(
        WORKER_MEMORY_MB,
        "A file, and each batch that a worker process gets, may take N MB of memory; a file that needs more is "
        "counted as failed, and the next build tries it again.",
        NOTHING,
        ge=64,
    )
    worker_processor_s: float = setting(
        WORKER_PROCESSOR_S,
        "A file, and each batch that a worker process gets, may take N seconds of processor time; a file that takes "
        "longer is counted as failed, and the next build tries it again.",
        NOTHING,
        ge=1,
    )
    git_timeout_s: float = setting(600.0, "A git command is ended after N seconds.", NOTHING, BY_RUN, gt=0)


class ContextSettings(SettingsGroup):
    """How many neighbours a document's context samples, and which change of them has a model's text written again.

    Under `GraphPolicy.THRESHOLD`: where the Jaccard index of the context that a text was written with and today's is at
    most `context_similarity_threshold`, and a cross-module call or more than `max_new_callers` callers came.
    """

    top_k_callers: int = setting(5, "A document's context samples N callers.", Shapes("graph"), BY_RUN, ge=0)
    top_k_callees: int = setting(5, "A document's context samples N callees.", Shapes("graph"), BY_RUN, ge=0)
    graph_policy: GraphPolicy = setting(
        GraphPolicy.THRESHOLD,
        "When a changed context makes a model write a text again: threshold (as the next two keys say) "
        "or strict (always).",
        Shapes("graph", "policy", by_model=True),
    )
    context_similarity_threshold: float = setting(
        0.8,
        "A context counts as unchanged if its Jaccard similarity to the old one is above this.",
        Shapes("graph", "similarity_threshold", by_model=True),
        ge=0,
        le=1,
    )
    max_new_callers: int = setting(
        5,
        "A context has changed if it has more than N new callers, or a new call to another module.",
        Shapes("graph", by_model=True),
        ge=0,
    )


class FilterSettings(SettingsGroup):
    """Which functions get a placeholder instead of a text of their own."""

    min_lines: int = setting(
        3, "A function of fewer than N canonical lines gets a placeholder.", Shapes("filter"), BY_RUN, ge=0
    )
    min_complexity: int = setting(
        2,
        "A function of complexity below N gets a placeholder if its name matches a skip pattern.",
        Shapes("filter"),
        BY_RUN,
        ge=0,
    )
    skip_patterns: tuple[str, ...] = setting(
        ("^get_", "^set_", "^__.*__$"),
        "Regular expressions, as RE2 reads them, for the names of trivial functions.",
        Shapes("filter"),
    )

    @field_validator("skip_patterns")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        any_of(patterns)
        return patterns


class EvaluationSettings(SettingsGroup):
    """Whether a build measures its retrieval, on which questions, and whether a worse index is held back."""

    enabled: bool = setting(
        False,
        "The retrieval of each new index is measured before it is published, which takes longer than a first build.",
    )
    questions: Path | None = setting(
        None,
        "This file has the questions, one JSON object a line; relative to the home. Default: the repository's own "
        "docstrings (asked in a copy without them) and commit messages.",
        BELOW_HOME,
    )
    # The docstrings of N functions and N classes are asked as questions.
    sample: ClassVar[int] = 200
    # The messages of the last N commits are asked as questions.
    commits: ClassVar[int] = 300
    gate: bool = setting(False, "A new index that is worse by more than the margin is not published.")
    margin: float = setting(
        0.02, "A new index is worse if the whole 95 % interval of the difference lies below minus N.", ge=0, le=1
    )

    @model_validator(mode="after")
    def _gate_has_figures(self) -> Self:
        if self.gate and not self.enabled:
            raise ValueError("gate = true needs enabled = true: it compares what was measured")
        return self


class ScipSettings(SettingsGroup):
    """How a `scip_command` of repos.yaml is run: [a compiler's index](scip.md)."""

    sandbox: Literal["bubblewrap", "none"] = setting(
        "bubblewrap",
        "How a command is confined: bubblewrap (it sees only its checkout and the system's programs) or "
        "none (not at all).",
    )
    network: bool = setting(False, "A command in the sandbox may use the network.")
    timeout_s: float = setting(1800.0, "A command is ended after N seconds.", gt=0)
    max_memory_mb: int = setting(4096, "A command and its child processes may use N MB of memory together.", ge=16)
    max_index_mb: int = setting(
        4096,
        "All indexes of a repository may have N MB together, uncompressed; so may each file that a command writes.",
        ge=1,
    )
    environment: tuple[str, ...] = setting(
        (), "A command also gets these environment variables, besides PATH and the like."
    )
    read_only: tuple[str, ...] = setting((), "A command may also read these folders, such as that of the indexer.")

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
