"""How the lines of a document changed: a short diff that is safe to show and quick to make.

Words of HTML, Markdown and reStructuredText are compared, not their markup;
secrets are masked, and what a reader cannot see is taken out, before lines are
compared. The time is bounded by lengths, never by a clock: the same change
gives the same diff.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct
from rapidfuzz.distance import LCSseq, Postfix, Prefix

from codesum_pipeline.foundation.data_model.printable import clean_text, shorten_text
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.plain_text import Markup, markup_of, to_plain_text

# Lines of both sides together, beyond which the longest common sequence is taken, which is faster.
_MOST_COMPARED = 800

Edit = tuple[int, int, int, int]


def find_edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    """Where lines `[a, b)` of the old text are lines `[c, d)` of the new one, as (a, b, c, d) in order."""
    same = Prefix.similarity(old, new)
    last = Postfix.similarity(old[same:], new[same:])
    before, after = old[same : len(old) - last], new[same : len(new) - last]
    if len(before) + len(after) <= _MOST_COMPARED:
        # A blank line, or a brace alone, is like any other and begins nothing.
        blocks = [tuple(block) for block in SequenceMatcher(_says_nothing, before, after).get_matching_blocks()]
    else:
        blocks = [tuple(block) for block in LCSseq.editops(before, after).as_matching_blocks()]
    starts = [(0, 0), *((one + size, other + size) for one, other, size in blocks)]
    edits = [(a + same, b + same, c + same, d + same) for (a, c), (b, d, _) in zip(starts, blocks, strict=False)]
    return [edit for edit in edits if edit[0] < edit[1] or edit[2] < edit[3]]


def _says_nothing(line: str) -> bool:
    return not any(map(str.isalnum, line))


# Limit of one change, in characters a line; nobody reads the lines of a minified program.
LINE_CHARS = 160
# A diff of more lines than these is read by nobody, also by no model that has other changes to read.
MOST_LINES = 80
# Between two parts of a diff.
PART = "@@"
# Lines around what changed.
_CONTEXT = 2
# What is read of one side: a longer one is a generated file, or data.
_MOST_READ = 4_000
_MOST_CHARS = 400_000
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+(?=\S)")
_INDENT = re.compile(r"[ \t]*")


class Hunk(Struct, frozen=True):
    """Lines that begin with `-`, `+` or a space, parts of a longer text apart by a line `@@`.

    `added` and `removed` count all lines that differ, blank ones apart, also those that are not in `text`. Where
    `is_masked`, nothing else changed than what is masked as a secret.
    """

    text: str
    added: int
    removed: int
    is_cut: bool = False
    is_masked: bool = False


def hunk_of(before: str | None, after: str | None, path: str) -> Hunk | None:
    """The difference of two texts of a file or of some lines of it; None if nothing that is shown differs.

    None in place of a text means that there was, or is, none. A text that is too long to read gives None.
    """
    if any(len(side) > _MOST_CHARS for side in (before, after) if side):
        return None
    markup = markup_of(path)
    old, new = _lines(before, markup), _lines(after, markup)
    if len(old) > _MOST_READ or len(new) > _MOST_READ:
        return None
    if old == new:
        return Hunk("", 0, 0, is_masked=True) if _differ(before, after) else None
    return _cut(without_shared_indent(list(_difference(old, new))))


def _differ(before: str | None, after: str | None) -> bool:
    """Whether there is a difference, and a secret in it."""
    if before is None or after is None or not (mask_secrets(before).counts or mask_secrets(after).counts):
        return False
    return [line.split() for line in before.splitlines()] != [line.split() for line in after.splitlines()]


def _lines(text: str | None, markup: Markup) -> list[str]:
    if not text:
        return []
    shown = mask_secrets(clean_text(text)).text
    if markup is not Markup.PLAIN:
        shown = "\n".join(_SENTENCE_END.sub("\n", line) for line in to_plain_text(shown, markup).split("\n"))
    return _without_margin([line.rstrip() for line in shown.expandtabs(4).split("\n")])


def _without_margin(lines: list[str]) -> list[str]:
    """Without the white space that all begin with."""
    margins = [len(found[0]) for line in lines if line and (found := _INDENT.match(line))]
    margin = min(margins, default=0)
    return [line[margin:] for line in lines]


def _difference(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Lines with their marks, with few unchanged ones around; `@@` where some are left out between two parts."""
    end: int | None = None
    for start, stop, begin, until in find_edits(old, new):
        if end is None:
            yield from _kept(old[max(0, start - _CONTEXT) : start])
        elif start - end <= 2 * _CONTEXT + 1:
            yield from _kept(old[end:start])
        else:
            yield from _kept(old[end : end + _CONTEXT])
            yield PART
            yield from _kept(old[start - _CONTEXT : start])
        yield from (f"-{line}" for line in old[start:stop])
        yield from (f"+{line}" for line in new[begin:until])
        end = stop
    if end is not None:
        yield from _kept(old[end : end + _CONTEXT])


def _kept(lines: Sequence[str]) -> Iterator[str]:
    return (f" {line}" for line in lines)


def without_shared_indent(lines: Sequence[str]) -> list[str]:
    """Without the white space that all lines have after their marks."""
    texts = _without_margin([line[1:] for line in lines if line != PART])
    shown = iter(texts)
    return [line if line == PART else f"{line[0]}{next(shown)}" for line in lines]


def without_blank_ends(lines: Sequence[str]) -> list[str]:
    """Lines with marks, without blank ones at both ends."""
    filled = [place for place, line in enumerate(lines) if line[1:].strip()]
    return [*lines[filled[0] : filled[-1] + 1]] if filled else []


def _cut(difference: Sequence[str]) -> Hunk:
    lines = without_blank_ends(difference)
    shown = lines[:MOST_LINES]
    text = "\n".join(shorten_text(line.rstrip(), LINE_CHARS) for line in shown)
    counts = [sum(line[0] == mark and bool(line[1:].strip()) for line in lines) for mark in "+-"]
    return Hunk(text, added=counts[0], removed=counts[1], is_cut=len(lines) > len(shown))
