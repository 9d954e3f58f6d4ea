"""The canonical texts of a file's nodes, in time and memory linear in the file.

Nodes contain each other, so all their texts together may grow with the square of a file: the texts of what each link of
a chain of calls is called on, or of functions in each other. Real files ask for long texts of at most twice their size.
"""

from tree_sitter import Node

from codesum_pipeline.languages.declarations.node_code import Code
from codesum_pipeline.symbols.parsing.file_tokens import Tokens

# A text of more bytes in the source is a long one, and so many times the bytes of the file are given of all long ones.
# What is longer is given cut to so many characters after that, which is too long for a name, a type or a chain.
LONG_TEXT = 300
LONG_TEXTS_SHARE = 16


class NodeTexts:
    """Gives the canonical text of each node on one line; the texts share the bytes of a file of `size` bytes."""

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
