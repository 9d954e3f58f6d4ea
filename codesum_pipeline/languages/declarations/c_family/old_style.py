"""Parameters in K&R's style whose declarations, below the brackets, the grammar was not shown."""

import re

from tree_sitter import Node

from codesum_pipeline.languages.declarations.node_code import Text
from codesum_pipeline.languages.declarations.nodes import field_children

_COMMENT = re.compile(r"/\*(?:.*?\*/|.*)", re.DOTALL)
_SIZE = re.compile(r"\[[^\[\]]*+\]?")
_WORD = re.compile(r"\w+")


def hidden_declarations(node: Node, head: Node | None, text: Text) -> str:
    """The declarations between the head of a function and its body that the grammar was not shown; empty without any.
    Only parameters that look like types may have some."""
    listed = field_children(head, "parameters")
    are_names = all(
        child.named_child_count == 1 and child.named_children[0].type == "type_identifier" for child in listed
    )
    if not listed or not are_names:
        return ""
    return text(node).partition(text(head))[2].partition("{")[0].strip()


def declared_type(declarations: str, name: str) -> str | None:
    """The type that one of some declarations gives a name."""
    for declaration in _COMMENT.sub("", declarations).split(";"):
        if name not in _WORD.findall(declaration):
            continue
        first, *others = declaration.split(",")
        if not others or "(" in declaration:
            return type_without(declaration.strip(), name, None)
        plain = _SIZE.sub("", first).strip()
        base = plain.removesuffix(["", *_WORD.findall(plain)][-1]).rstrip("* \t\n")
        for declarator in (first.strip().removeprefix(base), *others):
            plain = _SIZE.sub("", declarator)
            if _WORD.findall(plain) == [name]:
                return f"{base} {'*' * plain.count('*')}".strip()
    return None


def type_without(declared: str, name: str, default: str | None) -> str | None:
    """The text of a declaration without the name that it declares."""
    if default:
        declared = declared.removesuffix(default).rstrip().removesuffix("=").rstrip()
    before, found, after = declared.rpartition(name) if name else (declared, "", "")
    if name and not found:
        return declared
    return f"{before.rstrip()}{'' if after.startswith(')') else ' '}{after}".strip()
