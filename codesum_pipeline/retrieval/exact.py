"""Hits for what stands in a source as it was asked for: an error message, a string literal, a sentence of a text.

An index knows which words a passage has, not their order. The files whose passages have most of the words are read from
the commit that the index stands for, and those in which the words stand as asked come first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.highest import highest_above_zero
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.filters import Mask
from codesum_pipeline.retrieval.fusion import Numbers
from codesum_pipeline.retrieval.hits import Hit, make_hit
from codesum_pipeline.retrieval.lanes import IN_FILES
from codesum_pipeline.retrieval.literals import Occurrence, SearchLiteral, occurrence_in, wanted_in
from codesum_pipeline.retrieval.pointers import innermost
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf

# The texts of files of an index, by path, as far as they can be read.
ReadTexts = Callable[[PublishedIndex, Sequence[str]], Mapping[str, str]]

# Files that are read of each index.
_FILES_READ = 8
_INDEXES_READ = 4
# With fewer of its words in one passage, no text has what nobody put into quotes.
_FEWEST_TOKENS = 2
# What stands in more files than these is no message: a question that is made of usual words changes nothing.
_MOST_FILES = 5
_NOTES = ("a message that fits, with other values", "the words as they stand", "the text as it stands")
_NO_TEXTS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _FilePlace:
    """A file that has what is wanted, and the document in it that it is shown by."""

    index: PublishedIndex
    row: int
    found: Occurrence
    is_test: bool


def exact_hits(
    shelf: Shelf, query: str, *, levels: Sequence[Level], read: ReadTexts, above: float, top: int
) -> list[Hit]:
    """What stands in some file as it was asked for, closest first; scores are higher than `above`."""
    wanted, inside = wanted_in(query), [level for level in levels if level in IN_FILES]
    if wanted is None or not inside:
        return []
    places = list(_places(shelf, wanted, inside, read))
    if len(places) > _MOST_FILES and not wanted.is_quoted:
        return []
    best = sorted(places, key=lambda place: (-place.found.closeness, place.is_test))[:top]
    return [_hit(place, above + (len(best) - rank) / len(best)) for rank, place in enumerate(best)]


def _places(shelf: Shelf, wanted: SearchLiteral, levels: Sequence[Level], read: ReadTexts) -> Iterator[_FilePlace]:
    """Where it stands in the files that are worth reading, of the indexes that have most of the words."""
    tokens = list(dict.fromkeys(tokenize(wanted.text)))
    worth = [_worth_reading(index, tokens, shelf.allowed[place]) for place, index in enumerate(shelf.indexes)]
    least = len(tokens) if wanted.is_quoted else min(_FEWEST_TOKENS, len(tokens))
    best = sorted((-most, place) for place, (most, _) in enumerate(worth) if most >= max(1, least))
    for _, place in best[:_INDEXES_READ]:
        index, rows = shelf.indexes[place], worth[place][1]
        texts = read(index, [index.ids[row] for row in rows])
        for row in rows:
            found = occurrence_in(texts.get(index.ids[row], ""), wanted)
            shown = None if found is None else _shown(index, row, found.line, levels)
            if found is not None and shown is not None:
                yield _FilePlace(index, shown, found, bool(index.arrays["is_test"][shown]))


def _worth_reading(index: PublishedIndex, tokens: Sequence[str], allowed: Mask | None) -> tuple[int, list[int]]:
    """How many of the words the best passage has; the files with the most of them, then those that score best."""
    passages, words = index.passage_files, index.words[Lane.CODE]
    has, scores = words.counts(tokens)[len(index) :], words.score(tokens)[len(index) :]
    if allowed is not None:
        has, scores = np.where(allowed[passages], has, 0), np.where(allowed[passages], scores, 0)
    most = int(has.max(initial=0))
    if not most:
        return 0, []
    by_words = _best(has + scores / (1 + scores.max()), passages)
    return most, list(dict.fromkeys([*by_words, *_best(scores, passages)]))


def _best(scores: npt.NDArray[np.floating], passages: Numbers) -> list[int]:
    """The files of the passages with the highest scores, best first."""
    some = highest_above_zero(scores, 4 * _FILES_READ)
    order = some[np.argsort(-scores[some], kind="stable")]
    return list(dict.fromkeys(passages[order].tolist()))[:_FILES_READ]


def _shown(index: PublishedIndex, file: int, line: int, levels: Sequence[Level]) -> int | None:
    """The smallest document of these levels that has a line of a file."""
    inside = innermost(index, file, line, levels)
    return file if inside is None and Level.FILE in levels else inside


def _hit(place: _FilePlace, score: float) -> Hit:
    hit = make_hit(place.index, place.row, score=score, ranks={}, notes=())
    return replace(hit, why=f"{_NOTES[place.found.closeness]} in line {place.found.line}")
