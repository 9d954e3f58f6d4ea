"""The tokens of one file as a walk over its tree leaves them, and the nodes that a language asked for."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.languages.declarations.hook_values import WordRow
from codesum_pipeline.languages.declarations.node_code import Code
from codesum_pipeline.languages.declarations.spec import Mark
from codesum_pipeline.symbols.parsing.directives import BLANKS

# Where only the first tokens of a text are asked for, no more than so many bytes of each are given: each link of a
# chain of calls on a long text would show that text.
LONG_TOKEN = 1 << 12


# A text of more bytes in the source is a long one, and so many times the bytes of the file are given of all long ones.
# What is longer is given cut to so many characters after that, which is too long for a name, a type or a chain.
LONG_TEXT = 300
LONG_TEXTS_SHARE = 16
# The first byte of a name, its text, its kind, and that of what it is directly in.
KeptWord = tuple[int, str, int, int]
# What is added to a kind is a multiple of this.
_KINDS = 1 << 16


class DefinitionNode(Struct, frozen=True):
    """A node that defines something by its language, what that is, and the outermost wrapper right around it."""

    node: Node
    defined: Any
    wrapper: Node | None


class Tokens(Struct):
    """What one walk over a tree has found: its tokens, where lines start, and the nodes a language asked for.

    The walk fills it; afterwards it is only read.

    `parts` holds each token with the blank before it, if it has one, `offsets`
    the tokens' first bytes. Each character of the parts is one byte; `decoded`
    turns them into text. A definition starts a line even inside an expression:
    `forced` are the ends of such definitions that the walk has not reached yet;
    `ends` those of the tokens that are shorter or longer than they are written,
    by their first bytes; `words` are the tokens that name something, each character a byte, by the numbers of `kinds`.
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
    words: list[KeptWord] = field(default_factory=list)
    kinds: tuple[str, ...] = ()

    def decoded(self, text: str) -> str:
        """The text that a string of bytes-as-characters encodes."""
        return text if self.is_ascii else text.encode("latin-1").decode("utf-8", "replace")

    def named_words(self) -> Iterator[WordRow]:
        """The tokens that name something, in source order, but for those in what could not be parsed."""
        kinds, is_ascii = self.kinds, self.is_ascii
        count = len(kinds)
        for start, word, kind, around in sorted(self.words):
            if (around := around % _KINDS) < count:
                # A token with one spelling is not read.
                text = (word if is_ascii or word.isascii() else self.decoded(word)) or kinds[kind]
                yield start, text, kinds[kind], kinds[around]

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


class NodeTexts:
    """Gives the canonical text of each node of a file on one line, in time and memory linear in the `size` of the file.

    Nodes contain each other, so all their texts together may grow with the square of a file: the texts of what each
    link of a chain of calls is called on, or of functions in each other. Real files ask for long texts of at most twice
    their size.
    """

    def __init__(self, tokens: Tokens, size: int) -> None:
        self._tokens = tokens
        self._left = LONG_TEXTS_SHARE * size

    def __call__(self, node: Node | None) -> Code:
        if node is None:
            return Code.of("")
        # Not the node itself: what is read of a file would keep its tree.
        start, end = span = node.start_byte, node.end_byte
        is_cut = False
        if end - start > LONG_TEXT:
            self._left -= end - start
            is_cut = self._left < 0
        code = Code(
            self._tokens.text(start, end, max_tokens=LONG_TEXT)[:LONG_TEXT] if is_cut else self._tokens.text(start, end)
        )
        code.span = span
        return code
