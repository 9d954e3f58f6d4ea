"""Marks at the end of statements and lists that a formatter may write or leave out."""

from tree_sitter import Node

from codesum_pipeline.languages.declarations.kin import current_walk
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.grammar import Grammar


def terminate(tokens: Tokens, node: Node | None, grammar: Grammar) -> bool:
    """Write the `;` that a statement or member ends with, if it has none."""
    current_walk().node = node
    if node is None or not tokens.parts or tokens.parts[-1] == ";" or not grammar.terminated[node.kind_id](node):
        return False
    tokens.parts.append(";")
    tokens.offsets.append(node.end_byte)
    return True


def leave_mark_out(tokens: Tokens, around: Node, grammar: Grammar) -> None:
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
