"""What hides definitions from the grammar in a Python file that does not parse.

Marks of a merge conflict and the tags of a template are not Python. A
triple quote that ends nothing turns all that follows inside out,
so that strings are read as code and code as strings.

Long runs of comment lines are blanked before the grammar sees them: tree-sitter-python looks past all comments that
follow each time it meets one, so that the time for a run of them grows with its square: 4,000 lines of 40 characters
took 7 s. What stays is as long as it was, byte for byte and line for line, and comments say nothing to later steps.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from codesum_pipeline.languages.declarations.plain_lines import definition_lines
from codesum_pipeline.languages.declarations.spans import is_inside
from codesum_pipeline.languages.declarations.spec import Span

# Lines that look like a definition.
LINES = (
    r"[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*[(\[]",
    r"[ \t]*class[ \t]+(?P<name>\w+)[ \t]*(?:\(.*|\[.*|:[ \t]*(?:#.*)?$)",
    # Of Cython: a class, and a function whose head is one line.
    r"[ \t]*(?:cdef|cpdef)[ \t]+(?:public[ \t]+|api[ \t]+)*class[ \t]+(?:\w++\.)*+(?P<name>\w++)[^\n]*:[ \t]*$",
    r"[ \t]*(?:cdef|cpdef)\b[^\n=(#\"']*\b(?P<name>[A-Za-z_]\w*)\((?![ \t]*\*)[^\n]*\)[^\n()]*:[ \t]*(?:#.*)?$",
)
_FOREIGN = re.compile(
    rb"^(?:<{7}|={7}|>{7}|\|{7})(?:[ ][^\n]*)?$|\{%(?:(?!\{%)[^\n])*?%\}|\{#(?:(?!\{#)[^\n])*?#\}|\{\{[^{}\n]*\}\}",
    re.MULTILINE,
)
# So long a run takes 20 ms.
LONGEST_RUN = 200

_LINES = rb"(?:^[ \t\f]*+\#[^\n]*+\n(?:[ \t\f]*+\n)*+){%d,}+" % (LONGEST_RUN + 1)
_ANY_LONG_RUN = re.compile(_LINES, re.MULTILINE)
# Strings are passed over whole: what looks like a comment in one is text.
_RUN_OR_STRING = re.compile(
    rb"(?P<run>%b)|\#[^\n]*+"
    rb'|"{3}(?:[^\\"]|\\.|"(?!""))*+(?:"{3})?+'
    rb"|'{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?+"
    rb'|"(?:[^"\\\n]|\\.)*+"?+'
    rb"|'(?:[^'\\\n]|\\.)*+'?+" % _LINES,
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rb"\#[^\n]*")
_QUOTES = (re.compile(rb'"{3}'), re.compile(rb"'{3}"))


def without_comment_runs(source: bytes) -> bytes:
    """The source with blanks in place of the comments of runs longer than `LONGEST_RUN` lines."""
    if not _ANY_LONG_RUN.search(source):
        return source
    return _RUN_OR_STRING.sub(_blanked, source)


def _blanked(match: re.Match[bytes]) -> bytes:
    run = match["run"]
    return match[0] if run is None else _COMMENT.sub(lambda comment: b" " * len(comment[0]), run)


def hiding_parts(source: bytes, is_broken: bool) -> Iterator[Sequence[Span]]:
    """The quote that begins nothing, with what comes before the next definition, which may be the text that it was to
    begin; and what is no Python."""
    if not is_broken:
        return
    starts = _starts(source)
    stray = _stray_quote(source, starts)
    if stray is not None:
        following = next((start for start in starts if start > stray), len(source))
        yield [(stray, max(source.rfind(b"\n", 0, following), stray + 3))]
    spans = silent_parts(source)
    foreign = [match.span() for match in _FOREIGN.finditer(source) if not is_inside(spans, match.start())]
    if foreign:
        yield foreign


def silent_parts(source: bytes) -> list[Span]:
    """Where comments and strings are, in which nothing is defined; a string that never ends goes on to the end."""
    stray = _stray_quote(source, _starts(source))
    shown = source if stray is None else source[:stray] + b"   " + source[stray + 3 :]
    return [match.span() for match in _RUN_OR_STRING.finditer(shown)]


def _starts(source: bytes) -> list[int]:
    return [line.start for line in definition_lines(source.decode("latin-1"), LINES)]


def _stray_quote(source: bytes, starts: Sequence[int]) -> int | None:
    """The quote without which most of the definitions are outside of strings, where the quotes of three do not pair."""
    for quote in _QUOTES:
        at = [match.start() for match in quote.finditer(source)]
        if len(at) % 2:
            # How many definitions begin before each; up to the stray one they are outside of every other pair.
            before = [bisect_left(starts, place) for place in at]
            gaps = [end - start for start, end in zip([0, *before], [*before, len(starts)], strict=True)]
            kept, behind = accumulate(gaps[::2]), accumulate(gaps[1::2], initial=0)
            inner = sum(gaps[1::2])
            found = [outside + inner - passed for outside, passed in zip(kept, behind, strict=False)]
            return at[2 * found.index(max(found))]
    return None
