"""What a matching line is: code, a comment or a text in it; and whether it defines what was searched for.

Files are read by the quotes and comment marks of their language, without a grammar: a place in thousands of files is
judged in milliseconds, and a wrong judgement only moves a line in the order of an answer.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import IntEnum

from codesum_pipeline.foundation.language_facts.file_languages import PROSE, is_program, language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of


class LineKind(IntEnum):
    """The most telling first. Lines of prose count as comments, those of data as texts."""

    DEFINITION = 0
    CODE = 1
    COMMENT = 2
    STRING = 3
    TEST = 4
    VENDORED = 5

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    LineKind.DEFINITION: "definitions", LineKind.CODE: "code", LineKind.COMMENT: "comments", LineKind.STRING: "texts",
    LineKind.TEST: "tests", LineKind.VENDORED: "code of others",
}  # fmt: skip

# Each is read to its end, or to that of the file: no place is tried twice.
_QUOTED = rb'(?P<text>"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?)'
_LONG = rb'(?P<long>"""(?:.*?"""|.*)|\'\'\'(?:.*?\'\'\'|.*))'
_RAW = rb"(?P<raw>`(?:[^`\\]|\\.)*+`?)"
# Looking at the next sign first takes half as long.
_NO_CODE = {
    "#": re.compile(rb"(?=[#\"'])(?:(?P<comment>(?<![\w$\\{&])#[^\n]*)|" + _LONG + b"|" + _QUOTED + b")", re.DOTALL),
    "--": re.compile(rb"(?=[-{\"'])(?:(?P<comment>--[^\n]*|\{-(?:.*?-\}|.*))|" + _QUOTED + b")", re.DOTALL),
    "//": re.compile(
        rb"(?=[/`\"'])(?:(?P<comment>//[^\n]*|/\*(?:.*?\*/|.*))|" + _RAW + b"|" + _QUOTED + b")", re.DOTALL
    ),
}


def kinds_of(path: str, text: bytes, places: Sequence[int]) -> list[LineKind]:
    """The kind of each of some ascending places in the text of a file, as far as it needs no index."""
    language = language_of_path(path) or ""
    if language in PROSE:
        return [LineKind.COMMENT] * len(places)
    if language and not is_program(language):
        return [LineKind.STRING] * len(places)
    marks = _NO_CODE.get(profile_of(language).line_comment) if language else None
    if marks is None:
        return [LineKind.CODE] * len(places)
    starts, ends, kinds = [0], [0], [LineKind.CODE]
    for start, end, kind in _without_code(marks, text, places[-1] + 1):
        starts.append(start)
        ends.append(end)
        kinds.append(kind)
    around = [bisect_right(starts, place) - 1 for place in places]
    return [kinds[at] if place < ends[at] else LineKind.CODE for at, place in zip(around, places, strict=True)]


def _without_code(marks: re.Pattern[bytes], text: bytes, end: int) -> Iterator[tuple[int, int, LineKind]]:
    """The comments and texts of a file up to a place. A text that fills lines by itself documents what is around it."""
    for found in marks.finditer(text, 0, end):
        is_comment = found.lastgroup == "comment"
        if found.lastgroup == "long":
            is_comment = not text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()].strip()
        # Where the text was cut, it goes on behind the place.
        yield found.start(), found.end(), LineKind.COMMENT if is_comment else LineKind.STRING


def place_of_word(name: bytes, line: bytes) -> int | None:
    """Where a name stands in a line as a word; None if it does not."""
    at = line.find(name) if name else -1
    while at >= 0:
        around = line[max(at - 1, 0) : at], line[at + len(name) : at + len(name) + 1]
        if not any(each.isalnum() or each == b"_" for each in around):
            return at
        at = line.find(name, at + 1)
    return None


# What stands before a name that a line gives a value, and behind it up to that.
_BEFORE_NAME = re.compile(rb"[\w\s.:<>\[\]*&?$@]*+")
_BEHIND_NAME = re.compile(rb"[^=\n]{0,80}=(?![=>])")


def gives_value(line: bytes, start: int, end: int) -> bool:
    """Whether a line declares the name between two places and gives it a value."""
    return _BEFORE_NAME.fullmatch(line, 0, start) is not None and _BEHIND_NAME.match(line, end) is not None
