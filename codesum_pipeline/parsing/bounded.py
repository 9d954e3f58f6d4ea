"""A parse that ends.

Some grammars try exponentially many ways out of a broken file: two kilobytes
of Kotlin can take hours. The bound counts the parser's own operations, not
time, so that the same file ends the same way on every machine.
"""

from tree_sitter import Parser, Point, Tree

# tree-sitter reports after every hundred operations. Real files, broken ones among them, take up to 0.02 reports a
# byte; ten times that, and some for the smallest, is a parser that has lost its way.
FREE_REPORTS = 1000
REPORTS_A_BYTE = 0.2
# What the parser is handed at a time, and then who asks a node for its text: that is read whole, needed or not.
CHUNK = 1 << 16
TEXT_CHUNK = 1 << 7


class ParserGaveUp(Exception):
    """The grammar finds no end of ways to read a file."""


def parse_within_bounds(parser: Parser, source: bytes) -> Tree:
    """The tree of a source; raises `ParserGaveUp` past the bound."""
    chunk = CHUNK
    left = int(FREE_REPORTS + REPORTS_A_BYTE * len(source))

    def read(offset: int, point: Point) -> bytes:
        return source[offset : offset + chunk]

    def is_enough(offset: int, has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    try:
        tree = parser.parse(read, progress_callback=is_enough)
        chunk = TEXT_CHUNK
        return tree
    except ValueError as error:
        if left >= 0:
            raise
        parser.reset()
        raise ParserGaveUp from error
