"""How the syntax of a language is laid out: names of its grammar's node types, and how tokens stand beside each other.

What is general (rendering, counting branches, walking definitions) is driven by it. Names are those of the
tree-sitter grammar; a name that the grammar does not have is an error.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr
from tree_sitter import Node

from codesum_pipeline.languages.spacing import TokenSpacing

# Bytes of a file, from the first up to, not including, the last.
Span = tuple[int, int]
# A node that a language asked for: the name of its kind, its first byte, the node.
Mark = tuple[str, int, Node]
# Something that holds of a node in its place: all that it stands in, outermost first, and its field there.
Holds = Callable[[Node, Sequence[Node], str | None], bool]
# How a node with this text is written in its place: the name of what it stands in, and its field there.
Spell = Callable[[Node, str, str, str | None], str]


class LanguageSpec(Struct, frozen=True):
    """One language's node types.

    `lines` start a line of the canonical source, but only directly in one of
    `containers` where a language has such, and so does all that stands directly
    in one of `rows` (between its braces, if it is braced); `blocks` indent what is in them,
    `braced` what is between their braces, `parened` between their parentheses,
    `hanging` all lines but their first (the cases of a switch). `atoms` are
    kept as written, `dropped` are left out, and so are `comments`, unless they document a
    definition. `branches` add one to the complexity; `wrappers` are
    what may stand around a definition and belongs to it.
    What is in `restarts` starts a line wherever it stands; of what is in `folded`,
    a line's end and the blanks around it count as one blank, or none at either end.
    `openers` open what is `braced` where it has no braces, up to its end or one of the `closers`;
    what is `outdented` in it starts a line as deep as the opener's (`else` between `do` and `end`).
    A kind in `hollow` is left out, brackets and all, where that says so of a node.
    A kind in `flat` is laid out, where that says so of a node, as if none of this held for it;
    blanks at the end of what is `trimmed` do not count; `count_branches` says how many a
    node of `branches` adds. What is `lowered` stands as a whole one level further out than
    what is beside it directly in one of `rows`; `separators` count only outside of brackets.
    `trailing` texts come after the line that they belong to, as written, and end it
    (here-documents); marked nodes are looked for in atoms that are `deep`; `row_marks` are
    marked only directly in one of `rows`; words that are `glued` stand beside another word
    as they are written.
    A kind in `bare` is shown without its brackets and the `;` at its end, where that says so of a
    node in its place; a comma, or a `;`, before the bracket that closes one of `lists` is left out,
    where that says so. `respelled` literals are written as that says; so are those `merged`, parts and all.
    At the end of what is `terminated`, where that says so of a node, a `;` is written if none stands there.
    A token of `directives` takes a whole line of the file, to which a node of
    `directive_texts` may belong; comments among them may be what a language masks.
    `tokens` places tokens that are not what their spelling suggests (a named
    leaf is a `WORD`, an anonymous one an `INFIX`); `tokens_in` does so below
    one parent.
    """

    name: str
    version: int
    grammar: Callable[[], object]
    lines: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    atoms: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    containers: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    braced: frozenset[str] = frozenset()
    parened: frozenset[str] = frozenset()
    hanging: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    restarts: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    closers: frozenset[str] = frozenset()
    outdented: frozenset[str] = frozenset()
    flat: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    hollow: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    trimmed: frozenset[str] = frozenset()
    count_branches: Callable[[Node], int] = lambda node: 1
    lowered: frozenset[str] = frozenset()
    separators: frozenset[str] = frozenset()
    trailing: frozenset[str] = frozenset()
    deep: frozenset[str] = frozenset()
    row_marks: frozenset[str] = frozenset()
    glued: frozenset[str] = frozenset()
    directives: frozenset[str] = frozenset()
    directive_texts: frozenset[str] = frozenset()
    bare: Mapping[str, Holds] = field(default_factory=dict)
    lists: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    respelled: Mapping[str, Spell] = field(default_factory=dict)
    merged: Mapping[str, Holds] = field(default_factory=dict)
    terminated: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    tokens: Mapping[str, TokenSpacing] = field(default_factory=dict)
    tokens_in: Mapping[tuple[str, str], TokenSpacing] = field(default_factory=dict)

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


def words(text: str) -> frozenset[str]:
    """Names with blanks between them."""
    return frozenset(text.split())


def in_order(text: str) -> tuple[str, ...]:
    """The same in their order."""
    return tuple(text.split())


def spaced(table: str) -> dict[str, TokenSpacing]:
    """How tokens stand: a name of `TokenSpacing`, then the tokens that are such."""
    found: dict[str, TokenSpacing] = {}
    spacing = TokenSpacing.START
    for word in table.split():
        if word in TokenSpacing.__members__:
            spacing = TokenSpacing[word]
        else:
            found[word] = spacing
    return found


def spaced_in(table: str) -> dict[tuple[str, str], TokenSpacing]:
    """How tokens stand in a node: a name of `TokenSpacing`, then pairs of node types (`a|b`) and a token in them."""
    found: dict[tuple[str, str], TokenSpacing] = {}
    spacing, parent = TokenSpacing.START, ""
    for word in table.split():
        if word in TokenSpacing.__members__:
            spacing = TokenSpacing[word]
        elif parent:
            found.update({(kind, word): spacing for kind in parent.split("|")})
            parent = ""
        else:
            parent = word
    return found


# How brackets stand in all languages that have them.
BRACKETS = spaced("OPEN ( [  CLOSE ) ] }  COMMA ,  INFIX {")
