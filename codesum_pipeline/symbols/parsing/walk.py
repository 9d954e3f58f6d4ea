"""One walk over a syntax tree: its tokens, where lines start, and the nodes a language asked for.

All that the canonical source and the readers of facts need is taken in this
one pass, without recursion, since the depth of a tree is the file's to choose.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field
from tree_sitter import Node, Tree, TreeCursor

from codesum_pipeline.symbols.languages.kin import WALK
from codesum_pipeline.symbols.languages.spec import Mark, TokenSpacing
from codesum_pipeline.symbols.parsing.directives import BLANKS, OUTER_BLANKS, folded, read_directive, written
from codesum_pipeline.symbols.parsing.gaps import keep_unseen, mend
from codesum_pipeline.symbols.parsing.grammar import BARE, FLAT, WITHOUT_COMMA, Grammar, NodeRole

# Where only the first tokens of a text are asked for, no more than so many bytes of each are given: each link of a
# chain of calls on a long text would show that text.
LONG_TOKEN = 1 << 12
# The depth outside a file's own block.
OUTSIDE = -1

STARTING = NodeRole.BLOCK | NodeRole.RESTART | NodeRole.OUTDENTED
STEPPED = NodeRole.HANGING | NodeRole.OUTDENTED
NOTED = (
    NodeRole.LINE | STARTING | NodeRole.MARKED | NodeRole.BRANCH | NodeRole.ERROR | NodeRole.COMMENT | NodeRole.DEFINING
    | NodeRole.HANGING | NodeRole.DEEP | NodeRole.ROW_MARK | NodeRole.LOWERED | NodeRole.TRAILING
)  # fmt: skip
# Whose parents hooks ask for: during the walk, and later.
ASKED = NodeRole.MARKED | NodeRole.ROW_MARK | NodeRole.DEFINING
ASKING = ASKED | NodeRole.FLEXIBLE | NodeRole.ENCLOSED | NodeRole.RESPELLED | NodeRole.BRANCH
CHILDLESS = NodeRole.ATOM | NodeRole.DROPPED | NodeRole.FIXED
UNREAD = NodeRole.DROPPED | NodeRole.FIXED
ENCLOSING = NodeRole.BRACED | NodeRole.PARENED
DEEPER = NodeRole.BLOCK | NodeRole.HANGING
INDENTING = DEEPER | NodeRole.LOWERED | NodeRole.TRAILING | ENCLOSING
BLOCK, FIXED, BRACED, PARENED = NodeRole.BLOCK, NodeRole.FIXED, NodeRole.BRACED, NodeRole.PARENED
BRACE, ROWS, FOLDED, TRIMMED = NodeRole.BRACE, NodeRole.ROWS, NodeRole.FOLDED, NodeRole.TRIMMED
FLEXIBLE, CLOSING, LOWERED, TRAILING = NodeRole.FLEXIBLE, NodeRole.CLOSING, NodeRole.LOWERED, NodeRole.TRAILING
SPECIAL, AFTERWARDS = NodeRole.TRAILING | NodeRole.SEPARATOR | NodeRole.GLUED, NodeRole.LOWERED | NodeRole.TRAILING
WORD, GLUE, COMMA = int(TokenSpacing.WORD), int(TokenSpacing.TIGHT), int(TokenSpacing.COMMA)
BRACKET = NodeRole.BRACE | NodeRole.PAREN
OF_DIRECTIVE = NodeRole.DIRECTIVE | NodeRole.DIRECTIVE_TEXT
DROPPED = NodeRole.DROPPED
# Roles of a leaf that is not simply copied as written.
UNUSUAL = FOLDED | TRIMMED | SPECIAL | OF_DIRECTIVE | BRACKET | NodeRole.RESPELLED
ENCLOSED, RESPELLED, TERMINATED = NodeRole.ENCLOSED, NodeRole.RESPELLED, NodeRole.TERMINATED
LEAVING = INDENTING | TERMINATED


class DefinitionNode(Struct, frozen=True):
    """A node that a language says defines something, what it says, and the outermost wrapper right around it."""

    node: Node
    defined: Any
    wrapper: Node | None


class Tokens(Struct, frozen=True):
    """One walk over a tree: its tokens, where lines start, and the nodes a language asked for.

    `parts` holds each token with the blank before it, if it has one, `offsets`
    the tokens' first bytes. Each character of the parts is one byte; `decoded`
    turns them into text. A definition starts a line even inside an expression:
    `forced` are the ends of such definitions that the walk has not reached yet;
    `ends` those of the tokens that are shorter or longer than they are written,
    by their first bytes.
    """

    parts: list[str]
    offsets: list[int]
    line_tokens: list[int]
    line_depths: list[int]
    marks: list[Mark]
    branches: list[int]
    errors: list[int]
    is_ascii: bool
    comments: list[Node] = field(default_factory=list)
    found: list[DefinitionNode] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    open_wrapper: list[Node] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)

    def decoded(self, text: str) -> str:
        """The text that a string of bytes-as-characters encodes."""
        return text if self.is_ascii else text.encode("latin-1").decode("utf-8", "replace")

    def text(self, start_byte: int, end_byte: int, *, max_tokens: int | None = None) -> str:
        """The canonical text of a part of the file on one line, or of its first tokens, each of bounded length."""
        first = bisect_left(self.offsets, start_byte)
        end = bisect_left(self.offsets, end_byte, first)
        if end == first:
            return self._text_inside(first - 1, start_byte, end_byte)
        end = end if max_tokens is None else min(end, first + max_tokens)
        parts = self.parts[first:end]
        if max_tokens is not None and max(self.offsets[end - 1] - self.offsets[first], len(parts[-1])) > LONG_TOKEN:
            parts = [part[:LONG_TOKEN] for part in parts]
        if end == first + 1 and "\n" not in parts[0]:
            return self.decoded(parts[0].removeprefix(" "))
        line = bisect_right(self.line_tokens, first)
        if line < len(self.line_tokens) and self.line_tokens[line] < end:
            starts = {*self.line_tokens[line : bisect_left(self.line_tokens, end)]}
            text = "".join([f" {part}" if k in starts else part for k, part in enumerate(parts, first)])
        else:
            text = "".join(parts)
        if "\n" in text:
            text = " ".join([line.strip(BLANKS) for line in text.split("\n")])
        return self.decoded(text[1:] if text.startswith(" ") else text)

    def _text_inside(self, token: int, start_byte: int, end_byte: int) -> str:
        """A part of one token, such as what a text holds between its quotes."""
        if token < 0:
            return ""
        offset = self.offsets[token]
        inside = self.parts[token].lstrip(" ")[start_byte - offset : end_byte - offset]
        return self.decoded(" ".join([line.strip(BLANKS) for line in inside.split("\n")]))

    def last_byte(self, end_byte: int) -> int:
        """The last byte of the last token that begins before `end_byte`."""
        token = bisect_left(self.offsets, end_byte) - 1
        start = self.offsets[token]
        return self.ends.get(start, start + max(len(self.parts[token].lstrip(" ")), 1)) - 1


def bytes_as_characters(source: bytes) -> str:
    """A text whose k-th character is the k-th byte, so that byte offsets can slice it."""
    return source.decode("latin-1")


def read_tokens(
    tree: Tree, text: str, grammar: Grammar, *, shown: str | None = None, is_mended: bool = False
) -> Tokens:
    """Walk the tree once, without recursion. `text` is its source from `bytes_as_characters`.

    `shown` is what the grammar was given instead: words that were replaced in it are written as in the source.
    `is_mended`: parts of it were blanked; they are kept as unparsable code.

    The innermost loop of the whole stage: bound methods and flat branches, for speed. It is one function since its
    fifteen counters and flags change at each node: parts of it would hand them back and forth as an object's fields.
    """
    tokens = Tokens([], [], [], [], [], [], [], text.isascii())
    parts, offsets = tokens.parts.append, tokens.offsets.append
    roles, steps, steps_in, forced = grammar.roles, grammar.follow, grammar.follow_in, tokens.forced
    cursor = tree.walk()
    down, right, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    is_broken = is_mended or tree.root_node.has_error
    is_special = shown is not None or is_broken
    spelling = ""
    parents, above = [tree.root_node.kind_id], [tree.root_node]
    WALK.begin(above)
    around = roles[parents[-1]]
    # How deep the tree and the text are around each opened brace.
    braces: list[tuple[int, int]] = []
    depth, is_line_start, before, seen, hang = OUTSIDE, True, 0, 0, 0
    while (node := cursor.node) is not None:
        kind = shape = node.kind_id
        role = roles[kind]
        if role & ASKING:
            WALK.node = node
            if role & ASKED:
                WALK.note(node, above)
        if role & FLEXIBLE and grammar.flat[kind](node):
            shape += FLAT
            role = roles[shape]
        if role & ENCLOSED and not is_broken and grammar.bare[kind](node, above, cursor.field_name):
            shape = kind + BARE
            role = roles[shape]
        if around & ROWS and node.is_named and not role & DROPPED:
            is_line_start = is_line_start or not around & ENCLOSING or _is_open(braces, parents)
        if role & NOTED:
            is_open = bool(braces) and _is_open(braces, parents)
            is_line_start |= _note(tokens, node, role, grammar, parents[-1], is_open=is_open, is_line=is_line_start)
            if role & STEPPED:
                hang = 1
            depth += 1 if role & DEEPER else 0
            depth -= 1 if role & LOWERED and around & ROWS else 0
            is_line_start = is_line_start and not role & TRAILING
        if not role & CHILDLESS and down():
            parents.append(shape)
            above.append(node)
            around = role
            continue
        start = node.start_byte
        word = "" if role & UNREAD else text[start : node.end_byte]
        is_opening = False
        if role & UNUSUAL or is_special or forced:
            if shown and role & FIXED and (original := written(text, shown, start, node.end_byte)):
                role, word, spelling = role & ~FIXED, original, grammar.names[kind]
            if is_broken:
                is_missing = node.is_missing
                if is_missing or (start > seen and not role & TRAILING):
                    is_line_start = mend(tokens, node, text, seen, depth, parents[-1]) or is_line_start
                    role = role & ~FIXED if is_missing else role
                seen = max(seen, node.end_byte)
            if forced and start >= forced[-1]:
                # The mark that ends a definition's statement is beside its end, written or not.
                is_line_start = is_line_start or not around & TERMINATED or grammar.names[kind] != ";"
                while forced and start >= forced[-1]:
                    forced.pop()
            if role & (FOLDED | TRIMMED):
                word = folded(word) if role & FOLDED else word.rstrip(OUTER_BLANKS)
            if role & RESPELLED and not is_broken:
                word = _respelled(tokens, cursor, node, word, grammar, parents[-1])
            if role & SPECIAL:
                if role & TRAILING:
                    start, word = _trailing(tokens, text, node)
                elif role & NodeRole.GLUED:
                    before = GLUE if before == WORD and start == _last_end(tokens) else before
                elif _is_open(braces, parents):
                    role |= UNREAD
            if role & OF_DIRECTIVE:
                word, role, is_row = read_directive(tokens.comments, forced, node, role, text, around)
                is_line_start = is_line_start or is_row
            if role & BRACKET and around & (BRACED if role & BRACE else PARENED):
                is_opening = not role & CLOSING
                if not is_opening and _is_open(braces, parents):
                    depth = braces.pop()[1]
                    is_line_start = tokens.parts[-1].lstrip() not in ("{", "(")
        if word or role & UNREAD == FIXED:
            if is_line_start:
                if before == COMMA and role & CLOSING and not is_broken:
                    _leave_mark_out(tokens, above[-1], grammar)
                tokens.line_tokens.append(len(tokens.offsets))
                tokens.line_depths.append(max(depth - hang, 0))
                is_line_start, before, hang = False, 0, 0
            blank, before = steps[before][kind] or steps_in[before, parents[-1], kind]
            if before >= WITHOUT_COMMA:
                before -= WITHOUT_COMMA
                if not is_broken:
                    _leave_mark_out(tokens, above[-1], grammar)
            if spelling:
                blank, spelling = blank.removesuffix(spelling), ""
            parts(blank + word if word else blank)
            offsets(start)
        if is_opening:
            braces.append((len(parents), depth))
            depth, is_line_start = depth + 1, True
        if role & DEEPER:
            depth, is_line_start, hang = depth - 1, is_line_start or bool(role & BLOCK), 0
        if role & AFTERWARDS:
            depth += 1 if role & LOWERED and around & ROWS else 0
            is_line_start = is_line_start or bool(role & TRAILING)
        while not right():
            if not up():
                keep_unseen(tokens, text[seen:] if is_broken else "", seen, 0)
                WALK.end()
                return tokens
            left = around
            parents.pop()
            above.pop()
            around = roles[parents[-1]]
            if left & LEAVING:
                if left & TERMINATED and _terminate(tokens, cursor.node, grammar):
                    before = COMMA
                if braces and braces[-1][0] > len(parents):
                    depth = braces.pop()[1]
                depth += 1 if left & LOWERED and around & ROWS else 0
                is_line_start = is_line_start or bool(left & TRAILING)
                if left & DEEPER:
                    depth, is_line_start, hang = depth - 1, is_line_start or bool(left & BLOCK), 0
    return tokens


def _respelled(tokens: Tokens, cursor: TreeCursor, node: Node, word: str, grammar: Grammar, parent: int) -> str:
    """The canonical spelling of a literal. Its end in the source is kept where the length differs."""
    shown = grammar.respelled[node.kind_id](node, word, grammar.names[parent % FLAT], cursor.field_name)
    if len(shown) != len(word):
        tokens.ends[node.start_byte] = node.end_byte
    return shown


def _terminate(tokens: Tokens, node: Node | None, grammar: Grammar) -> bool:
    """Write the `;` that a statement or member ends with, if it has none."""
    WALK.node = node
    if node is None or not tokens.parts or tokens.parts[-1] == ";" or not grammar.terminated[node.kind_id](node):
        return False
    tokens.parts.append(";")
    tokens.offsets.append(node.end_byte)
    return True


def _leave_mark_out(tokens: Tokens, around: Node, grammar: Grammar) -> None:
    """Take back the comma, or the `;`, written last before the bracket that closes a list, if it says nothing."""
    is_redundant = grammar.lists.get(around.kind_id)
    mark = len(tokens.parts) - 1
    while mark > 0 and not tokens.parts[mark]:
        mark -= 1
    if is_redundant is None or tokens.parts[mark] not in (",", ";") or tokens.line_tokens[-1] >= mark:
        return
    # Nothing before it: a place that is left empty.
    is_hole = tokens.parts[mark - 1].lstrip() in (",", "[")
    if not is_hole and is_redundant(around):
        del tokens.parts[mark:], tokens.offsets[mark:]


def _last_end(tokens: Tokens) -> int:
    """The end of the token written last."""
    return tokens.last_byte(tokens.offsets[-1] + 1) + 1 if tokens.offsets else 0


def _trailing(tokens: Tokens, text: str, leaf: Node) -> tuple[int, str]:
    """Where a text that comes after the line of its beginning starts, and that text.

    It is everything from that line's end; grammars leave out what they take for blanks.
    """
    line_end = text.find("\n", _last_end(tokens), leaf.start_byte)
    start = leaf.start_byte if line_end < 0 else line_end
    return start, text[start : leaf.end_byte]


def _is_open(braces: Sequence[tuple[int, int]], parents: Sequence[int]) -> bool:
    """Whether the walk is between the braces of the node it is directly in."""
    return bool(braces) and braces[-1][0] == len(parents)


def _note(
    tokens: Tokens, node: Node, role: int, grammar: Grammar, parent: int, *, is_open: bool, is_line: bool
) -> bool:
    """Keep what the readers of facts and complexity ask for; whether the node starts a line.

    `is_open`: the node is between the braces of its parent; `is_line`: it starts a line anyway.
    """
    around = grammar.roles[parent]
    if role & NodeRole.DEEP:
        _note_inside(tokens, node, grammar)
    if role & NodeRole.MARKED or (role & NodeRole.ROW_MARK and grammar.roles[parent % FLAT] & ROWS):
        tokens.marks.append((grammar.names[node.kind_id], node.start_byte, node))
    if role & NodeRole.BRANCH:
        tokens.branches.extend([node.start_byte] * grammar.count_branches(node))
    if role & NodeRole.COMMENT:
        tokens.comments.append(node)
    if role & NodeRole.ERROR:
        tokens.errors.append(node.start_byte)
        return bool(around & INDENTING)
    if role & NodeRole.WRAPPER and not around & NodeRole.WRAPPER:
        tokens.open_wrapper[:] = [node]
    is_line |= bool(role & STARTING or (role & NodeRole.LINE and (is_open or around & NodeRole.CONTAINER)))
    is_wrapped = bool(around & NodeRole.WRAPPER) and not is_open
    defines = role & NodeRole.DEFINING and _is_definition(tokens, node, grammar, is_wrapped=is_wrapped)
    # A node that is only a scope has no source of its own, so it need not start a line.
    if defines and not is_line and tokens.found[-1].wrapper is None and tokens.found[-1].defined.type is not None:
        tokens.forced.append(node.end_byte)
        return True
    return is_line


def _note_inside(tokens: Tokens, atom: Node, grammar: Grammar) -> None:
    """Keep the marked nodes and the branches inside an atom; its tokens are not read."""
    cursor, above = atom.walk(), [atom]
    if not cursor.goto_first_child():
        return
    while (node := cursor.node) is not None:
        role = grammar.roles[node.kind_id]
        if role & NodeRole.MARKED:
            WALK.note(node, above)
            tokens.marks.append((grammar.names[node.kind_id], node.start_byte, node))
        if role & NodeRole.BRANCH:
            tokens.branches.extend([node.start_byte] * grammar.count_branches(node))
        if role & NodeRole.ERROR or node.is_missing:
            tokens.errors.append(node.start_byte)
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or len(above) == 1:
                return
            above.pop()


def _is_definition(tokens: Tokens, node: Node, grammar: Grammar, *, is_wrapped: bool) -> bool:
    """Keep what a node defines, if it does; the first definition in a wrapper takes it as its own.

    What has the body of the definition found last is that: a function that a name is bound to.
    """
    defined: Any = grammar.define(node) if grammar.define else None
    if defined is not None and tokens.found and defined.body is not None:
        defined = None if defined.body == tokens.found[-1].defined.body else defined
    if defined is not None:
        wrapper = tokens.open_wrapper.pop() if is_wrapped and tokens.open_wrapper else None
        tokens.found.append(DefinitionNode(node, defined, wrapper))
    return defined is not None
