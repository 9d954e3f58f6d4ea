"""What a walk over a tree does with each kind of node, as bits of one number, so that a node costs one look-up.

A compiled grammar has the roles of each kind of node; a mask joins those that one question of the walk is about.
"""


class NodeRole:
    """Bits that say what the walk does with a node; 0 is one that it only passes through or writes down.

    `FIXED` is a token with one spelling; `BRACE` and `PAREN` open or close what is `BRACED` or `PARENED`, `CLOSING`
    closes it; `DEFINING` asks the language whether it defines something; what is `FLEXIBLE` may be laid out flat, or be
    hollow, what is `ENCLOSED` may be bare, or merged. The walk itself adds two to those of a token that it is at:
    `OPENING` to a bracket after which a block begins, and `REPLACED` to a token that the grammar was shown in place of
    another one. The others are named as in `LanguageSpec`.
    """

    (LINE, BLOCK, ATOM, DROPPED, MARKED, BRANCH, ERROR, FIXED, COMMENT, BRACED, BRACE, CONTAINER, DEFINING, WRAPPER,
     PARENED, PAREN, HANGING, ROWS, DIRECTIVE, DIRECTIVE_TEXT, RESTART, FOLDED, OUTDENTED, FLEXIBLE, TRIMMED, CLOSING,
     LOWERED, SEPARATOR, TRAILING, DEEP, ROW_MARK, GLUED, ENCLOSED, RESPELLED, TERMINATED, OPENING, REPLACED, NAMING,
    ) = (1 << number for number in range(38))  # fmt: skip


_R = NodeRole
# What a node that is laid out flat has no more.
LAID_OUT = (
    _R.LINE | _R.BLOCK | _R.BRACED | _R.PARENED | _R.HANGING | _R.ROWS | _R.RESTART | _R.OUTDENTED | _R.FLEXIBLE
)  # fmt: skip
# A node that starts a line wherever it is.
STARTING = _R.BLOCK | _R.RESTART | _R.OUTDENTED
# One whose first line is a level further out than what is in it.
STEPPED = _R.HANGING | _R.OUTDENTED
# One in which everything is a level deeper; one in which that begins at a bracket; one of either.
DEEPER = _R.BLOCK | _R.HANGING
ENCLOSING = _R.BRACED | _R.PARENED
INDENTING = DEEPER | _R.LOWERED | _R.TRAILING | ENCLOSING
BRACKET = _R.BRACE | _R.PAREN

# Before a node: hooks are shown it, now (`ASKING`), or they will ask for its parents after the walk (`KINSHIP`).
KINSHIP = _R.MARKED | _R.ROW_MARK | _R.DEFINING
ASKING = KINSHIP | _R.FLEXIBLE | _R.ENCLOSED | _R.RESPELLED | _R.BRANCH
# It is kept for the readers of facts.
KEPT = _R.MARKED | _R.ROW_MARK | _R.BRANCH | _R.COMMENT | _R.DEEP | _R.WRAPPER
# It may start a line or change the depth.
ENTERED = _R.LINE | STARTING | _R.ERROR | _R.DEFINING | _R.HANGING | _R.LOWERED | _R.TRAILING

# At a leaf: what may be inside of it is passed over; its text is not read from the source.
CHILDLESS = _R.ATOM | _R.DROPPED | _R.FIXED
UNREAD = _R.DROPPED | _R.FIXED
# Blanks in it do not count; it is written by a rule of its own; it takes a whole line.
CLEANED = _R.FOLDED | _R.TRIMMED
SPECIAL = _R.TRAILING | _R.SEPARATOR | _R.GLUED
OF_DIRECTIVE = _R.DIRECTIVE | _R.DIRECTIVE_TEXT
# It is not simply copied as written, for one of these reasons; or it may open or close a block.
REWRITTEN = CLEANED | SPECIAL | OF_DIRECTIVE | _R.RESPELLED
UNUSUAL = REWRITTEN | BRACKET

# After a leaf, and after a node with children: the depth or the line changes, or a mark is written.
AFTERWARDS = _R.OPENING | DEEPER | _R.LOWERED | _R.TRAILING
LEAVING = INDENTING | _R.TERMINATED
