"""The call, import and inheritance graph; compilers' indexes, and what they say about a repository's files."""

from enum import StrEnum

from msgspec import Struct


class EdgeKind(StrEnum):
    CALL = "call"
    IMPORT = "import"
    INHERIT = "inherit"
    # A definition is used as a value or a type, or a constant is: it says who uses it, and nothing else counts it.
    REFERENCE = "reference"


class Edge(Struct, frozen=True):
    """`src_id` uses `dst`: a document id or, where `is_external`, a dotted name outside the repository.

    `confidence` is 0 to 1; `reason` says how the target was found.
    """

    src_id: str
    dst: str
    is_external: bool
    kind: EdgeKind
    count: int
    confidence: float
    reason: str
    is_cross_module: bool


class CallRow(Struct, frozen=True):
    """One call as the syntax has it: the `number`-th of its file."""

    file_path: str
    number: int
    caller_id: str
    callee: str
    outcome: str
    target: str | None
    reason: str | None


class AliasKind(StrEnum):
    """How a document came by a name."""

    EXPORT = "export"
    ROUTE = "route"
    COMMAND = "command"
    TASK = "task"
    EVENT = "event"
    KEY = "key"


class Alias(Struct, frozen=True):
    """A file re-exports the document `target` as `name`, or says that it is also called that: a route, a command."""

    file_path: str
    name: str
    target: str
    kind: AliasKind = AliasKind.EXPORT


class GraphStats(Struct, frozen=True):
    """One symbol's or file's place in the graph; PageRank sums to 1 over a repository."""

    id: str
    in_degree: int
    out_degree: int
    pagerank: float
    component: int
    community: int


class Context(Struct, frozen=True):
    """The sampled neighbours of a document, their hash, and all it depends on."""

    id: str
    called_by: tuple[str, ...]
    calls: tuple[str, ...]
    graph_hash: str
    dependencies: tuple[str, ...]


class IndexFile(Struct, frozen=True):
    """An index that was found, in the order of precedence; `foundation/store/columns.toml` describes the columns.

    `sha256` is empty, and `problem` says why, where the index could not be taken in.
    """

    position: int
    origin: str
    root: str
    signature: str
    sha256: str
    size: int
    problem: str


class CompilerFile(Struct, frozen=True):
    """What an index says about one file, or why it counts for nothing there (`problem`).

    `documents` is the hash of what the indexes hold about the file, `facts` the JSON that the graph reads; see
    `parsing.compiled`.
    """

    file_path: str
    documents: str
    tool: str
    problem: str
    occurrences: int
    references: int
    misnamed: tuple[str, ...]
    facts: str

    @property
    def counts(self) -> bool:
        """Whether the file is what the index was made from."""
        return not self.problem
