"""What variables without a declared type are first given."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from codesum_pipeline.parsing.declared.declaration import Text, TypedName

# A longer text is no name, member or call whose class could be told.
MAX_VALUE = 300
_NAMES = frozenset(
    {"identifier", "simple_identifier", "variable_name", "name", "shorthand_property_identifier_pattern"}
)


def first_values(name: str, value: str, *, unless: str = "") -> Callable[[Node, Text], Iterator[TypedName]]:
    """A hook for nodes with a field for the name, or a list of names, and one for the value.

    A node with the field `unless` says the type itself.
    """

    def read(node: Node, text: Text) -> Iterator[TypedName]:
        if unless and node.child_by_field_name(unless) is not None:
            return
        left, right = node.child_by_field_name(name), node.child_by_field_name(value) if value else None
        if left is None:
            return
        listed = [left] if left.type in _NAMES else [child for child in left.named_children if child.type in _NAMES]
        is_list = right is not None and right.type.endswith("_list")
        values: list[Node | None] = [*right.named_children] if right is not None and is_list else [right]
        for number, variable in enumerate(listed):
            # What is taken apart gives its first part as the call says it; the others are of classes unknown.
            given = values[number] if number < len(values) else None
            is_short = given is not None and given.end_byte - given.start_byte <= MAX_VALUE
            yield TypedName(text(variable), text(given) if is_short and _is_first(left, number, values) else "")

    return read


def _is_first(left: Node, number: int, values: list[Node | None]) -> bool:
    return left.type in _NAMES or (left.type.endswith("_list") and (number == 0 or len(values) > 1))
