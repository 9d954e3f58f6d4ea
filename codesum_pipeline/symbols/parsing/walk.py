"""One walk over a syntax tree: its tokens, where lines start, and the nodes a language asked for.

All that the canonical source and the readers of facts need is taken in this
one pass, without recursion, since the depth of a tree is the file's to choose.
"""

from collections.abc import Sequence

from tree_sitter import Node, Tree

from codesum_pipeline.languages.declarations.kin import current_walk
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.token_spacing import TokenSpacing, is_spaced
from codesum_pipeline.symbols.parsing.closing_marks import leave_mark_out, terminate
from codesum_pipeline.symbols.parsing.directives import OUTER_BLANKS, fold_lines, read_directive, replaced_text
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.gaps import keep_unseen, mend_before
from codesum_pipeline.symbols.parsing.grammar import BARE, FLAT, WITHOUT_COMMA, Grammar
from codesum_pipeline.symbols.parsing.kept_nodes import keep_definition, keep_node
from codesum_pipeline.symbols.parsing.node_roles import (
    AFTERWARDS,
    ASKING,
    BRACKET,
    CHILDLESS,
    CLEANED,
    DEEPER,
    ENCLOSING,
    ENTERED,
    INDENTING,
    KEPT,
    KINSHIP,
    LEAVING,
    OF_DIRECTIVE,
    REWRITTEN,
    SPECIAL,
    STARTING,
    STEPPED,
    UNREAD,
    UNUSUAL,
    NodeRole,
)

# The depth outside a file's own block.
OUTSIDE = -1
WORD, GLUE, COMMA = int(TokenSpacing.WORD), int(TokenSpacing.TIGHT), int(TokenSpacing.COMMA)
# Looked up for each node.
ROWS, DROPPED, FIXED, REPLACED, NAMING = (
    NodeRole.ROWS, NodeRole.DROPPED, NodeRole.FIXED, NodeRole.REPLACED, NodeRole.NAMING
)  # fmt: skip


def read_tokens(
    tree: Tree,
    text: str,
    grammar: Grammar,
    *,
    masked: str | None = None,
    rewritten: Sequence[Span] = (),
    is_mended: bool = False,
) -> Tokens:
    """Walk the tree once, without recursion. `text` is its source from `bytes_as_characters`.

    `masked` is what the grammar was given instead: words that were replaced in it are written as in the source, and
    each part of it that is `rewritten` as one word.
    `is_mended`: parts of it were blanked; they are kept as unparsable code.
    """
    is_broken = is_mended or tree.root_node.has_error
    walk = _TokenWalk(tree, text, grammar, masked=masked, rewritten=rewritten, is_broken=is_broken)
    walk.run()
    return walk.tokens


