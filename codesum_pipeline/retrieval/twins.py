"""Documents that a repository has twice: for two platforms, in two versions, synchronous and asynchronous.

Twins have the same name, stand in files of the same name and have nearly the same content. One hit stands for them.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Vectors
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.retrieval.candidates import Candidates
from codesum_pipeline.retrieval.fusion import Places, Scores
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf

# From this cosine on, documents of the same name are twins.
_NEARLY_THE_SAME = 0.95
# A name that more documents have is a common one, as `README.md` or `mod.rs`, and makes no twins.
_MOST_OF_A_NAME = 32
# A twin that is used more is shown in place of the best one if it has this share of its score.
_HARDLY_WORSE = 0.9
_NAMED = 3


class TwinGroup(Struct, frozen=True):
    """The place of the document that is shown, the score of the best twin, and the rows of the others."""

    at: int
    score: float
    twins: tuple[int, ...]


def fold_twins(
    shelf: Shelf, candidates: Candidates, order: Sequence[int], places: Places, scores: Scores
) -> Iterator[TwinGroup]:
    """The documents at some positions of `places`, best first; of twins, the one used most if it is hardly worse."""
    numbers = candidates.numbers[places[order]].tolist()
    located = [shelf[number] for number in numbers]
    twins = _twins_by_index(located)
    known = set[int]()
    for at, number, document in zip(order, numbers, located, strict=True):
        if number in known:
            continue
        row = document.row
        others = twins[document.index.version.digest].get(row)
        if not others:
            yield TwinGroup(at, float(scores[at]), ())
            continue
        group = np.array([row, *others])
        of_group = group + (number - row)
        known.update(of_group.tolist())
        found = (candidates.are_among(of_group)[places] & (scores >= _HARDLY_WORSE * scores[at])).nonzero()[0]
        used_most = int(found[candidates.importance[places[found]].argmax()])
        is_used_more = candidates.importance[places[used_most]] > candidates.importance[places[at]]
        lead = used_most if is_used_more else at
        own = int(candidates.numbers[places[lead]]) - (number - row)
        yield TwinGroup(lead, float(scores[at]), tuple(group[group != own].tolist()))


def _twins_by_index(located: Iterable[IndexedDocument]) -> dict[str, dict[int, list[int]]]:
    """The twins of some documents, by version and row."""
    rows: dict[str, tuple[PublishedIndex, list[int]]] = {}
    for each in located:
        rows.setdefault(each.index.version.digest, (each.index, []))[1].append(each.row)
    return {digest: twins_of(index, some) for digest, (index, some) in rows.items()}


def twin_notes(index: PublishedIndex, twins: Sequence[int]) -> Iterator[str]:
    """Where else a document stands."""
    if twins:
        paths = sorted({index.ids[row].partition(SEPARATOR)[0] for row in twins})
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        yield f"nearly the same in {', '.join(paths[:_NAMED])}{more}"


def twins_of(index: PublishedIndex, rows: Sequence[int]) -> dict[int, list[int]]:
    """The rows of the twins of some documents, ascending; without the documents that have none."""
    ids = {row: index.ids[row] for row in rows}
    asked = {row: _name_of(id_) for row, id_ in ids.items()}
    called = index.names.rows_by_name([*dict.fromkeys(asked.values())])
    several = ((row, called.get(name, ())) for row, name in asked.items())
    found = ((row, _same(index, row, ids[row], there)) for row, there in several if 1 < len(there) <= _MOST_OF_A_NAME)
    return {row: twins for row, twins in found if twins}


def _name_of(id_: str) -> str:
    """The qualified name of a document, or the name of a file, in lower case."""
    path, _, name = id_.partition(SEPARATOR)
    return (without_suffix(name).replace(SEPARATOR, ".") if name else path.rpartition("/")[2]).lower()


def _same(index: PublishedIndex, row: int, id_: str, called: Iterable[int]) -> list[int]:
    """The rows of `called` whose ids differ only in the folder, and whose vectors are nearly the same."""
    path, _, _ = id_.partition(SEPARATOR)
    in_folder = f"/{id_[path.rfind('/') + 1 :]}"
    there = [
        other for other in called if other != row and index.shows(other) and f"/{index.ids[other]}".endswith(in_folder)
    ]
    lane = Lane.FUSED if Lane.FUSED in index.vectors else Lane.SUMMARY
    own = _direction(index, row, lane) if there else None
    if own is None:
        return []
    others = ((other, _direction(index, other, lane)) for other in there)
    return [other for other, its in others if its is not None and float(own @ its) >= _NEARLY_THE_SAME]


def _direction(index: PublishedIndex, row: int, lane: Lane) -> Vectors | None:
    """The vector of a document at length one, shape (dimensions,); None where it has none."""
    place = int(index.dense_rows.searchsorted(row))
    if place == len(index.dense_rows) or index.dense_rows[place] != row:
        return None
    vector: Vectors = index.vectors[lane][place].astype(np.float32)
    length = float(np.linalg.norm(vector))
    return vector / length if length else None
