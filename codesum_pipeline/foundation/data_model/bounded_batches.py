"""Consecutive items together, as many as fit."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def bounded_batches(
    items: Iterable[T], size_of: Callable[[T], int], *, most: int, most_items: int = sys.maxsize
) -> Iterator[list[T]]:
    """Batches of items whose sizes come to `most` at most, and of `most_items` at most; a larger item is alone."""
    batch: list[T] = []
    total = 0
    for item in items:
        size = size_of(item)
        if batch and (len(batch) == most_items or total + size > most):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
