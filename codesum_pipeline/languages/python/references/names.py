"""The names a Python file binds, and to what."""

from enum import StrEnum
from typing import Any, NamedTuple, Self

from tree_sitter import Node

from codesum_pipeline.languages.python.references.expressions import MAX_DOTTED_LENGTH, ExpressionReader
from codesum_pipeline.languages.spec import words


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
    NARROWED = "w"  # shape; of a name that is bound otherwise, for the uses that this binding is chosen for
    DELETED = "x"
    UNKNOWN = "u"


Binding = list[Any]


class Moment(NamedTuple):
    """When a binding comes about, as bytes of the file: what is bound is read first, and later holds."""

    read_at: int
    holds_from: int

    @classmethod
    def of(cls, statement: Node | None, target: Node) -> Self:
        """That of a statement that binds a target when it is through."""
        whole = statement or target
        return cls(whole.start_byte, whole.end_byte)


class BoundName(NamedTuple):
    """One binding; unless it `is_sure`, an earlier one may hold still."""

    scope: int
    position: int
    name: str
    binding: Binding
    moment: Moment
    is_sure: bool


class BoundAttribute(NamedTuple):
    """One binding of an attribute of a name."""

    scope: int
    position: int
    owner: str
    attribute: str
    binding: Binding
    read_at: int


SEQUENCES = words("pattern_list tuple_pattern list_pattern expression_list tuple list parenthesized_expression")


class NameTable:
    """Bindings as they are found, in any order."""

    def __init__(self, expressions: ExpressionReader) -> None:
        self._expressions = expressions
        self.names: list[BoundName] = []
        self.attributes: list[BoundAttribute] = []

    def bind(
        self,
        scope: int,
        position: int,
        name: str,
        binding: Binding,
        *,
        moment: Moment | None = None,
        is_sure: bool = True,
    ) -> None:
        """Record one binding, which comes about at its position if no other moment is given."""
        moment = moment or Moment(position, position)
        self.names.append(BoundName(scope, position, name, binding, moment, is_sure))

    def bind_targets(self, scope: int, target: Node, value: str | None, *, moment: Moment | None = None) -> None:
        """Bind each name of a target, which may be a nested tuple; `value` is the shape of what is assigned."""
        waiting = [(target, value)]
        while waiting:
            node, shape = waiting.pop()
            kind = node.type
            if kind == "identifier":
                # What is None is nothing to be told apart by.
                is_sure = shape != "<None>"
                name = self._expressions.text(node)
                self.bind(scope, node.start_byte, name, valued(shape), moment=moment, is_sure=is_sure)
            elif kind == "attribute":
                self.bind_attribute(scope, node, valued(shape), read_at=moment.read_at if moment else node.start_byte)
            elif kind in SEQUENCES:
                is_told = shape is not None and "|" not in shape and len(shape) <= MAX_DOTTED_LENGTH
                is_told = is_told and kind != "parenthesized_expression"
                for position, child in enumerate(node.named_children):
                    waiting.append((child, f"{shape}#{position}" if is_told else None))
            elif kind in ("list_splat_pattern", "list_splat", "as_pattern_target"):
                inner = shape if kind == "as_pattern_target" else None
                waiting.extend((child, inner) for child in node.named_children)

    def bind_attribute(self, scope: int, node: Node, binding: Binding, *, read_at: int) -> None:
        owner = node.child_by_field_name("object")
        name = node.child_by_field_name("attribute")
        if owner is not None and name is not None and owner.type == "identifier":
            names = self._expressions.text(owner), self._expressions.text(name)
            self.attributes.append(BoundAttribute(scope, node.start_byte, *names, binding, read_at))


def valued(shape: str | None) -> Binding:
    """The binding of a name to a value of this shape, None for one that cannot be described."""
    return [Bound.UNKNOWN] if shape is None else [Bound.VALUE, shape]
