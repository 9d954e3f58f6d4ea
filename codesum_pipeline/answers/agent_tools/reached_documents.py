"""One document that is reached from a change, and the way to it."""

from collections.abc import Container, Mapping

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING


class ReachedDocument(Struct, frozen=True):
    """A document, the fewest steps to it, and the document of the step before; NOTHING for a start. `by` is the class
    whose method was called as one of a base, or by its name alone, at the first such step; `registered` a function that
    a decorator registers under a text which nobody on the way since has written. NOTHING for none. `is_sure` if some
    way to it has neither."""

    number: int
    distance: int
    before: int
    by: int = NOTHING
    registered: int = NOTHING
    is_sure: bool = True


def with_doubts(
    found: Mapping[int, ReachedDocument], seen: Container[tuple[int, int, int]]
) -> dict[int, ReachedDocument]:
    """What is found, with which of it is doubted: `seen` has each document with the doubts of a way to it."""
    doubted = {number for number in found if (number, NOTHING, NOTHING) not in seen}
    return {number: replace(each, is_sure=number not in doubted) for number, each in found.items()}


def way_to(found: Mapping[int, ReachedDocument], number: int) -> list[int]:
    """The documents from a start to a reached one, the start first."""
    way = [number]
    while (before := found[way[-1]].before) != NOTHING:
        way.append(before)
    return way[::-1]
