"""Where `isinstance` shows the class of a name's object: a binding of the name that holds for a stretch of code.

What holds in the body of `if isinstance(x, A) and …`, beside `isinstance(x, A)
and`, or after `if not isinstance(x, A): return` and `assert isinstance(x, A)`
is followed through `and`, `or`, `not` and brackets.
"""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.languages.declarations.kin import next_sibling_of, parent_of
from codesum_pipeline.languages.declarations.nodes import code_children
from codesum_pipeline.languages.declarations.python.references.python_expressions import arguments_of
from codesum_pipeline.languages.declarations.python.references.python_scopes import NameTable
from codesum_pipeline.languages.declarations.spec import split_words

_LEAVING = split_words("return_statement raise_statement continue_statement break_statement")
_MOST_CLASSES = 4
# In so many conditions around it, a test of a class is looked for what it decides.
_MOST_AROUND = 100

# A node in which a name is an object of a class, or with True from which on it is.
Stretch = tuple[Node, bool]


def read_narrowings(table: NameTable, calls: Sequence[Node]) -> list[Node]:
    """Bind names where calls of `isinstance` show their class; returns expressions that are otherwise skipped."""
    arms: list[Node] = []
    for call in calls:
        arguments = arguments_of(call)
        if len(arguments) != 2 or arguments[0].type != "identifier":
            continue
        shape = _classes(table, arguments[1])
        for node, is_rest in _stretches(call) if shape is not None else ():
            if not is_rest and node.type != "block":
                arms.append(node)
            table.bind(table.scope_at(call), node, [Bound.NARROWED, shape], table.text(arguments[0]))
    return arms


def _classes(table: NameTable, node: Node) -> str | None:
    """Objects of the classes given to `isinstance`, as alternatives; None if one of them is unknown."""
    classes = node.named_children if node.type == "tuple" else [node]
    if not 0 < len(classes) <= _MOST_CLASSES or any(one.type not in ("identifier", "attribute") for one in classes):
        return None
    found = [table.expressions.annotated(one) for one in classes]
    return "|".join(one for one in found if one) if all(found) else None


def _stretches(call: Node) -> Iterator[Stretch]:
    """Where the name is of the class, by what is around the call."""
    node, is_true = call, True
    for _ in range(_MOST_AROUND):
        around = parent_of(node)
        if around is None:
            return
        kind = around.type
        if kind == "not_operator":
            is_true = not is_true
        elif kind == "boolean_operator":
            operator = around.child_by_field_name("operator")
            # The whole is true only if this is, or false only if this is.
            if operator is None or (operator.type == "and") is not is_true:
                return
            right = around.child_by_field_name("right")
            if right is not None and right != node:
                yield right, False
        elif kind != "parenthesized_expression":
            if (stretch := _after_condition(around, node, is_true=is_true)) is not None and stretch[0] is not None:
                yield stretch[0], stretch[1]
            return
        node = around


def _after_condition(around: Node, condition: Node, *, is_true: bool) -> tuple[Node | None, bool] | None:
    """What a condition decides of what is around it."""
    if around.type == "conditional_expression":
        parts = code_children(around)
        is_condition = len(parts) == 3 and parts[1] == condition
        return (parts[0 if is_true else 2], False) if is_condition else None
    if around.type == "assert_statement":
        is_condition = next(iter(around.named_children), None) == condition
        return (next_sibling_of(around, is_named=True), True) if is_true and is_condition else None
    if around.child_by_field_name("condition") != condition:
        return None
    body = around.child_by_field_name("consequence") or around.child_by_field_name("body")
    if is_true:
        return body, False
    if around.type != "if_statement" or body is None:
        return None
    # The only `else` of an `if`, or what follows one that leaves.
    others = around.children_by_field_name("alternative")
    if len(others) == 1 and others[0].type == "else_clause":
        return others[0].child_by_field_name("body"), False
    statements = code_children(body)
    leaves = not others and bool(statements) and statements[-1].type in _LEAVING
    return (next_sibling_of(around, is_named=True), True) if leaves else None
