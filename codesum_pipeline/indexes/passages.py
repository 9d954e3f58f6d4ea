"""The source of a file is cut into passages, and each passage is ranked by itself.

A word says something about the lines around it, not about a whole file. A text
has its passages in one string, and so have its tokens.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

# Between the passages of a text, and between those of its tokens, which are one line otherwise.
TEXT_BREAK = "\x1d"
TOKEN_BREAK = "\n"

# About forty lines. A usual function fits; of whole files BM25 finds the right one less often (nDCG@10 .65 against .74
# alone, see benchmarks/results/retrieval.md).
PASSAGE_CHARACTERS = 1500

# What `str.splitlines` takes for the end of a line besides the newline.
_OTHER_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def cut_passages(source: str) -> str:
    """A source with breaks at line ends, so that no passage of several lines is longer than `PASSAGE_CHARACTERS`."""
    return TEXT_BREAK.join(_passages(source))


def _passages(source: str) -> Iterator[str]:
    return _by_lines(source) if any(end in source for end in _OTHER_LINE_ENDS) else _by_newlines(source)


def _by_newlines(source: str) -> Iterator[str]:
    """Where no other character ends a line: without looking at each of the lines."""
    start = 0
    while len(source) - start > PASSAGE_CHARACTERS:
        end = source.rfind("\n", start, start + PASSAGE_CHARACTERS) + 1
        if not end:
            # One line is longer.
            end = source.find("\n", start + PASSAGE_CHARACTERS) + 1
        if end in (0, len(source)):
            break
        yield source[start:end]
        start = end
    yield source[start:]


def _by_lines(source: str) -> Iterator[str]:
    start = end = 0
    for line in source.splitlines(keepends=True):
        if end > start and end + len(line) - start > PASSAGE_CHARACTERS:
            yield source[start:end]
            start = end
        end += len(line)
    yield source[start:]


def break_apart(texts: pa.Array, separator: str) -> tuple[pa.Array, pa.Array]:
    """The passages of all texts in order, and for each the position of its text."""
    split = pc.split_pattern(texts, separator)
    return split.flatten(), pc.list_parent_indices(split)
