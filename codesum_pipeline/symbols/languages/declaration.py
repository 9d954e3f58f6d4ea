"""The declaration of a language: everything about it besides its node types.

Hooks answer about one node each and see nothing else of the file; what is
general (nesting, ids, docs, canonical source, facts, what the graph resolves)
is done once for all languages. A hook that finds nothing says so with None or
nothing: it never raises on what does not parse.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.ground.model.symbol import Import, Parameter, Reexport, Symbol, SymbolType
from codesum_pipeline.symbols.languages.spec import LanguageSpec, Mark, Span, split_keys, tables_beside

# The class of a longer expression or type cannot be determined.
MAX_CHAIN = 120
MAX_TYPE = 200
# In place of the first byte of the last name, for a callee that has none: what a call, an item or a lambda gives.
NAMELESS = -1
# The modifier of tests.
TEST = "test"


class Code(str):
    """Canonical text on one line that knows its origin: the bytes that it covers in the source, or its parts.

    Whatever is cut off one or added to it is plain text, and so at most a name.
    """

    __slots__ = ("parts", "span")
    parts: tuple[str, ...]
    span: tuple[int, int] | None

    @classmethod
    def of(cls, text: str, *parts: str) -> Self:
        """A text put together from parts."""
        code = cls(text)
        code.parts, code.span = parts, None
        return code


def _is_list(node: Node) -> bool:
    return node.type.endswith("_list")


# The canonical text of a node on one line.
Text = Callable[[Node | None], Code]


class DefinitionHead(Struct, frozen=True):
    """What a node defines.

    `parts` are its own name, preceded by those of an owner that does not
    enclose it (a Go method's receiver, `Shape::area` of C++). Without a
    `type` it is no symbol, only a scope: a namespace, a Rust `impl`. `body` is
    where the signature ends, `head` where it begins if annotations come first
    inside of the node; without them, the signature is the whole node.
    Clauses of one definition have the same `clause`, such as its arity.
    `section` is the access that members have until a label of
    `Declaration.sections` changes it. Two kinds depend on what encloses them:
    one that `is_prototype` defines something only as a member, or where it is
    documented; neither it nor one that `is_guess` counts inside a function.
    `tail` is a node after this one that belongs to the definition.
    """

    parts: tuple[str, ...]
    type: SymbolType | None
    body: Node | None = None
    head: Node | None = None
    section: str = ""
    clause: str = ""
    is_prototype: bool = False
    is_guess: bool = False
    tail: Node | None = None
    # Whether it is one of those that a label of sections is about.
    is_sectioned: bool = True


class CallSyntax(Struct, frozen=True):
    """A call as written: `receiver.name(…)`; the receiver is "" for a plain name. With `is_new`, it makes an object.

    `mark` is the mark between the two, if it is not a dot.
    """

    receiver: str
    name: str
    is_new: bool = False
    mark: str = "."


class ImportSyntax(Struct, frozen=True):
    """One imported name.

    `module` is the path as the language writes it, without quotes. `name` is
    what is taken from it: None for the module itself, `*` for all of it.
    `alias` is what it is called here, where that is not the last part.
    `level` counts the steps up where a language writes them apart.
    """

    module: str
    name: str | None = None
    alias: str | None = None
    level: int = 0


class TypedName(Struct, frozen=True):
    """A variable, parameter or field that says what class it is of: `name` has the type `type`, as written."""

    name: str
    type: str


class Extension(Struct, frozen=True):
    """What is said of a type outside of it: `type` as written also has these bases."""

    type: str
    bases: tuple[str, ...]


class References(Struct, frozen=True):
    """What a file refers to, as JSON; of each of its calls, in that order, the first byte of the callee's last name."""

    json: str
    names: tuple[int, ...]


class Docstrings(Struct, frozen=True):
    """Documentation in the body of what it documents: `find` finds it in a body or a file, and `text` reads it from its
    canonical lines. `is_empty` says whether a statement is only a placeholder for a body."""

    find: Callable[[Node | None], Node | None]
    text: Callable[[str], str | None]
    is_empty: Callable[[Node], bool]


class FrameworkRules(Struct, frozen=True):
    """What one language says besides the modifier `test` and the well-known bases.

    `calls` at the top of a file are given a text, or what is tested, and a body. `is_test` decides alone whether a
    definition is a test, from its children and what the file imports; `is_test_file` whether a file is, from its
    path, its imports and its definitions. `signatures` are those of tests, `modules` the parts of a file that hold
    nothing but tests. A class with one of the bases `specs` holds tests as calls in its body; one with a base of a
    framework needs test methods, unless `needs_methods` is false, and has none of the `library_words`. Where
    `methods_decide`, a class is a test if a method is. A `tag` in a file's head makes all of it one. Where
    `stands_beside`, tests are in the file of what they test, and a file is a test only if it has nothing else
    (`is_whole`).
    """

    calls: frozenset[str] = frozenset()
    is_test: Callable[[Symbol, Sequence[Symbol], Sequence[Import]], bool] | None = None
    is_test_file: Callable[[str, Sequence[Import], Sequence[Symbol]], bool] = lambda path, imports, symbols: False
    signatures: re.Pattern[str] | None = None
    modules: Callable[[Sequence[Mark]], Sequence[Span]] = lambda outside: ()
    specs: frozenset[str] = frozenset()
    library_words: frozenset[str] = frozenset()
    needs_methods: bool = True
    methods_decide: bool = False
    tag: re.Pattern[bytes] | None = None
    stands_beside: bool = False
    is_whole: bool = False


def is_called_test(symbol: Symbol) -> bool:
    """Whether a method is a test by its mark or its name."""
    return TEST in symbol.modifiers or symbol.name.startswith(("test", "spec"))


class Declaration(Struct, frozen=True):
    """One language. Names of node types are those of its grammar.

    `definitions` are asked what a node defines; they see raw text through
    `tree_sitter`'s own `node.text`. All other hooks come after the file is
    read and see canonical text. `preambles` precede a definition and
    belong to it (attributes, a type signature). Equal definitions of the kinds
    in `clauses` that follow each other are one. A key of a mapping may be
    several node types with blanks between them.
    """

    spec: LanguageSpec
    definitions: Mapping[str, Callable[[Node], DefinitionHead | None]]
    # The beginnings of a doc comment (`/** */`, `///`), and of one about what is around it (`//!`), which documents the
    # file. Where there is none with such a mark, any comment right above a definition documents it.
    doc_marks: tuple[str, ...] = ()
    file_doc_marks: tuple[str, ...] = ()
    # Nodes that a comment about the file may precede, if not everything else: a module's head after pragmas.
    heading: frozenset[str] = frozenset()
    preambles: frozenset[str] = frozenset()
    # Which nodes of those kinds are one.
    is_preamble: Callable[[Node], bool] = lambda node: True
    # The bytes in a marked node where what looks like a call is none: a type, the head of a function.
    uncalled: Callable[[Node], tuple[int, int] | None] | None = None
    # Marks between a signature and a body that are shown with it.
    shown_marks: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    # Kinds that belong to the definition of the same name right after them: the signatures of overloads.
    heads: frozenset[str] = frozenset()
    # Kinds that accompany the class of their name and are distinct from it: an object of Scala.
    companions: frozenset[str] = frozenset()
    # Labels among the members of a class (`private:`) whose text is a modifier of all that follow.
    sections: frozenset[str] = frozenset()
    # The texts that are such labels, where not all of those kinds are one.
    section_words: frozenset[str] = frozenset()
    # The source that the grammar is given instead, with the same number of bytes: without the words that only the
    # preprocessor understands. It is asked again, with True, where that did not parse.
    masked: Callable[[bytes, bool], bytes] | None = None
    # Groups of parts of a source, in bytes, that hide definitions from the grammar, though it parses (the heads and
    # braces of macros); with True, of one that does not, also what the grammar is known not to know.
    hiding: Callable[[bytes, bool], Iterable[Sequence[Span]]] = lambda source, is_broken: ()
    # The parts of one that does not parse in which nothing is defined, in order: comments and texts.
    silent: Callable[[bytes], Sequence[Span]] = lambda source: ()
    # Patterns of lines that look like a definition, whose group `name` is its name; and what they are looked for in.
    definition_lines: tuple[str, ...] = ()
    without_templates: Callable[[str], str] = lambda text: text
    # Whether a file, by its path and bytes, is of a dialect that the grammar knows only in part: where it does not
    # parse, what was read of it may be anything, so it is read as text.
    is_dialect: Callable[[str, bytes], bool] = lambda path, source: False
    # Nodes that have names of their own besides definitions; none where functions alone have.
    blocks: frozenset[str] = frozenset()
    # Declarations whose names are those of the function around, however deep in its blocks (`var`).
    hoisted: frozenset[str] = frozenset()
    # Kinds that give what is declared elsewhere a value.
    assigned: frozenset[str] = frozenset()
    # What an expression that a function gives back may be, without what changes no class: nodes, none for nothing;
    # and whether one is an object with members of its own. None where functions say what they give.
    given_back: Callable[[Node | None], Iterable[Node]] | None = None
    is_object: Callable[[Node], bool] = lambda node: False
    # The types that a documenting comment says of parameters; of the result without a name.
    documented: Callable[[str], Iterable[TypedName]] = lambda docstring: ()
    # A long expression, and what a call is called on, as far as its class depends on it: without arguments. The last
    # argument keeps what was found, by the ids of nodes, while a file is read.
    shortened: Callable[[Node, Text, dict[int, Code]], str] = lambda node, text, known: ""
    short_receiver: Callable[[Node, Text, dict[int, Code]], str] = lambda node, text, known: ""
    # The type in a cast.
    cast_type: Callable[[Node, Text], str] = lambda node, text: ""
    # Whether a definition is reached through an object alone, so that no plain name means it.
    is_member: Callable[[Node], bool] = lambda node: False
    # How a definition's facts are found: `returns`, `raises` and `yields` are statements or expressions whose named
    # children are the value; `assignments` name the field of what is assigned, without one it is the first child.
    returns: frozenset[str] = frozenset()
    raises: frozenset[str] = frozenset()
    yields: frozenset[str] = frozenset()
    assignments: Mapping[str, str] = field(default_factory=dict)
    # The first words that make one of `returns` raise (Swift's grammar has one node type for both).
    raising_words: frozenset[str] = frozenset()
    # Functions that raise when called (`panic`, `raise`, `die`).
    raising_calls: frozenset[str] = frozenset()
    # Commands that end a function with what comes after their name.
    returning_calls: frozenset[str] = frozenset()
    # Functions without a name: what they return is not what the function around them returns.
    closures: frozenset[str] = frozenset()
    # Calls in the head of a function that it makes before its body (`: base(size)`).
    delegations: frozenset[str] = frozenset()
    # What the bytes of such a statement's value are, where they are not those of its children.
    value_span: Callable[[Node], Span] | None = None
    # Calls recognised by the text of the callee; the function gives the node of the callee.
    callees: Mapping[str, Callable[[Node], Node | None]] = field(default_factory=dict)
    # What an assignment's left side assigns.
    targets: Callable[[Node], Iterable[Node]] = lambda left: left.named_children if _is_list(left) else (left,)
    # Statements whose names are not the function's own.
    outer: frozenset[str] = frozenset()
    # Assignments that give a class its fields.
    members: frozenset[str] = frozenset()
    # Whether nothing in the head of a class is one of its facts.
    is_in_body: bool = False
    # The expression whose value a definition's body gives without a statement that returns it.
    result: Callable[[Node], Node | None] = lambda body: None
    # The members of a class that are no definitions, as "name" or "name: type".
    fields: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    # How tests are recognised.
    tests: FrameworkRules = field(default_factory=FrameworkRules)
    calls: Mapping[str, Callable[[Node, Text], CallSyntax | None]] = field(default_factory=dict)
    imports: Mapping[str, Callable[[Node, Text], Iterable[ImportSyntax]]] = field(default_factory=dict)
    typed: Mapping[str, Callable[[Node, Text], Iterable[TypedName]]] = field(default_factory=dict)
    # Variables that do not say their type: the text of their first value replaces it.
    bound: Mapping[str, Callable[[Node, Text], Iterable[TypedName]]] = field(default_factory=dict)
    parameters: Callable[[Node, Text], Iterable[Parameter]] = lambda node, text: ()
    return_type: Callable[[Node, Text], str | None] = lambda node, text: None
    bases: Callable[[Node, Text], Iterable[str]] = lambda node, text: ()
    # Nodes that give a type bases where it is not defined: `impl Trait for Type`.
    extensions: Mapping[str, Callable[[Node, Text], Extension | None]] = field(default_factory=dict)
    # Words before a definition (`public`, `async`, `abstract`), in the order written; preambles come with it.
    modifiers: Callable[[Node, tuple[Node, ...], Text], Iterable[str]] = lambda node, preambles, text: ()
    # Those of the wrapper around a definition, which come first.
    wrapper_modifiers: Callable[[Node, Text], Iterable[str]] = lambda wrapper, text: ()
    # How far a modifier makes a definition another one than the implementation of its name.
    ranks: Mapping[str, int] = field(default_factory=lambda: {"set": 2})
    # The modifier of methods that have no receiver, whatever the name of their first parameter says.
    unbound: str = ""
    # Whether others may use a definition: none of the words that hide it is among its modifiers, one of those that show
    # it is, if there are such, and what its names and modifiers say besides.
    hidden_by: frozenset[str] = frozenset()
    shown_by: frozenset[str] = frozenset()
    is_public: Callable[[tuple[str, ...], tuple[str, ...]], bool] = lambda parts, modifiers: True
    # The whole list of what a file gives away, by the node type that is it, and whether that names a definition.
    # It decides what is public; a file without it gives away what `is_public` says.
    listed: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    is_listed: Callable[[Node, tuple[str, ...], Container[str]], bool] = lambda node, parts, listed: True
    # Documentation in the body of what it documents.
    docstrings: Docstrings | None = None
    # Documentation that is code (Elixir's `@doc`): the node that holds it, and its text.
    inner_doc: Callable[[Node, tuple[Node, ...]], tuple[Node, str] | None] = lambda node, preambles: None
    # The plain text of what a doc comment says, where that is written in markup.
    plain_doc: Callable[[str], str] = lambda text: text
    # The package or namespace that a whole file belongs to, by the node types that say it.
    package: Mapping[str, Callable[[Node, Text], str]] = field(default_factory=dict)
    # The names that a file gives away, where the language lists them apart.
    exports: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    # The same where a file makes that list step by step; None without one. It is also what is listed.
    made_exports: Callable[[Sequence[Mark], Text], tuple[str, ...] | None] | None = None
    # What a file hands on that others define, by the node types that say it. Without a `module`, the name begins with
    # what an import of the file is called.
    reexports: Mapping[str, Callable[[Node, Text], Iterable[ImportSyntax]]] = field(default_factory=dict)
    # What a file hands on by its path, its imports and its exports alone.
    handed_on: Callable[[str, Sequence[Import], Sequence[str] | None], tuple[Reexport, ...]] | None = None
    # What a file says to the graph, where its language has a resolver of its own, and the version of that.
    references: Callable[[Node, bytes, str, Sequence[Symbol]], References] | None = None
    references_version: str = ""
    # Marks between a head and a body that distinguish definitions of one name.
    telling_marks: frozenset[str] = frozenset()
    # Names at the top of a file that are no definitions: constants, variables.
    globals: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        split_keys(
            self, "definitions", "calls", "imports", "typed", "bound", "extensions", "listed", "package", "exports",
            "reexports", "globals", "assignments", "fields",
        )  # fmt: skip

    @property
    def marked(self) -> frozenset[str]:
        """All node types that a hook asks for."""
        return frozenset().union(
            self.preambles, self.sections, self.returns, self.raises, self.yields, self.closures, self.assignments,
            self.fields, self.calls, self.imports, self.typed, self.bound, self.package, self.extensions, self.exports,
            self.listed, self.reexports, self.globals, self.blocks, self.hoisted, self.callees, self.outer,
        ) - self.spec.row_marks  # fmt: skip


def syntax_beside(
    module: str, grammar: Callable[[], object], *, spec: Mapping[str, Any] = {}, tests: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """What the file `*.syntax.toml` beside a module says of its language, as keywords of `Declaration`; `spec` and
    `tests` are the hooks of those two."""
    said = tables_beside(module)
    return {
        **said["declaration"],
        "spec": LanguageSpec(grammar=grammar, **said["spec"], **spec),
        "tests": FrameworkRules(**said["tests"], **tests),
    }
