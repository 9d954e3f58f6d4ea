"""Scala: how its syntax is laid out."""

import tree_sitter_scala
from tree_sitter import Node

from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists

TYPES = words("class_definition trait_definition object_definition enum_definition package_object")
VALUES = words("val_definition var_definition val_declaration var_declaration")
BRACED = words("template_body enum_body block case_block case_clause refinement")
INDENTED = words("indented_block indented_cases with_template_body enumerators")
BLOCKS = words("block indented_block")


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
    openers=words(": =>"),
    rows=BRACED | INDENTED | {"compilation_unit"},
    hanging=words("extension_definition"),
    flat={"indented_block": _is_alone},
    restarts=words("end_marker"),
    atoms=words("""
        string character_literal interpolated_string_expression end_marker vararg using_directive xml_expression
    """),
    deep=words("interpolated_string_expression"),
    comments=words("comment block_comment"),
    branches=words("if_expression while_expression do_while_expression for_expression case_clause"),
    lists=lists("""
        arguments parameters class_parameters type_arguments type_parameters tuple_expression tuple_type
    """),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . #
        COMMA  : ;
        PREFIX @
        INFIX  operator_identifier
    """),
    tokens_in=spaced_in("""
        OMITTED   compilation_unit|template_body|enum_body|block|indented_block|case_clause ;  refinement ;
        PREFIX    prefix_expression|covariant_type_parameter +  prefix_expression|contravariant_type_parameter -
           prefix_expression !  prefix_expression ~  splice_expression ${  quote_expression '
        WORD      function_definition|function_declaration|arguments|field_expression operator_identifier
           namespace_selectors operator_identifier
        OPEN      namespace_selectors {
        TIGHT     access_qualifier [
        INFIX     infix_expression identifier  capture_pattern @
           covariant_type_parameter|contravariant_type_parameter|type_parameters :
        CLOSE     repeated_parameter_type|repeat_pattern *
        SPACED    lambda_expression =>
    """),
)
