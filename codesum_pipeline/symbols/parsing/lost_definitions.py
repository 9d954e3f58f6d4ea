"""The second witness of what a file defines: its lines that look like a definition, which no grammar has read.

Such a line is lost where no definition of its name has it among its lines, and it is neither a comment nor a text.
A grammar that swallows definitions without an error has no other witness.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Self

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node, Tree

from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.plain_lines import DefinitionLine, definition_lines
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.symbols.parsing.file_tokens import bytes_as_characters
from codesum_pipeline.symbols.parsing.text import ParsedFile

# How far above a byte's own node a comment or a text may be.
_LEVELS = 4
# Kinds of nodes that are comments and texts; among them what is around PHP's code or behind Ruby's, and what quotes
# other languages.
_TEXT = re.compile(r"comment|string|heredoc|^(?:text|uninterpreted|quasiquote_body|quoted_content)$")
# Of more lines that have no symbol, none is looked for in comments and texts.
_MOST_LOST = 1_000


class NamedPart(Struct, frozen=True):
    """What a name stands for in a file, from one byte or line to another; `is_whole` where it parses as a whole."""

    name: str
    start: int
    end: int
    is_whole: bool = True


class _Places(Struct, frozen=True):
    """Parts of a file: where each starts, in order, and the furthest end of those that have started."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Self:
        """Those of parts in any order, beside and within each other."""
        in_order = sorted(spans)
        return cls([start for start, _ in in_order], [*accumulate((end for _, end in in_order), max)])

    def has(self, place: int) -> bool:
        """Whether one of the parts is around a place."""
        started = bisect_right(self.starts, place)
        return started > 0 and place < self.ends[started - 1]


_NOWHERE = _Places([], [])


def lines_of(declaration: Declaration, source: bytes) -> Iterator[DefinitionLine]:
    """The lines of a source that look like a definition of its language."""
    text = declaration.without_templates(bytes_as_characters(source))
    return definition_lines(text, declaration.definition_lines, declaration.definition_words)


def lost_lines(lines: Iterable[DefinitionLine], parts: Iterable[NamedPart]) -> Iterator[DefinitionLine]:
    """The lines, in order, whose name begins in no part of that name."""
    places = _places_by_name(parts)
    return (line for line in lines if not places.get(plain_name(line.name), _NOWHERE).has(line.start))


def plain_name(name: str) -> str:
    """A name without what a language allows to be left out around it."""
    return " ".join(name.split()).replace("::", ":").strip("`").removeprefix("r#").removeprefix("#").removeprefix("~")


def with_lost_definitions(
    parsed: ParsedFile,
    lines: Sequence[DefinitionLine],
    source: bytes,
    tree: Tree | None,
    *,
    has_clauses: bool = False,
) -> ParsedFile:
    """The file, with the lines of definitions that have no symbol, and their number where there are some or where the
    file has syntax errors. `has_clauses`: lines of one name that follow each other are one definition."""
    missing = list(_without_symbol(parsed, lines, source))
    if not missing and not parsed.facts.syntax_errors:
        return parsed
    looked_at = missing[:_MOST_LOST] if tree is not None else ()
    silent = {line.start for line, _ in looked_at if tree is not None and is_silent(tree.root_node, line.start)}
    in_code = [(line, number) for line, number in missing if line.start not in silent]
    names = [None, *(line.name for line, _ in in_code)] if has_clauses else [None] * len(in_code)
    lost = [number for before, (line, number) in zip(names, in_code, strict=False) if line.name != before]
    is_told = lost or parsed.facts.syntax_errors
    facts = replace(
        parsed.facts, lost_definitions=len(lost) if is_told else None, lost_lines=tuple(lost[:_MOST_LOST]) or None
    )
    return replace(parsed, facts=facts)


def is_silent(root: Node, offset: int) -> bool:
    """Whether a byte is in a comment or a text."""
    node = root.descendant_for_byte_range(offset, offset + 1)
    for _ in range(_LEVELS):
        if node is None:
            return False
        if not node.has_error and _TEXT.search(node.type):
            return True
        node = node.parent
    return False


def _without_symbol(
    parsed: ParsedFile, lines: Iterable[DefinitionLine], source: bytes
) -> Iterator[tuple[DefinitionLine, int]]:
    """The lines whose name no symbol around them has, with their numbers."""
    places = _places_by_name(NamedPart(one.name, one.start_line, one.end_line + 1) for one in parsed.symbols)
    number, position = 1, 0
    for line in lines:
        number += source.count(b"\n", position, line.start)
        position = line.start
        if not places.get(plain_name(line.name), _NOWHERE).has(number):
            yield line, number


def _places_by_name(parts: Iterable[NamedPart]) -> Mapping[str, _Places]:
    spans = defaultdict[str, list[Span]](list)
    for part in parts:
        spans[plain_name(part.name)].append((part.start, part.end))
    return {name: _Places.of(found) for name, found in spans.items()}
