"""What a parser finds in a file: its symbols, and the facts a writer may state about them."""

from enum import StrEnum

from msgspec import Struct


class SymbolType(StrEnum):
    FUNCTION = "function"
    CLASS = "class"


class NameKind(StrEnum):
    """What gives code a name that is no definition's: how it is started, a test's words, or a key in a table. A prefix
    and a group are parts of the names in their blocks."""

    ROUTE = "route"
    COMMAND = "command"
    TASK = "task"
    EVENT = "event"
    TEST = "test"
    KEY = "key"
    PREFIX = "prefix"
    GROUP = "group"


class Parameter(Struct, frozen=True):
    """One parameter as written. `kind`: positional, keyword, var_positional, var_keyword or receiver (self, cls)."""

    name: str
    type: str | None
    default: str | None
    kind: str


class Form(StrEnum):
    """What an expression is: a chain of names by how it ends, a literal by what it is, or anything else."""

    NAME = "name"
    CALL = "call"
    ITEM = "item"
    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    NOTHING = "nothing"
    LIST = "list"
    MAPPING = "mapping"
    OTHER = "other"


class Fact(Struct, frozen=True):
    """Something the code says, as canonical text, and the 1-based canonical line that says it.

    `names` are those of the chain that it is, outermost first; none if it is
    no chain. `said` is the first text in it, without quotes. `when` is the
    innermost condition under which it is run, in words that follow "when";
    empty where there is none, or none that is short enough to be said.
    """

    text: str
    line: int
    names: tuple[str, ...] = ()
    form: Form = Form.OTHER
    said: str = ""
    when: str = ""


class SymbolFacts(Struct, frozen=True):
    """What can be read off a definition: a function of its canonical source alone.

    `returned`, `raises`, `writes` (assigned attributes, items and globals) and `calls` hold distinct texts in source
    order; nested definitions are not looked into. `fields` are a class's own assigned or annotated names, `literals`
    the distinct short texts in a function, `attributes` what it uses of its own object and does not call. `conditions`
    are distinct, too: what it asks in order to decide what is run, and whether a loop goes on.
    `signature_line` is the line where its signature begins; `docstring_line` is where its documentation ends, or begins
    if it comes before the signature.
    """

    parameters: tuple[Parameter, ...] = ()
    return_type: str | None = None
    returned: tuple[Fact, ...] = ()
    raises: tuple[Fact, ...] = ()
    writes: tuple[Fact, ...] = ()
    calls: tuple[Fact, ...] = ()
    fields: tuple[Fact, ...] = ()
    literals: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    signature_line: int = 1
    docstring_line: int = 1
    is_generator: bool = False
    is_async: bool = False


class Symbol(Struct, frozen=True):
    """A function or class definition.

    `line_map[k]` is the real line of canonical line k + 1. With `has_syntax_errors` the definition does not parse as a
    whole, and its facts may differ where its canonical source does not. `is_test` is what the code says, whatever the
    path of the file. `opening_comment` is what the comment says that opens its body, if it is about all of the body.
    With `is_unnamed` it is a function without a name of its own, called by what holds it: nothing else in the file
    belongs to it, its callers find it through what it is handed to, and no text above it is made from its text.
    """

    id: str
    type: SymbolType
    qualified_name: str
    name: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    signature: str
    docstring: str | None
    modifiers: tuple[str, ...]
    bases: tuple[str, ...]
    parent_id: str | None
    complexity: int
    line_count: int
    is_public: bool
    content_hash: str
    canonical_source: str
    line_map: tuple[int, ...]
    facts: SymbolFacts
    has_syntax_errors: bool = False
    is_test: bool | None = None
    opening_comment: str | None = None
    is_unnamed: bool = False


class Import(Struct, frozen=True):
    """One imported name.

    `import a.b as c` is module `a.b`, name None, alias `c`; `from ..a import b` is module `a`, level 2, name `b`; a
    star import has the name `*`. `scope_id` is the enclosing symbol, None at the top level of the file.
    """

    module: str
    level: int
    name: str | None
    alias: str | None
    scope_id: str | None
    line: int


class Reexport(Struct, frozen=True):
    """A name that a file re-exports: `name` here is what `source` calls `original`.

    `source` is a module as the file writes it. `name` is `*` where all is re-exported; `original` is None where it
    is the module itself.
    """

    name: str
    original: str | None
    source: str


class FileFacts(Struct, frozen=True):
    """What a parser found in one indexed file besides its symbols; `foundation/store/columns.toml` describes them.

    `source` is the canonical source of a parsed file and the decoded text (`\\n` line ends) of any other. `references`
    is the JSON that the graph resolves.

    `call_places` are two numbers for each call in `references`, in the order of its list: the 1-based line and the
    0-based column of the callee's last name (`c` of `a.b.c()`); 0 and 0 if it has none. A column is the number of
    bytes before the name on its line, in UTF-8; a tab is one. Both are of the decoded text: a byte order mark is not
    in it, and each `\\r\\n`, `\\r` and `\\n` ends a line. None if no parser read the file.
    """

    file_path: str
    blob: str
    language: str
    parser: str
    content_hash: str
    source: str
    lines: int
    docstring: str | None
    imports: tuple[Import, ...]
    globals: tuple[str, ...]
    exports: tuple[str, ...] | None
    references: str
    syntax_errors: int
    reexports: tuple[Reexport, ...] | None = None
    only_reexports: bool | None = None
    is_test: bool | None = None
    origin: str | None = None
    literals: tuple[str, ...] = ()
    lost_definitions: int | None = None
    call_places: tuple[int, ...] | None = None
    failure: str | None = None
    encoding: str | None = None
    lost_lines: tuple[int, ...] | None = None
    cells: tuple[int, ...] | None = None
