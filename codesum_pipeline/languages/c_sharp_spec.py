"""C#: how its syntax is laid out."""

import tree_sitter_c_sharp
from tree_sitter import Node

from codesum_pipeline.languages.spacing import BRACKETS, TokenSpacing
from codesum_pipeline.languages.spec import LanguageSpec
from codesum_pipeline.languages.spelling import lists

TYPES = frozenset({"class_declaration", "struct_declaration", "interface_declaration", "record_declaration"})
CONDITIONAL = frozenset({"preproc_if", "preproc_elif", "preproc_else"})
OPERATORS = (
    "+", "-", "!", "~", "++", "--", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "==", "!=", ">", "<", ">=", "<=",
    "true", "false",
)  # fmt: skip


def holds_a_value(accessors: Node) -> bool:
    """`{ get; set; }` stands on one line."""
    return not any(child.child_by_field_name("body") for child in accessors.named_children)


SPEC = LanguageSpec(
    name="c-sharp",
    version=4,
    distribution="tree-sitter-c-sharp",
    grammar=tree_sitter_c_sharp.language,
    lines=TYPES | CONDITIONAL | {
        "extern_alias_directive", "using_directive", "global_attribute", "global_statement", "namespace_declaration",
        "file_scoped_namespace_declaration", "enum_declaration", "delegate_declaration", "enum_member_declaration",
        "field_declaration", "event_field_declaration", "property_declaration", "indexer_declaration",
        "event_declaration", "method_declaration", "constructor_declaration", "destructor_declaration",
        "operator_declaration", "conversion_operator_declaration", "accessor_declaration",
        "switch_section", "switch_expression_arm", "block",
        "break_statement", "checked_statement", "continue_statement", "do_statement", "expression_statement",
        "fixed_statement", "for_statement", "foreach_statement", "goto_statement", "if_statement", "labeled_statement",
        "local_declaration_statement", "local_function_statement", "lock_statement", "return_statement",
        "switch_statement", "throw_statement", "try_statement", "unsafe_statement", "using_statement",
        "while_statement", "yield_statement",
    },
    blocks=frozenset({"compilation_unit"}),
    containers=CONDITIONAL | {"switch_section"},
    braced=frozenset({
        "declaration_list", "block", "switch_body", "switch_expression", "enum_member_declaration_list",
        "accessor_list",
    }),
    hanging=frozenset({"switch_section"}),
    flat={"accessor_list": holds_a_value},
    atoms=frozenset({
        "string_literal", "verbatim_string_literal", "raw_string_literal", "character_literal",
        "interpolation_format_clause",
    }),
    comments=frozenset({"comment", "preproc_region", "preproc_endregion", "preproc_pragma"}),
    directives=frozenset({
        "#if", "#elif", "#else", "#endif", "#define", "#undef", "#nullable", "#line", "#error", "#warning",
    }),
    directive_texts=frozenset({"preproc_arg"}),
    branches=frozenset({
        "if_statement", "for_statement", "foreach_statement", "while_statement", "do_statement", "catch_clause",
        "case", "switch_expression_arm",
    }),
    wrappers=frozenset({"field_declaration", "local_declaration_statement", "variable_declaration"}),
    lists=lists("initializer_expression", "enum_member_declaration_list"),
    tokens={
        **BRACKETS,
        ".": TokenSpacing.TIGHT,
        "..": TokenSpacing.TIGHT,
        "->": TokenSpacing.TIGHT,
        "::": TokenSpacing.TIGHT,
        ";": TokenSpacing.COMMA,
        "!": TokenSpacing.PREFIX,
        "~": TokenSpacing.PREFIX,
        "-": TokenSpacing.EITHER,
        "+": TokenSpacing.EITHER,
        "*": TokenSpacing.EITHER,
        "&": TokenSpacing.EITHER,
        "^": TokenSpacing.EITHER,
        "++": TokenSpacing.STEP,
        "--": TokenSpacing.STEP,
        "this": TokenSpacing.WORD,
        "base": TokenSpacing.WORD,
        "typeof": TokenSpacing.WORD,
        "sizeof": TokenSpacing.WORD,
        "checked": TokenSpacing.WORD,
        "unchecked": TokenSpacing.WORD,
        "interpolation_start": TokenSpacing.PREFIX,
        "interpolation_brace": TokenSpacing.TIGHT,
        "interpolation_format_clause": TokenSpacing.TIGHT,
        "interpolation_quote": TokenSpacing.QUOTE,
        "string_content": TokenSpacing.TIGHT,
    },
    tokens_in={
        **{(parent, brace): TokenSpacing.INFIX for brace in "{}" for parent in (
            "accessor_list", "initializer_expression", "anonymous_object_creation_expression", "with_expression",
            "property_pattern_clause",
        )},
        **{("operator_declaration", operator): TokenSpacing.WORD for operator in OPERATORS},
        ("interpolated_string_expression", '"'): TokenSpacing.QUOTE,
        ("interpolation_alignment_clause", ","): TokenSpacing.TIGHT,
        ("lambda_expression", "modifier"): TokenSpacing.INFIX,
        ("type_argument_list", "<"): TokenSpacing.OPEN,
        ("type_argument_list", ">"): TokenSpacing.CLOSE,
        ("type_parameter_list", "<"): TokenSpacing.OPEN,
        ("type_parameter_list", ">"): TokenSpacing.CLOSE,
        ("nullable_type", "?"): TokenSpacing.CLOSE,
        ("pointer_type", "*"): TokenSpacing.CLOSE,
        ("conditional_access_expression", "?"): TokenSpacing.CLOSE,
        ("postfix_unary_expression", "!"): TokenSpacing.CLOSE,
        ("spread_element", ".."): TokenSpacing.PREFIX,
        ("default_expression", "default"): TokenSpacing.WORD,
        ("constructor_constraint", "new"): TokenSpacing.WORD,
        ("implicit_object_creation_expression", "new"): TokenSpacing.WORD,
        ("implicit_array_creation_expression", "new"): TokenSpacing.WORD,
        ("argument", ":"): TokenSpacing.COMMA,
        ("attribute_argument", ":"): TokenSpacing.COMMA,
        ("subpattern", ":"): TokenSpacing.COMMA,
        ("labeled_statement", ":"): TokenSpacing.COMMA,
        ("switch_section", ":"): TokenSpacing.CLOSE,
        ("attribute_target_specifier", ":"): TokenSpacing.COMMA,
        ("global_attribute", ":"): TokenSpacing.COMMA,
    },
)  # fmt: skip
