"""What was written about a function, class, file or module; `foundation/store/columns.py` describes the columns."""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import astuple

from codesum_pipeline.foundation.data_model.hashing import hash_of


class Level(StrEnum):
    FUNCTION = "function"
    CLASS = "class"
    FILE = "file"
    MODULE = "module"


LEVELS = (Level.FUNCTION, Level.CLASS, Level.FILE, Level.MODULE)


# What has more lines is long: a hit in it names its passage, and it is read as an outline.
LONG_LINES = 60


def is_long(start_line: int | None, end_line: int | None) -> bool:
    """Whether something has more than `LONG_LINES` lines."""
    return start_line is not None and end_line is not None and end_line - start_line >= LONG_LINES


class WrittenBy(StrEnum):
    LLM = "llm"
    EXTRACTIVE = "extractive"
    PLACEHOLDER = "placeholder"


class Gate(StrEnum):
    """Why no LLM wrote a document's text: the first gate that stopped it."""

    PLACEHOLDER = "placeholder"
    OFFLINE = "offline"
    DISABLED = "disabled"
    TRUST = "trust"
    TESTS = "tests"
    DOCUMENTED = "documented"
    UNNAMED = "unnamed"
    CAP = "cap"
    CONFIRM = "confirm"
    NO_CREDENTIALS = "no-credentials"
    FAILED = "failed"


class Cause(StrEnum):
    """Why a text was last written."""

    NEW = "new"
    CONTENT = "content"
    GRAPH = "graph"
    CHILD = "child"
    PROMPT = "prompt"
    MODEL = "model"
    SETTINGS = "settings"
    UPGRADED = "upgraded"
    DOWNGRADED = "downgraded"
    RESTORED = "restored"
    FORCED = "forced"


class PurposeSource(StrEnum):
    """Where a summary's first statement came from."""

    DOCSTRING = "docstring"
    COMMENT = "comment"
    MESSAGE = "message"
    NAME = "name"
    BODY = "body"
    CHILDREN = "children"
    TEXT = "text"
    TEMPLATE = "template"
    MODEL = "model"


class CompactionRecord(Struct, frozen=True):
    """One text in place of many rows, with the evidence for it.

    `attestation` is the signed file as it was, which names the rows; `signature` is its signature. `claim` is the
    model's text, as the answer to `request_hash`, under the name `model_name_echoed`.
    """

    job_id: str
    attestation: str
    signature: str
    claim: str
    request_hash: str
    model_name_echoed: str
    cost_usd: float
    compacted_at: str


class InputSpec(Struct, frozen=True):
    """One parameter, described."""

    name: str
    type: str
    description: str


class Returns(Struct, frozen=True):
    """The value that a function returns."""

    type: str
    type_summary: str
    details: str


class Citation(Struct, frozen=True):
    """The lines that support a field: canonical ones in a written text, real ones in a document."""

    field: str
    start_line: int
    end_line: int


class WrittenText(Struct, frozen=True):
    """The fields that a writer writes, and nothing else. `text_hash` is a hash of all of them."""

    summary: str
    business_intent: str
    keywords: tuple[str, ...]
    returns: Returns | None = None
    inputs: tuple[InputSpec, ...] = ()
    side_effects: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()
    responsibilities: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()

    @property
    def text_hash(self) -> str:
        """sha1 over the canonical JSON of the fields."""
        texts = [self.summary, self.business_intent, self.keywords, self.returns and astuple(self.returns)]
        more = [self.side_effects, self.invariants, self.responsibilities]
        return hash_of([*texts, [*map(astuple, self.inputs)], *more, [*map(astuple, self.citations)]])

    @property
    def shown_hash(self) -> str:
        """sha1 over what the writer of a parent is shown of the text: its summary and keywords."""
        return hash_of([self.summary, self.keywords])


class ChildPair(Struct, frozen=True):
    """One child as it is kept with its parent's text: the name relative to the parent, and a hash of the child's text:
    of an extractive text what the parent's writer is shown, of any other the whole. Its words are not kept.

    With a function's text it is what holds the function, and the hash of the author's words about that.
    """

    id: str
    name: str
    text_hash: str


class ContextNeighbour(Struct, frozen=True):
    """A caller or callee as a model was shown it; its `content_hash` stays where it only moved or was renamed."""

    id: str
    content_hash: str


