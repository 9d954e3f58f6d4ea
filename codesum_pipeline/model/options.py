"""What each stage can be told: small frozen values that the settings fill."""

from dataclasses import dataclass, field
from enum import StrEnum


class HashPolicy(StrEnum):
    """What `content_hash` covers: the canonical source (sha1), or the raw span (sha256)."""

    CANONICAL = "canonical"
    RAW = "raw"


class GraphPolicy(StrEnum):
    """When a changed context alone has a model's text written again: past the thresholds, or on any change."""

    THRESHOLD = "threshold"
    STRICT = "strict"


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
    """How many neighbours a document's context samples, and which change of them has a model's text written again.

    Under `GraphPolicy.THRESHOLD`: where the Jaccard index of the context that a
    text was written with and today's is at most `similarity_threshold`, and a
    cross-module call or more than `max_new_callers` callers came.
    """

    top_k_callers: int = 5
    top_k_callees: int = 5
    policy: GraphPolicy = GraphPolicy.THRESHOLD
    similarity_threshold: float = 0.8
    max_new_callers: int = 5


class ExtraLane(StrEnum):
    """Vectors that no search reads unless it names their lane."""

    CODE = "code"


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Embedding and publishing. Vectors of `summary` and `fused` are always made, those of `extra_lanes` besides."""

    embedder: str = "static"
    embedder_api_base: str | None = None
    summary_embed_max_tokens: int = 512
    extra_lanes: tuple[ExtraLane, ...] = ()
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


class Trust(StrEnum):
    """Of which symbols a model may write: of all, or of those that a SCIP indexer's edges touch."""

    OFF = "off"
    SCIP = "scip"


class BackendName(StrEnum):
    """Who answers: nobody, a recording, a provider, or a provider whose answers are recorded."""

    NOOP = "noop"
    REPLAY = "replay"
    LITELLM = "litellm"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars per million tokens of a model that LiteLLM's list lacks, or has otherwise."""

    model: str
    input: float
    output: float
    cached_input: float | None = None


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """Texts by a language model: whether, by which, and at most at what cost.

    The first group shapes texts. `echoed_names` are pairs of the name that a
    provider echoes and the pinned name that it stands for. An empty
    `allowlist` allows `model` and `fallback_models`. A rate of None is not
    limited here, nor is `max_prompt_chars`, but by the models themselves.
    """

    enabled: bool = False
    model: str = ""
    language: str = "English"
    max_tokens: int = 2048
    max_prompt_chars: int | None = None
    max_attempts: int = 3
    trust: Trust = Trust.OFF
    tests: bool = False
    documented: bool = False
    form: str = "auto"
    fallback_models: tuple[str, ...] = ()
    prompts_folder: str = ""

    backend: BackendName = BackendName.LITELLM
    recording: str = ""
    cache_folder: str = ""
    max_rewrite_fraction: float = 0.5
    api_base: str | None = None
    api_key_env: str | None = None
    allowlist: tuple[str, ...] = ()
    echoed_names: tuple[tuple[str, str], ...] = ()
    prices: tuple[ModelPrice, ...] = ()
    max_summaries_per_run: int = 0
    max_cost_usd_per_run: float | None = None
    max_cost_usd_per_day: float = 0.0
    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout_s: float = 60.0
    max_retries: int = 4

    @property
    def asks_nobody(self) -> bool:
        """Whether nothing is sent and nothing paid: the caps and being offline do not apply."""
        return self.backend in (BackendName.NOOP, BackendName.REPLAY)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Questions that a model answers with tools: how long it may go on, and at most at what cost."""

    max_cost_usd_per_question: float = 0.5
    max_cost_usd_per_day: float = 5.0
    max_steps: int = 50
    max_tokens: int = 4096
    primary_document: str = "README"
    synthesis_timeout_s: float = 90.0


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    """Old rows that a model compresses: who may attest that, and at most at what cost."""

    allowed_signers: str = ""
    max_cost_usd_per_job: float = 0.5
    max_cost_usd_per_day: float = 5.0


@dataclass(frozen=True, slots=True)
class DigestOptions:
    """Digests: where the standing questions are, and at most at what cost a model writes about them.

    With `grouped`, near-duplicate changes are one item in daily and weekly digests, too; with each build they always
    are.
    """

    intents_file: str = ""
    grouped: bool = True
    max_tokens: int = 4096
    max_cost_usd_per_digest: float = 0.25
    max_cost_usd_per_day: float = 1.0


@dataclass(frozen=True, slots=True)
class ScipOptions:
    """Compilers' indexes: how large all may be together, and what the command that makes one runs in, sees and may use.

    `environment` are names of the caller's variables, `read_only` folders besides the system's.
    """

    sandbox: str = "bubblewrap"
    network: bool = False
    timeout_s: float = 1800.0
    max_memory_mb: int = 4096
    max_index_mb: int = 4096
    environment: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """All stages' options of one build."""

    hash_policy: HashPolicy = HashPolicy.CANONICAL
    scan: ScanOptions = field(default_factory=ScanOptions)
    filter: FilterOptions = field(default_factory=FilterOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)
    index: IndexOptions = field(default_factory=IndexOptions)
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)
    llm: LlmOptions = field(default_factory=LlmOptions)
    ask: AskOptions = field(default_factory=AskOptions)
    compaction: CompactionOptions = field(default_factory=CompactionOptions)
    digests: DigestOptions = field(default_factory=DigestOptions)
    scip: ScipOptions = field(default_factory=ScipOptions)
