"""Branches of a preprocessor's conditions that are no whole statements or declarations."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside

_PATTERNS = patterns_beside(__file__)
_ENDS = (b";", b"{", b"}")


class _Group(Struct):
    """An `#if` up to its `#endif`: where each directive is, and how many braces each branch leaves open."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    is_torn: bool = False


def torn_branches(source: bytes) -> list[Span]:
    """What to leave out so that of branches that are no whole statements or declarations only the first is code: their
    directives and the later ones, in order, none in another."""
    found: list[Span] = []
    for start, end in sorted(_torn_parts(source)):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _torn_parts(source: bytes) -> Iterator[Span]:
    groups: list[_Group] = []
    last, position = b"", 0
    for match in _PATTERNS["token"].finditer(source):
        between = source[position : match.start()].rstrip()
        last, position = between or last, match.end()
        if match["brace"]:
            last = match["brace"]
            if groups:
                group = groups[-1]
                group.opened[-1] += 1 if last == b"{" else -1
                group.is_torn |= group.opened[-1] < 0
        elif match["word"]:
            yield from _read_directive(match, groups, is_amid=_is_amid(last, source, position))
        elif match["literal"]:
            last = b'"'


def _is_amid(last: bytes, source: bytes, position: int) -> bool:
    """Whether a directive interrupts a statement."""
    line = last[last.rfind(b"\n") + 1 :]
    is_ended = not last or last.endswith(_ENDS) or _PATTERNS["label"].match(line)
    return bool(_PATTERNS["else"].match(source, position)) or not is_ended


def _read_directive(match: re.Match[bytes], groups: list[_Group], *, is_amid: bool) -> Iterator[tuple[int, int]]:
    word, start = match["word"], match.start("directive")
    if word in (b"if", b"ifdef", b"ifndef"):
        groups.append(_Group())
    if not groups or word not in (b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif"):
        return
    group = groups[-1]
    group.starts.append(start)
    group.ends.append(start + len(match["directive"].rstrip()))
    group.opened.append(0)
    group.is_torn |= is_amid or b"__has_" in match["directive"]
    if word == b"endif":
        groups.pop()
        if groups:
            groups[-1].opened[-1] += group.opened[0]
        if group.is_torn or any(group.opened):
            yield group.starts[0], group.ends[0]
            yield group.starts[1], group.ends[-1]
