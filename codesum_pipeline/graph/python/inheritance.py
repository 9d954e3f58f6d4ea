"""The order in which a class's ancestors are searched."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def linearize(own: T, ancestors: Sequence[Sequence[T]]) -> tuple[T, ...]:
    """Python's C3 order of `own` and its bases' orders; where that contradicts itself, depth first."""
    if len(ancestors) == 1:
        return (own, *(entry for entry in ancestors[0] if entry != own))
    merged = _merge([list(order) for order in ancestors if order] + [[order[0] for order in ancestors if order]])
    if merged is None:
        merged = list(dict.fromkeys(entry for order in ancestors for entry in order))
    return (own, *(entry for entry in merged if entry != own))


def _merge(orders: list[list[T]]) -> list[T] | None:
    merged: list[T] = []
    waiting = [order for order in orders if order]
    while waiting:
        tails = {entry for order in waiting for entry in order[1:]}
        head = next((order[0] for order in waiting if order[0] not in tails), None)
        if head is None:
            return None
        merged.append(head)
        waiting = [rest for order in waiting if (rest := order[1:] if order[0] == head else order)]
    return merged
