"""Which nodes the fields and children of a node are. Without a node, there are none."""

from tree_sitter import Node


def find_field(node: Node | None, *fields: str) -> Node | None:
    """The node that fields lead to, one in the other; None if one of them is not there."""
    for name in fields:
        if node is None:
            return None
        node = node.child_by_field_name(name)
    return node


def field_children(node: Node | None, *fields: str) -> list[Node]:
    """The named children of the node that fields lead to; none without it."""
    held = find_field(node, *fields)
    return held.named_children if held is not None else []


def code_children(node: Node | None, *fields: str) -> list[Node]:
    """The named children of the node that fields lead to, without comments."""
    return [child for child in field_children(node, *fields) if not child.is_extra]


def first_code_child(node: Node | None, *fields: str) -> Node | None:
    """The first of those children; None without any."""
    return next((child for child in field_children(node, *fields) if not child.is_extra), None)


def only_code_child(node: Node) -> Node | None:
    """The only named child that is no comment; None if there are several, or none."""
    held = code_children(node)
    return held[0] if len(held) == 1 else None


def kind_of(node: Node | None) -> str:
    """The type of a node; empty for none."""
    return node.type if node is not None else ""


def child_of_type(node: Node | None, *types: str) -> Node | None:
    """The first child of one of some types; of none, none."""
    return next((child for child in node.children if child.type in types), None) if node is not None else None
