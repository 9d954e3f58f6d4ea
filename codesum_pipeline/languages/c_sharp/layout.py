"""How C# is laid out, and how its tokens stand beside each other."""

import tree_sitter_c_sharp
from tree_sitter import Node

from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists

TYPES = words("class_declaration struct_declaration interface_declaration record_declaration")


CONDITIONAL = words("preproc_if preproc_elif preproc_else")


def holds_a_value(accessors: Node) -> bool:
    """`{ get; set; }` stands on one line."""
    return not any(child.child_by_field_name("body") for child in accessors.named_children)


SPEC = LanguageSpec(
    name="c-sharp",
    version=4,
    grammar=tree_sitter_c_sharp.language,
    lines=TYPES
    | CONDITIONAL
    | words("""
        extern_alias_directive using_directive global_attribute global_statement namespace_declaration
        file_scoped_namespace_declaration enum_declaration delegate_declaration enum_member_declaration
        field_declaration event_field_declaration property_declaration indexer_declaration event_declaration
        method_declaration constructor_declaration destructor_declaration operator_declaration
        conversion_operator_declaration accessor_declaration switch_section switch_expression_arm block
        break_statement checked_statement continue_statement do_statement expression_statement fixed_statement
        for_statement foreach_statement goto_statement if_statement labeled_statement local_declaration_statement
        local_function_statement lock_statement return_statement switch_statement throw_statement try_statement
        unsafe_statement using_statement while_statement yield_statement
    """),
    blocks=words("compilation_unit"),
    containers=CONDITIONAL | {"switch_section"},
    braced=words("declaration_list block switch_body switch_expression enum_member_declaration_list accessor_list"),
    hanging=words("switch_section"),
    flat={"accessor_list": holds_a_value},
    atoms=words("""
        string_literal verbatim_string_literal raw_string_literal character_literal interpolation_format_clause
    """),
    comments=words("comment preproc_region preproc_endregion preproc_pragma"),
    directives=words("#if #elif #else #endif #define #undef #nullable #line #error #warning"),
    directive_texts=words("preproc_arg"),
    branches=words("""
        if_statement for_statement foreach_statement while_statement do_statement catch_clause case
        switch_expression_arm
    """),
    wrappers=words("field_declaration local_declaration_statement variable_declaration"),
    lists=lists("initializer_expression enum_member_declaration_list"),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . .. -> :: interpolation_brace interpolation_format_clause string_content
        COMMA  ;
        PREFIX ! ~ interpolation_start
        EITHER - + * & ^
        STEP   ++ --
        WORD   this base typeof sizeof checked unchecked
        QUOTE  interpolation_quote
    """),
    tokens_in=spaced_in("""
        INFIX    accessor_list|initializer_expression|anonymous_object_creation_expression {
           with_expression|property_pattern_clause {
           accessor_list|initializer_expression|anonymous_object_creation_expression }
           with_expression|property_pattern_clause }  lambda_expression modifier
        WORD     operator_declaration +  operator_declaration -  operator_declaration !  operator_declaration ~
           operator_declaration ++  operator_declaration --  operator_declaration *  operator_declaration /
           operator_declaration %  operator_declaration &  operator_declaration |  operator_declaration ^
           operator_declaration <<  operator_declaration >>  operator_declaration >>>  operator_declaration ==
           operator_declaration !=  operator_declaration >  operator_declaration <  operator_declaration >=
           operator_declaration <=  operator_declaration true  operator_declaration false
           default_expression default  constructor_constraint|implicit_object_creation_expression new
           implicit_array_creation_expression new
        QUOTE    interpolated_string_expression "
        TIGHT    interpolation_alignment_clause ,
        OPEN     type_argument_list|type_parameter_list <
        CLOSE    type_argument_list|type_parameter_list >  nullable_type|conditional_access_expression ?
           pointer_type *  postfix_unary_expression !  switch_section :
        PREFIX   spread_element ..
        COMMA    argument|attribute_argument|subpattern|labeled_statement :
           attribute_target_specifier|global_attribute :
    """),
)
