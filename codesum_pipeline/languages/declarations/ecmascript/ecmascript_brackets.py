"""Which brackets around an expression of JavaScript and TypeScript say nothing: the tree is the same without them.

Every expression has a level, as the operators' precedence gives it, and every
place a least level that it accepts without brackets. Places that no rule
names keep theirs, and so does what a reader or another parser could take for
something else: a comparison in a comparison (type arguments), `in` (the head
of a `for`), one sign after another, casts and their operands (the grammar reads
`await a as T` in another way than the language).
"""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import find_field, only_code_child
from codesum_pipeline.languages.declarations.precedence import Precedence, held_in, operator_of

GROUP = "parenthesized_expression"
_RULES = Precedence(__file__)
_EQUALITY, _COMPARISON, _POWER, _UNARY, _POSTFIX, _NEW, _CALL = _RULES.levels(
    "equality comparison power unary postfix new call"
)
_ENCLOSED, _CHAINED = _RULES.sets["enclosed"], _RULES.sets["chained"]
_CASTS = ("as_expression", "satisfies_expression")
_SAME_EITHER_WAY = ("||", "&&", "??")
_OPENERS = re.compile(rb"[{@]|(?:function|class|async|let)\b")
_IN = re.compile(rb"\bin\b")
# Longer expressions and deeper ones keep their brackets, so that no file takes time with the square of its size.
_LONGEST, _DEEPEST = 4_000, 64
_LINKS = {"member_expression": "object", "subscript_expression": "object", "call_expression": "function"}


def is_bare_group(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether the brackets around an expression say nothing."""
    parent = above[-1].type
    if parent == GROUP:
        return True
    inner = held_in(node, GROUP)
    if inner is None:
        return False
    place = (parent, field)
    if inner.type in _CASTS:
        return place in _ENCLOSED or parent in _CASTS
    level = _level(inner)
    if (
        level < _CALL
        and place not in _ENCLOSED
        and (inner.end_byte - inner.start_byte > _LONGEST or _IN.search(inner.text or b""))
    ):
        return False
    if place in _RULES.sets["first"] and _may_open(inner, is_statement=parent == "expression_statement"):
        return False
    if parent == "new_expression":
        return field == "constructor" and _is_path(inner)
    if parent == "binary_expression":
        return _fits_operator(operator_of(above[-1]), field, inner, level)
    if parent == "unary_expression" and inner.type in ("unary_expression", "update_expression"):
        return False
    if place in _CHAINED:
        is_number = inner.type == "number" and field == "object"
        return level >= _CALL and not is_number and not _ends_chain(inner) and not _is_made(node, above, inner)
    return level >= _RULES.places.get(place, _RULES.never)


def is_bare_type(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether the brackets around a type say nothing: it fills its place, and is no type of a function."""
    parent = above[-1].type
    if parent == "parenthesized_type":
        return True
    if parent not in ("type_annotation", "type_alias_declaration", "type_arguments"):
        return False
    inner = held_in(node, "parenthesized_type")
    return inner is not None and inner.type in ("union_type", "intersection_type", "type_identifier", "predefined_type")


def _level(inner: Node) -> int:
    if (inner.type in _LINKS or inner.type == "non_null_expression") and _is_awaited(inner):
        return _UNARY
    if inner.type == "new_expression":
        return _NEW if find_field(inner, "arguments") is None else _CALL
    return _RULES.level(inner, -1)


def _fits_operator(outer: str, field: str | None, inner: Node, level: int) -> bool:
    """Whether an operand means the same beside its operator without brackets."""
    own = _RULES.operators.get(outer, _RULES.never)
    held = operator_of(inner) if inner.type == "binary_expression" else ""
    if own == _POWER:
        return level >= (_POSTFIX if field == "left" else _POWER)
    if level == _COMPARISON and own in (_EQUALITY, _COMPARISON):
        return False
    if "??" in (outer, held) and outer != held and held in _SAME_EITHER_WAY:
        return False
    is_same = outer == held and outer in _SAME_EITHER_WAY
    return level >= (own if field == "left" or is_same else own + 1)


def _may_open(inner: Node, *, is_statement: bool) -> bool:
    """Whether an expression begins with what opens something else at the beginning of a statement."""
    first: Node | None = inner
    for _ in range(_DEEPEST):
        if first is None or first.type == "string" or not first.child_count:
            break
        first = next((child for child in first.children if child.type != "(" and not child.is_extra), None)
    else:
        return True
    if first is None or (is_statement and first.type == "string"):
        return True
    return _OPENERS.match((first.text or b"")[:10]) is not None


def _is_path(inner: Node) -> bool:
    """Whether an expression is a name, or names and dots."""
    for _ in range(_DEEPEST):
        held = find_field(inner, "object") if inner.type == "member_expression" else None
        if held is None:
            return inner.type in ("identifier", "this")
        inner = held
    return False


def _chain(inner: Node) -> Iterator[Node | None]:
    """An expression and what its links begin with, outermost first, brackets aside; None if it is too deep."""
    link: Node | None = inner
    for _ in range(_DEEPEST):
        if link is None:
            return
        yield link
        if link.type in _LINKS:
            link = link.child_by_field_name(_LINKS[link.type])
        elif link.type in ("non_null_expression", GROUP):
            link = only_code_child(link)
        else:
            return
    yield None


def _ends_chain(inner: Node) -> bool:
    """Whether a chain may end early (`a?.b.c`), which brackets end."""
    for link in _chain(inner):
        if link is None:
            return True
        if link.type == GROUP:
            return False
        if any(child.type in ("optional_chain", "?.") for child in link.children):
            return True
    return False


def _is_made(node: Node, above: Sequence[Node], inner: Node) -> bool:
    """Whether brackets after `new` hold a call: without them, `new` would take the call's arguments."""
    if not any(link is None or link.type == "call_expression" for link in _chain(inner)):
        return False
    for around in reversed(above[-_DEEPEST:]):
        if around.type == "new_expression":
            made = find_field(around, "constructor")
            return made is not None and made.start_byte == node.start_byte
        if around.start_byte < node.start_byte and around.type != GROUP:
            return False
    return len(above) > _DEEPEST


def _is_awaited(inner: Node) -> bool:
    """Whether the grammar takes `await` for a name that is called: `await (a).b`."""
    return any(link is None or (link.type == "identifier" and link.text == b"await") for link in _chain(inner))
