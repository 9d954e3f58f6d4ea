"""C."""

import tree_sitter_c

from codesum_pipeline.languages.declarations.c_family import declarators, shared
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside

DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_c.language),
    **shared.HOOKS,
    definitions=declarators.DEFINITIONS,
    calls={"call_expression": shared.read_call},
    imports={"preproc_include": shared.read_include},
    typed={"declaration parameter_declaration field_declaration": shared.read_typed},
)
