"""How the syntax of a language is laid out: names of its grammar's node types, and how tokens are spaced.

What is general (rendering, counting branches, walking definitions) is driven by it. Names are those of the
tree-sitter grammar; a name that the grammar does not have is an error. Most of it is in the file `*.syntax.toml`
beside the module of a language.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import force_setattr
from tree_sitter import Node

# Bytes of a file, from the first up to, not including, the last.
Span = tuple[int, int]
# A node that a language asked for: the name of its kind, its first byte, the node.
Mark = tuple[str, int, Node]
# A condition on a node in its place, given its ancestors, outermost first, and its field in the last.
Holds = Callable[[Node, Sequence[Node], str | None], bool]
# How a node with this text is written in its place, given the kind of its parent and its field there.
Spell = Callable[[Node, str, str, str | None], str]


class TokenSpacing(IntEnum):
    """How a token is spaced from its neighbours.

    `EITHER` is `INFIX` after an operand and `PREFIX` elsewhere, `STEP` `CLOSE`
    after an operand and `PREFIX` elsewhere. A `QUOTE` opens a text, whose
    pieces are `TIGHT`, and after one of those or another quote it closes it;
    a `TEXT` is one that is kept apart from the token before it. `LED` is a word
    that a `;` separates from what precedes it, written or not. `APART` is a
    `PREFIX` that does not join another one like it.
    `BETWEEN` is `INFIX` after an operand and `OMITTED` elsewhere.
    `START` is no token, but the beginning of a line.
    """

    START = 0
    WORD = 1  # an operand: a name, a literal
    NUMBER = 2  # an operand that would swallow a dot written after it
    CLOSE = 3  # closes a bracket and ends an operand; no space before
    INFIX = 4  # a space on both sides: operators, keywords
    PREFIX = 5  # no space after
    OPEN = 6  # no space after; none before either where an operand ends
    COMMA = 7  # a space after, none before
    TIGHT = 8  # no space on either side
    SPACED = 9  # a space on both sides, whatever the neighbours want
    EITHER = 10
    OMITTED = 11  # not shown: what comes after is spaced as if it were not there
    STEP = 12
    QUOTE = 13
    TEXT = 14
    LED = 15
    APART = 16
    BETWEEN = 17


OPERANDS = frozenset((TokenSpacing.WORD, TokenSpacing.NUMBER, TokenSpacing.CLOSE))
_TEXT_PIECES = (TokenSpacing.TIGHT, TokenSpacing.QUOTE, TokenSpacing.TEXT)
_JOINED_AFTER = frozenset((TokenSpacing.PREFIX, TokenSpacing.APART, TokenSpacing.OPEN, *_TEXT_PIECES))
_JOINED_BEFORE = frozenset((TokenSpacing.CLOSE, TokenSpacing.COMMA, TokenSpacing.TIGHT))
_PARTED = frozenset(((TokenSpacing.NUMBER, TokenSpacing.TIGHT), (TokenSpacing.APART, TokenSpacing.APART)))


def settle(before: TokenSpacing, after: TokenSpacing) -> TokenSpacing:
    """The kind of `after`, once the token before it is known."""
    if after is TokenSpacing.EITHER:
        return TokenSpacing.INFIX if before in OPERANDS else TokenSpacing.PREFIX
    if after is TokenSpacing.STEP:
        return TokenSpacing.CLOSE if before in OPERANDS else TokenSpacing.PREFIX
    closes_text = after in (TokenSpacing.QUOTE, TokenSpacing.TEXT) and before in _TEXT_PIECES
    return TokenSpacing.CLOSE if closes_text else after


def is_spaced(before: TokenSpacing, after: TokenSpacing) -> bool:
    """Whether there is a space between two settled tokens of one line."""
    if before is TokenSpacing.START:
        return False
    if TokenSpacing.SPACED in (before, after) or (before, after) in _PARTED:
        return True
    if before in _JOINED_AFTER or after in _JOINED_BEFORE:
        return False
    return not (after in (TokenSpacing.OPEN, TokenSpacing.QUOTE) and before in OPERANDS)


class LanguageSpec(Struct, frozen=True):
    """One language's node types.

    `lines` start a line of the canonical source, but only directly in one of
    `containers` where a language has such, and so does all that is directly
    in one of `rows` (between its braces, if it is braced); `blocks` indent what is in them,
    `braced` what is between their braces, `parened` between their parentheses,
    `hanging` all lines but their first (the cases of a switch). `atoms` are
    kept as written, `dropped` are left out, and so are `comments`, unless they document a
    definition. `branches` add one to the complexity; `wrappers` are
    nodes that may enclose a definition and belong to it.
    What is in `restarts` starts a line wherever it is; of what is in `folded`,
    a line's end and the blanks around it count as one blank, or none at either end.
    `openers` open what is `braced` where it has no braces, up to its end or one of the `closers`;
    what is `outdented` in it starts a line as deep as the opener's (`else` between `do` and `end`).
    A kind in `hollow` is left out, brackets and all, where that says so of a node.
    A kind in `flat` is laid out, where that says so of a node, as if none of this held for it;
    blanks at the end of what is `trimmed` do not count; `count_branches` says how many a
    node of `branches` adds. What is `lowered` is as a whole one level further out than
    what is beside it directly in one of `rows`; `separators` count only outside of brackets.
    `trailing` texts come after the line that they belong to, as written, and end it
    (here-documents); marked nodes are looked for in atoms that are `deep`; `row_marks` are
    marked only directly in one of `rows`; words that are `glued` are written beside another word
    without a change.
    A kind in `bare` is shown without its brackets and the `;` at its end, where that says so of a
    node in its place. A comma, or a `;`, before the bracket that closes one of `lists` is left out, or of one of
    `tuples` that has another comma, or where `other_lists` says so. `respelled` literals are written as that says; so
    are those `merged`, parts and all.
    At the end of what is `ended`, or `terminated` where that says so of a node, a `;` is written if there is none.
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
    lists: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()
    other_lists: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    respelled: Mapping[str, Spell] = field(default_factory=dict)
    merged: Mapping[str, Holds] = field(default_factory=dict)
    headed: Mapping[str, Callable[[Node], Node | None]] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    terminated: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    tokens: Mapping[str, TokenSpacing] = field(default_factory=dict)
    tokens_in: Mapping[tuple[str, str], TokenSpacing] = field(default_factory=dict)

    @property
    def distribution(self) -> str:
        """The package that the grammar comes with."""
        return self.grammar.__module__.partition(".")[0].replace("_", "-")

    def __post_init__(self) -> None:
        split_keys(self, "flat", "hollow", "bare", "respelled", "merged", "terminated", "headed")


