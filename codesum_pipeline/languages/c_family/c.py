"""C."""

import tree_sitter_c

from codesum_pipeline.languages.c_family import shared as c_family
from codesum_pipeline.languages.c_family.declarators import (
    declaration,
    function,
    macro,
    macro_with_block,
    named_by_typedef,
    structure,
)
from codesum_pipeline.languages.c_family.macros import masked, unknown
from codesum_pipeline.languages.declaration import Declaration, Docs, Facts
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.hooks import hidden_by, unknown_words
from codesum_pipeline.languages.spec import LanguageSpec, words
from codesum_pipeline.languages.spelling import lists

SPEC = LanguageSpec(
    name="c",
    version=5,
    grammar=tree_sitter_c.language,
    lines=c_family.LINES,
    blocks=words("translation_unit"),
    braced=c_family.BRACED,
    rows=c_family.BRACED | {"translation_unit"},
    containers=c_family.CONTAINERS,
    hanging=words("case_statement"),
    atoms=c_family.ATOMS,
    dropped=frozenset({"\n"}),
    comments=words("comment"),
    branches=c_family.BRANCHES,
    wrappers=c_family.WRAPPERS,
    directives=c_family.DIRECTIVES,
    directive_texts=words("preproc_arg"),
    lists=lists("initializer_list enumerator_list"),
    tokens=c_family.TOKENS,
    tokens_in=c_family.TOKENS_IN,
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(signatures=c_family.TEST_MACROS),
    definition_lines=c_family.LINES_OF_DEFINITIONS,
    definitions={
        "function_definition": function,
        "declaration": declaration,
        "struct_specifier union_specifier enum_specifier": structure,
        "type_definition": named_by_typedef,
        "preproc_function_def": macro,
        "expression_statement": macro_with_block,
    },
    docs=Docs.ADJACENT,
    masked=masked,
    hiding=unknown_words(unknown),
    facts=Facts(returns=words("return_statement"), assignments=c_family.ASSIGNMENTS, fields=c_family.FIELDS),
    calls={"call_expression": c_family.call},
    reexports={"translation_unit": c_family.forwarded_headers},
    imports={"preproc_include": c_family.include},
    typed={"declaration parameter_declaration field_declaration": c_family.typed},
    parameters=c_family.parameters,
    return_type=c_family.return_type,
    modifiers=c_family.modifiers,
    is_public=hidden_by("static"),
    globals={"declaration": c_family.variables, "preproc_def": c_family.constant},
)
