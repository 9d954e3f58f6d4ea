"""TypeScript with markup (TSX)."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.ecmascript import javascript, layout, typescript

SPEC = replace(
    typescript.SPEC,
    name="tsx",
    version=5,
    grammar=tree_sitter_typescript.language_tsx,
    atoms=typescript.SPEC.atoms | layout.MARKUP_FOLDED,
    folded=layout.MARKUP_FOLDED,
    hollow=layout.MARKUP_HOLLOW,
    tokens={**typescript.SPEC.tokens, **layout.MARKUP_TOKENS},
    tokens_in={**typescript.SPEC.tokens_in, **layout.MARKUP_TOKENS_IN},
)

DECLARATION = replace(
    typescript.DECLARATION,
    spec=SPEC,
    calls={**typescript.DECLARATION.calls, **javascript.DECLARATION.calls},
)
