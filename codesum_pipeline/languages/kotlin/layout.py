"""How Kotlin is laid out, and how its tokens stand beside each other."""

import tree_sitter_kotlin

from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists

BODIES = words("class_body enum_class_body")


BRACED = BODIES | {"block", "lambda_literal", "when_expression"}


SPEC = LanguageSpec(
    name="kotlin",
    version=5,
    grammar=tree_sitter_kotlin.language,
    # An accessor stands on a line of its own below its property.
    blocks=words("source_file getter setter"),
    braced=BRACED,
    rows=BRACED | {"source_file"},
    atoms=words("character_literal"),
    comments=words("line_comment block_comment"),
    branches=words("if_expression for_statement while_statement do_while_statement catch_block when_entry"),
    lists=lists("""
        value_arguments function_value_parameters class_parameters type_arguments type_parameters collection_literal
    """),
    tokens=BRACKETS
    | spaced('''
        TIGHT  . ?. :: .. ..< ${ string_content escape_sequence
        CLOSE  !!
        COMMA  ; :
        PREFIX @ ! this@ super@ return@
        EITHER - +
        STEP   ++ --
        WORD   this super
        QUOTE  """
    '''),
    tokens_in=spaced_in("""
        OMITTED   source_file|block|class_body|lambda_literal|when_expression ;
        INFIX     class_declaration|object_declaration|companion_object|object_literal :
           secondary_constructor|type_constraint|type_parameter :  infix_expression identifier
        OPEN      type_arguments|type_parameters|super_expression <
        CLOSE     type_arguments|type_parameters|super_expression >  nullable_type ?
        QUOTE     string_literal "
        TIGHT     interpolation }  interpolation $  interpolation identifier  file_annotation|use_site_target :
        PREFIX    spread_expression *  labeled_expression label
        WORD      getter get  setter set  primary_constructor|secondary_constructor constructor
           anonymous_function fun
    """),
)
