"""Reads the statements of a Python file that bind names, apart from definitions and imports; and where `isinstance`
shows the class of a name's object, which is a binding that holds for a stretch of code.

What holds in the body of `if isinstance(x, A) and …`, beside `isinstance(x, A)
and`, or after `if not isinstance(x, A): return` and `assert isinstance(x, A)`
is followed through `and`, `or`, `not` and brackets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import RETURN, YIELD, Bound, ScopeKind
from codesum_pipeline.languages.declarations.kin import next_sibling_of, parent_of
from codesum_pipeline.languages.declarations.nodes import code_children
from codesum_pipeline.languages.declarations.python.references.python_expressions import arguments_of
from codesum_pipeline.languages.declarations.python.references.python_scopes import SEQUENCES, NameTable
from codesum_pipeline.languages.declarations.spec import split_words

_LEAVING = split_words("return_statement raise_statement continue_statement break_statement")
_MOST_CLASSES = 4
# In so many conditions around it, a test of a class is looked for what it decides.
_MOST_AROUND = 100

# A node in which a name is an object of a class, or with True from which on it is.
Stretch = tuple[Node, bool]
# Annotations that leave the type to the value.
_UNTYPED = split_words("TypeAlias Final ClassVar")


class StatementReader:
    """Places each binding statement in its scope."""

    def __init__(self, table: NameTable) -> None:
        self._table = table
        self._expressions = table.expressions

    def read(self, captures: Mapping[str, Sequence[Node]]) -> None:
        """Take in all captures of binding statements."""
        caught = {node.start_byte for node in captures.get("except_as", ())}
        matched = {node.start_byte for node in captures.get("case_as", ())}
        readers: dict[str, Callable[[Node], None]] = {
            "assignment": self._read_assignment,
            # `x += y` keeps what x is, but makes the name local.
            "augmented": lambda node: self._bind(node, [Bound.VALUE, "<None>"], is_sure=False),
            "walrus": self._read_walrus,
            "loop": self._read_loop,
            "captured": lambda node: self._bind(node, [Bound.UNKNOWN]),
            "global": lambda node: self._read_outer(node, Bound.GLOBAL),
            "nonlocal": lambda node: self._read_outer(node, Bound.NONLOCAL),
            "delete": self._read_delete,
            "return": self._read_return,
            "yield": self._read_yield,
            "as": lambda node: self._read_as(
                node, is_caught=node.start_byte in caught, is_matched=node.start_byte in matched
            ),
        }
        for name, reader in readers.items():
            for node in captures.get(name, ()):
                reader(node)

    def _bind(self, node: Node, binding: list[str], *, is_sure: bool = True) -> None:
        self._table.bind(self._table.scope_at(node), node, binding, is_sure=is_sure)

    def _read_assignment(self, node: Node) -> None:
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None:
            return
        scope = self._table.scope_at(node)
        annotation = self._expressions.annotation(node.child_by_field_name("type"))
        if annotation is not None and target.type in ("identifier", "attribute"):
            if annotation.rpartition(".")[2] in _UNTYPED and value is not None:
                self._table.bind_targets(scope, target, self._expressions.value(value), by=node)
            elif target.type == "identifier":
                self._table.bind(scope, target, [Bound.ANNOTATED, annotation], by=node, is_sure=value is not None)
            else:
                self._table.bind_attribute(scope, target, [Bound.ANNOTATED, annotation], node)
        elif value is None:
            self._table.bind_targets(scope, target, None)
        elif target.type in SEQUENCES and value.type in ("expression_list", "tuple"):
            targets, values = target.named_children, value.named_children
            is_plain = not any(one.type.startswith("list_splat") for one in (*targets, *values))
            is_plain = is_plain and len(targets) == len(values)
            for position, child in enumerate(targets):
                shape = self._expressions.value(values[position]) if is_plain else None
                self._table.bind_targets(scope, child, shape, by=node)
        else:
            self._table.bind_targets(scope, target, self._expressions.value(value), by=node)

    def _read_walrus(self, node: Node) -> None:
        scope = self._table.scope_at(node)
        while self._table.scopes[scope].kind is ScopeKind.COMPREHENSION:
            scope = self._table.scopes[scope].parent
        name = node.child_by_field_name("name")
        if name is not None:
            binding = [Bound.VALUE, self._expressions.value(node.child_by_field_name("value"))]
            self._table.bind(scope, node, binding, self._table.text(name), by=node, is_sure=False)

    def _read_loop(self, node: Node) -> None:
        target = node.child_by_field_name("left")
        if target is None:
            return
        is_enumerated, drawn_from = self._expressions.elements(node.child_by_field_name("right"))
        scope = self._table.scope_at(node)
        element: Node | None = target
        if is_enumerated:
            is_pair = target.type in SEQUENCES and len(target.named_children) == 2
            counter, element = target.named_children if is_pair else (target, None)
            self._table.bind_targets(scope, counter, "<int>" if is_pair else None)
        if element is not None:
            self._table.bind_targets(scope, element, f"{drawn_from}*", by=node, holds_from=target.end_byte)

    def _read_as(self, node: Node, *, is_caught: bool, is_matched: bool) -> None:
        children = code_children(node)
        if len(children) != 2:
            return
        value, target = children
        shape: str | None = None
        if not is_matched and (not is_caught or value.type in ("identifier", "attribute")):
            shape = self._expressions.shape(value) + ("()" if is_caught else ">")
        self._table.bind_targets(self._table.scope_at(node), target, shape, by=node)

    def _read_outer(self, node: Node, bound: Bound) -> None:
        for name in node.named_children:
            self._table.bind(self._table.scope_at(node), name, [bound, self._table.text(name)])

    def _read_delete(self, node: Node) -> None:
        waiting = list(node.named_children)
        while waiting:
            target = waiting.pop()
            if target.type == "identifier":
                self._table.bind(self._table.scope_at(node), target, [Bound.DELETED])
            elif target.type in SEQUENCES:
                waiting.extend(target.named_children)

    def _read_return(self, node: Node) -> None:
        value = node.named_children
        shape = self._expressions.value(value[0]) if value else "<None>"
        self._table.bind(self._table.scope_at(node), node, [Bound.VALUE, shape], RETURN, is_sure=False)

    def _read_yield(self, node: Node) -> None:
        scope = self._table.scope_at(node)
        self._table.scopes[scope].is_generator = True
        value = next(iter(code_children(node)), None)
        shape = self._expressions.value(value) if value is not None else "<None>"
        if any(child.type == "from" for child in node.children):
            shape = "|".join(f"{one}*" for one in shape.split("|"))
        self._table.bind(scope, node, [Bound.VALUE, shape], YIELD, is_sure=False)


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
