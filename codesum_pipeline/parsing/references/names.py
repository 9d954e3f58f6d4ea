"""The names a Python file binds, and to what."""

from enum import StrEnum
from typing import Any

from tree_sitter import Node

from codesum_pipeline.parsing.references.expressions import MAX_DOTTED_LENGTH, ExpressionReader


class Bound(StrEnum):
    """What a name was bound to: the first item of a binding. The others are in the comment."""

    VALUE = "v"  # shape
    ANNOTATED = "a"  # annotation
    DEFINED = "d"  # scope of the function or class
    IMPORTED = "i"  # module, level, name
    MODULE = "m"  # dotted module whose first part is bound
    ALIASED_MODULE = "n"  # dotted module
    RECEIVER = "s"  # scope of the class
    CLASS_RECEIVER = "k"  # scope of the class
    GLOBAL = "g"  # name
    NONLOCAL = "o"  # name
    ELSEWHERE = "e"  # scope whose statement bound it (by `global` or `nonlocal`), binding there
    DELETED = "x"
    UNKNOWN = "u"


Binding = list[Any]

SEQUENCES = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list", "parenthesized_expression"}
)


class NameTable:
    """Bindings as they are found, in any order: `(scope, position, name, binding)`.

    `attributes` are bindings of attributes of a name: `(scope, position, owner, attribute, binding)`.
    """

    def __init__(self, expressions: ExpressionReader) -> None:
        self._expressions = expressions
        self.names: list[tuple[int, int, str, Binding]] = []
        self.attributes: list[tuple[int, int, str, str, Binding]] = []

    def bind(self, scope: int, position: int, name: str, binding: Binding) -> None:
        """Record one binding."""
        self.names.append((scope, position, name, binding))

    def bind_targets(self, scope: int, target: Node, value: str | None) -> None:
        """Bind each name of a target, which may be a nested tuple; `value` is the shape of what is assigned."""
        waiting = [(target, value)]
        while waiting:
            node, shape = waiting.pop()
            kind = node.type
            if kind == "identifier":
                self.bind(scope, node.start_byte, self._expressions.text(node), valued(shape))
            elif kind == "attribute":
                self.bind_attribute(scope, node, valued(shape))
            elif kind in SEQUENCES:
                is_told = shape is not None and "|" not in shape and len(shape) <= MAX_DOTTED_LENGTH
                is_told = is_told and kind != "parenthesized_expression"
                for position, child in enumerate(node.named_children):
                    waiting.append((child, f"{shape}#{position}" if is_told else None))
            elif kind in ("list_splat_pattern", "list_splat", "as_pattern_target"):
                inner = shape if kind == "as_pattern_target" else None
                waiting.extend((child, inner) for child in node.named_children)

    def bind_attribute(self, scope: int, node: Node, binding: Binding) -> None:
        owner = node.child_by_field_name("object")
        name = node.child_by_field_name("attribute")
        if owner is not None and name is not None and owner.type == "identifier":
            entry = (scope, node.start_byte, self._expressions.text(owner), self._expressions.text(name), binding)
            self.attributes.append(entry)


def valued(shape: str | None) -> Binding:
    """The binding of a name to a value of this shape, None for one that cannot be described."""
    return [Bound.UNKNOWN] if shape is None else [Bound.VALUE, shape]
