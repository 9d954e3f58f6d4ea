"""The nodes that a walk keeps for the readers of facts: marked ones, comments, branches, definitions."""

from typing import Any

from tree_sitter import Node

from codesum_pipeline.languages.declarations.kin import current_walk
from codesum_pipeline.symbols.parsing.file_tokens import DefinitionNode, Tokens
from codesum_pipeline.symbols.parsing.grammar import FLAT, Grammar
from codesum_pipeline.symbols.parsing.node_roles import NodeRole


def keep_node(tokens: Tokens, node: Node, role: int, grammar: Grammar, parent: int) -> None:
    """Keep a node directly in one of the kind `parent` for what its role says."""
    if role & NodeRole.DEEP:
        _keep_inside(tokens, node, grammar)
    if role & NodeRole.MARKED or (role & NodeRole.ROW_MARK and grammar.roles[parent % FLAT] & NodeRole.ROWS):
        tokens.marks.append((grammar.names[node.kind_id], node.start_byte, node))
    if role & NodeRole.BRANCH:
        tokens.branches.extend([node.start_byte] * grammar.count_branches(node))
    if role & NodeRole.COMMENT:
        tokens.comments.append(node)
    if role & NodeRole.WRAPPER and not grammar.roles[parent] & NodeRole.WRAPPER:
        tokens.open_wrapper[:] = [node]


def _keep_inside(tokens: Tokens, atom: Node, grammar: Grammar) -> None:
    """Keep the marked nodes and the branches inside an atom; its tokens are not read."""
    cursor, above, walk = atom.walk(), [atom], current_walk()
    if not cursor.goto_first_child():
        return
    while (node := cursor.node) is not None:
        role = grammar.roles[node.kind_id]
        if role & NodeRole.MARKED:
            walk.note(node, above)
            tokens.marks.append((grammar.names[node.kind_id], node.start_byte, node))
        if role & NodeRole.BRANCH:
            tokens.branches.extend([node.start_byte] * grammar.count_branches(node))
        if role & NodeRole.NAMING and not node.child_count:
            word = (node.text or b"").decode("latin-1")
            tokens.words.append((node.start_byte, word, node.kind_id, above[-1].kind_id))
        if role & NodeRole.ERROR or node.is_missing:
            tokens.errors.append(node.start_byte)
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or len(above) == 1:
                return
            above.pop()


def keep_definition(tokens: Tokens, node: Node, grammar: Grammar, *, is_wrapped: bool) -> DefinitionNode | None:
    """Keep what a node defines, if it does; the first definition in a wrapper takes it as its own.

    What has the body of the definition found last is that: a function that a name is bound to.
    """
    defined: Any = grammar.define(node) if grammar.define else None
    if defined is None:
        return None
    if tokens.found and defined.body is not None and defined.body == tokens.found[-1].defined.body:
        return None
    wrapper = tokens.open_wrapper.pop() if is_wrapped and tokens.open_wrapper else None
    tokens.found.append(DefinitionNode(node, defined, wrapper))
    return tokens.found[-1]
