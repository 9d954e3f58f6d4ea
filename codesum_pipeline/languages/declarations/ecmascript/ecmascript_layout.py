"""How JavaScript and TypeScript are laid out: what formatters of both change, and no program's meaning depends on."""

import re
from collections.abc import Sequence
from typing import Any

from tree_sitter import Node

from codesum_pipeline.languages.declarations.ecmascript.ecmascript_brackets import GROUP, is_bare_group
from codesum_pipeline.languages.declarations.hooks import spell_number, spell_quoted
from codesum_pipeline.languages.declarations.kin import siblings_after
from codesum_pipeline.languages.declarations.nodes import code_children, find_field
from codesum_pipeline.languages.declarations.spec import split_words

_PROPERTIES = {("pair", "key"), ("pair_pattern", "key"), ("field_definition", "property")} | {
    (kind, "name")
    for kind in split_words(
        "method_definition property_signature method_signature public_field_definition enum_assignment"
    )
}
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_STATEMENTS = ("program", "statement_block", "switch_case", "switch_default", "class_body")
_MODIFIERS = split_words("get set static async accessor declare abstract readonly override public private protected")
_LONGEST_WORD = 3


def _is_one_name(parameters: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether an arrow function's parameters are one name and nothing else."""
    held, around = code_children(parameters), above[-1]
    if around.type != "arrow_function" or len(held) != 1:
        return False
    only = held[0]
    if only.type == "required_parameter":
        only = only.named_children[0] if only.child_count == 1 else only
    return only.type == "identifier" and not (
        find_field(around, "type_parameters") or find_field(around, "return_type")
    )


def is_ended_member(member: Node) -> bool:
    """Whether a field or a type's member ends here where no mark says so.

    One that is a name alone may be read as the beginning of what comes after it, by the language if not by the grammar:
    `get` before a name, any name before a bracket. Then only a mark that is written ends it.
    """
    after = next((sibling for sibling in siblings_after(member) if not sibling.is_extra), None)
    if member.child_count > 1 or after is None or after.type in (";", ",", "}"):
        return True
    return (member.text or b"").decode() not in _MODIFIERS and (after.text or b"")[:1] not in (b"(", b"<")


def _ends(statement: Node) -> bool:
    """Whether a statement ends without a `;`: a lone `let` may begin a declaration that goes on in the next line."""
    return statement.end_byte - statement.start_byte > _LONGEST_WORD or statement.text != b"let"


def _spell_string(node: Node, written: str, parent: str, field: str | None) -> str:
    """The name of a property, without quotes where it needs none; else a text in double quotes."""
    if (parent, field) in _PROPERTIES and _NAME.fullmatch(written[1:-1]):
        return written[1:-1]
    return spell_quoted(node, written, parent, field)


def _says_nothing(braces: Node) -> bool:
    """Whether braces in markup hold comments alone."""
    held = braces.named_children
    return bool(held) and all(child.type == "comment" for child in held)


BARE = {
    "formal_parameters": _is_one_name,
    GROUP: is_bare_group,
    # An empty statement is omitted among others, but not where a statement is required.
    "empty_statement": lambda statement, above, field: above[-1].type in _STATEMENTS,
}
TERMINATED = {
    "export_statement": lambda export: find_field(export, "declaration") is None,
    "expression_statement": _ends,
}
MARKUP: dict[str, Any] = {"hollow": {"jsx_expression": _says_nothing}}
RESPELLED = {"string": _spell_string, "number": spell_number}
