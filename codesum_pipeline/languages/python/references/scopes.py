"""Which scope a byte of a file stands in.

A function's or class's scope covers its body alone: decorators, defaults,
annotations and bases are evaluated around it. A comprehension's covers all of
it but what its first loop draws from.
"""

from bisect import bisect_right
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.languages.python.references.names import Binding, Bound


class ScopeKind(StrEnum):
    MODULE = "m"
    CLASS = "c"
    FUNCTION = "f"
    LAMBDA = "l"
    COMPREHENSION = "g"


class NameScope(Struct):
    """One scope, filled while the file is read. `symbol` is its symbol's id without the path."""

    kind: ScopeKind
    parent: int
    symbol: str | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, list[list[Any]]] = field(default_factory=dict)
    receiver: str | None = None
    receives: Bound = Bound.RECEIVER
    is_generator: bool = False
    returns: str | None = None
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()


class ScopeRanges:
    """Scopes are numbered in source order, 0 being the file; `parents` is filled by the reader, in that order."""

    def __init__(self, length: int) -> None:
        self.parents = [-1]
        # start, -end, scope; a hole in a scope (which belongs to its parent) is ~scope.
        self._added = [(0, -(length + 1), 0)]
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._scopes: list[int] = []
        self._around: list[int] = []
        self._own: dict[int, int] = {}

    def add(self, start: int, end: int, scope: int) -> None:
        self._added.append((start, -end, scope))

    def add_hole(self, start: int, end: int, scope: int) -> None:
        self._added.append((start, -end, ~scope))

    def close(self) -> None:
        """Sort what was added; from here on positions can be asked for."""
        self._added.sort(key=lambda entry: (entry[0], entry[1], entry[2] < 0, entry[2]))
        open_ranges: list[int] = []
        for number, (start, negative_end, scope) in enumerate(self._added):
            while open_ranges and self._ends[open_ranges[-1]] <= start:
                open_ranges.pop()
            self._starts.append(start)
            self._ends.append(-negative_end)
            self._scopes.append(scope)
            self._around.append(open_ranges[-1] if open_ranges else 0)
            self._own[scope] = number
            open_ranges.append(number)

    def start_of(self, scope: int) -> int:
        """Where a scope begins."""
        return self._starts[self._own[scope]]

    def scope_at(self, position: int) -> int:
        """The innermost scope at a position. Asked for every name and call of a file."""
        ends = self._ends
        found = bisect_right(self._starts, position) - 1
        while ends[found] <= position:
            found = self._around[found]
        scope = self._scopes[found]
        return scope if scope >= 0 else self.parents[~scope]

    def scope_around(self, scope: int, position: int) -> int:
        """The scope that a definition at `position` stands in, itself left out."""
        found = self._range_at(position)
        own = self._own.get(scope)
        return self._scope(self._around[found] if found == own else found)

    def _range_at(self, position: int) -> int:
        found = bisect_right(self._starts, position) - 1
        while self._ends[found] <= position:
            found = self._around[found]
        return found

    def _scope(self, found: int) -> int:
        scope = self._scopes[found]
        return scope if scope >= 0 else self.parents[~scope]
