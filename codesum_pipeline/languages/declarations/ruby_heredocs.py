"""Here-documents in the interpolations of others, and what looks like one, as the grammar can read them.

In `<<~A` … `#{indent(<<~B)}` … the text of `B` is a part of the text of `A`, and the grammar loses its way in it. So
the interpolations of such a document are shown to it as text. And where `<<` is an operator, it is shown one that
begins no text.
"""

import re

from codesum_pipeline.languages.declarations.spans import replaced
from codesum_pipeline.languages.declarations.spec import Span

_MARK = re.compile(rb"""<<(?:[~-](?P<quote>["'`]?)(?P<tag>[A-Za-z_]\w*)(?P=quote)|(?P<plain>[A-Z_]\w*))""")
# What the grammar takes for the mark of one wherever it is, also in `list<<item` and `text <<"more"`.
_SHIFT = re.compile(rb"""<<(?=(?P<dash>[~-])?(?P<quote>["'`])?(?P<tag>(?(quote)[^"'`\n]{0,200}|[\w\x80-\xff]+)))""")


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
    """The source, as long as it is, in which a here-document with another one in it has no interpolations."""
    lines = source.split(b"\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    tag, begin, is_around = b"", 0, False
    for number, line in enumerate(lines):
        mark = _MARK.search(line)
        if tag and line.strip() == tag:
            if is_around:
                lines[begin:number] = [text.replace(b"#{", b"# ") for text in lines[begin:number]]
            tag = b""
        elif tag:
            is_around = is_around or mark is not None
        elif mark and last.get(mark["tag"] or mark["plain"], -1) > number:
            tag, begin, is_around = mark["tag"] or mark["plain"], number + 1, False
    return b"\n".join(lines)
