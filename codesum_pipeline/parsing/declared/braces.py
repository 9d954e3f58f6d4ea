"""How brackets stand in all languages that have them."""

from collections.abc import Mapping

from codesum_pipeline.parsing.spacing import TokenSpacing

BRACKETS: Mapping[str, TokenSpacing] = {
    "(": TokenSpacing.OPEN,
    "[": TokenSpacing.OPEN,
    "{": TokenSpacing.INFIX,
    ")": TokenSpacing.CLOSE,
    "]": TokenSpacing.CLOSE,
    "}": TokenSpacing.CLOSE,
    ",": TokenSpacing.COMMA,
}
