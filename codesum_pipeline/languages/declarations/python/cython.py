"""Cython as Python: what C adds to a file is shown to Python's grammar as code of the same length.

`cdef int f(int x) nogil:` is shown as `def      f(    x)      :`, and `cdef int n = 0` as `cdef;    n = 0`. Each part
that is shown as something else is one word of the canonical source. Names stay where they are, so that all that is
known about Python is known about Cython, too. A function that is only announced, in a `.pxd` or a block of `extern`,
is no definition.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside

_PATTERNS = patterns_beside(__file__)
_NOT_BLANK = re.compile(rb"[^\n\\]|\\(?!\n)")
# `cdef int name "name_in_c"(…)`.
_NAME_IN_C = re.compile(rb'(?<![ \t])[ \t]*+"0*+"[ \t]*+\Z')
_BLANKS = b" \t\f\n\\"
_TOKEN_IN_LINE = re.compile(rb"[()\[\]{},=]")
# A line that begins so begins a statement, whatever bracket is open.
_STATEMENT = re.compile(rb"(?:cdef|cpdef|def|class|ctypedef|cimport)\b")
_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")
_OF_WORDS = bytes(byte for byte in range(256) if chr(byte).isalnum() or byte == ord("_") or byte >= 128)
# `def` and a blank.
_LEAST_BEFORE_NAME = 4


class LogicalLine(Struct, frozen=True):
    """One statement, or the head of a compound one: `code` is its text from the byte `start` of the file on, with
    blanks in place of comments and noughts in place of what texts hold."""

    source: bytes
    start: int
    margin: int
    code: bytes


class Change(Struct, frozen=True):
    """A part of a source, and what is shown instead, which is as long."""

    start: int
    shown: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.shown)


def is_cython(source: bytes) -> bool:
    """Whether a source has statements that only Cython has."""
    return _PATTERNS["statement"].search(source) is not None


def as_python(source: bytes) -> bytes:
    """The source with Python in place of what Cython adds, with the same bytes in all other places."""
    pieces, position = [], 0
    for change in _changes(source):
        pieces += [source[position : change.start], change.shown]
        position = change.end
    return b"".join([*pieces, source[position:]])


def changed_parts(source: bytes) -> list[Span]:
    """The parts of a source that `as_python` changes, in order; each is one word of the code."""
    return [(change.start, change.end) for change in _changes(source)] if is_cython(source) else []


def _changes(source: bytes) -> Iterator[Change]:
    """All changes, in order, none in another one."""
    # The margins of the blocks around a line, and whether declarations stand without `cdef` in each.
    around: list[tuple[int, bool]] = []
    for line in _logical_lines(source):
        while around and line.margin <= around[-1][0]:
            around.pop()
        is_declared = bool(around) and around[-1][1]
        position = line.start
        for change in sorted(_of_line(line, is_declared=is_declared), key=lambda change: change.start):
            if change.shown and change.start >= position:
                yield change
                position = change.end
        if line.code.endswith(b":"):
            pattern = _PATTERNS["inner_block" if is_declared else "block"]
            around.append((line.margin, pattern.match(line.code) is not None))


def _of_line(line: LogicalLine, *, is_declared: bool) -> Iterator[Change]:
    """The changes of one statement."""
    code = line.code
    if found := _PATTERNS["words"].match(code):
        yield from _of_words(line, found)
    elif _PATTERNS["extern"].match(code):
        yield _shown(line, 0, 4, b"with")
        yield _filled(line, 5, len(code.rstrip(b": \t")))
    elif found := _PATTERNS["group"].match(code):
        yield _shown(line, 0, found.end("head"), b"if _")
    elif found := _PATTERNS["class"].match(code) or (_PATTERNS["inner_class"].match(code) if is_declared else None):
        yield from _of_class(line, found)
    elif _PATTERNS["typedef"].match(code):
        yield _filled(line, 0, len(code))
        return
    elif found := _PATTERNS["declaration"].match(code):
        yield from _of_declaration(line, found.end())
    elif is_declared and not _PATTERNS["plain"].match(code):
        yield from _of_declaration(line, 0)
    elif found := _PATTERNS["def"].match(code):
        yield from _of_parameters(line, found.end())
    yield from _of_expressions(line)


def _of_words(line: LogicalLine, found: re.Match[bytes]) -> Iterator[Change]:
    """`cimport`, `include`, `DEF`, `IF`, `for … from`."""
    if found["cimport"]:
        yield _shown(line, *found.span("cimport"), b"import")
    elif found["joined"]:
        yield _shown(line, *found.span("joined"), found["joined"].rstrip() + b";")
    elif found["condition"]:
        yield _shown(line, *found.span("condition"), found["condition"].lower())
    else:
        yield _shown(line, *found.span("from"), b"in")
        if step := _PATTERNS["step"].search(line.code, found.end()):
            yield _shown(line, *step.span("step"), b"")


def _of_class(line: LogicalLine, found: re.Match[bytes]) -> Iterator[Change]:
    """`cdef class A(B) [object C]:` and the structures of C; one without a name is a block."""
    code, name_end = line.code, found.end()
    bases_end = _matching_bracket(code, name_end) if code[name_end : name_end + 1] == b"(" else name_end
    colon = _PATTERNS["class_end"].match(code, bases_end)
    if colon is None:
        yield _filled(line, 0, len(code))
    elif found["name"]:
        # `enum A:` has no room for `class` and a blank.
        word = b"class" if found.start("name") > len(b"class") else b"with"
        yield _shown(line, 0, found.start("name"), word)
        yield _shown(line, bases_end, colon.end() - 1, b"")
    else:
        yield _shown(line, 0, found.end("head"), b"if _")


def _of_declaration(line: LogicalLine, start: int) -> Iterator[Change]:
    """A function with its body, or variables. What only announces a function is one name; a head that is not understood
    stays an error."""
    opened = _opening_of_parameters(line.code, start)
    if opened is None:
        yield from _of_variables(line, start)
        return
    closed, head = _matching_bracket(line.code, opened), _NAME_IN_C.sub(b"", line.code[:opened])
    colon, name = _PATTERNS["body"].match(line.code, closed), _last_word(head)
    brackets = line.code[opened:closed]
    if brackets.count(b"(") != brackets.count(b")"):
        return
    if colon is None or name is None or name < _LEAST_BEFORE_NAME:
        if not line.code.endswith(b":"):
            yield _filled(line, 0, len(line.code))
        return
    yield _shown(line, 0, name, b"def")
    yield _shown(line, len(head), opened, b"")
    yield from _of_parameters(line, opened)
    if not colon[0].lstrip(_BLANKS).startswith(b"->"):
        yield _shown(line, closed, colon.end() - 1, b"")


def _opening_of_parameters(code: bytes, start: int) -> int | None:
    """The bracket behind a function's name; None where no function is declared. A type may be in brackets, too."""
    position = start
    while (opened := code.find(b"(", position)) >= 0:
        before = code[start:opened]
        if b"=" in before or code[opened + 1 :].lstrip(_BLANKS).startswith(b"*"):
            return None
        if before.strip(_BLANKS):
            return opened if _last_word(_NAME_IN_C.sub(b"", before)) is not None else None
        position = _matching_bracket(code, opened)
    return None


