"""Prose is split into sentences; an abbreviation's full stop ends none."""

import re

from codesum_pipeline.summaries.documentation.word_lists import word_set

_BREAK = re.compile(
    r"[.!?][\"')\]\u201d]*\s+(?=[\"'(\[\u201c]?[A-Z0-9\u00c0-\u024f]|[a-z]+[_A-Z(.]\w|[^\x00-\u024f])|[\u3002\uff01\uff1f]"
)
_NEVER_ENDS = word_set("never_ends")
_BEFORE_NUMBERS = frozenset(("no", "max", "min", "pos", "ed", "al"))
_NOTE_TO_SELF = re.compile(r"(?:todo|fixme|xxx|hack)\b|(?:optimi[sz]e|perf|bug|idea)\s?:|copyright\b|\(c\) \d", re.I)
# What it points to was a link, which is left out.
_POINTS = re.compile(r".*\b(?:see|visit|check out|refer to)(?: also)?\W*$", re.I)
_LAST_WORD = re.compile(r"[\w.]+$")


def sentences(paragraph: str, *, limit: int = 8) -> list[str]:
    """The first `limit` sentences of a one-line paragraph."""
    found: list[str] = []
    start = 0
    for match in _BREAK.finditer(paragraph):
        if len(found) == limit:
            return found
        is_number = paragraph[start : match.start()].strip().isdigit()
        if not is_number and not _is_abbreviation(paragraph, match.start()):
            found.append(paragraph[start : match.end()].strip())
            start = match.end()
    tail = paragraph[start:].strip()
    if tail and len(found) < limit:
        found.append(tail)
    return found


def is_aside(text: str) -> bool:
    """Whether a sentence is a note of its author's to himself, or points to what is left out."""
    return bool(_NOTE_TO_SELF.match(text) or _POINTS.match(text))


def _is_abbreviation(text: str, stop: int) -> bool:
    match = _LAST_WORD.search(text, max(0, stop - 16), stop) if text[stop] == "." else None
    word = match[0].lower() if match else ""
    if word in _BEFORE_NUMBERS:
        # "a number. No. 5": `no` ends a sentence unless a number follows.
        return text[stop + 1 : stop + 3].strip().isdigit()
    is_initial = len(word) == 1 and word.isalpha() and word not in "aixyznk"
    return word in _NEVER_ENDS or (is_initial and text[max(0, stop - 2) : stop - 1] in ("", " "))
