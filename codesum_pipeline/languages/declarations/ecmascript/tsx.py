"""TypeScript with markup (TSX)."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.declarations.declaration import syntax_beside
from codesum_pipeline.languages.declarations.ecmascript import ecmascript_layout, javascript, typescript

DECLARATION = replace(
    typescript.DECLARATION,
    **syntax_beside(
        __file__, tree_sitter_typescript.language_tsx, spec={**typescript.LAYOUT, **ecmascript_layout.MARKUP}
    ),
    calls=javascript.DECLARATION.calls,
)