def _of_variables(line: LogicalLine, start: int) -> Iterator[Change]:
    """`cdef int a = 1, *b`: the type becomes a statement of its own, and so does each variable."""
    code = line.code
    for number, (first, end) in enumerate([*_split_list(code, start, len(code))]):
        equals = _equals_sign(code, first, end)
        left = code[first : end if equals is None else equals]
        sizes = _PATTERNS["sizes"].search(left)
        left = left[: sizes.start("sizes")] if sizes else left
        name = _last_word(left)
        if name is None:
            yield _filled(line, 0, len(code))
            return
        if sizes:
            yield _shown(line, first + sizes.start("sizes"), first + sizes.end("sizes"), b"")
        begin, word = (first - 1, b"") if number else (0, code[: first + name - 1].rstrip(b" \t*&"))
        if first + name:
            yield _shown(line, begin, first + name, (b"cdef" if start else _fill(word))[: len(word)] + b";")


def _of_parameters(line: LogicalLine, opened: int) -> Iterator[Change]:
    """The types of parameters, and what is behind their names."""
    code = line.code
    for first, end in _split_list(code, opened + 1, _matching_bracket(code, opened) - 1):
        part = code[first:end]
        if part.strip(_BLANKS) == b"...":
            yield _shown(line, first + part.index(b"..."), first + part.index(b"...") + 3, b"*_")
            continue
        if part.lstrip(_BLANKS).startswith(b"*"):
            continue
        equals, annotated = _equals_sign(code, first, end), _PATTERNS["annotation"].match(part)
        if equals is not None and code[equals + 1 : end].strip(_BLANKS) in (b"*", b"?"):
            yield _shown(line, equals, end, b"")
        left = part[: annotated.end() - 1] if annotated else code[first : end if equals is None else equals]
        for suffix in (_PATTERNS["suffix"].search(left), _PATTERNS["sizes"].search(left)):
            if suffix:
                start = suffix.start("sizes") if "sizes" in suffix.groupdict() else suffix.start()
                yield _shown(line, first + start, first + len(left), b"")
                left = left[:start]
        yield from _of_parameter(line, first, left)


