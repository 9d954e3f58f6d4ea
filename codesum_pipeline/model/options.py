"""What each stage can be told: small frozen values that the settings fill."""

from dataclasses import dataclass, field
from enum import StrEnum


class HashPolicy(StrEnum):
    """What `content_hash` covers: the canonical source (sha1), or the raw span (sha256)."""

    CANONICAL = "canonical"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Which files are indexed. Empty `lang_allowlist` means every language."""

    skip_patterns: tuple[str, ...] = ()
    lang_allowlist: tuple[str, ...] = ()
    max_file_size_mb: float = 1.0
    offline: bool = False
    git_timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """Which functions are too trivial for a text of their own."""

    min_lines: int = 3
    min_complexity: int = 2
    skip_patterns: tuple[str, ...] = ("^get_", "^set_", "^__.*__$")


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How many neighbours a document's context samples."""

    top_k_callers: int = 5
    top_k_callees: int = 5


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Embedding and publishing."""

    embedder: str = "static"
    embedder_api_base: str | None = None
    summary_embed_max_tokens: int = 512
    keep_versions: int = 3


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Whether a build measures its retrieval, on which questions, and whether a worse index is held back.

    `questions` is a file of them; empty: the repository's own.
    """

    enabled: bool = False
    questions: str = ""
    sample: int = 200
    commits: int = 300
    gate: bool = False
    margin: float = 0.02


@dataclass(frozen=True, slots=True)
class Options:
    """All stages' options of one build."""

    hash_policy: HashPolicy = HashPolicy.CANONICAL
    scan: ScanOptions = field(default_factory=ScanOptions)
    filter: FilterOptions = field(default_factory=FilterOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)
    index: IndexOptions = field(default_factory=IndexOptions)
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)
