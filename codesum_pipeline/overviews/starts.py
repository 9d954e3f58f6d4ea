"""Where to start reading: the central files of a repository, and their most used definitions.

PageRank alone gives the files that everything uses: small tools that nobody starts with. A file that also uses much of
the rest shows how things go together, so a file's rank is multiplied by the geometric mean of how many files use it and
how many it uses.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.overviews.view import RankedDocument, View

MOST_STARTS = 7
_DEFINITIONS = 3
_HELD = 0.5


class Start(Struct, frozen=True):
    """A file and its most used definitions."""

    file: RankedDocument
    definitions: tuple[RankedDocument, ...]
    rank: float


def where_to_start(view: View, *, most: int = MOST_STARTS) -> list[Start]:
    """The files to start with, best first; files without definitions are left out."""
    neighbours = _neighbours(view)
    found = [
        Start(view.places[path], _best(definitions), view.rank(path) * neighbours[path])
        for path, definitions in view.definitions.items()
        if definitions and path in view.places
    ]
    return sorted(found, key=lambda start: (-start.rank, start.file.id))[:most]


def _neighbours(view: View) -> dict[str, float]:
    """For each file, the geometric mean of the number of files that use it and that it uses, each plus 1."""
    users, used = Counter(target for _, target in view.links), Counter(source for source, _ in view.links)
    return {path: math.sqrt((1 + users[path]) * (1 + used[path])) for path in view.sources}


def _best(definitions: Sequence[RankedDocument]) -> tuple[RankedDocument, ...]:
    """The best definitions: public ones before others, classes and free functions before methods, most used first.

    Uses of members count for their class. A class that does little but hold another class is a namespace, and left out.
    """
    used: dict[str, float] = defaultdict(float)
    for each in definitions:
        parts = each.id.split(SEPARATOR)
        for length in range(2, len(parts) + 1):
            used[SEPARATOR.join(parts[:length])] += each.rank
    classes = [each for each in definitions if each.level == Level.CLASS]
    around = {inner.id.rpartition(SEPARATOR)[0]: inner for inner in sorted(classes, key=lambda each: used[each.id])}
    namespaces = {outer for outer, inner in around.items() if used[inner.id] >= used[outer] * _HELD}
    definitions = [each for each in definitions if each.id not in namespaces]
    order = sorted(
        definitions, key=lambda each: (not each.is_public, _is_member(each), -used[each.id], each.line, each.id)
    )
    return tuple(order[:_DEFINITIONS])


def _is_member(place: RankedDocument) -> bool:
    return place.level == Level.FUNCTION and place.id.count(SEPARATOR) > 1
