"""Which brackets around an expression of JavaScript and TypeScript say nothing: the tree is the same without them.

Every expression has a level, as the operators' precedence gives it, and every
place a least level that it accepts without brackets. Places that no rule
names keep theirs, and so does what a reader or another parser could take for
something else: a comparison in a comparison (type arguments), `in` (the head
of a `for`), one sign after another, casts and their operands (the grammar reads
`await a as T` in another way than the language).
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import find_field
from codesum_pipeline.languages.declarations.precedence import Precedence, held_in, operator_of

GROUP = "parenthesized_expression"
_RULES = Precedence(__file__)
_EQUALITY, _COMPARISON, _POWER, _UNARY, _POSTFIX, _NEW, _CALL = _RULES.levels(
    "equality comparison power unary postfix new call"
)
_CASTS = ("as_expression", "satisfies_expression")
_SAME_EITHER_WAY = ("||", "&&", "??")
# What opens something else at the beginning of a statement; what is behind a comment may, too.
_OPENERS = re.compile(rb"[{@/]|(?:function|class|async|let)\b")
_IN, _AWAITED = re.compile(rb"\bin\b"), re.compile(rb"await\b")
# Longer expressions keep their brackets, so that no file takes time with the square of its size.
_LONGEST = 4_000
# In so many nodes around brackets a `new` is looked for.
_NEAR = 64
_NAMED = ("identifier", "this", "member_expression")
_PATH = re.compile(rb"[\w$]+(?:\.[\w$]+)*")


def is_bare_group(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether the brackets around an expression say nothing."""
    parent = above[-1].type
    if parent == GROUP:
        return True
    inner = held_in(node, GROUP)
    if inner is None:
        return False
    place, is_enclosed = (parent, field), (parent, field) in _RULES.sets["enclosed"]
    if inner.type in _CASTS:
        return is_enclosed or parent in _CASTS
    code = (inner.text or b"") if inner.end_byte - inner.start_byte <= _LONGEST else None
    level = _level(inner, code)
    if level < _CALL and not is_enclosed and (code is None or _IN.search(code)):
        return False
    if place in _RULES.sets["first"] and _may_open(code, is_statement=parent == "expression_statement"):
        return False
    if parent == "binary_expression":
        return _fits_operator(operator_of(above[-1]), field, inner, level)
    if parent == "unary_expression" and inner.type in ("unary_expression", "update_expression"):
        return False
    if parent == "new_expression":
        is_path = inner.type in _NAMED and code is not None and _PATH.fullmatch(code) is not None
        return field == "constructor" and is_path
    if place in _RULES.sets["chained"] and (code is None or inner.type == "number" or not _continues(code, above)):
        return False
    return level >= _RULES.places.get(place, _RULES.never)


def _continues(code: bytes, above: Sequence[Node]) -> bool:
    """Whether a chain goes on behind brackets as it does without them: they end one that may end early (`a?.b.c`), and
    without them `new` takes the arguments of a call."""
    is_made = b"(" in code and any(around.type == "new_expression" for around in above[-_NEAR:])
    return b"?." not in code and not is_made


def is_bare_type(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether the brackets around a type say nothing: it fills its place, and is no type of a function."""
    parent = above[-1].type
    if parent == "parenthesized_type":
        return True
    if parent not in ("type_annotation", "type_alias_declaration", "type_arguments"):
        return False
    inner = held_in(node, "parenthesized_type")
    return inner is not None and inner.type in ("union_type", "intersection_type", "type_identifier", "predefined_type")


def _level(inner: Node, code: bytes | None) -> int:
    """The level of an expression. The grammar takes `await` for a name that is called: `await (a).b`."""
    if code is None or _AWAITED.match(code):
        return min(_UNARY, _RULES.level(inner, -1))
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


def _may_open(code: bytes | None, *, is_statement: bool) -> bool:
    """Whether an expression begins with what opens something else at the beginning of a statement."""
    begins = code.lstrip(b"( \t\n")[:10] if code is not None else b""
    return not begins or _OPENERS.match(begins) is not None or (is_statement and begins[:1] in b"'\"")
