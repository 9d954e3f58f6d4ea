"""C."""

import tree_sitter_c

from codesum_pipeline.languages.declarations.c_family.shared import (
    DEFINITIONS,
    HOOKS,
    read_call,
    read_include,
    read_typed,
)
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside

DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_c.language),
    **HOOKS,
    definitions=DEFINITIONS,
    calls={"call_expression": read_call},
    imports={"preproc_include": read_include},
    typed={"declaration parameter_declaration field_declaration": read_typed},
)
