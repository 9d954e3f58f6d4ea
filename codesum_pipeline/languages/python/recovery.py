"""What hides definitions from the grammar in a Python file that does not parse.

Marks of a merge conflict and the tags of a template stand in the file and are
no Python. A quote of three that ends nothing turns all that follows inside out,
so that strings are read as code and code as strings.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from codesum_pipeline.languages.python.comments import silent_spans
from codesum_pipeline.languages.spec import Span
from codesum_pipeline.languages.texts import definition_lines

# Lines that look like a definition.
LINES = (
    r"[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*[(\[]",
    r"[ \t]*class[ \t]+(?P<name>\w+)[ \t]*(?:\(.*|\[.*|:[ \t]*(?:#.*)?$)",
)
_FOREIGN = re.compile(
    rb"^(?:<{7}|={7}|>{7}|\|{7})(?:[ ][^\n]*)?$|\{%[^\n]*?%\}|\{#[^\n]*?#\}|\{\{[^{}\n]*\}\}", re.MULTILINE
)
_QUOTES = (re.compile(rb'"{3}'), re.compile(rb"'{3}"))


def hiding(source: bytes, is_broken: bool) -> Iterator[Sequence[Span]]:
    """The quote that begins nothing, with what comes before the next definition, which may be the text that it was to
    begin; and what is no Python."""
    if not is_broken:
        return
    starts = _starts(source)
    stray = _stray_quote(source, starts)
    if stray is not None:
        following = next((start for start in starts if start > stray), len(source))
        yield [(stray, max(source.rfind(b"\n", 0, following), stray + 3))]
    spans = silent(source)
    foreign = [match.span() for match in _FOREIGN.finditer(source) if not _is_inside(spans, match.start())]
    if foreign:
        yield foreign


def silent(source: bytes) -> list[Span]:
    """Where comments and strings are, in which nothing is defined."""
    stray = _stray_quote(source, _starts(source))
    return list(silent_spans(source if stray is None else source[:stray] + b"   " + source[stray + 3 :]))


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
            found = [sum(gaps[: k + 1 : 2]) + sum(gaps[k + 1 :: 2]) for k in range(0, len(at), 2)]
            return at[2 * found.index(max(found))]
    return None


def _is_inside(spans: Sequence[Span], place: int) -> bool:
    k = bisect_left(spans, (place + 1,)) - 1
    return k >= 0 and place < spans[k][1]
