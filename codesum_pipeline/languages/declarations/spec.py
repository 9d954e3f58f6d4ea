"""How the syntax of a language is laid out: names of its grammar's node types, and how tokens are spaced.

What is general (rendering, counting branches, walking definitions) is driven by it. Names are those of the
tree-sitter grammar; a name that the grammar does not have is an error. Most of it is in the file `*.syntax.toml`
beside the module of a language, as the keys of its table `[spec]`; what needs a function is in the module.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr
from tree_sitter import Node

from codesum_pipeline.languages.declarations.token_spacing import TokenSpacing

# Bytes of a file, from the first up to, not including, the last.
Span = tuple[int, int]
# A node that a language asked for: the name of its kind, its first byte, the node.
Mark = tuple[str, int, Node]
# Whether a node is laid out in some way, whatever is around it.
IsNode = Callable[[Node], bool]
# A condition on a node in its place, given its ancestors, outermost first, and its field in the last.
Holds = Callable[[Node, Sequence[Node], str | None], bool]
# How a node with this text is written in its place, given the kind of its parent and its field there.
Spell = Callable[[Node, str, str, str | None], str]
Names = frozenset[str]


class LanguageSpec(Struct, frozen=True, kw_only=True):
    """One language's node types, by what the canonical source does with them.

    Each field but the first three is empty by default, for a language that needs none. Every language needs those of
    *Lines*, *Blocks*, *Texts* and *Spaces* that fit its grammar, and `branches`; the others answer single questions of
    few languages: leave them out until a law of `test_laws.py` fails for want of one.
    """

    # ---- What it is.

    # The name as in the table of profiles: "lua".
    name: str
    # Raise it with each change that changes what is read from a file: all files of the language are read again.
    version: int
    # What the grammar's package calls its language: `tree_sitter_lua.language`.
    grammar: Callable[[], object]

    # ---- Lines: what starts one. Everything else stays on the line that it is on.

    # All that is directly in one of these starts a line; in one that is also `braced`, what is between the braces.
    # The simplest way, if a block holds nothing but statements. Lua: "chunk block".
    rows: Names = frozenset()
    # These start a line, but only directly in one of `containers` or between braces, where a language has such.
    # Go: "if_statement return_statement …".
    lines: Names = frozenset()
    # Where `lines` start a line besides `blocks` and what is `braced`. Go: "statement_list".
    containers: Names = frozenset()
    # These start a line wherever they are. Ruby: "rescue else end".
    restarts: Names = frozenset()

    # ---- Blocks: what is indented. One level each.

    # What is in one of these is indented, all of it; a file's own block (Python's `module`) is the outermost one.
    blocks: Names = frozenset()
    # Here it is what is between the braces. Java: "block class_body".
    braced: Names = frozenset()
    # Here it is what is between the parentheses. Go: "import_spec_list".
    parened: Names = frozenset()
    # Here it is all lines but the first. The cases of a switch; Go: "expression_case default_case".
    hanging: Names = frozenset()
    # Words that open what is `braced` where it has no braces, up to its end or one of `closers`. Bash: "then do".
    openers: Names = frozenset()
    # Words that close it, on a line of their own. Bash: "fi done esac".
    closers: Names = frozenset()
    # In one with `openers`, these start a line as deep as the opener's. Elixir: "else_block", between `do` and `end`.
    outdented: Names = frozenset()
    # Directly in one of `rows`, these are one level further out than what is beside them. Bash: "else_clause".
    lowered: Names = frozenset()
    # Blocks of these kinds are laid out as if nothing of *Lines* and *Blocks* held for them, where that says so of one:
    # so that one line and several are the same program. Scala: {"indented_block": is_alone}.
    flat: Mapping[str, IsNode] = field(default_factory=dict)

    # ---- Texts: what is kept as written, and what is left out.

    # These are written as in the file, with all that is in them. Texts above all; Lua: "string".
    atoms: Names = frozenset()
    # Atoms in which the nodes that hooks ask for are looked for. Bash: "command_substitution".
    deep: Names = frozenset()
    # These are left out unless they document a definition. Lua: "comment".
    comments: Names = frozenset()
    # Comments that are left out and document nothing, since documentation is written otherwise. Python: "comment".
    remarks: Names = frozenset()
    # These are left out: statements that say nothing. Lua: "empty_statement". The end of a line may be one.
    dropped: Names = frozenset()
    # These are left out, brackets and all, where that says so of one. JavaScript: {"jsx_expression": holds_nothing}.
    hollow: Mapping[str, IsNode] = field(default_factory=dict)
    # Blanks at the end of one of these do not count. PHP: "text", what is before a tag.
    trimmed: Names = frozenset()
    # The end of a line in one of these, with the blanks around it, counts as one blank, or none at either end.
    # JavaScript: "jsx_text".
    folded: Names = frozenset()
    # Texts that come after the line that they belong to, as written, and end it. Here-documents; Bash: "heredoc_body".
    trailing: Names = frozenset()

    # ---- Spaces: how tokens are spaced (`TokenSpacing` explains the words).

    # The spacing of tokens that are not what their spelling suggests, in a table: "OPEN ( [  CLOSE ) ]  TIGHT .".
    tokens: Mapping[str, TokenSpacing] = field(default_factory=dict)
    # The same below one parent, in pairs of parents and a token: "CLOSE type_arguments >".
    tokens_in: Mapping[tuple[str, str], TokenSpacing] = field(default_factory=dict)
    # Marks that are left out directly in an opened block, and written elsewhere. Bash: ";".
    separators: Names = frozenset()
    # Words that are written beside another word without a change. Bash: "word string": `a"b"` is not `a "b"`.
    glued: Names = frozenset()

    # ---- Marks and spellings: what a formatter may write one way or the other.

    # A comma, or a `;`, before the bracket that closes one of these is left out. Go: "argument_list".
    lists: Names = frozenset()
    # The same if there is another comma, since one alone makes a tuple. Python: "tuple".
    tuples: Names = frozenset()
    # The same where that says so of one.
    other_lists: Mapping[str, IsNode] = field(default_factory=dict)
    # At the end of these a `;` is written if there is none. JavaScript: "using_declaration".
    ended: Names = frozenset()
    # The same where that says so of one. JavaScript: {"expression_statement": ends_a_statement}.
    terminated: Mapping[str, IsNode] = field(default_factory=dict)
    # These are written without their brackets, and the `;` at their end, where that says so of one in its place.
    # Python: {"parenthesized_expression": is_bare_group}.
    bare: Mapping[str, Holds] = field(default_factory=dict)
    # Literals that are written as that says. Lua: {"string": spell_quoted}, which chooses the quotes.
    respelled: Mapping[str, Spell] = field(default_factory=dict)
    # These are written as one literal, parts and all, as `respelled` says. Python: {"concatenated_string": …}.
    merged: Mapping[str, Holds] = field(default_factory=dict)

    # ---- Definitions and facts.

    # Each of these adds one to the complexity. Lua: "if_statement for_statement".
    branches: Names = frozenset()
    # How many one of `branches` adds, where that is not one. Bash: none for the default of a `case`.
    count_branches: Callable[[Node], int] = lambda node: 1
    # Nodes that may be around a definition and belong to it. Python: "decorated_definition".
    wrappers: Names = frozenset()
    # Nodes that hooks ask for, but only directly in one of `rows`. Ruby: "identifier", a call without brackets.
    row_marks: Names = frozenset()

    # Tokens that name something that may be defined: what they mean is looked up where they are no callees.
    # Python: "identifier".
    words: Names = frozenset()

    # ---- Directives: a preprocessor.

    # A token of these takes a whole line of the file, wherever it is; comments among them may be what a language masks
    # (`Declaration.masked`). C: "#if #define comment".
    directives: Names = frozenset()
    # Nodes that belong to a directive's line. C: "preproc_arg".
    directive_texts: Names = frozenset()

    @property
    def distribution(self) -> str:
        """The package that the grammar comes with."""
        return self.grammar.__module__.partition(".")[0].replace("_", "-")

    def __post_init__(self) -> None:
        split_keys(self, "flat", "hollow", "bare", "respelled", "merged", "terminated")


def split_keys(table: Struct, *names: str) -> None:
    """Let each key of some mappings be one node type, where several were written with blanks between them."""
    for name in names:
        by_kinds: Mapping[str, Any] = getattr(table, name)
        force_setattr(table, name, {kind: value for kinds, value in by_kinds.items() for kind in kinds.split()})


def split_words(text: str) -> frozenset[str]:
    """Names with blanks between them."""
    return frozenset(text.split())
