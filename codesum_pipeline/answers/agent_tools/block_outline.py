"""The outline of a long function: its blocks with their lines.

A line that deeper ones follow is the head of a block. So it needs no grammar, and every language has one; where a brace
stands alone, the head is the line before.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

# A shorter block is read with what is around it.
_FEWEST_LINES = 4
# The outermost blocks are shown, as deep as so many lines allow.
MOST_BLOCKS = 40
_TAB = 4


class CodeBlock(Struct, frozen=True):
    """`first` and `last` are lines of the file, `depth` is the number of blocks around it."""

    first: int
    last: int
    depth: int
    head: str

    def __str__(self) -> str:
        return f"{self.first}-{self.last}\t{'  ' * self.depth}{self.head}"


def outline_of(lines: Sequence[str], *, first: int, most: int) -> list[CodeBlock]:
    """The outermost blocks of a function whose lines begin with line `first`, at most `most`, in order. Of a depth that
    has too many, the longest are taken."""
    blocks = [block for block in _blocks(lines, first) if block.last - block.first + 1 >= _FEWEST_LINES]
    by_depth = sorted(blocks, key=lambda block: (block.depth, block.first - block.last, block.first))
    return sorted(by_depth[:most], key=lambda block: (block.first, block.depth))


def _blocks(lines: Sequence[str], first: int) -> Iterator[CodeBlock]:
    """All blocks, each when it ends."""
    said = [(number, _indent_of(line), line.strip()) for number, line in enumerate(lines, start=first) if line.strip()]
    open_: list[tuple[int, int, str]] = []
    for place, (number, indent, text) in enumerate(said):
        while open_ and open_[-1][1] >= indent:
            # A line that only closes is the last one of its block.
            is_closing = indent == open_[-1][1] and not any(map(str.isalpha, text))
            begin, _, head = open_.pop()
            yield CodeBlock(begin, number if is_closing else said[place - 1][0], len(open_), head)
        if place + 1 < len(said) and said[place + 1][1] > indent:
            is_alone = text == "{" and place
            open_.append((said[place - 1][0], indent, said[place - 1][2]) if is_alone else (number, indent, text))
    while open_:
        begin, _, head = open_.pop()
        yield CodeBlock(begin, said[-1][0], len(open_), head)


def _indent_of(line: str) -> int:
    line = line.expandtabs(_TAB)
    return len(line) - len(line.lstrip())
