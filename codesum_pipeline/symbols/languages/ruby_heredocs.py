"""Here-documents inside the interpolations of others, and what looks like one, as the grammar can read them.

In `<<~A` … `#{indent(<<~B)}` … the text of `B` is a part of the text of `A`, and the grammar loses its way in it. So it
is shown a string of the same length in place of the inner mark, and the inner text as a part of the outer one. And
where `<<` is an operator, it is shown one that begins no text.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.symbols.languages.spans import replaced
from codesum_pipeline.symbols.languages.spec import Span

_MARK = rb"""<<[~-](?P<quote>["'`]?)(?P<tag>[A-Za-z_]\w*)(?P=quote)|<<(?P<plain>[A-Z_]\w*)"""
_MARKS = re.compile(_MARK)
_CODE = re.compile(
    _MARK
    + rb"""|"(?:[^"\\\n#]|\\.){0,400}+"|'(?:[^'\\\n]|\\.){0,400}+'"""
    + rb"""|(?P<comment>(?:^|(?<=\s))\#(?!\{))|(?P<brace>\#?[{}])"""
)
# What the grammar takes for the mark of one wherever it is, also in `list<<item` and `text <<"more"`.
_SHIFT = re.compile(rb"""<<(?=(?P<dash>[~-])?(?P<quote>["'`])?(?P<tag>(?(quote)[^"'`\n]{0,200}|[\w\x80-\xff]+)))""")
_INTERPOLATION = re.compile(rb"(?:[^\\\n#]|\\.|#(?!\{))*+#\{")
# Documents in each other: no person writes more.
_DEEPEST = 20


class _HereDocument(Struct):
    """One whose text is being read: `level` counts those around it, `depth` the braces that are open in its code.
    A literal one has no code. `is_blank`: its text would be code where it is, and is not shown."""

    tag: bytes
    is_literal: bool
    level: int
    depth: int = 0
    is_blank: bool = False


def without_tight_shifts(source: bytes) -> bytes:
    """The source with another operator in place of each `<<` that no line behind it would end if it were a mark."""
    if _SHIFT.search(source) is None:
        return source
    last = {line.rstrip(): number for number, line in enumerate(source.split(b"\n"))}
    last_indented = {line.strip(): number for line, number in last.items()}
    shifts: list[Span] = []
    number, position = 0, 0
    for match in _SHIFT.finditer(source):
        number += source.count(b"\n", position, match.start())
        position = match.start()
        ends = last_indented if match["dash"] else last
        if ends.get(match["tag"], -1) <= number:
            shifts.append(match.span())
    return replaced(source, shifts, lambda _: b">>")


def without_inner_documents(source: bytes) -> bytes:
    """The source, as long as it is, without here-documents that begin in the text of others."""
    lines = source.split(b"\n")
    ends = _ends(source, lines)
    around: list[_HereDocument] = []
    for number, line in enumerate(lines if ends else ()):
        document = around[-1] if around else None
        if document is not None and line.strip() == document.tag:
            around.pop()
            if document.is_blank or any(other.tag == document.tag for other in around[: document.level]):
                lines[number] = _as_comment(line)
            continue
        marks = [mark for mark in _marks(line, document) if _has_end(mark, ends, number)]
        if document is not None and document.is_blank:
            lines[number] = _as_comment(line)
        elif document is not None and marks:
            lines[number] = _with_strings(line, [mark.span() for mark in marks])
        if len(around) + len(marks) <= _DEEPEST:
            around += [_begun(mark, document) for mark in reversed(marks)]
    return b"\n".join(lines)


def _as_comment(line: bytes) -> bytes:
    return b"#".ljust(len(line)) if line else line


def _ends(source: bytes, lines: Sequence[bytes]) -> Mapping[bytes, Sequence[int]]:
    """The lines that may end a here-document, by its tag; nothing where the source has no two of them."""
    tags = {_tag(mark) for mark in _MARKS.finditer(source)}
    ends = defaultdict[bytes, list[int]](list)
    for number, line in enumerate(lines if source.count(b"<<") > 1 else ()):
        if (tag := line.strip()) in tags:
            ends[tag].append(number)
    return ends


def _has_end(mark: re.Match[bytes], ends: Mapping[bytes, Sequence[int]], number: int) -> bool:
    """Whether a line behind this one ends the document: else it is no mark but a shift."""
    known = ends.get(_tag(mark), ())
    return bisect_right(known, number) < len(known)


def _tag(mark: re.Match[bytes]) -> bytes:
    return mark["tag"] or mark["plain"]


def _begun(mark: re.Match[bytes], around: _HereDocument | None) -> _HereDocument:
    is_literal = mark["quote"] == b"'"
    if around is None:
        return _HereDocument(_tag(mark), is_literal, 0)
    # Where the code goes on in the next line, a text below this one would be a part of it.
    is_blank = is_literal or around.depth > 0 or around.is_blank
    return _HereDocument(_tag(mark), is_literal, around.level + 1, is_blank=is_blank)


def _marks(line: bytes, document: _HereDocument | None) -> list[re.Match[bytes]]:
    """The marks of here-documents in the code of a line, which is in the text of a document or in none."""
    found: list[re.Match[bytes]] = []
    position = 0
    while document is None or not document.is_literal:
        if document is not None and document.depth == 0:
            opened = _INTERPOLATION.match(line, position)
            if opened is None:
                break
            document.depth, position = 1, opened.end()
        token = _CODE.search(line, position)
        if token is None or token["comment"]:
            break
        position = token.end()
        if token["brace"] and document is not None:
            document.depth += -1 if token["brace"] == b"}" else 1
        elif token["tag"] or token["plain"]:
            found.append(token)
    return found


def _with_strings(line: bytes, spans: Sequence[Span]) -> bytes:
    """A line with an empty string in place of each mark."""
    shown = bytearray(line)
    for start, end in spans:
        shown[start:end] = b'"' + b" " * (end - start - 2) + b'"'
    return bytes(shown)