def split_keys(table: Struct, *names: str) -> None:
    """Let each key of some mappings be one node type, where several were written with blanks between them."""
    for name in names:
        by_kinds: Mapping[str, Any] = getattr(table, name)
        force_setattr(table, name, {kind: value for kinds, value in by_kinds.items() for kind in kinds.split()})


def words(text: str) -> frozenset[str]:
    """Names with blanks between them."""
    return frozenset(text.split())


def _spaced(table: str) -> dict[str, TokenSpacing]:
    """How tokens are spaced: a name of `TokenSpacing`, then the tokens that are such."""
    found: dict[str, TokenSpacing] = {}
    spacing = TokenSpacing.START
    for word in table.split():
        if word in TokenSpacing.__members__:
            spacing = TokenSpacing[word]
        else:
            found[word] = spacing
    return found


def _spaced_in(table: str) -> dict[tuple[str, str], TokenSpacing]:
    """Token spacing in a node: a name of `TokenSpacing`, then pairs of node types (`a|b`) and a token in them."""
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


def _pattern(said: str) -> str:
    """A pattern that may take several lines, whose margins do not count."""
    return "".join(line.strip() for line in said.splitlines())


# A text in a table is names with blanks between them, but for these.
_TEXTS: Mapping[str, Callable[[str], Any]] = {
    "name": str,
    "unbound": str,
    "tokens": _spaced,
    "tokens_in": _spaced_in,
    # A line's end is a token.
    "dropped": lambda said: frozenset(said.split(" ")),
    "signatures": lambda said: re.compile(_pattern(said)),
    "tag": lambda said: re.compile(_pattern(said).encode(), re.MULTILINE),
}


def tables_beside(module: str) -> dict[str, dict[str, Any]]:
    """The tables `spec`, `declaration` and `tests` of the file `*.syntax.toml` beside a module, with those that it
    extends: each as the keywords of `LanguageSpec`, `Declaration` and `FrameworkRules`."""
    tables = _read(Path(module).with_suffix(".syntax.toml"))
    parts = tables.get("parts", {})
    return {name: _keywords(tables.get(name, {}), parts) for name in ("spec", "declaration", "tests")}


def patterns_beside(module: str) -> dict[str, re.Pattern[bytes]]:
    """The patterns of bytes in that file."""
    tables = _read(Path(module).with_suffix(".syntax.toml"))
    return {
        name: re.compile(_whole(said, tables.get("parts", {})).encode()) for name, said in tables["patterns"].items()
    }


def _read(path: Path) -> dict[str, dict[str, Any]]:
    own = tomllib.loads(path.read_text(encoding="utf-8"))
    for name in reversed(own.get("spec", {}).pop("extends", "").split()):
        own = _joined(_read(path.with_name(f"{name}.syntax.toml")), own)
    return own


def _joined(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Names, lists and tables are added to those of the base; all else takes its place."""
    joined = {**base, **own}
    for name in base.keys() & own.keys():
        if isinstance(base[name], dict):
            joined[name] = _joined(base[name], own[name])
        elif isinstance(base[name], str) and _TEXTS.get(name, words) is not str:
            joined[name] = f"{base[name]} {own[name]}"
        elif isinstance(base[name], list):
            joined[name] = base[name] + own[name]
    return joined


def _keywords(table: Mapping[str, Any], parts: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, said in table.items():
        if name == "definition_lines":
            found[name] = tuple(_whole(line, parts) for line in said)
        elif isinstance(said, str):
            found[name] = _TEXTS.get(name, words)(said)
        else:
            found[name] = tuple(said) if isinstance(said, list) else said
    return found


def _whole(said: str, parts: Mapping[str, str]) -> str:
    """A pattern with each `(?&name)` replaced by the part of that name."""
    pattern = _pattern(said)
    while found := re.search(r"\(\?&(\w+)\)", pattern):
        pattern = pattern.replace(found[0], _pattern(parts[found[1]]))
    return pattern
