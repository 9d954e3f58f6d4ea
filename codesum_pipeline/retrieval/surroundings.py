"""What stands around a document: what it belongs to, what belongs to it, both ends of its calls.

All of it is in the published index. Callers and callees are those that the
document itself names, a sample where there are many.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from codesum_pipeline.retrieval.reader import PublishedIndex


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another document, and what it is for."""

    id: str
    type: str
    summary: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Parents come nearest first, up to the root module; children by level, then by id.

    `dependencies` name what a document rests on, outside the repository too.
    """

    parents: tuple[Neighbour, ...]
    children: tuple[Neighbour, ...]
    called_by: tuple[Neighbour, ...]
    calls: tuple[Neighbour, ...]
    dependencies: tuple[str, ...]


def surroundings_of(index: PublishedIndex, row: int) -> Surroundings:
    """Read the neighbours of one document."""
    document = index.document(row)
    children = np.flatnonzero(index.arrays["parent_row"] == row).tolist()
    return Surroundings(
        parents=_neighbours(index, _rows_above(index, row)),
        children=_neighbours(index, children),
        called_by=_neighbours(index, _rows_of(index, document["context"]["called_by"])),
        calls=_neighbours(index, _rows_of(index, document["context"]["calls"])),
        dependencies=tuple(document["dependencies"]),
    )


def _rows_above(index: PublishedIndex, row: int) -> Iterator[int]:
    above = index.arrays["parent_row"]
    row = int(above[row])
    while row >= 0:
        yield row
        row = int(above[row])


def _rows_of(index: PublishedIndex, ids: Iterable[str]) -> Iterator[int]:
    return (row for id_ in ids if (row := index.row(id_)) is not None)


def _neighbours(index: PublishedIndex, rows: Iterable[int]) -> tuple[Neighbour, ...]:
    documents = map(index.document, rows)
    return tuple(Neighbour(document["id"], document["type"], document["summary"]) for document in documents)
