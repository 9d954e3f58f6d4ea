"""Where the names of a file's callees stand, so that what an index of places says of one can be told of its call."""

from dataclasses import dataclass
from itertools import chain

from codesum_pipeline.parsing.canonical import Canonical

# In place of the first byte of the last name, for a callee that has none: what a call, an item or a lambda gives.
NAMELESS = -1


@dataclass(frozen=True, slots=True)
class References:
    """What a file refers to, as JSON; of each of its calls, in that order, the first byte of the callee's last name."""

    json: str
    names: tuple[int, ...]


def call_places(references: References, canonical: Canonical) -> tuple[int, ...]:
    """The lines and columns of `FileFacts.call_places`."""
    places = ((0, 0) if start == NAMELESS else canonical.place(start) for start in references.names)
    return tuple(chain.from_iterable(places))
