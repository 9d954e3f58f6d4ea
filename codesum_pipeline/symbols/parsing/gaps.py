"""What lies between the tokens of a file that did not parse is kept."""

from tree_sitter import Node

from codesum_pipeline.symbols.parsing.directives import OUTER_BLANKS
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.grammar import ERROR_KIND

# What grammars pass over as blanks beside the usual ones: line continuations, and marks without a width.
UNSEEN_BLANKS = ("\\\n", *(mark.encode().decode("latin-1") for mark in "\ufeff\u200b\u2060"))


def mend_before(tokens: Tokens, leaf: Node, text: str, read_up_to: int, depth: int, parent: int) -> bool:
    """Before a leaf of a file that did not parse: count and keep what is wrong; whether the leaf starts a line.

    Inside an error nobody knows the statements, so lines are as written.
    """
    if leaf.is_missing or leaf.has_error:
        tokens.errors.append(leaf.start_byte)
    gap = text[read_up_to : leaf.start_byte]
    return keep_unseen(tokens, gap, read_up_to, depth) or (parent == ERROR_KIND and "\n" in gap)


def keep_unseen(tokens: Tokens, gap: str, start: int, depth: int) -> bool:
    """Text that no node covers, as of a literal that never ends, becomes lines of its own; whether there was some."""
    if not gap.strip(OUTER_BLANKS):
        return False
    for blank in UNSEEN_BLANKS:
        gap = gap.replace(blank, " " * len(blank))
    shown = gap.strip(OUTER_BLANKS)
    if shown:
        tokens.line_tokens.append(len(tokens.offsets))
        tokens.line_depths.append(max(depth, 0))
        tokens.parts.append(shown)
        tokens.offsets.append(start + gap.index(shown))
    return bool(shown)
