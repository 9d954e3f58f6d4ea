"""Where `isinstance` tells what a name's object is: a binding of the name that holds for a stretch of code.

What holds in the body of `if isinstance(x, A) and …`, beside `isinstance(x, A)
and`, or after `if not isinstance(x, A): return` and `assert isinstance(x, A)`
is followed through `and`, `or`, `not` and brackets.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from codesum_pipeline.languages.python.references.expressions import ExpressionReader, arguments_of
from codesum_pipeline.languages.python.references.names import Bound, Moment, NameTable
from codesum_pipeline.languages.python.references.scopes import ScopeRanges
from codesum_pipeline.languages.spec import words

_LEAVING = words("return_statement raise_statement continue_statement break_statement")
_MOST_CLASSES = 4


class _Stretch(NamedTuple):
    """A node in which the name is an object of the class, or with `is_rest` from which on it is."""

    node: Node
    is_rest: bool = False


class NarrowingReader:
    """Binds names where they are known to be of a class; `arms` are the expressions that are passed over otherwise."""

    def __init__(self, expressions: ExpressionReader, table: NameTable, ranges: ScopeRanges) -> None:
        self._expressions = expressions
        self._table = table
        self._ranges = ranges
        self.arms: list[Node] = []

    def read(self, calls: Sequence[Node]) -> None:
        """Take in calls of `isinstance`."""
        for call in calls:
            arguments = arguments_of(call)
            if len(arguments) != 2 or arguments[0].type != "identifier":
                continue
            shape = self._classes(arguments[1])
            if shape is None:
                continue
            for stretch in _stretches(call):
                self._bind(call, self._expressions.text(arguments[0]), shape, stretch)

    def _bind(self, call: Node, name: str, shape: str, stretch: _Stretch) -> None:
        start = stretch.node.start_byte
        if not stretch.is_rest and stretch.node.type != "block":
            self.arms.append(stretch.node)
        scope = self._ranges.scope_at(call.start_byte)
        self._table.bind(scope, start, name, [Bound.NARROWED, shape], moment=Moment(start, start))

    def _classes(self, node: Node) -> str | None:
        """Objects of the classes that `isinstance` is given, as alternatives; None where they cannot all be told."""
        classes = node.named_children if node.type == "tuple" else [node]
        if not 0 < len(classes) <= _MOST_CLASSES or any(one.type not in ("identifier", "attribute") for one in classes):
            return None
        found = [self._expressions.annotated(one) for one in classes]
        return "|".join(one for one in found if one) if all(found) else None


def _stretches(call: Node) -> list[_Stretch]:
    """Where the name is of the class, by what is around the call."""
    found: list[_Stretch] = []
    node, is_true = call, True
    while (around := node.parent) is not None:
        kind = around.type
        if kind == "not_operator":
            is_true = not is_true
        elif kind == "boolean_operator":
            operator = around.child_by_field_name("operator")
            # The whole is true only if this is, or false only if this is.
            if operator is None or (operator.type == "and") is not is_true:
                return found
            right = around.child_by_field_name("right")
            if right is not None and right != node:
                found.append(_Stretch(right))
        elif kind != "parenthesized_expression":
            found.extend(_after_condition(around, node, is_true=is_true))
            return found
        node = around
    return found


def _after_condition(around: Node, condition: Node, *, is_true: bool) -> list[_Stretch]:
    """What a condition decides of what is around it."""
    if around.type == "conditional_expression":
        parts = [child for child in around.named_children if child.type != "comment"]
        if len(parts) != 3 or parts[1] != condition:
            return []
        return [_Stretch(parts[0] if is_true else parts[2])]
    if around.type == "assert_statement":
        following = around.next_named_sibling
        is_condition = next(iter(around.named_children), None) == condition
        return [_Stretch(following, is_rest=True)] if is_true and is_condition and following is not None else []
    if around.child_by_field_name("condition") != condition:
        return []
    body = around.child_by_field_name("consequence") or around.child_by_field_name("body")
    if is_true:
        return [_Stretch(body)] if body is not None else []
    return _where_false(around, body)


def _where_false(around: Node, body: Node | None) -> list[_Stretch]:
    """The only `else` of an `if`, or what follows one that leaves."""
    if around.type != "if_statement" or body is None:
        return []
    others = around.children_by_field_name("alternative")
    if len(others) == 1 and others[0].type == "else_clause":
        inner = others[0].child_by_field_name("body")
        return [_Stretch(inner)] if inner is not None else []
    statements = [child for child in body.named_children if child.type != "comment"]
    following = around.next_named_sibling
    if others or not statements or statements[-1].type not in _LEAVING or following is None:
        return []
    return [_Stretch(following, is_rest=True)]
