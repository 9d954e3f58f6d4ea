"""How brackets stand in all languages that have them."""

from collections.abc import Mapping

from codesum_pipeline.parsing.spacing import Token

BRACKETS: Mapping[str, Token] = {
    "(": Token.OPEN,
    "[": Token.OPEN,
    "{": Token.INFIX,
    ")": Token.CLOSE,
    "]": Token.CLOSE,
    "}": Token.CLOSE,
    ",": Token.COMMA,
}
