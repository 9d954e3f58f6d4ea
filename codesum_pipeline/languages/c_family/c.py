"""C."""

import tree_sitter_c

from codesum_pipeline.languages.c_family.shared import DEFINITIONS, HOOKS, call, include, typed
from codesum_pipeline.languages.declaration import Declaration, FrameworkRules
from codesum_pipeline.languages.spec import LanguageSpec, syntax_beside

SYNTAX = syntax_beside(__file__)
DECLARATION = Declaration(
    **SYNTAX["declaration"],
    **HOOKS,
    spec=LanguageSpec(grammar=tree_sitter_c.language, **SYNTAX["spec"]),
    tests=FrameworkRules(**SYNTAX["tests"]),
    definitions=DEFINITIONS,
    calls={"call_expression": call},
    imports={"preproc_include": include},
    typed={"declaration parameter_declaration field_declaration": typed},
)
