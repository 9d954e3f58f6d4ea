"""Digests of before as material: one block of text, the newest whole, and one list of what they cite.

Blocks stand in the order in which they were written. What does not fit is cut
from the oldest one that still has room, and those before it are left out. Every
`[N]` in the block is the N-th of one merged list, which begins with the newest
digest's sources: what is left out at the other end changes no number.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.digests.articles import with_closed_fence
from codesum_pipeline.digests.rows import DigestRow
from codesum_pipeline.llm.budgets import LEAST_SHOWN, cut
from codesum_pipeline.llm.marking import enclose, visible
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.model.digests import DigestCitation, SummaryResult
from codesum_pipeline.model.printable import one_line

LABEL = "DIGEST"
# A fence or a span of code, in which brackets are code, or else a citation.
_FENCED = r"(?:^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z))"
_SPAN = r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_NUMBER = re.compile(rf"{_FENCED}|{_SPAN}|(?<!\w)\[(?P<number>\d{{1,6}})\](?!\()", re.MULTILINE | re.DOTALL)


class PastBlock(Struct, frozen=True):
    """The block, how many digests are in it, how many of these were cut, and what its `[N]` refer to.

    `texts` are those of the digests as they are shown, the newest first.
    """

    text: str
    texts: tuple[str, ...]
    rows_used: int
    rows_cut: int
    citations: tuple[DigestCitation, ...]


def join_past(rows: Sequence[DigestRow], room: int) -> PastBlock:
    """As many of the newest digests as fit into `room` characters."""
    merged = MergedCitations()
    blocks: list[str] = []
    texts: list[str] = []
    rows_cut = known = 0
    for row in newest_first(rows):
        text = visible(mask_secrets(merged.renumbered(row.result)).text).strip()
        block = _block(row, text, merged.listed)
        if len(block) > room:
            spare = room - (len(block) - len(text))
            text = cut_text(text, spare) if spare >= LEAST_SHOWN else ""
            block = _block(row, text, merged.listed) if text else ""
            rows_cut += bool(block)
        if not block:
            break
        blocks.append(block)
        texts.append(text)
        known = len(merged.listed)
        room -= len(block) + 1
        if rows_cut:
            break
    return PastBlock("\n".join(reversed(blocks)), tuple(texts), len(blocks), rows_cut, tuple(merged.listed[:known]))


def newest_first(rows: Sequence[DigestRow]) -> list[DigestRow]:
    """Ties break by id."""
    return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)


class MergedCitations:
    """One list of what several digests cite: what two of them cite at the same place is in it once."""

    def __init__(self) -> None:
        self.listed: list[DigestCitation] = []
        self._numbers: dict[tuple[str, str, str], int] = {}

    def number(self, citation: DigestCitation) -> int:
        """The number of a citation, which is added where it is new."""
        if citation.key not in self._numbers:
            self.listed.append(citation)
            self._numbers[citation.key] = len(self.listed)
        return self._numbers[citation.key]

    def renumbered(self, result: SummaryResult) -> str:
        """The text of a digest with the numbers of this list; a number of nothing goes."""
        numbers = {place: self.number(citation) for place, citation in enumerate(result.citations, start=1)}
        return renumbered(result.summary, numbers)


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """The text with `[N]` by its new number; one that has none is taken out."""

    def anew(found: re.Match[str]) -> str:
        if not found["number"]:
            return found[0]
        new = numbers.get(int(found["number"]))
        return f"[{new}]" if new else ""

    return _NUMBER.sub(anew, text)


def numbers_in(text: str) -> list[int]:
    """Every number that a text cites, in the order of its first mention."""
    return list(dict.fromkeys(int(found["number"]) for found in _NUMBER.finditer(text) if found["number"]))


def cut_text(text: str, room: int) -> str:
    """The text up to a sentence's or line's end; a fence of code that is open there is closed."""
    short = cut(text, room)
    closed = with_closed_fence(short)
    if len(closed) <= room:
        return closed
    return with_closed_fence(cut(text, room - (len(closed) - len(short))))


def _block(row: DigestRow, text: str, listed: Sequence[DigestCitation]) -> str:
    """A digest between markers, under its date, with what its numbers stand for."""
    sources = [
        f"[{number}] {one_line(found.name)}, {one_line(found.place.rpartition('@')[0])}, {one_line(found.repository)}"
        for number in numbers_in(text)
        if number <= len(listed) and (found := listed[number - 1])
    ]
    head = f"Digest of {row.created_at[:10]}, {', '.join(row.repositories)}:"
    return enclose("\n".join([head, text, *(mask_secrets(source).text for source in sources)]), LABEL)
