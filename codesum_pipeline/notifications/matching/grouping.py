"""Near-duplicate changes become one item: a mass rename, a copy that was brought in, one edit in many places.

Two changes are near-duplicates where both their names and their texts are at least `LEAST` alike. Groups are the
connected components of that relation (union-find), so neither the order nor the size of a batch counts. Changes that
read the same are one kind from the beginning. Kinds are compared by rapidfuzz in blocks of one sort of change, level
and language: names and the beginnings of texts all with all, which takes nanoseconds each as long as they fit into a
machine word, and whole texts only where both are alike.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from rapidfuzz import fuzz, process

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, IntentMatch

# Tight: only near-identical texts reach it.
LEAST = 0.85
_CUTOFF = 100 * LEAST
# What rapidfuzz compares many at a time.
_SHORT = 64
_MOST_CHARACTERS = 400
# Rows of a matrix of likenesses at one time: bounds the memory.
_AT_ONCE = 512


class _ChangeWords(Struct, frozen=True):
    """The parts of a change that are compared: its own name, and its text."""

    block: tuple[str, str, str]
    name: str
    text: str


def group_matches(matches: Sequence[IntentMatch]) -> list[list[IntentMatch]]:
    """The matches of one intent in groups of near-duplicates; best first in a group, and by their best among these."""
    ordered = sorted(matches, key=lambda match: match.rank)
    compared = [_compared(match.change) for match in ordered]
    # One of each kind represents all that are compared alike.
    same: dict[_ChangeWords, list[int]] = defaultdict(list)
    for place, each in enumerate(compared):
        same[each].append(place)
    kinds = list(same)
    forest = _Forest(len(kinds))
    blocks: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, kind in enumerate(kinds):
        blocks[kind.block].append(number)
    for numbers in blocks.values():
        _join_block(forest, kinds, numbers)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, kind in enumerate(kinds):
        groups[forest.root(number)] += same[kind]
    return [[ordered[place] for place in sorted(places)] for places in sorted(groups.values(), key=min)]


def _compared(change: DocumentChange) -> _ChangeWords:
    state = change.state
    separator = "." if state.start_line is not None and state.name != state.file_path else "/"
    name = state.name.rpartition(separator)[2] or state.name
    text = "\n".join(filter(None, (state.summary, state.signature)))[:_MOST_CHARACTERS]
    return _ChangeWords((change.kind, change.level, change.language), name[-_SHORT:], text)


def _join_block(forest: "_Forest", kinds: Sequence[_ChangeWords], numbers: Sequence[int]) -> None:
    """Join what is alike in a block."""
    names = [kinds[number].name for number in numbers]
    heads = [kinds[number].text[:_SHORT] for number in numbers]
    for start in range(0, len(numbers), _AT_ONCE):
        stop_if_cancelled()
        some = slice(start, start + _AT_ONCE)
        alike = _alike(names[some], names[start:]) & _alike(heads[some], heads[start:])
        for row, column in zip(*(places.tolist() for places in np.triu(alike, k=1).nonzero()), strict=True):
            one, other = numbers[start + row], numbers[start + column]
            is_joined = forest.root(one) == forest.root(other)
            if not is_joined and fuzz.ratio(kinds[one].text, kinds[other].text, score_cutoff=_CUTOFF) > 0:
                forest.join(one, other)


def _alike(some: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each of some texts and each of others are alike."""
    found: npt.NDArray[np.bool_] = process.cdist(some, others, score_cutoff=_CUTOFF, dtype=np.uint8) > 0
    return found


class _Forest:
    """Union-find: the lowest number of a tree is its root, so that the order of joins does not count."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self._above[high] = low