class TextContext(Struct, frozen=True):
    """The context with which a model wrote a text. `callers` and `cross_module` are the ids of all callers and of all
    neighbours in other modules at that time, so that later ones can be recognised.

    `around` are the function's class and file and its callees, each with a hash of what was shown of it; None in
    texts of earlier versions.
    """

    called_by: tuple[ContextNeighbour, ...]
    calls: tuple[ContextNeighbour, ...]
    callers: tuple[str, ...]
    cross_module: tuple[str, ...]
    around: tuple[ContextNeighbour, ...] | None = None


class TextRow(Struct, frozen=True):
    """A written text with what it was written from, which gate stopped a model, and its provenance.

    It is what a level keeps from build to build. A `SummaryDocument` has the same words, and all that the present
    snapshot says of the document besides.

    `gate` and `failure` are those of the last build. From `cause` to `cost_usd` it is provenance, which changes only
    when the text does. `shown_hash` is that of an extractive text; None in rows of earlier versions.
    """

    id: str
    level: Level
    writer: str
    written_by: WrittenBy
    model: str | None
    prompt_version: str | None
    parameters: str | None
    written_with: TextContext | None
    gate: Gate | None
    failure: str | None
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str
    text: WrittenText
    text_hash: str
    purpose_source: PurposeSource
    cause: Cause
    cause_ids: tuple[str, ...]
    run_id: str
    commit: str
    written_at: str
    cost_usd: float
    shown_hash: str | None = None


class SummaryDocument(Struct, frozen=True):
    """One document of the index, without provenance.

    It depends on its own inputs only, never on statistics of the whole
    repository (such as PageRank): one edit must not change every row.

    `purpose_source` says where the first sentence of `summary` comes from; None in tables of earlier versions.
    """

    id: str
    type: Level
    file_path: str
    module_path: str
    qualified_name: str | None
    summary: str
    business_intent: str
    keywords: tuple[str, ...]
    dependencies: tuple[str, ...]
    called_by: tuple[str, ...]
    calls: tuple[str, ...]
    content_hash: str
    graph_hash: str
    summary_hash: str
    text_hash: str
    language: str
    is_placeholder: bool
    start_line: int | None
    end_line: int | None
    signature: str | None
    signature_summary: str | None
    returns: Returns | None
    inputs: tuple[InputSpec, ...]
    side_effects: tuple[str, ...]
    invariants: tuple[str, ...]
    responsibilities: tuple[str, ...]
    citations: tuple[Citation, ...]
    written_by: WrittenBy
    model: str | None
    prompt_version: str | None
    gate: Gate | None
    parent_id: str | None
    is_test: bool
    is_vendored: bool
    purpose_source: PurposeSource | None = None


class HistoryEvent(StrEnum):
    """`SAME_TEXT`: the document was written again for the given cause, to the same words.

    `COMPACTED`: no change of a document, but a row that replaces old rows.
    """

    WRITTEN = "written"
    REMOVED = "removed"
    SAME_TEXT = "looked at, same text"
    COMPACTED = "compacted"


class HistoryRow(Struct, frozen=True):
    """One change of one document's text, or a rewrite to the same words: when, why, in which run, at which commit.

    Append-only, except that an attested `compaction` may replace old rows: its row has the job's id, and the level of
    the repository.
    """

    sequence: int
    id: str
    level: Level
    event: HistoryEvent
    cause: Cause | None
    cause_ids: tuple[str, ...]
    writer: str
    written_by: WrittenBy
    summary_hash: str
    text_hash: str
    run_id: str
    commit: str
    written_at: str
    cost_usd: float
    compaction: CompactionRecord | None = None


class PlanAction(StrEnum):
    """`maybe` occurs above the function level: whether a text is written is known once its children's texts are."""

    WRITE = "write"
    MAYBE = "maybe"
    KEEP = "keep"
    REMOVE = "remove"


class PlanRow(Struct, frozen=True):
    """What a build will do with one document, and why.

    `writer` and `summary_hash` are known where the text's whole input is: at the function level, and for files that no
    parser reads. `gate` and the prediction are as far as these are known before.
    """

    id: str
    level: Level
    action: PlanAction
    cause: Cause | None
    cause_ids: tuple[str, ...]
    writer: str | None
    summary_hash: str | None
    context_changed: bool
    gate: Gate | None = None
    predicted_input_tokens: int = 0
    predicted_output_tokens: int = 0
    predicted_usd: float = 0.0
    is_documented: bool = False
    prompt_tokens_upper: int | None = None
