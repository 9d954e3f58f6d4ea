"""What a parser finds in a file: its symbols, and the facts a writer may state about them."""

from dataclasses import dataclass
from enum import StrEnum


class SymbolType(StrEnum):
    FUNCTION = "function"
    CLASS = "class"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as written. `kind`: positional, keyword, var_positional, var_keyword or receiver (self, cls)."""

    name: str
    type: str | None
    default: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the code says, as canonical text, and the 1-based canonical line that says it."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class SymbolFacts:
    """What can be read off a definition: a function of its canonical source alone.

    `returned`, `raises`, `writes` (assigned attributes, items and globals) and
    `calls` hold distinct texts in source order; nested definitions are not
    looked into. `fields` are a class's own assigned or annotated names.
    """

    parameters: tuple[Parameter, ...] = ()
    return_type: str | None = None
    returned: tuple[Fact, ...] = ()
    raises: tuple[Fact, ...] = ()
    writes: tuple[Fact, ...] = ()
    calls: tuple[Fact, ...] = ()
    fields: tuple[Fact, ...] = ()
    is_generator: bool = False
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or class definition.

    Lines are 1-based and inclusive; `start_line` is that of the first
    decorator. `line_map[k]` is the real line of canonical line k + 1.
    `line_count` counts canonical lines without the docstring. `docstring` is
    cleaned of its indentation. With `has_syntax_errors` the definition does not
    parse as a whole, and its facts may differ where its canonical source does not.
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


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name.

    `import a.b as c` is module `a.b`, name None, alias `c`; `from ..a import b`
    is module `a`, level 2, name `b`; a star import has the name `*`.
    `scope_id` is the enclosing symbol, None at the top level of the file.
    """

    module: str
    level: int
    name: str | None
    alias: str | None
    scope_id: str | None
    line: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a parser found in one indexed file besides its symbols.

    `source` is the canonical source of a parsed file and the decoded text
    (`\\n` line ends) of any other; `parser` names the parser's version, with
    its grammar's. `references` is the JSON that the graph resolves.
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
