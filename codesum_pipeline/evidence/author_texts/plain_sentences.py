"""Text that is safe to print anywhere (one line, printable characters, bounded), and its sentences.

What repositories contain is hostile until shown otherwise: terminal escapes, bidirectional controls, zero-width
characters and lone surrogates never reach a written text. Lists of words and how common a word is in source code ship
with the package as data.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.language_facts.writing_systems import (
    CLOSING,
    FOREIGN_ENDS,
    JOINING,
    ends_sentence,
    full_stop_of,
    is_small_letter,
    join_parts,
)


def word_set(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(packaged_table(__package__, "word_lists")[name].split())


def word_table(name: str) -> dict[str, str]:
    """A table of names and their meanings."""
    return dict(packaged_table(__package__, "word_lists")[name])


UNKNOWN_BUCKET = 9


def word_bucket(word: str) -> int:
    """k where about one source file in 2**k holds the word; an unknown one counts as rather rare."""
    return _buckets().get(word, UNKNOWN_BUCKET)


def frequent_words(*, rarest: int) -> list[str]:
    """The words that at least one source file in `2 ** rarest` holds."""
    return [word for word, bucket in _buckets().items() if bucket <= rarest]


@cache
def _buckets() -> dict[str, int]:
    table = gzip.decompress((files(__package__) / "word_frequencies.txt.gz").read_bytes()).decode()
    buckets = {}
    for line in table.splitlines():
        bucket, *words = line.split(" ")
        buckets.update(dict.fromkeys(words, int(bucket)))
    return buckets


_TERMINAL_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b."
)
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(rf"[.!?](?=[\s)\"'\u201d]|$)|[{FOREIGN_ENDS}][{CLOSING}]*")
# Cut at a sentence only where at least this share of the room is used.
_SENTENCE_CUT_SHARE = 0.5
_OPEN_BRACKET = re.compile(r"\s*[(\[{\u201c\uff08\u300c][^)\]}\u201d\uff09\u300d]*$")


def make_printable(text: str) -> str:
    """One line of printable characters; runs of white space become one space."""
    if not text.isprintable():
        text = _TERMINAL_ESCAPE.sub("", text)
        if not text.isprintable():
            text = "".join(map(_replacement, text))
    return _SPACE.sub(" ", text).strip() if "  " in text else text.strip()


def printable_lines(text: str) -> list[str]:
    """The lines of a text, each printable, their indentation kept; tabs count as four spaces."""
    if text.replace("\n", "").isprintable():
        return text.split("\n")
    text = _TERMINAL_ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4))
    return ["".join(map(_replacement, line)).rstrip() for line in text.split("\n")]


def _replacement(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() or unicodedata.category(char) in ("Zs", "Zl", "Zp") else ""


def clip_text(text: str, limit: int) -> str:
    """At most `limit` characters of a one-line text, cut at the end of a sentence, else of a word."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(head) if match.end() <= limit]
    if ends and ends[-1] >= limit * _SENTENCE_CUT_SHARE:
        return head[: ends[-1]]
    return f"{_cut_at_word(text, limit - 1)}…"


def _cut_at_word(text: str, limit: int) -> str:
    head = text[: limit + 1]
    space = head.rfind(" ")
    head = head[:space] if space >= limit // 2 else _whole_letters(text, limit)
    whole = _OPEN_BRACKET.sub("", head)
    head = whole if len(whole) >= limit // 2 else head
    return head.rstrip(f"{JOINING}(\uff08")


def _whole_letters(text: str, limit: int) -> str:
    """At most `limit` characters, the last letter with all of its marks."""
    while limit and unicodedata.category(text[limit])[0] == "M":
        limit -= 1
    return text[:limit]


def make_sentence(text: str) -> str:
    """The text with a capital at its start, unless its first word looks like code, and a mark at its end."""
    text = text.strip().rstrip(JOINING)
    if not text:
        return ""
    first = text.split(" ", 1)[0]
    if (first.isalpha() and first.islower()) or (
        first.rstrip(",;'s-").isalpha() and first[:1].islower() and first[1:].islower()
    ):
        text = _capital(text) + text[1:]
    return text if ends_sentence(text) else f"{text}{full_stop_of(text)}"


_TURKISH = frozenset("ığşİ")


def _capital(text: str) -> str:
    """The first letter as a sentence begins with it: Georgian has no such form, Turkish keeps its dot."""
    return "İ" if text[0] == "i" and not _TURKISH.isdisjoint(text) else text[0].title()


def join_sentences(sentences: Iterable[str], limit: int) -> str:
    """As many whole sentences as fit, at least one, cut where even that is too long."""
    text = ""
    for part in sentences:
        if not part:
            continue
        if not text:
            text = clip_text(part, limit)
        elif len(text) + 1 + len(part) <= limit:
            text = join_parts(text, part)
    return text


_BREAK = re.compile(
    r"(?<!\s)[.!?][\"')\]\u201d]*\s+(?=[\"'(\[\u201c]?[A-Z0-9\u00c0-\u024f]|[a-z]+[_A-Z(.]\w|[^\x00-\u024f])"
    rf"|[{FOREIGN_ENDS}]+[{CLOSING}]*\s*"
)
_NEVER_ENDS = word_set("never_ends")
_BEFORE_NUMBERS = frozenset(("no", "max", "min", "pos", "ed", "al"))
_NOTE_TO_SELF = re.compile(r"(?:todo|fixme|xxx|hack)\b|(?:optimi[sz]e|perf|bug|idea)\s?:|copyright\b|\(c\) \d", re.I)
# Its target was a link, which is left out.
_POINTS = re.compile(
    r".*\b(?:see|visit|check out|refer to)(?: also)?\W*$|.*(?:详见|参见|參見|参考|参照|참조|참고)\W*$", re.I
)
_LAST_WORD = re.compile(r"[\w.]+$")


def split_sentences(paragraph: str, *, limit: int = 8) -> list[str]:
    """The first `limit` sentences of a one-line paragraph."""
    found: list[str] = []
    start = 0
    for match in _BREAK.finditer(paragraph):
        if len(found) == limit:
            return found
        said = paragraph[start : match.end()]
        is_number = said.strip(" .\uff0e").isdigit()
        goes_on = is_small_letter(following := paragraph[match.end() : match.end() + 1]) and not following.isascii()
        if (
            not (is_number or goes_on)
            and not _is_abbreviation(paragraph, match.start())
            and not _is_open(said, paragraph[match.end() :])
        ):
            found.append(paragraph[start : match.end()].strip())
            start = match.end()
    tail = paragraph[start:].strip()
    if tail and len(found) < limit:
        found.append(tail)
    return found


# What is not closed within so many characters was never meant to be.
_MOST_ENCLOSED_CHARS, _MOST_OPEN_CHARS = 240, 1000
_OPENING, _CLOSING = "([\u201c\u300c\u300e\uff08\u00ab", ")]\u201d\u300d\u300f\uff09\u00bb"


def _is_open(said: str, following: str) -> bool:
    """Whether a bracket or quote is open that is closed soon."""
    if len(said) > _MOST_OPEN_CHARS:
        return False
    near = following[:_MOST_ENCLOSED_CHARS]
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        depth = said.count(opening) - said.count(closing)
        if depth > 0 and near.count(closing) > near.count(opening):
            return True
    return said.count('"') % 2 == 1 and near.count('"') % 2 == 1


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