def _of_parameter(line: LogicalLine, first: int, left: bytes) -> Iterator[Change]:
    """A parameter up to its value: its type is left out; of a pointer to a function, all but its name."""
    begin, name = len(left) - len(left.lstrip(_BLANKS)), _last_word(left)
    if pointer := _PATTERNS["pointer"].search(left):
        yield _shown(line, first + begin, first + pointer.start("name"), b"")
        yield _shown(line, first + pointer.end("name"), first + len(left.rstrip(_BLANKS)), b"")
    elif name is None:
        yield _filled(line, first + begin, first + len(left.rstrip(_BLANKS)))
    else:
        yield _shown(line, first + begin, first + name, b"")


def _of_expressions(line: LogicalLine) -> Iterator[Change]:
    """Casts, addresses, `new`, sizes of types, characters and numbers with a type, wherever they are."""
    for found in _PATTERNS["expression"].finditer(line.code):
        if found["type"]:
            yield _filled(line, *found.span("type"))
        elif found["literal"]:
            start, end = (line.start + place for place in found.span("literal"))
            yield Change(start, b"b" + line.source[start + 1 : end])
        elif found["digits"]:
            yield _shown(line, *found.span(), found["digits"])
        else:
            yield _shown(line, *found.span("hidden"), b"")


def _shown(line: LogicalLine, start: int, end: int, shown: bytes) -> Change:
    """A part of a line shown as something that is no longer, with blanks behind; lines end where they did."""
    part = line.source[line.start + start : line.start + end]
    return Change(line.start + start, shown + _NOT_BLANK.sub(b" ", part[len(shown) :]))


def _filled(line: LogicalLine, start: int, end: int) -> Change:
    """A part of a line shown as one name, and what it has in further lines as blanks."""
    part = line.source[line.start + start : line.start + end]
    first = part.partition(b"\n")[0].rstrip(b"\\")
    return _shown(line, start, end, _fill(first))


def _fill(part: bytes) -> bytes:
    return b"_" * len(part)


def _logical_lines(source: bytes) -> Iterator[LogicalLine]:
    """The statements of a file in order."""
    plain, depth, begin, row = bytearray(source), 0, 0, 0
    for match in _PATTERNS["token"].finditer(source):
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


def _matching_bracket(code: bytes, opened: int) -> int:
    """The place behind the bracket that closes the one at `opened`; the end where there is none."""
    depth = 0
    for place, mark in _marks(code, opened, len(code)):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark in _CLOSING:
            return place + 1
    return len(code)


def _split_list(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between the commas that are in no bracket."""
    depth = 0
    for place, mark in _marks(code, start, end):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark == ord(","):
            yield start, place
            start = place + 1
    if code[start:end].strip(_BLANKS):
        yield start, end


def _equals_sign(code: bytes, start: int, end: int) -> int | None:
    """Where a value is given: the first `=` that is in no bracket."""
    depth = 0
    for place, mark in _marks(code, start, end):
        depth += (mark in _OPENING) - (mark in _CLOSING)
        if depth == 0 and mark == ord("="):
            return place
    return None


def _last_word(text: bytes) -> int | None:
    """Where the word begins that a text ends with; None where it ends with something else."""
    text = text.rstrip(_BLANKS)
    start = len(text.rstrip(_OF_WORDS))
    return start if start < len(text) and not text[start : start + 1].isdigit() else None


def _marks(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((match.start(), match[0][0]) for match in _TOKEN_IN_LINE.finditer(code, start, end))
