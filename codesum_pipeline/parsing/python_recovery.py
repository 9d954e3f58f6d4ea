"""What hides definitions from the grammar in a Python file that does not parse.

Marks of a merge conflict and the tags of a template stand in the file and are
no Python. A quote of three that ends nothing turns all that follows inside out,
so that strings are read as code and code as strings.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

import tree_sitter_python
from tree_sitter import Language, Query, QueryCursor, Tree

from codesum_pipeline.languages.python.comments import silent_spans
from codesum_pipeline.parsing.definition_lines import DefinitionLine, definition_lines
from codesum_pipeline.parsing.recovery import Recovery, Span, TreeCandidate
from codesum_pipeline.parsing.walk import bytes_as_characters

_DEFINITIONS = Query(Language(tree_sitter_python.language()), "(function_definition) @found (class_definition) @found")
_FOREIGN = re.compile(
    rb"^(?:<{7}|={7}|>{7}|\|{7})(?:[ ][^\n]*)?$|\{%[^\n]*?%\}|\{#[^\n]*?#\}|\{\{[^{}\n]*\}\}", re.MULTILINE
)
_QUOTES = (re.compile(rb'"{3}'), re.compile(rb"'{3}"))


def recovered_python(source: bytes, shown: bytes, tree: Tree, parse: Callable[[bytes], Tree]) -> TreeCandidate:
    """The reading of a broken file in which fewest definitions are lost; `shown` is what gave the tree."""
    lines, groups = _definitions_to_find(source)
    return Recovery(source, lines, parse, _names).recovered(shown, tree, groups)


def _names(tree: Tree) -> Iterator[tuple[str, bool]]:
    for node in QueryCursor(_DEFINITIONS).captures(tree.root_node).get("found", ()):
        name = node.child_by_field_name("name")
        if name is not None and name.text:
            yield name.text.decode("latin-1"), not node.has_error


def _definitions_to_find(source: bytes) -> tuple[list[DefinitionLine], list[Sequence[Span]]]:
    """The lines outside of comments and strings that look like definitions, and the parts that may hide some."""
    groups: list[Sequence[Span]] = []
    lines = list(definition_lines(bytes_as_characters(source), "python"))
    starts = [line.start for line in lines]
    stray = _stray_quote(source, starts)
    if stray is not None:
        # What comes before the next definition may be the text that the quote was to begin.
        following = next((start for start in starts if start > stray), len(source))
        end = max(source.rfind(b"\n", 0, following), stray + 3)
        groups.append([(stray, end)])
        source = source[:stray] + b"   " + source[stray + 3 :]
    spans = list(silent_spans(source))
    foreign = [match.span() for match in _FOREIGN.finditer(source) if not _is_inside(spans, match.start())]
    if foreign:
        groups.append(foreign)
    return [line for line in lines if not _is_inside(spans, line.start)], groups


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
    k = bisect_right(spans, place, key=itemgetter(0)) - 1
    return k >= 0 and place < spans[k][1]