class _TokenWalk:
    """Where a walk over a tree is, and what decides how the next token is written.

    In the tree: `cursor` is at a node, `above` are the nodes around it, outermost first, `parents` their kinds as they
    are laid out, `around` the roles of the last of those. `braces` tells of each opened block how deep the tree and
    the text are around it.
    In the text: the next token is in a line of this `depth`, but for `hang` levels; it starts that line if
    `is_line_start`; `before` is the class of the token before it. Of a file that does not parse, all up to
    `read_up_to` is written or left out on purpose. `foreign` are the parts that are each still to be
    written as one word, the next one last; what begins before `foreign_up_to` belongs to the one written last, and
    what comes behind that `is_joined` stays on its line.
    """

    __slots__ = (
        "_above", "_around", "_before", "_braces", "_cursor", "_depth", "_foreign", "_foreign_up_to", "_grammar",
        "_hang", "_is_broken", "_is_joined", "_is_line_start", "_kin", "_masked", "_parents", "_read_up_to", "_text",
        "tokens",
    )  # fmt: skip

    def __init__(
        self,
        tree: Tree,
        text: str,
        grammar: Grammar,
        *,
        masked: str | None,
        rewritten: Sequence[Span],
        is_broken: bool,
    ) -> None:
        root = tree.root_node
        self.tokens = Tokens([], [], [], [], [], [], [], text.isascii(), kinds=grammar.names)
        self._text, self._grammar, self._masked, self._is_broken = text, grammar, masked, is_broken
        self._cursor = tree.walk()
        self._parents, self._above, self._around = [root.kind_id], [root], grammar.roles[root.kind_id]
        self._braces: list[tuple[int, int]] = []
        self._depth, self._hang, self._is_line_start, self._before, self._read_up_to = OUTSIDE, 0, True, 0, 0
        self._foreign, self._foreign_up_to, self._is_joined = list(reversed(rewritten)), 0, False
        self._kin = current_walk()
        self._kin.begin(self._above)

    def run(self) -> None:
        """Go over all nodes and write down each leaf.

        The innermost loop of the whole stage: what most nodes need is done here, with bound methods and flat branches,
        and what few need in the other methods, which the roles of a node call for.
        """
        tokens, text, grammar = self.tokens, self._text, self._grammar
        names, roles, steps, steps_in = grammar.names, grammar.roles, grammar.follow, grammar.follow_in
        write, place, name, forced = tokens.parts.append, tokens.offsets.append, tokens.words.append, tokens.forced
        parents, above, cursor = self._parents, self._above, self._cursor
        down, right = cursor.goto_first_child, cursor.goto_next_sibling
        is_broken, is_masked, is_foreign = self._is_broken, self._masked is not None, bool(self._foreign)
        while (node := cursor.node) is not None:
            kind = shape = node.kind_id
            role = roles[kind]
            if role & ASKING:
                shape = self._shape(node, kind, role)
                role = roles[shape]
            if self._around & ROWS and node.is_named and not role & DROPPED:
                self._begin_row()
            if role & KEPT:
                keep_node(tokens, node, role, grammar, parents[-1])
            if role & ENTERED:
                self._enter(node, role)
            if not role & CHILDLESS and down():
                parents.append(shape)
                above.append(node)
                self._around = role
                continue
            start, word = node.start_byte, "" if role & UNREAD else text[node.start_byte : node.end_byte]
            if role & NAMING:
                name((start, word, kind, parents[-1]))
            if is_foreign and self._read_foreign(start, role):
                word, role = "", DROPPED
            elif role & UNUSUAL or is_broken or forced or (is_masked and role & FIXED and self._is_replaced(node)):
                start, word, role = self._read_unusual(node, word, role)
            if word or role & UNREAD == FIXED:
                if self._is_line_start:
                    self._start_line(role)
                blank, before = steps[self._before][kind] or steps_in[self._before, parents[-1], kind]
                self._before = before if before < WITHOUT_COMMA else self._without_mark(before)
                blank = blank.removesuffix(names[kind]) if role & REPLACED else blank
                write(blank + word if word else blank)
                place(start)
            if role & AFTERWARDS:
                self._end_leaf(role)
            if not right() and not self._climb():
                return

    def _climb(self) -> bool:
        """After the last child of a node: up to the first node that has another one beside it; whether there is one."""
        roles, parents, above, cursor = self._grammar.roles, self._parents, self._above, self._cursor
        while cursor.goto_parent():
            left = self._around
            parents.pop()
            above.pop()
            self._around = roles[parents[-1]]
            if left & LEAVING:
                self._leave(left)
            if cursor.goto_next_sibling():
                return True
        keep_unseen(self.tokens, self._text[self._read_up_to :] if self._is_broken else "", self._read_up_to, 0)
        self._kin.end()
        return False

    def _shape(self, node: Node, kind: int, role: int) -> int:
        """Show a node to the hooks that ask about it; its kind as it is laid out: flat, bare, or as any of its kind."""
        self._kin.node = node
        if role & KINSHIP:
            self._kin.note(node, self._above)
        shape = kind
        if role & NodeRole.FLEXIBLE and self._grammar.flat[kind](node):
            shape = kind + FLAT
            role = self._grammar.roles[shape]
        if role & NodeRole.ENCLOSED and not self._is_broken:
            is_bare = self._grammar.bare[kind](node, self._above, self._cursor.field_name)
            shape = kind + BARE if is_bare else shape
        return shape

    def _begin_row(self) -> None:
        """What is directly in a node of rows starts a line; in one that has an opening, only behind that."""
        self._is_line_start = self._is_line_start or not self._around & ENCLOSING or self._is_open()

    def _is_open(self) -> bool:
        """Whether the walk is between the braces of the node it is directly in."""
        return bool(self._braces) and self._braces[-1][0] == len(self._parents)

    def _open_block(self) -> None:
        self._braces.append((len(self._parents), self._depth))
        self._depth += 1
        self._is_line_start = True

    def _enter(self, node: Node, role: int) -> None:
        """Before a node with children or a leaf: start a line and go deeper, as its role says."""
        around = self._around
        if role & NodeRole.ERROR:
            self.tokens.errors.append(node.start_byte)
            self._is_line_start |= bool(around & INDENTING)
            if role & NodeRole.DEFINING:
                self._enter_definition(node, is_wrapped=False)
            return
        is_open = self._is_open()
        if role & STARTING or (role & NodeRole.LINE and (is_open or around & NodeRole.CONTAINER)):
            self._is_line_start = True
        if role & NodeRole.DEFINING:
            self._enter_definition(node, is_wrapped=bool(around & NodeRole.WRAPPER) and not is_open)
        if role & STEPPED:
            self._hang = 1
        self._depth += 1 if role & DEEPER else 0
        self._depth -= 1 if role & NodeRole.LOWERED and around & ROWS else 0
        self._is_line_start = self._is_line_start and not role & NodeRole.TRAILING

    def _enter_definition(self, node: Node, *, is_wrapped: bool) -> None:
        """A definition starts a line; a node that is only a scope has no source of its own, so it need not."""
        found = keep_definition(self.tokens, node, self._grammar, is_wrapped=is_wrapped)
        if found is not None and not self._is_line_start and found.wrapper is None and found.defined.type is not None:
            self.tokens.forced.append(node.end_byte)
            self._is_line_start = True

    def _is_replaced(self, leaf: Node) -> bool:
        """Whether the grammar was shown a token in place of what the source has there."""
        start, end = leaf.start_byte, leaf.end_byte
        return self._masked is not None and self._masked[start:end] != self._text[start:end]

    def _read_foreign(self, start: int, role: int) -> bool:
        """Write the rewritten parts up to a leaf; whether the leaf is in the last of them, and thus written."""
        foreign = self._foreign
        if role & DROPPED and not (foreign and foreign[-1][0] <= start < foreign[-1][1]):
            return start < self._foreign_up_to
        if self._is_joined and start >= self._foreign_up_to:
            # The grammar sees two statements where the language has one.
            self._is_line_start = self._is_line_start and "\n" in self._text[self._foreign_up_to : start]
            self._is_joined = False
        while foreign and foreign[-1][0] <= start:
            first, end = foreign.pop()
            is_within = start < end
            is_apart = not is_within and self._is_line_start and "\n" in self._text[self._last_end() : first]
            if self._is_line_start and (is_within or is_apart or not self.tokens.offsets):
                self._start_line(0)
            self._write_part(first, end)
            self._is_joined, self._is_line_start = is_within, self._is_line_start or is_apart
        return start < self._foreign_up_to

    def _write_part(self, start: int, end: int) -> None:
        """Write a part of the source as one word."""
        tokens, before = self.tokens, TokenSpacing(self._before)
        pieces = self._text[start:end].replace("\\\n", " ").encode("latin-1").split()
        word = b" ".join(pieces).decode("latin-1")
        settled = TokenSpacing.COMMA if word.startswith(",") else TokenSpacing.WORD
        tokens.parts.append(f" {word}" if is_spaced(before, settled) else word)
        tokens.offsets.append(start)
        if len(word) != end - start:
            tokens.ends[start] = end
        self._before, self._foreign_up_to = WORD, end
        self._read_up_to = max(self._read_up_to, end)

    def _read_unusual(self, leaf: Node, word: str, role: int) -> tuple[int, str, int]:
        """A leaf that is not simply copied: where it starts, what is written for it, and its role."""
        start, forced = leaf.start_byte, self.tokens.forced
        if (
            self._masked
            and role & FIXED
            and (original := replaced_text(self._text, self._masked, start, leaf.end_byte))
        ):
            role, word = role & ~FIXED | REPLACED, original
        if self._is_broken:
            if leaf.is_missing or (start > self._read_up_to and not role & NodeRole.TRAILING):
                role = self._mend(leaf, role)
            self._read_up_to = max(self._read_up_to, leaf.end_byte)
        if forced and start >= forced[-1]:
            self._end_forced(leaf)
        if role & REWRITTEN:
            start, word, role = self._rewrite(leaf, word, role)
        if role & BRACKET and self._around & (NodeRole.BRACED if role & NodeRole.BRACE else NodeRole.PARENED):
            if not role & NodeRole.CLOSING:
                role |= NodeRole.OPENING
            elif self._is_open():
                self._depth = self._braces.pop()[1]
                self._is_line_start = self.tokens.parts[-1].lstrip() not in ("{", "(")
        return start, word, role

    def _mend(self, leaf: Node, role: int) -> int:
        """Write down what no token covers before a leaf of a file that does not parse; the role of that leaf."""
        depth, parent = self._depth, self._parents[-1]
        starts_line = mend_before(self.tokens, leaf, self._text, self._read_up_to, depth, parent)
        self._is_line_start = starts_line or self._is_line_start
        return role & ~FIXED if leaf.is_missing else role

    def _end_forced(self, leaf: Node) -> None:
        """Behind a definition inside an expression, another line starts; the mark that ends its statement is beside
        its end, written or not."""
        is_mark = self._around & NodeRole.TERMINATED and self._grammar.names[leaf.kind_id] == ";"
        self._is_line_start = self._is_line_start or not is_mark
        forced = self.tokens.forced
        while forced and leaf.start_byte >= forced[-1]:
            forced.pop()

    def _rewrite(self, leaf: Node, word: str, role: int) -> tuple[int, str, int]:
        """A leaf whose text, place or role is another one than in the source: where it starts, its text, its role."""
        start = leaf.start_byte
        if role & CLEANED:
            word = fold_lines(word) if role & NodeRole.FOLDED else word.rstrip(OUTER_BLANKS)
        if role & NodeRole.RESPELLED and not self._is_broken:
            word = self._respelled(leaf, word)
        if role & SPECIAL:
            start, word, role = self._read_special(leaf, word, role)
        if role & OF_DIRECTIVE:
            comments, forced = self.tokens.comments, self.tokens.forced
            word, role, is_row = read_directive(comments, forced, leaf, role, self._text, self._around)
            self._is_line_start = self._is_line_start or is_row
        return start, word, role

    def _respelled(self, leaf: Node, word: str) -> str:
        """The canonical spelling of a literal. Its end in the source is kept where the length differs."""
        parent = self._grammar.names[self._parents[-1] % FLAT]
        shown = self._grammar.respelled[leaf.kind_id](leaf, word, parent, self._cursor.field_name)
        if len(shown) != len(word):
            self.tokens.ends[leaf.start_byte] = leaf.end_byte
        return shown

    def _read_special(self, leaf: Node, word: str, role: int) -> tuple[int, str, int]:
        """A text behind its line, a word that may be glued to the one before it, or a mark between statements."""
        start = leaf.start_byte
        if role & NodeRole.TRAILING:
            # Everything from its line's end: grammars leave out what they take for blanks.
            line_end = self._text.find("\n", self._last_end(), start)
            start = start if line_end < 0 else line_end
            word = self._text[start : leaf.end_byte]
        elif role & NodeRole.GLUED:
            self._before = GLUE if self._before == WORD and start == self._last_end() else self._before
        elif self._is_open():
            role |= UNREAD
        return start, word, role

    def _last_end(self) -> int:
        """The end of the token written last."""
        offsets = self.tokens.offsets
        return self.tokens.last_byte(offsets[-1] + 1) + 1 if offsets else 0

    def _start_line(self, role: int) -> None:
        """Start a line with the next token."""
        tokens = self.tokens
        if self._before == COMMA and role & NodeRole.CLOSING and not self._is_broken:
            leave_mark_out(tokens, self._above[-1], self._grammar)
        tokens.line_tokens.append(len(tokens.offsets))
        tokens.line_depths.append(max(self._depth - self._hang, 0))
        self._is_line_start, self._before, self._hang = False, 0, 0

    def _without_mark(self, before: int) -> int:
        """Before the bracket that closes a list: its last comma goes; the class that the bracket settles to."""
        if not self._is_broken:
            leave_mark_out(self.tokens, self._above[-1], self._grammar)
        return before - WITHOUT_COMMA

    def _end_leaf(self, role: int) -> None:
        """After a leaf that opens a block, or is one."""
        if role & NodeRole.OPENING:
            self._open_block()
        self._end_indented(role)

    def _leave(self, left: int) -> None:
        """The walk is at a node with these roles again, after its last child."""
        if left & NodeRole.TERMINATED and terminate(self.tokens, self._cursor.node, self._grammar):
            self._before = COMMA
        if self._braces and self._braces[-1][0] > len(self._parents):
            self._depth = self._braces.pop()[1]
        self._end_indented(left)

    def _end_indented(self, role: int) -> None:
        """Behind what is indented, or lowered, the depth is as before it; behind a block starts a line."""
        self._depth += 1 if role & NodeRole.LOWERED and self._around & ROWS else 0
        self._is_line_start = self._is_line_start or bool(role & (NodeRole.BLOCK | NodeRole.TRAILING))
        if role & DEEPER:
            self._depth -= 1
            self._hang = 0
