"""C."""

import tree_sitter_c

from codesum_pipeline.symbols.languages.c_family.shared import DEFINITIONS, HOOKS, call, include, typed
from codesum_pipeline.symbols.languages.declaration import Declaration, syntax_beside

DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_c.language),
    **HOOKS,
    definitions=DEFINITIONS,
    calls={"call_expression": call},
    imports={"preproc_include": include},
    typed={"declaration parameter_declaration field_declaration": typed},
)
