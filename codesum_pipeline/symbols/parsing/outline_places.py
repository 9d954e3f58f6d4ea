"""Calls and types that are named in a file that is read by a table, and which definition each is in."""

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.symbols.parsing.outline_pieces import TextSpan

Place = Node | TextSpan


class NamedPlace(Struct, frozen=True):
    """A call or a type that is named: what stands before its last name, that name, and where both begin."""

    scope: str
    name: str
    start: int
    name_start: int
    definition: int


class Innermost:
    """Finds the innermost definition around a byte."""

    def __init__(self, spans: Sequence[tuple[int, int]], parents: Sequence[int | None]) -> None:
        self._spans, self._parents = spans, parents
        self._starts = [start for start, _ in spans]

    def at(self, place: int) -> int:
        """Its number; -1 for none."""
        number: int | None = bisect_right(self._starts, place) - 1
        while number is not None and number >= 0 and not self._spans[number][0] <= place < self._spans[number][1]:
            number = self._parents[number]
        return -1 if number is None else number


def without_repeated(places: Sequence[NamedPlace]) -> list[NamedPlace]:
    """Each place once, where several patterns found it: with what stands before its name."""
    found: dict[int, NamedPlace] = {}
    for place in places:
        if place.name_start not in found or place.scope:
            found[place.name_start] = place
    return [found[start] for start in sorted(found)]
