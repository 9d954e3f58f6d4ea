"""How tokens are spaced on a line of the canonical source, whatever the spaces in the file are.

Each token of a grammar has a `TokenSpacing`. A blank is written between two of them by a fixed rule (`is_spaced`),
which sees no more than how each is spaced, so a formatter cannot change the result.
"""

from enum import IntEnum


class TokenSpacing(IntEnum):
    """How a token is spaced from its neighbours: the words of the tables `tokens` and `tokens_in` of a language.

    A token without one is a `WORD` if it is a named leaf of the grammar (a name, a number), and else `INFIX` (a
    keyword, an operator). In most languages only brackets, marks, and a few signs need another one.
    """

    # No token, but the beginning of a line.
    START = 0

    # What a value or a name may end with: an operator after one of these three has a value on its left.
    WORD = 1  # a name, a text: `x`
    NUMBER = 2  # a number that would swallow a dot written after it: `1 .real` in Python
    CLOSE = 3  # no blank before; ends a bracket, or a value: `)`, Kotlin's `!!`

    # Between two values.
    INFIX = 4  # a blank on both sides: `a = b`, `if a`
    COMMA = 5  # a blank after, none before: `a, b`, `name: type`
    TIGHT = 6  # no blank on either side: `a.b`, `a::b`
    SPACED = 7  # a blank on both sides, whatever the neighbours want: Lua's `::label::`

    # Before a value.
    PREFIX = 8  # no blank after: `!a`, `@name`
    APART = 9  # a `PREFIX` that does not join another one like it: `- -a`
    OPEN = 10  # no blank after, and none before where a value ends: `f(`, but `= (`

    # One sign with two meanings, which the token before it tells apart.
    EITHER = 11  # `INFIX` after a value, `PREFIX` elsewhere: `a - b`, `-b`
    STEP = 12  # `CLOSE` after a value, `PREFIX` elsewhere: `a++`, `++a`
    BETWEEN = 13  # `INFIX` after a value, `OMITTED` elsewhere: TypeScript's `|` before the first of several types

    # The parts of a text that the grammar reads as several tokens.
    QUOTE = 14  # opens a text, whose pieces are `TIGHT`; after one of these or another quote, closes it
    TEXT = 15  # a `QUOTE` that is kept apart from the token before it: Ruby's `"`

    # Not written, or written where the file has none.
    OMITTED = 16  # left out; what comes after is spaced as if it were not there: a `;` at a line's end
    LED = 17  # a word that a `;` separates from what precedes it, written or not: Bash's `then`


OPERANDS = frozenset((TokenSpacing.WORD, TokenSpacing.NUMBER, TokenSpacing.CLOSE))
_TEXT_PIECES = (TokenSpacing.TIGHT, TokenSpacing.QUOTE, TokenSpacing.TEXT)
_JOINED_AFTER = frozenset((TokenSpacing.PREFIX, TokenSpacing.APART, TokenSpacing.OPEN, *_TEXT_PIECES))
_JOINED_BEFORE = frozenset((TokenSpacing.CLOSE, TokenSpacing.COMMA, TokenSpacing.TIGHT))
_PARTED = frozenset(((TokenSpacing.NUMBER, TokenSpacing.TIGHT), (TokenSpacing.APART, TokenSpacing.APART)))


def settle_spacing(before: TokenSpacing, after: TokenSpacing) -> TokenSpacing:
    """How `after` is spaced, once the token before it is known."""
    if after is TokenSpacing.EITHER:
        return TokenSpacing.INFIX if before in OPERANDS else TokenSpacing.PREFIX
    if after is TokenSpacing.STEP:
        return TokenSpacing.CLOSE if before in OPERANDS else TokenSpacing.PREFIX
    closes_text = after in (TokenSpacing.QUOTE, TokenSpacing.TEXT) and before in _TEXT_PIECES
    return TokenSpacing.CLOSE if closes_text else after


def is_spaced(before: TokenSpacing, after: TokenSpacing) -> bool:
    """Whether there is a space between two settled tokens of one line."""
    if before is TokenSpacing.START:
        return False
    if TokenSpacing.SPACED in (before, after) or (before, after) in _PARTED:
        return True
    if before in _JOINED_AFTER or after in _JOINED_BEFORE:
        return False
    return not (after in (TokenSpacing.OPEN, TokenSpacing.QUOTE) and before in OPERANDS)
