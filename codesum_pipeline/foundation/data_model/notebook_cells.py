"""A place in a notebook as a person looks for it."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

_TOLD = re.compile(r" \(cell \d{1,9}, line \d{1,9}\)\Z")


class NotebookCell(Struct, frozen=True):
    """A cell by its number in the notebook, and a line in it; both count from 1."""

    cell: int
    cell_line: int

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.cell_line}"


def cell_at(marks: Sequence[int], line: int) -> NotebookCell | None:
    """The cell that has a line of a notebook's script, by the lines that mark where cells begin; None before the
    first."""
    number = bisect_right(marks, line)
    return NotebookCell(number, max(1, line - marks[number - 1])) if number else None


def cell_fields(place: NotebookCell | None) -> dict[str, int | None]:
    """A place as fields of an answer."""
    return {"cell": place.cell, "cell_line": place.cell_line} if place else {"cell": None, "cell_line": None}


def without_cell(text: str) -> str:
    """A place as an answer shows it, without the cell: `a.ipynb:3-5 (cell 2, line 1)` becomes `a.ipynb:3-5`."""
    return _TOLD.sub("", text)


def told_cell(cell: int | None, line: int | None) -> str:
    """`cell 3, line 2`; empty for what is in no notebook."""
    return "" if cell is None or line is None else str(NotebookCell(cell, line))
