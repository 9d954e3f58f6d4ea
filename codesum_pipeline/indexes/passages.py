"""A file is too much to count words in: a word says something about the lines around it.

The source of a file is cut into passages, which are ranked each by itself. A
text carries its passages in one string, and so do its tokens.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

# Between the passages of a text, and between those of its tokens, which stand in one line otherwise.
TEXT_BREAK = "\x1d"
TOKEN_BREAK = "\n"

# About forty lines. A usual function fits; of whole files BM25 finds the right one less often (nDCG@10 .65 against .74
# alone, see benchmarks/results/retrieval.md).
PASSAGE_CHARACTERS = 1500


def cut_passages(source: str) -> str:
    """A source with breaks at line ends, so that no passage of several lines is longer than `PASSAGE_CHARACTERS`."""
    return TEXT_BREAK.join(_passages(source))


def _passages(source: str) -> Iterator[str]:
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
