"""Which brackets of Python say nothing: the syntax tree is the same without them.

Every expression has a level, as the operators' precedence gives it, and every
place a least level that it accepts without brackets. Places that no rule
names keep theirs.
"""

import re
from collections.abc import Collection, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declarations.hooks import is_longer_than_one
from codesum_pipeline.languages.declarations.kin import grandparent_of, parent_of, siblings_before
from codesum_pipeline.languages.declarations.nodes import find_field, first_code_child
from codesum_pipeline.languages.declarations.precedence import Precedence, held_in, operator_of

GROUP = "parenthesized_expression"
_RULES = Precedence(__file__)
_BRACKETED, _LAMBDA, _OR, _UNARY, _POWER, _AWAIT = _RULES.levels("bracketed lambda or unary power await")
# Words that are names or begin a statement, depending on what follows them.
_SOFT_WORDS = ("print", "exec", "match", "case", "type")
_SOFT = re.compile(rb"(?:print|exec|match|case|type|async|await)\b(?![.(])")
# Not every place that accepts a bare tuple accepts these; the grammar reads a star there as another one.
_ENCLOSED = ("named_expression", "yield", "list_splat")
# One argument and the comments around it: the rest is not looked at, since calls are many.
_FEW = 4
# Brackets around brackets, from which nobody reads a word before them.
_MOST_AROUND = 100
_TARGET_LISTS = ("pattern_list", "tuple_pattern", "list_pattern")


def is_bare_group(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether the brackets around an expression say nothing."""
    parent = above[-1].type
    if parent == GROUP:
        return True
    inner = held_in(node, GROUP)
    if inner is None:
        return False
    kind = inner.type
    if parent == "match_statement":
        return kind == "identifier" and not _SOFT.match(inner.text or b"")
    if kind == "identifier" or parent == "expression_statement":
        if _SOFT.match(inner.text or b""):
            return False
        # A text in brackets is the docstring that it is without them, but with another margin.
        if parent == "expression_statement" and kind in ("string", "concatenated_string"):
            return False
    if (kind == "tuple" and parent == "with_item") or _follows_soft_word(node):
        return False
    if kind == "yield":
        return (parent, field) in _RULES.sets["yielding"] and (parent != "expression_statement" or _is_whole(node))
    return _RULES.level(inner, _BRACKETED) >= _least(node, parent, field)


def _follows_soft_word(node: Node) -> bool:
    """Whether brackets directly follow a word that is a call's name with them and maybe a keyword without."""
    place: Node | None = node
    for _ in range(_MOST_AROUND):
        before = _before(place) if place is not None else None
        if place is None or before is not None:
            return before is not None and before.type in _SOFT_WORDS
        place = parent_of(place)
    return False


def _before(node: Node) -> Node | None:
    """The node before another, except for comments and broken lines."""
    return next((before for before in siblings_before(node) if not before.is_extra), None)


def _least(node: Node, parent: str, field: str | None) -> int:
    """The least level that a place accepts without brackets."""
    if parent == "boolean_operator":
        return _RULES.operators.get(operator_of(parent_of(node)), _RULES.never) + 1
    if parent == "binary_operator":
        own = _RULES.operators.get(operator_of(parent_of(node)), _RULES.never)
        if own == _POWER:
            return _AWAIT if field == "left" else _UNARY
        return own if field == "left" else own + 1
    if parent == "conditional_expression":
        before = _before(node)
        return _LAMBDA if before is not None and before.type == "else" else _OR
    return _RULES.places.get((parent, field), _RULES.never)


def is_bare_tuple(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether a tuple is one without its brackets."""
    parent = above[-1].type
    place = node
    if parent == GROUP:
        around = parent_of(node)
        while around is not None and around.type == GROUP:
            place, around = around, parent_of(around)
        if around is None:
            return False
        parent = around.type
        field = next((name for name in ("right", "subscript") if place in around.children_by_field_name(name)), None)
    if parent == "type":
        return _is_alone_in_brackets(parent_of(place)) and not _holds(node, _ENCLOSED)
    if (parent, field) not in _RULES.sets["tuples"]:
        return False
    first = first_code_child(node)
    if first is None or _holds(node, _ENCLOSED):
        return False
    before = _before(place)
    if parent == "yield":
        return before is None or before.type != "from"
    if parent == "subscript":
        return _is_alone_in_brackets(place)
    return parent != "expression_statement" or (_is_whole(place) and not _SOFT.match(first.text or b""))


def _is_whole(node: Node) -> bool:
    """Whether nothing else is in a node's statement; comments and broken lines do not count."""
    around = parent_of(node)
    return around is None or all(child == node or child.is_extra for child in around.children)


def _holds(node: Node, kinds: Collection[str]) -> bool:
    return any(child.type in kinds for child in node.named_children)


def _is_alone_in_brackets(node: Node | None) -> bool:
    """Whether a node is the only one in square brackets."""
    around = parent_of(node) if node is not None else None
    if around is None:
        return False
    in_order = [child for child in around.children if not child.is_extra]
    place = in_order.index(node) if node in in_order else 0
    return 0 < place < len(in_order) - 1 and in_order[place - 1].type == "[" and in_order[place + 1].type == "]"


def is_bare_target(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether targets are the same without their brackets; an annotated one is another kind of target with them."""
    parent = above[-1].type
    if first_code_child(node) is None:
        return False
    place, around = node, parent_of(node)
    has_comma = any(child.type == "," for child in node.children)
    while has_comma and around is not None and around.type == "tuple_pattern":
        # If brackets are nested, the innermost are the tuple's.
        if any(child.type == "," for child in around.children):
            break
        place, around = around, parent_of(around)
        if around is None:
            break
        parent, field = around.type, "left" if find_field(around, "left") == place else None
    if parent in _TARGET_LISTS or (parent == "case_pattern" and _is_whole_case(node)):
        return not any(child.type == "," for child in node.children)
    if (parent, field) not in _RULES.sets["targets"]:
        return False
    if parent == "assignment" and (around is None or find_field(around, "type") is not None):
        return False
    return not _SOFT.match((first_code_child(node) or node).text or b"")


def _is_whole_case(node: Node) -> bool:
    around = grandparent_of(node)
    return around is not None and around.type == "case_clause"


def is_bare_call(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether brackets after a name say nothing: those of no bases, and those around a generator's own."""
    parent = above[-1].type
    if parent == "class_definition":
        return first_code_child(node) is None
    if parent != "call" or node.named_child_count > _FEW:
        return False
    only = held_in(node, GROUP)
    return only is not None and only.type == "generator_expression"


def is_no_only_item(node: Node) -> bool:
    """Whether a comma after types in brackets says nothing: it makes a tuple of one that is no parameter."""
    around = parent_of(node)
    return around is None or around.type != "generic_type" or is_longer_than_one(node)
