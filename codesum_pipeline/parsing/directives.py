"""Directives: each takes a line of the file, wherever in the syntax it stands, and so does what comes after it."""

from tree_sitter import Node

from codesum_pipeline.parsing.grammar import NodeRole

# How comments begin in the languages that have directives.
COMMENT_MARKS = ("//", "/*")
BLANKS = " \t\f"


def read_directive(
    comments: list[Node], forced: list[int], leaf: Node, role: int, text: str, around: int
) -> tuple[str, int, bool]:
    """A leaf of a directive: its text, its role, and whether it starts a line.

    Where that ends is added to `forced`. What is written like no comment is a
    word or a directive that was shown to the grammar as one, and is taken out
    of `comments`, which it was the last of.
    """
    start = leaf.start_byte
    word = "" if role & NodeRole.FIXED else text[start : leaf.end_byte].rstrip(BLANKS)
    if role & NodeRole.COMMENT:
        if word.startswith(COMMENT_MARKS):
            return "", role, False
        comments.pop()
        role &= ~NodeRole.DROPPED
        if not word.startswith("#"):
            return word, role, bool(around & (NodeRole.ROWS | NodeRole.CONTAINER))
    elif not role & NodeRole.DIRECTIVE:
        return word, role, False
    forced.append(_line_end(text, start))
    return word, role, True


def _line_end(text: str, start: int) -> int:
    """The end of the line from `start`, and of those that continue it."""
    end = text.find("\n", start)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return end if end >= 0 else len(text)
