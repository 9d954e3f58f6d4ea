"""TypeScript with markup (TSX)."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.ecmascript import javascript, layout, typescript
from codesum_pipeline.languages.spec import syntax_beside

SYNTAX = syntax_beside(__file__)
DECLARATION = replace(
    typescript.DECLARATION,
    spec=replace(typescript.SPEC, grammar=tree_sitter_typescript.language_tsx, **layout.MARKUP, **SYNTAX["spec"]),
    calls={**typescript.DECLARATION.calls, **javascript.DECLARATION.calls},
)
