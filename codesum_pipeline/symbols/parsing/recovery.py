"""Definitions that were lost to a syntax error are read again, without the parts that the grammar does not know.

One word that a grammar lacks can cost everything after it. So where a file does
not parse, and lines of it that look like definitions have no definition, parts
around its errors are shown to the grammar as blanks, as long as that brings
definitions back; where it does not, each lost definition is read apart, by its
indentation, and what is around it is blank. Bytes and lines stay where they
are, and what was blanked is kept in the canonical source, on lines of its own.
How much is tried depends on the file's bytes alone.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from operator import attrgetter, itemgetter

from msgspec import Struct
from tree_sitter import Node, Tree

from codesum_pipeline.languages.declarations.plain_lines import DefinitionLine
from codesum_pipeline.languages.declarations.spans import as_blanks, blanked_out
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.symbols.parsing.bounded import TooMuchWork
from codesum_pipeline.symbols.parsing.file_tokens import bytes_as_characters
from codesum_pipeline.symbols.parsing.lost_definitions import NamedPart, is_silent, lost_lines

# What one file may cost: bytes parsed again, and parts that are tried before the best of them is taken.
MOST_BYTES = 4_000_000
MOST_SHARE = 32
# The fragments together may be this many times as long as the file.
FRAGMENTS_SHARE = 8
# And so may the blocks that are looked at for them.
BLOCKS_SHARE = 100
MOST_ROUNDS = 12
MOST_PLACES = 8
MOST_GROUPS = 50
# A longer error is not a missing word, but everything that the grammar could not parse.
LONGEST_WORDS = 200
# An error at most so many bytes before a definition may hide it.
NEAR = 400
# The end of a head whose body is in the lines below, and closed by a line of its own, or only indented.
_OPENED = re.compile(rb"(?:\{|\bdo|\bbegin)(?=[ \t]*\n)")
_INDENTED = re.compile(rb":(?=[ \t]*(?:#|\n))")
# Lines that continue the definition above them at its own indentation.
_GOES_ON = re.compile(r"[{)\]:]|(?:else|catch|rescue|ensure|finally|where)\b")
# A directive, a comment or a label may be anywhere.
_ASIDE = re.compile(r"#|//|/?\*|--|\w+:$")
_ENDS = re.compile(r"\}|end\b|[)\]];?$")


_START = attrgetter("start")


class TreeCandidate(Struct, frozen=True):
    """One way to read a file: what the grammar was shown, and the lines that look like definitions and are none."""

    shown: bytes
    tree: Tree
    lost: tuple[DefinitionLine, ...]
    names: frozenset[str]
    whole: frozenset[str]
    parts: frozenset[NamedPart]

    def losses(self, before: "TreeCandidate") -> tuple[int, bool]:
        """How many definitions are lost, with those that another reading finds whole; then whether errors are left."""
        return len(self.lost) + len(before.whole - self.names), self.tree.root_node.has_error

    def is_better_than(self, before: "TreeCandidate") -> bool:
        """Whether fewer definitions are lost; where none was, whether there are more, all of them whole."""
        if before.lost or self.lost or self.tree.root_node.has_error:
            return self.losses(before)[0] < len(before.lost)
        ends = {(part.name, part.start): part.end for part in self.parts}
        are_kept = all(ends.get((part.name, part.start), 0) >= part.end for part in before.parts)
        return are_kept and len(self.parts) > len(before.parts)


class Recovery:
    """The attempts to read one broken file.

    `lines` are those that look like definitions; `parts_of` gives what a tree defines.
    """

    def __init__(
        self,
        source: bytes,
        lines: Iterable[DefinitionLine],
        parse: Callable[[bytes], Tree],
        parts_of: Callable[[Tree], Iterable[NamedPart]],
    ) -> None:
        self._text = bytes_as_characters(source)
        self._lines = tuple(lines)
        self._row_starts = [0, *accumulate(len(line) + 1 for line in source.split(b"\n"))][:-1]
        self._parse, self._parts_of = parse, parts_of
        self._left = min(MOST_BYTES, MOST_SHARE * len(source))
        # Blocks that are not tried cost something, too: of definitions in each other, each has all those inside.
        self._unseen = BLOCKS_SHARE * len(source)

    def recovered(self, shown: bytes, tree: Tree, groups: Iterable[Sequence[Span]]) -> TreeCandidate:
        """The best reading that was found; the first one where nothing is lost or nothing helps.

        Each group contains parts that the grammar is known not to parse.
        """
        first = best = self._reading(shown, tree)
        if best.lost or not tree.root_node.has_error:
            best = self._without_groups(best, list(groups)[:MOST_GROUPS])
        for _ in range(MOST_ROUNDS):
            better = self._round(best) if best.lost and best.tree.root_node.has_error else None
            if better is None:
                break
            best = better
        # The blanks that brought some definitions back may have hidden others.
        for reading in (best, first) if best is not first else (best,):
            if best.lost and reading.tree.root_node.has_error:
                self._left = max(self._left, FRAGMENTS_SHARE * len(shown))
                tried = self._by_fragments(reading)
                best = tried if tried.is_better_than(best) else best
        return best

    def fragments(self, shown: bytes) -> TreeCandidate | None:
        """The definitions that parse alone, and nothing else of the file; None without any."""
        self._left = FRAGMENTS_SHARE * len(shown)
        tried = self._try(self._with_fragments(shown, (0, len(shown))))
        return tried if tried is not None and tried.names else None

    def _without_groups(self, best: TreeCandidate, groups: Sequence[Sequence[Span]]) -> TreeCandidate:
        """Try to read the file without some groups: those beside lost definitions, then all, then each one alone."""
        all_spans = [span for group in groups for span in group]
        near = [group for group in groups if _is_beside(group, best.lost)]
        tries = [[span for group in near for span in group], all_spans, *(groups if len(groups) > 1 else ())]
        for spans in tries if len(near) < len(groups) else tries[1:]:
            shown = blanked_out(best.shown, sorted(spans))
            tried = self._try(shown) if shown != best.shown else None
            if tried is not None and tried.is_better_than(best):
                best = tried
                if not best.lost or spans is all_spans:
                    break
        return best

    def _reading(self, shown: bytes, tree: Tree) -> TreeCandidate:
        found = frozenset(self._parts_of(tree))
        names = frozenset(part.name for part in found)
        whole = frozenset(part.name for part in found if part.is_whole)
        return TreeCandidate(shown, tree, tuple(lost_lines(self._lines, found)), names, whole, found)

    def _may_try(self, shown: bytes) -> bool:
        return len(shown) <= self._left

    def _try(self, shown: bytes) -> TreeCandidate | None:
        if not self._may_try(shown):
            return None
        self._left -= len(shown)
        try:
            return self._reading(shown, self._parse(shown))
        except TooMuchWork:
            return None

    def _round(self, best: TreeCandidate) -> TreeCandidate | None:
        """The best reading of those with one more part blanked; None if none is better."""
        chosen = None
        seen: set[Span] = set()
        for span in self._spans(best):
            if span in seen:
                continue
            if not self._may_try(best.shown):
                break
            seen.add(span)
            shown = blanked_out(best.shown, [span])
            tried = self._try(shown) if shown != best.shown else None
            if tried is None or not tried.is_better_than(best):
                continue
            if chosen is None or tried.losses(best) < chosen.losses(best):
                chosen = tried
                if chosen.losses(best) == (0, False):
                    break
        return chosen

    def _spans(self, reading: TreeCandidate) -> Iterator[Span]:
        """Parts that may be to blame: around the first errors, and around those next to what is lost."""
        places = list(error_places(reading.tree.root_node))
        chosen = places[:MOST_PLACES]
        for line in reading.lost[:MOST_PLACES]:
            before = [place for place in places if place[0] <= line.start]
            chosen += before[-2:]
        for start, end in dict.fromkeys(chosen):
            row_start, row_end = self._row(start)
            if start < end <= start + LONGEST_WORDS:
                yield start, end
            yield start, row_end
            yield row_start, row_end
            yield self._block(start)
            # An error that spans lines ends where the grammar could not go on.
            if end > row_end:
                yield self._row(end - 1)
                yield self._block(end - 1)

    def _row(self, offset: int) -> Span:
        row = bisect_right(self._row_starts, offset) - 1
        start = self._row_starts[row]
        end = self._text.find("\n", start)
        return start, end if end >= 0 else len(self._text)

    def _block(self, offset: int) -> Span:
        """From the line of a byte to the end of what is indented below it."""
        start, end = self._row(offset)
        depth = _depth(self._text[start:end])
        while end < len(self._text):
            next_start, next_end = self._row(end + 1)
            line = self._text[next_start:next_end]
            if line.strip() and not _ASIDE.match(line.strip()):
                goes_on = _depth(line) == depth and bool(_GOES_ON.match(line.strip()) or _ENDS.match(line.strip()))
                if _depth(line) < depth or (_depth(line) == depth and not goes_on):
                    break
                if _depth(line) == depth and _ENDS.match(line.strip()) and not line.rstrip().endswith(("{", "(")):
                    return start, next_end
            end = next_end
            if next_end <= next_start and next_end >= len(self._text):
                break
        return start, end

    def _by_fragments(self, best: TreeCandidate) -> TreeCandidate:
        """Try to read each part in which a definition is lost with everything blanked but the definitions in it that do
        parse."""
        root = best.tree.root_node
        for node in [root] if root.is_error else root.children:
            # The error may begin behind the name that it cost.
            start = self._row(node.start_byte)[0]
            if not self._may_try(best.shown):
                break
            # What follows an error may parse, as something else than it is: but a text is one.
            lost = _between(best.lost, start, node.end_byte)
            if not lost or (not node.has_error and all(is_silent(node, line.start) for line in lost)):
                continue
            shown = self._with_fragments(best.shown, (start, node.end_byte))
            tried = self._try(shown)
            if tried is not None and tried.is_better_than(best):
                best = tried
        return best

    def _with_fragments(self, shown: bytes, part: Span) -> bytes:
        inner = self._only_fragments(shown, part)
        return shown[: part[0]] + inner + shown[part[0] + len(inner) :]

    def _only_fragments(self, shown: bytes, part: Span) -> bytes:
        """A part of the file in which everything is blank but the fragments that begin in it."""
        pieces, position = [], part[0]
        lines = _between(self._lines, *part)
        for start, fragment in self._fragments(shown, part, lines):
            pieces += [as_blanks(shown[position:start]), fragment]
            position = start + len(fragment)
        return b"".join([*pieces, as_blanks(shown[position : max(part[1], position)])])

    def _fragments(self, shown: bytes, part: Span, lines: Sequence[DefinitionLine]) -> Iterator[tuple[int, bytes]]:
        """The blocks of definitions that parse by themselves, whole or as a head alone; else the blocks inside of
        them."""
        position = part[0]
        for line in lines:
            if line.start < position or self._unseen < 0:
                continue
            start, end = self._block(line.start)
            self._unseen -= end - start
            if start < position or not self._may_try(shown[start:end]):
                continue
            inside = {other.name for other in _between(lines, line.start + 1, end)}
            fragment = self._fragment(shown[start:end], line.name, inside)
            if fragment is None and inside:
                fragment = self._with_its_parts(shown, (start, end), line.name)
            if fragment is not None:
                yield start, fragment
                position = end

    def _fragment(self, block: bytes, name: str, inside: set[str]) -> bytes | None:
        """A definition's block, or its head alone: the first without an error, which would go on behind it."""
        body = None if inside else _body(block)
        candidates = [block, *([blanked_out(block, [body])] if body else ())]
        tries = [(fragment, self._try(fragment)) for fragment in candidates]
        found = [
            (fragment, tried.tree.root_node.has_error)
            for fragment, tried in tries
            if tried is not None and {name, *inside} <= tried.names
        ]
        return min(found, key=itemgetter(1))[0] if found else None

    def _with_its_parts(self, shown: bytes, part: Span, name: str) -> bytes | None:
        """The head and the end of a definition, with what parses of the definitions in it."""
        block = shown[slice(*part)]
        body = _body(block)
        if body is None:
            return None
        start, end = body
        inner = self._only_fragments(shown, (part[0] + start, part[0] + end))
        fragment = block[:start] + inner + block[end:]
        tried = self._try(fragment) if len(inner) == end - start else None
        return fragment if tried is not None and name in tried.names else None


