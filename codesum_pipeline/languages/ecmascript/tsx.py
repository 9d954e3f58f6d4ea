"""TypeScript with markup (TSX)."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.declaration import syntax_beside
from codesum_pipeline.languages.ecmascript import javascript, layout, typescript

DECLARATION = replace(
    typescript.DECLARATION,
    **syntax_beside(__file__, tree_sitter_typescript.language_tsx, spec={**typescript.LAYOUT, **layout.MARKUP}),
    calls=javascript.DECLARATION.calls,
)
