"""How tokens stand beside each other: one fixed table over what comes before and after."""

from enum import IntEnum


class TokenSpacing(IntEnum):
    """How a token wants to stand beside its neighbours.

    `EITHER` is `INFIX` after an operand and `PREFIX` elsewhere, `STEP` `CLOSE`
    after an operand and `PREFIX` elsewhere. A `QUOTE` opens a text, whose
    pieces are `TIGHT`, and after one of those or another quote it closes it;
    a `TEXT` is one that keeps apart from what stands before it. `LED` is a word
    that a `;` parts from what stands before it, written or not. `APART` is a
    `PREFIX` that does not join another one like it.
    `BETWEEN` is `INFIX` after an operand and `OMITTED` elsewhere.
    `START` is no token, but the beginning of a line.
    """

    START = 0
    WORD = 1  # an operand: a name, a literal
    NUMBER = 2  # an operand that would swallow a dot written after it
    CLOSE = 3  # closes a bracket and ends an operand; no space before
    INFIX = 4  # a space on both sides: operators, keywords
    PREFIX = 5  # no space after
    OPEN = 6  # no space after; none before either where an operand ends
    COMMA = 7  # a space after, none before
    TIGHT = 8  # no space on either side
    SPACED = 9  # a space on both sides, whatever the neighbours want
    EITHER = 10
    OMITTED = 11  # not shown: what comes after stands as if it were not there
    STEP = 12
    QUOTE = 13
    TEXT = 14
    LED = 15
    APART = 16
    BETWEEN = 17


OPERANDS = frozenset({TokenSpacing.WORD, TokenSpacing.NUMBER, TokenSpacing.CLOSE})
JOINED_AFTER = frozenset(
    {
        TokenSpacing.PREFIX,
        TokenSpacing.APART,
        TokenSpacing.OPEN,
        TokenSpacing.TIGHT,
        TokenSpacing.QUOTE,
        TokenSpacing.TEXT,
    }
)
PARTED = frozenset({(TokenSpacing.NUMBER, TokenSpacing.TIGHT), (TokenSpacing.APART, TokenSpacing.APART)})
JOINED_BEFORE = frozenset({TokenSpacing.CLOSE, TokenSpacing.COMMA, TokenSpacing.TIGHT})


def settle(before: TokenSpacing, after: TokenSpacing) -> TokenSpacing:
    """What `after` is, now that it is known what stands before it."""
    if after is TokenSpacing.EITHER:
        return TokenSpacing.INFIX if before in OPERANDS else TokenSpacing.PREFIX
    if after is TokenSpacing.STEP:
        return TokenSpacing.CLOSE if before in OPERANDS else TokenSpacing.PREFIX
    if after in (TokenSpacing.QUOTE, TokenSpacing.TEXT) and before in (
        TokenSpacing.TIGHT,
        TokenSpacing.QUOTE,
        TokenSpacing.TEXT,
    ):
        return TokenSpacing.CLOSE
    return after


def is_spaced(before: TokenSpacing, after: TokenSpacing) -> bool:
    """Whether a space stands between two settled tokens of one line."""
    if before is TokenSpacing.START:
        return False
    if TokenSpacing.SPACED in (before, after) or (before, after) in PARTED:
        return True
    if before in JOINED_AFTER or after in JOINED_BEFORE:
        return False
    return not (after in (TokenSpacing.OPEN, TokenSpacing.QUOTE) and before in OPERANDS)
