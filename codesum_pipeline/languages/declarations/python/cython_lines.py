"""The statements of a Cython file, each with what is around it in brackets, without comments and texts."""

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(
    rb"(?P<comment>\#[^\n]*+)"
    rb"|(?P<text>\b[A-Za-z]{0,2}(?:\"{3}(?:[^\\\"]|\\.|\"(?!\"\"))*+(?:\"{3})?+|'{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?+"
    rb"|\"(?:[^\"\\\n]|\\.)*+\"?+|'(?:[^'\\\n]|\\.)*+'?+)"
    rb"|\"{3}(?:[^\\\"]|\\.|\"(?!\"\"))*+(?:\"{3})?+|'{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?+"
    rb"|\"(?:[^\"\\\n]|\\.)*+\"?+|'(?:[^'\\\n]|\\.)*+'?+)"
    rb"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\\n)|(?P<end>[\n;])",
    re.DOTALL,
)
_TOKEN_IN_LINE = re.compile(rb"[()\[\]{},=]")
# A line that begins so begins a statement, whatever bracket is open.
_STATEMENT = re.compile(rb"(?:cdef|cpdef|def|class|ctypedef|cimport)\b")
_BLANKS = b" \t\f\n\\"
_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")
_OF_WORDS = bytes(byte for byte in range(256) if chr(byte).isalnum() or byte == ord("_") or byte >= 128)


class LogicalLine(Struct, frozen=True):
    """One statement, or the head of a compound one: `code` is its text from the byte `start` of the file on, with
    blanks in place of comments and noughts in place of what texts hold."""

    source: bytes
    start: int
    margin: int
    code: bytes


def logical_lines(source: bytes) -> Iterator[LogicalLine]:
    """The statements of a file in order."""
    plain, depth, begin, row = bytearray(source), 0, 0, 0
    for match in _TOKEN.finditer(source):
        start, end = match.span()
        if match["comment"]:
            plain[start:end] = b" " * (end - start)
        elif match["text"]:
            first = start + len(match["text"]) - len(match["text"].lstrip(_OF_WORDS))
            plain[first:end] = b'"' + b"0" * (end - first - 2) + b'"' if end - first > 1 else b'"'
        elif match["open"]:
            depth += 1
        elif match["close"]:
            depth = max(depth - 1, 0)
        elif match["end"]:
            if depth and match["end"] == b"\n" and _STATEMENT.match(source[end : end + 400].lstrip(b" \t")):
                depth = 0
            if not depth:
                yield from _line(source, plain, begin, start, row)
                begin, row = end, end if match["end"] == b"\n" else row
    yield from _line(source, plain, begin, len(source), row)


def _line(source: bytes, plain: bytearray, begin: int, end: int, row: int) -> Iterator[LogicalLine]:
    whole = bytes(plain[begin:end])
    code = whole.strip(_BLANKS)
    if code:
        start = begin + len(whole) - len(whole.lstrip(_BLANKS))
        text = source[row : row + 400]
        yield LogicalLine(source, start, len(text) - len(text.lstrip(b" \t")) if begin != start else 0, code)


def matching_bracket(code: bytes, opened: int) -> int:
    """The place behind the bracket that closes the one at `opened`; the end where there is none."""
    depth = 0
    for place, mark in _marks(code, opened, len(code)):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark in _CLOSING:
            return place + 1
    return len(code)


def split_list(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between the commas that are in no bracket."""
    depth = 0
    for place, mark in _marks(code, start, end):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark == ord(","):
            yield start, place
            start = place + 1
    if code[start:end].strip(_BLANKS):
        yield start, end


def equals_sign(code: bytes, start: int, end: int) -> int | None:
    """Where a value is given: the first `=` that is in no bracket."""
    depth = 0
    for place, mark in _marks(code, start, end):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark == ord("="):
            return place
    return None


def last_word(text: bytes) -> int | None:
    """Where the word begins that a text ends with; None where it ends with something else."""
    text = text.rstrip(_BLANKS)
    start = len(text.rstrip(_OF_WORDS))
    return start if start < len(text) and not text[start : start + 1].isdigit() else None


def _marks(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((match.start(), match[0][0]) for match in _TOKEN_IN_LINE.finditer(code, start, end))
