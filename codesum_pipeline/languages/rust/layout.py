"""How Rust is laid out, and how its tokens stand beside each other."""

import tree_sitter_rust

from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists

SPEC = LanguageSpec(
    name="rust",
    version=5,
    grammar=tree_sitter_rust.language,
    lines=words("field_declaration enum_variant match_arm macro_rule"),
    blocks=words("source_file"),
    braced=words("block declaration_list field_declaration_list enum_variant_list match_block macro_definition"),
    # The match arms and fields of these are lines; attributes and visibility stand among them.
    rows=words("source_file block declaration_list"),
    # The grammar has no node for the separator of a repetition.
    atoms=words("string_literal raw_string_literal char_literal lifetime token_repetition token_repetition_pattern"),
    comments=words("line_comment block_comment"),
    branches=words("if_expression while_expression for_expression loop_expression match_arm"),
    lists=lists(
        """
        arguments parameters array_expression field_initializer_list field_declaration_list enum_variant_list use_list
        type_arguments type_parameters slice_pattern struct_pattern ordered_field_declaration_list
        tuple_struct_pattern
    """,
        tuples="tuple_expression tuple_type tuple_pattern",
    ),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . :: .. ..= ...
        COMMA  : ;
        CLOSE  ?
        PREFIX ! # $
        EITHER - * & &&
        SPACED =>
    """),
    tokens_in=spaced_in("""
        CLOSE    macro_invocation !  use_wildcard *  type_arguments|type_parameters|bracketed_type|for_lifetimes >
        TIGHT    inner_attribute_item !
        WORD     never_type !  visibility_modifier pub  function_type fn  macro_definition macro_rules!
           impl_item impl
        PREFIX   removed_trait_bound ?  reference_type|reference_expression|reference_pattern|self_parameter &
           pointer_type *  array_type [  base_field_initializer ..
        OPEN     type_arguments|type_parameters|bracketed_type|for_lifetimes <  use_list {
    """),
)
