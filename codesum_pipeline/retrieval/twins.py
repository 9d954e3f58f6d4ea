"""Documents that stand in a repository twice: for two platforms, in two versions, for callers that wait and those that
do not.

Twins have the same name, stand in files of the same name and have nearly the same content. One hit stands for them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.retrieval.candidates import Candidates
from codesum_pipeline.retrieval.fusion import Places, Scores
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf

# From this cosine on, what has the same name is the same thing again.
_NEARLY_THE_SAME = 0.95
# What more documents are called than these is a common name, `README.md` or `mod.rs`, and no twin's.
_MOST_OF_A_NAME = 32
# How much of the best twin's score one has to have that is used more, to be shown in its place.
_HARDLY_WORSE = 0.9
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown: where it is among the scored, the score of the best twin, and the rows of the others."""

    at: int
    score: float
    twins: tuple[int, ...]


def fold(shelf: Shelf, candidates: Candidates, order: Iterable[int], places: Places, scores: Scores) -> Iterator[Shown]:
    """What is at some positions of `places`, best first: of twins the one that is used most, if it is hardly worse."""
    known = set[int]()
    for at in order:
        number = int(candidates.numbers[places[at]])
        if number in known:
            continue
        index, row = shelf.locate(number)
        group = [row, *twins_of(index, row)]
        numbers = np.array(group) + (number - row)
        known.update(numbers.tolist())
        lead = at
        if len(group) > 1:
            there = candidates.are_among(numbers)[places] & (scores >= _HARDLY_WORSE * scores[at])
            found = there.nonzero()[0]
            lead = int(found[candidates.importance[places[found]].argmax()])
        own = int(candidates.numbers[places[lead]]) - (number - row)
        yield Shown(lead, float(scores[at]), tuple(each for each in group if each != own))


def twin_notes(index: PublishedIndex, twins: Sequence[int]) -> Iterator[str]:
    """Where else a document stands."""
    if twins:
        paths = sorted({index.ids[row].partition(SEPARATOR)[0] for row in twins})
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        yield f"nearly the same in {', '.join(paths[:_NAMED])}{more}"


def twins_of(index: PublishedIndex, row: int) -> list[int]:
    """The rows of the twins of a document, ascending."""
    id_ = index.ids[row]
    path, _, name = id_.partition(SEPARATOR)
    file_name = path.rpartition("/")[2]
    called = index.names.exactly(without_suffix(name).replace(SEPARATOR, ".") if name else file_name)
    if not 1 < len(called) <= _MOST_OF_A_NAME:
        return []
    there = [other for other in called if other != row and _is_called(index.ids[other], path, file_name, name)]
    lane = Lane.FUSED if Lane.FUSED in index.vectors else Lane.SUMMARY
    own = _direction(index, row, lane) if there else None
    if own is None:
        return []
    others = ((other, _direction(index, other, lane)) for other in there)
    return [other for other, its in others if its is not None and float(own @ its) >= _NEARLY_THE_SAME]


def _is_called(id_: str, path: str, file_name: str, name: str) -> bool:
    """Whether an id has a name, and its file another path that ends in the same file name."""
    its_path, _, its_name = id_.partition(SEPARATOR)
    return its_name == name and its_path != path and its_path.rpartition("/")[2] == file_name


def _direction(index: PublishedIndex, row: int, lane: Lane) -> Vectors | None:
    """The vector of a document at length one, shape (dimensions,); None where it has none."""
    place = int(index.dense_rows.searchsorted(row))
    if place == len(index.dense_rows) or index.dense_rows[place] != row:
        return None
    vector: Vectors = index.vectors[lane][place].astype(np.float32)
    length = float(np.linalg.norm(vector))
    return vector / length if length else None
