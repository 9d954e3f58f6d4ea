"""Text as written in a source: blanks, words that were replaced for the grammar, and directives.

A directive gets its own line wherever it occurs in the syntax, and so does what comes after it.
"""

from tree_sitter import Node

from codesum_pipeline.symbols.parsing.node_roles import NodeRole

# How comments begin in the languages that have directives.
COMMENT_MARKS = ("//", "/*")
# Explicit, since `str.strip` also takes what are letters' halves in the bytes-as-characters text.
BLANKS = " \t\f"
OUTER_BLANKS = BLANKS + "\n"


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
    end = len(word)
    while word.endswith("\\\n", 0, end):
        # It goes on in a line without anything.
        end -= 2
        while end and word[end - 1] in BLANKS:
            end -= 1
    word = word[:end]
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


def fold_lines(text: str) -> str:
    """A text on one line: line ends and the blanks around them are one blank, and none at its ends."""
    first, *others = text.split("\n")
    if not others:
        return text
    *inner, last = others
    pieces = (first.rstrip(BLANKS), *(piece.strip(BLANKS) for piece in inner), last.lstrip(BLANKS))
    return " ".join(filter(None, pieces))


def replaced_text(text: str, shown: str, start: int, end: int) -> str:
    """What a token was shown in place of, with what was shown as blanks after it; none if it is as shown."""
    if text[start:end] == shown[start:end]:
        return ""
    while end < len(text) and shown[end] == " " and text[end] not in OUTER_BLANKS:
        end += 1
    return text[start:end]
