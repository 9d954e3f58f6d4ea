"""Scala: how its syntax is laid out."""

import tree_sitter_scala
from tree_sitter import Node

from codesum_pipeline.languages.spacing import BRACKETS, TokenSpacing
from codesum_pipeline.languages.spec import LanguageSpec
from codesum_pipeline.languages.spelling import lists

TYPES = frozenset({"class_definition", "trait_definition", "object_definition", "enum_definition", "package_object"})
VALUES = frozenset({"val_definition", "var_definition", "val_declaration", "var_declaration"})
BRACED = frozenset({"template_body", "enum_body", "block", "case_block", "case_clause", "refinement"})
INDENTED = frozenset({"indented_block", "indented_cases", "with_template_body", "enumerators"})
BLOCKS = frozenset({"block", "indented_block"})


def _is_alone(block: Node) -> bool:
    """Whether an indented block is one expression after a definition's `=`, where it may stand as well."""
    around = block.parent if lone_child(block) is not None else None
    return around is not None and around.type in VALUES | {"function_definition", "given_definition"}


def lone_child(block: Node) -> Node | None:
    """What stands alone in a block; None where there is more, or nothing."""
    shown = [child for child in block.children if not child.is_extra]
    return shown[0] if len(shown) == 1 else None


SPEC = LanguageSpec(
    name="scala",
    version=5,
    distribution="tree-sitter-scala",
    grammar=tree_sitter_scala.language,
    lines=frozenset(),
    blocks=INDENTED | {"compilation_unit"},
    braced=BRACED,
    # Bodies without braces: `object A:`, `case 1 =>`.
    openers=frozenset({":", "=>"}),
    rows=BRACED | INDENTED | {"compilation_unit"},
    hanging=frozenset({"extension_definition"}),
    flat={"indented_block": _is_alone},
    restarts=frozenset({"end_marker"}),
    atoms=frozenset({
        "string", "character_literal", "interpolated_string_expression", "end_marker", "vararg", "using_directive",
        "xml_expression",
    }),
    deep=frozenset({"interpolated_string_expression"}),
    comments=frozenset({"comment", "block_comment"}),
    branches=frozenset({
        "if_expression", "while_expression", "do_while_expression", "for_expression", "case_clause",
    }),
    lists=lists(
        "arguments", "parameters", "class_parameters", "type_arguments", "type_parameters",
        "tuple_expression", "tuple_type",
    ),
    tokens={
        **BRACKETS,
        ".": TokenSpacing.TIGHT,
        "#": TokenSpacing.TIGHT,
        ":": TokenSpacing.COMMA,
        ";": TokenSpacing.COMMA,
        "@": TokenSpacing.PREFIX,
        "operator_identifier": TokenSpacing.INFIX,
    },
    tokens_in={
        **{(parent, ";"): TokenSpacing.OMITTED for parent in (
            "compilation_unit", "template_body", "enum_body", "block", "indented_block", "case_clause", "refinement",
        )},
        **{("prefix_expression", operator): TokenSpacing.PREFIX for operator in "+-!~"},
        **{(parent, "operator_identifier"): TokenSpacing.WORD for parent in (
            "function_definition", "function_declaration", "arguments", "field_expression", "namespace_selectors",
        )},
        ("namespace_selectors", "{"): TokenSpacing.OPEN,
        ("access_qualifier", "["): TokenSpacing.TIGHT,
        ("splice_expression", "${"): TokenSpacing.PREFIX,
        ("quote_expression", "'"): TokenSpacing.PREFIX,
        ("infix_expression", "identifier"): TokenSpacing.INFIX,
        ("capture_pattern", "@"): TokenSpacing.INFIX,
        ("repeated_parameter_type", "*"): TokenSpacing.CLOSE,
        ("repeat_pattern", "*"): TokenSpacing.CLOSE,
        ("covariant_type_parameter", "+"): TokenSpacing.PREFIX,
        ("contravariant_type_parameter", "-"): TokenSpacing.PREFIX,
        ("covariant_type_parameter", ":"): TokenSpacing.INFIX,
        ("contravariant_type_parameter", ":"): TokenSpacing.INFIX,
        ("type_parameters", ":"): TokenSpacing.INFIX,
        ("lambda_expression", "=>"): TokenSpacing.SPACED,
    },
)  # fmt: skip
