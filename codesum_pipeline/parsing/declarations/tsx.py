"""TypeScript with markup (TSX)."""

from dataclasses import replace

import tree_sitter_typescript

from codesum_pipeline.parsing.declarations import ecmascript, javascript, typescript

SPEC = replace(
    typescript.SPEC,
    name="tsx",
    version=5,
    grammar=tree_sitter_typescript.language_tsx,
    atoms=typescript.SPEC.atoms | ecmascript.MARKUP_FOLDED,
    folded=ecmascript.MARKUP_FOLDED,
    hollow=ecmascript.MARKUP_HOLLOW,
    tokens={**typescript.SPEC.tokens, **ecmascript.MARKUP_TOKENS},
    tokens_in={**typescript.SPEC.tokens_in, **ecmascript.MARKUP_TOKENS_IN},
)

DECLARATION = replace(
    typescript.DECLARATION,
    spec=SPEC,
    calls={**typescript.DECLARATION.calls, **javascript.DECLARATION.calls},
)
