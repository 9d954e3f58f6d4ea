"""What JavaScript and TypeScript have in common: how a program is laid out.

Statements, members and the pairs of an object start lines; what else stands
in brackets stays on its line. A line's end that closes a statement shows as a
line's end, so an `else`, which may follow one, starts a line. Markup stays on
the line it begins on: there a blank is text.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codesum_pipeline.languages.ecmascript.brackets import GROUP, is_bare_group
from codesum_pipeline.languages.spec import BRACKETS, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import is_always, lists, spell_number, spell_quoted

LINES = words("""
    break_statement class_declaration class_static_block continue_statement debugger_statement do_statement
    empty_statement export_statement expression_statement for_in_statement for_statement function_declaration
    generator_function_declaration if_statement import_statement labeled_statement lexical_declaration
    return_statement statement_block switch_case switch_default switch_statement throw_statement try_statement
    variable_declaration while_statement with_statement
""")
RESTARTS = words("else_clause")
CASES = words("switch_case switch_default")
# All that stands between the braces of these starts a line, and so do the statements between those of the others.
ROWS = words("class_body object")
BRACED = ROWS | {"statement_block", "switch_body"}
ATOMS = words("meta_property regex string")
COMMENTS = words("comment hash_bang_line html_comment")
BRANCHES = words("""
    if_statement for_statement for_in_statement while_statement do_statement switch_case catch_clause
""")
# What has names of its own.
BLOCKS = words("""
    statement_block arrow_function function_expression generator_function for_statement for_in_statement
    catch_clause switch_body class_static_block
""")
HOISTED = words("variable_declaration")
ASSIGNED = words("assignment_expression")
# A function that is returned is all that its statement holds, and no line may end after `return`.
WRAPPERS = words("export_statement expression_statement lexical_declaration return_statement variable_declaration")

TOKENS = BRACKETS | spaced("""
    TIGHT  . optional_chain
    COMMA  : ;
    PREFIX ... @ ! ~
    STEP   ++ --
    EITHER - +
    NUMBER number
    QUOTE  `
    OPEN   ${
""")
# A field is ended by its own `;`, which is written whether it stands there or not.
TOKENS_IN = spaced_in("""
    INFIX     ternary_expression :
    APART     unary_expression -  unary_expression +
    TIGHT     template_string string_fragment  template_string escape_sequence
    QUOTE     template_substitution }
    WORD      object_pattern|named_imports|export_clause }  namespace_import *  import import
    CLOSE     generator_function_declaration|generator_function|yield_expression *
    PREFIX    method_definition *
    OMITTED   class_body ;
""")


def _is_one_name(parameters: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether an arrow function's parameters are one name and nothing else."""
    held = [child for child in parameters.named_children if not child.is_extra]
    around = above[-1]
    if around.type != "arrow_function" or len(held) != 1:
        return False
    only = held[0]
    if only.type == "required_parameter":
        only = only.named_children[0] if only.child_count == 1 else only
    has_types = around.child_by_field_name("type_parameters") or around.child_by_field_name("return_type")
    return only.type == "identifier" and not has_types


def _is_idle(statement: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether an empty statement stands among others, and not where one has to."""
    return above[-1].type in _STATEMENTS


def is_ended_member(member: Node) -> bool:
    """Whether a field or a type's member ends here where no mark says so.

    One that is a name alone may be read as the beginning of what comes after it, by the language if not by the grammar:
    `get` before a name, any name before a bracket. Then only a mark that is written ends it.
    """
    if member.child_count > 1:
        return True
    after = member.next_sibling
    while after is not None and after.is_extra:
        after = after.next_sibling
    if after is None or after.type in (";", ",", "}"):
        return True
    return (member.text or b"") not in _MODIFIERS and (after.text or b"")[:1] not in (b"(", b"<")


def _ends(statement: Node) -> bool:
    """`let` before a line's end begins what comes after it."""
    return statement.end_byte - statement.start_byte > _LONGEST_WORD or statement.text != b"let"


def _spell_string(node: Node, written: str, parent: str, field: str | None) -> str:
    """The name of a property without quotes, where it can stand without; else a text in double quotes."""
    if (parent, field) in _PROPERTIES and _NAME.fullmatch(written[1:-1]):
        return written[1:-1]
    return spell_quoted(node, written, parent, field)


def _has_no_declaration(export: Node) -> bool:
    return export.child_by_field_name("declaration") is None


_PROPERTIES = {
    ("pair", "key"), ("pair_pattern", "key"), ("field_definition", "property"),
    *((kind, "name") for kind in (
        "method_definition", "property_signature", "method_signature", "public_field_definition", "enum_assignment",
    )),
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_STATEMENTS = ("program", "statement_block", "switch_case", "switch_default", "class_body")
_MODIFIERS = (
    b"get",
    b"set",
    b"static",
    b"async",
    b"accessor",
    b"declare",
    b"abstract",
    b"readonly",
    b"override",
    b"public",
    b"private",
    b"protected",
)
_LONGEST_WORD = 3
BARE = {"formal_parameters": _is_one_name, GROUP: is_bare_group, "empty_statement": _is_idle}
# What a `;` ends, written or not.
_ENDED = words("""
    break_statement continue_statement debugger_statement do_statement expression_statement import_statement
    lexical_declaration return_statement throw_statement variable_declaration
""")
TERMINATED = {
    **dict.fromkeys(_ENDED, is_always),
    "export_statement": _has_no_declaration,
    "expression_statement": _ends,
}
LISTS = lists("""
        arguments formal_parameters array array_pattern object object_pattern named_imports export_clause
    """)
RESPELLED = {"string": _spell_string, "number": spell_number}


def _says_nothing(braces: Node) -> bool:
    """Whether braces in markup hold comments alone."""
    held = braces.named_children
    return bool(held) and all(child.type == "comment" for child in held)


MARKUP_HOLLOW = {"jsx_expression": _says_nothing}
MARKUP_FOLDED = words("jsx_text")
MARKUP_TOKENS = spaced("""
    WORD  />
    TIGHT </ jsx_text html_character_reference
""")
# What stands in a tag is no operand, so that braces after it stand apart: `<div {...rest}>`.
MARKUP_TOKENS_IN = spaced_in("""
    OPEN    jsx_opening_element|jsx_self_closing_element <  jsx_expression {
    INFIX   jsx_opening_element|jsx_self_closing_element identifier  jsx_attribute property_identifier
       jsx_attribute string
    TIGHT   jsx_opening_element >  jsx_attribute =  jsx_namespace_name :
    CLOSE   jsx_closing_element >
""")
