"""The declaration of a language: everything about it besides its node types.

Hooks answer about one node each and see nothing else of the file; what is
general (nesting, ids, docs, canonical source, facts, what the graph resolves)
is done once for all languages. A hook that finds nothing says so with None or
nothing: it never raises on what does not parse.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter, Reexport, Symbol
from codesum_pipeline.languages.declarations.condition_syntax import ConditionSyntax
from codesum_pipeline.languages.declarations.framework_rules import FrameworkRules
from codesum_pipeline.languages.declarations.hook_values import (
    CallSyntax,
    DefinitionHead,
    Docstrings,
    Extension,
    ImportSyntax,
    References,
    TypedName,
    WordRow,
)
from codesum_pipeline.languages.declarations.node_code import Code, Text
from codesum_pipeline.languages.declarations.spec import LanguageSpec, Mark, Names, Span, split_keys
from codesum_pipeline.languages.declarations.syntax_tables import read_tables, syntax_file
from codesum_pipeline.languages.declarations.use_syntax import UseSyntax


def _assigned_nodes(left: Node) -> Iterable[Node]:
    return left.named_children if left.type.endswith("_list") else (left,)


class Declaration(Struct, frozen=True, kw_only=True):
    """One language. Names of node types are those of its grammar.

    Every language needs `spec` and `definitions`; nearly every one the hooks that begin *Definitions*, *Facts* and
    *Edges*. All others answer single questions of few languages, and by default say nothing.
    A key of a mapping may be several node types with blanks between them. `definitions` see raw text through
    `tree_sitter`'s own `node.text`; all other hooks of nodes come after the file is read, and see canonical text.
    """

    # ---- The language.

    # How its syntax is laid out.
    spec: LanguageSpec
    # How tests are recognised.
    tests: FrameworkRules = field(default_factory=FrameworkRules)
    # What decides which parts of a function are run.
    conditions: ConditionSyntax = field(default_factory=ConditionSyntax)

    # ---- Definitions: what is a symbol.

    # What a node defines, by its type; None where it defines nothing. Lua: {"function_declaration": …}.
    definitions: Mapping[str, Callable[[Node], DefinitionHead | None]]
    # The parameters of a definition, in order.
    parameters: Callable[[Node, Text], Iterable[Parameter]] = lambda node, text: ()
    # The type that it says it returns, as written.
    return_type: Callable[[Node, Text], str | None] = lambda node, text: None
    # What a class inherits from, as written.
    bases: Callable[[Node, Text], Iterable[str]] = lambda node, text: ()
    # Words before a definition (`public`, `async`, `abstract`), in the order written; preambles come with it.
    modifiers: Callable[[Node, tuple[Node, ...], Text], Iterable[str]] = lambda node, preambles, text: ()
    # Those of the wrapper around a definition, which come first. JavaScript: `export`, Ruby: `private def …`.
    wrapper_modifiers: Callable[[Node, Text], Iterable[str]] = lambda wrapper, text: ()
    # Nodes that precede a definition and belong to it: attributes, a type signature. Rust: "attribute_item".
    preambles: Names = frozenset()
    # Which nodes of those kinds are one.
    is_preamble: Callable[[Node], bool] = lambda node: True
    # Equal definitions of these kinds that follow each other are one. Haskell: "function", one equation of several.
    clauses: Names = frozenset()
    # Kinds that belong to the definition of the same name right after them. TypeScript: the signatures of overloads.
    overload_heads: Names = frozenset()
    # Kinds that accompany the class of their name and are distinct from it. Scala: "object_definition".
    companions: Names = frozenset()
    # Labels among the members of a class whose text is a modifier of all that follow. C++: `private:`.
    sections: Names = frozenset()
    # The texts that are such labels, where not all of those kinds are one. Ruby: "private protected".
    section_words: Names = frozenset()
    # Marks between a signature and a body that are shown with it. JavaScript: "=>".
    shown_marks: Names = frozenset()
    # Marks between a head and a body that distinguish definitions of one name. Python: ":".
    distinguishing_marks: Names = frozenset()
    # How far a modifier makes a definition another one than the implementation of its name.
    ranks: Mapping[str, int] = field(default_factory=lambda: {"set": 2})

    # ---- Who may use a definition: not where it has a word that hides it, nor without one that shows it, if the
    # language has such, nor where its names and modifiers say otherwise.

    # Kotlin: "private internal".
    hidden_by: Names = frozenset()
    # Java: "public protected".
    shown_by: Names = frozenset()
    # From its names, its own last, and its modifiers. Lua: no `_` before its name.
    is_public: Callable[[tuple[str, ...], tuple[str, ...]], bool] = lambda parts, modifiers: True
    # The whole list of what a file gives away, by the node type that is it. It decides what is public; a file without
    # it gives away what the three above say. Haskell: {"exports": …}.
    listed: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    # Whether the list names a definition.
    is_listed: Callable[[Node, tuple[str, ...], Container[str]], bool] = lambda node, parts, listed: True

    # ---- Documentation.

    # The beginnings of a doc comment (`/** */`, `///`), and of one about what is around it (`//!`), which documents the
    # file. Where there is none with such a mark, any comment right above a definition documents it.
    doc_marks: tuple[str, ...] = ()
    file_doc_marks: tuple[str, ...] = ()
    # Nodes that a comment about the file may precede, if not everything else. Haskell: a module's head after pragmas.
    heading: Names = frozenset()
    # Documentation in the body of what it documents. Python: docstrings.
    docstrings: Docstrings | None = None
    # Documentation that is code (Elixir's `@doc`): the node that holds it, and its text.
    inner_doc: Callable[[Node, tuple[Node, ...]], tuple[Node, str] | None] = lambda node, preambles: None
    # The plain text of what a doc comment says, where that is written in markup.
    plain_doc: Callable[[str], str] = lambda text: text

    # ---- Facts: what a definition does.

    # What is called, by the node types of calls. Lua: {"function_call": …}.
    calls: Mapping[str, Callable[[Node, Text], CallSyntax | None]] = field(default_factory=dict)
    # Calls recognised by the text of the callee; the function gives the node of the callee. Python: {"call": …}.
    callees: Mapping[str, Callable[[Node], Node | None]] = field(default_factory=dict)
    # Calls in the head of a function that it makes before its body. C#: "constructor_initializer", `: base(size)`.
    delegations: Names = frozenset()
    # The bytes in a marked node where what looks like a call is none. Elixir: a type, the head of a function.
    uncalled: Callable[[Node], tuple[int, int] | None] | None = None
    # Statements or expressions whose named children are the value that is returned. Lua: "return_statement".
    returns: Names = frozenset()
    # The same of what is raised. Java: "throw_statement".
    raises: Names = frozenset()
    # The same of what is yielded. PHP: "yield_expression".
    yields: Names = frozenset()
    # The first words that make one of `returns` raise (Swift's grammar has one node type for both).
    raising_words: Names = frozenset()
    # Functions that raise when called. Lua: "error".
    raising_calls: Names = frozenset()
    # Commands that end a function with what comes after their name. Bash: "return".
    returning_calls: Names = frozenset()
    # What the bytes of such a statement's value are, where they are not those of its children.
    value_span: Callable[[Node], Span] | None = None
    # The expression whose value a definition's body gives without a statement that returns it. Ruby: the last one.
    result: Callable[[Node], Node | None] = lambda body: None
    # Functions without a name: what they return is not what the function around them returns. Go: "func_literal".
    closures: Names = frozenset()
    # Assignments, by the field of what is assigned; without one it is the first child. Lua: {"assignment_statement":
    # "left"}.
    assignments: Mapping[str, str] = field(default_factory=dict)
    # What an assignment's left side assigns.
    targets: Callable[[Node], Iterable[Node]] = _assigned_nodes
    # Statements whose names are not the function's own. Python: "global_statement".
    outer_names: Names = frozenset()
    # The members of a class that are no definitions, as "name" or "name: type". Lua: {"field": …}.
    fields: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    # Assignments that give a class its fields. Python: "assignment".
    members: Names = frozenset()
    # Whether nothing in the head of a class is one of its facts. Python: true.
    is_in_body: bool = False
    # Names at the top of a file that are no definitions: constants, variables.
    globals: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)

    # ---- Edges: what a name means, for the graph.

    # The names that a node imports. Go: {"import_spec": …}.
    imports: Mapping[str, Callable[[Node, Text], Iterable[ImportSyntax]]] = field(default_factory=dict)
    # Variables, parameters and fields that say their class. Java: {"formal_parameter": …}.
    typed: Mapping[str, Callable[[Node, Text], Iterable[TypedName]]] = field(default_factory=dict)
    # Variables that do not say their type: the text of their first value replaces it. Ruby: {"assignment": …}.
    bound: Mapping[str, Callable[[Node, Text], Iterable[TypedName]]] = field(default_factory=dict)
    # The package or namespace that a whole file belongs to. PHP: {"namespace_definition": …}.
    package: Mapping[str, Callable[[Node, Text], str]] = field(default_factory=dict)
    # Nodes that give a type bases where it is not defined. Rust: `impl Trait for Type`.
    extensions: Mapping[str, Callable[[Node, Text], Extension | None]] = field(default_factory=dict)
    # Whether a definition is reached through an object alone, so that no plain name means it. Go: a method.
    is_member: Callable[[Node], bool] = lambda node: False
    # What has to be true for a definition to be in a program at all. Rust: `#[cfg(unix)]`.
    condition: Callable[[Node, Text], str] | None = None
    # The names that a file gives away, where the language lists them apart. Haskell: {"export": …}.
    exports: Mapping[str, Callable[[Node, Text], Iterable[str]]] = field(default_factory=dict)
    # The same where a file makes that list step by step (Python's `__all__`); None without one. It is also what is
    # listed.
    made_exports: Callable[[Sequence[Mark], Text], tuple[str, ...] | None] | None = None
    # What a file hands on that others define, by the node types that say it. Without a `module`, the name begins with
    # what an import of the file is called. Rust: `pub use`.
    reexports: Mapping[str, Callable[[Node, Text], Iterable[ImportSyntax]]] = field(default_factory=dict)
    # What a file hands on by its path, its imports and its exports alone. Python: the imports of an `__init__.py`.
    reexports_of_file: Callable[[str, Sequence[Import], Sequence[str] | None], tuple[Reexport, ...]] | None = None
    # Nodes that have names of their own besides definitions; none where functions alone have. Go: "block".
    blocks: Names = frozenset()
    # Declarations whose names are those of the function around, however deep in its blocks. JavaScript: `var`.
    hoisted: Names = frozenset()
    # Kinds that give what is declared elsewhere a value. JavaScript: "assignment_expression".
    assigned: Names = frozenset()
    # What an expression that a function returns may be, without what changes no class: nodes, none for nothing. None
    # where functions say what they return.
    returned_values: Callable[[Node | None], Iterable[Node]] | None = None
    # Whether one of those is an object with members of its own.
    is_object: Callable[[Node], bool] = lambda node: False
    # The types that a documenting comment says of parameters; of the result without a name.
    documented: Callable[[str], Iterable[TypedName]] = lambda docstring: ()
    # The type in a cast.
    cast_type: Callable[[Node, Text], str] = lambda node, text: ""
    # A long expression, and what a call is called on, as far as its class depends on it: without arguments. The last
    # argument keeps what was found, by the ids of nodes, while a file is read.
    shortened: Callable[[Node, Text, dict[int, Code]], str] = lambda node, text, known: ""
    short_receiver: Callable[[Node, Text, dict[int, Code]], str] = lambda node, text, known: ""
    # What a file says to the graph, where its language has a resolver of its own.
    references: Callable[[Node, bytes, str, Sequence[Symbol], Iterable[WordRow]], References] | None = None

    # How names are used that are not called.
    uses: UseSyntax = field(default_factory=UseSyntax)

    # ---- What the grammar does not know.

    # Patterns of lines that look like a definition, whose group `name` is its name: what is lost in a file that does
    # not parse.
    definition_lines: tuple[str, ...] = ()
    # Words of which each of those lines has one, where the language has such: they are found in less time.
    definition_words: Collection[str] = ()
    # What they are looked for in.
    without_templates: Callable[[str], str] = lambda text: text
    # The source that the grammar is given instead, with the same number of bytes: without the words that only the
    # preprocessor understands. It is called again, with True, where that did not parse.
    masked: Callable[[bytes, bool], bytes] | None = None
    # The parts of a source, in order, that are code of another language and masked as this one: each is kept as one
    # word. Python: the types of Cython.
    rewritten: Callable[[bytes], Sequence[Span]] = lambda source: ()
    # Whether a source is of another language, too: only what is masked then says what it defines. Haskell: amid prose.
    is_mixed: Callable[[bytes], bool] = lambda source: False
    # Groups of parts of a source, in bytes, that hide definitions from the grammar, though it parses (the heads and
    # braces of macros); with True, of one that does not, also what the grammar is known not to know.
    hiding: Callable[[bytes, bool], Iterable[Sequence[Span]]] = lambda source, is_broken: ()
    # Whether the grammar may leave out parts of a source that parses, which are read if what hides them is not shown.
    leaves_out: Callable[[bytes], bool] = lambda source: False
    # The parts of one that does not parse in which nothing is defined, in order: comments and texts.
    silent: Callable[[bytes], Sequence[Span]] = lambda source: ()
    # Whether a file, by its path and bytes, is of a dialect that the grammar knows only in part: where it does not
    # parse, what was read of it may be anything, so it is read as text. Bash: a file of zsh.
    is_dialect: Callable[[str, bytes], bool] = lambda path, source: False

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
            self.listed, self.reexports, self.globals, self.blocks, self.hoisted, self.callees, self.outer_names,
            self.conditions.marked,
        ) - self.spec.row_marks  # fmt: skip


def syntax_beside(
    module: str,
    grammar: Callable[[], object],
    *,
    spec: Mapping[str, Any] = {},
    tests: Mapping[str, Any] = {},
    conditions: Mapping[str, Any] = {},
    uses: Mapping[str, Any] = {},
) -> dict[str, Any]:
    """What the file `*.syntax.toml` beside a module says of its language, as keywords of `Declaration`.

    `spec`, `tests`, `conditions` and `uses` are the hooks of those four. Raises `ValueError` for a table or a key that
    is unknown or missing.
    """
    path = syntax_file(module)
    tables = read_tables(path, ("spec", "declaration", "tests", "conditions", "uses"))
    if unknown := tables["declaration"].keys() - {*Declaration.__struct_fields__}:
        raise ValueError(f"{path}: [declaration] has no key {min(unknown)!r}")
    layout: dict[str, Any] = {"grammar": grammar, **tables["spec"], **spec}
    try:
        return {
            **tables["declaration"],
            "spec": LanguageSpec(**layout),
            "tests": FrameworkRules(**tables["tests"], **tests),
            "conditions": ConditionSyntax(**tables["conditions"], **conditions),
            "uses": UseSyntax(**tables["uses"], **uses),
        }
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error