def changed_spans(before: bytes, after: bytes) -> tuple[Span, ...]:
    """The lines, in bytes, at which two texts of one length differ."""
    spans, position = [], 0
    for one, other in zip(before.split(b"\n"), after.split(b"\n"), strict=True):
        if one != other:
            spans.append((position, position + len(one)))
        position += len(one) + 1
    return tuple(spans)


def is_cut(blanked: Sequence[Span], start: int, end: int) -> bool:
    """Whether a part of the source between two bytes was blanked; the blanked lines are in order."""
    following = bisect_right(blanked, start, key=itemgetter(1))
    return following < len(blanked) and blanked[following][0] < end


def error_places(root: Node) -> Iterator[Span]:
    """Where errors are, innermost ones too, in the order of the file."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is None:
            return
        if node.is_error or node.is_missing:
            yield node.start_byte, node.end_byte
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _is_beside(group: Sequence[Span], lines: Sequence[DefinitionLine]) -> bool:
    """Whether one of some lines, which are in order, is in what a group of parts surrounds, or right behind it."""
    starts = [line.start for line in lines]
    return any(
        bisect_left(starts, start) < bisect_right(starts, end + NEAR)
        for start, end in (*group, (group[0][0], group[-1][1]))
    )


def _between(lines: Sequence[DefinitionLine], start: int, end: int) -> Sequence[DefinitionLine]:
    """Those of some lines, which are in order, whose names begin between two bytes."""
    first = bisect_left(lines, start, key=_START)
    return lines[first : bisect_left(lines, end, first, key=_START)]


def _body(block: bytes) -> Span | None:
    """Where the body of a definition is in its block, without what opens and closes it."""
    opened, closed = _OPENED.search(block), block.rfind(b"\n")
    if opened and opened.end() < closed and _ENDS.match(block[closed:].decode("latin-1").strip()):
        return opened.end(), closed
    indented = _INDENTED.search(block, 0, closed + 1)
    return (indented.end(), len(block)) if indented else None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
