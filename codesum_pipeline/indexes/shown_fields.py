"""What a hit shows of each document, in columns: nothing has to be parsed for it."""

from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz

LINES = ("start_line", "end_line")
TEXTS = ("qualified_name", "summary", "signature_summary")
NO_LINE = -1


class ShownFields(Struct, frozen=True, dict=True):
    """`lines` has a row of `LINES` for each document, -1 for none. The UTF-8 bytes of its texts lie one behind the
    other between `offsets[3 * k]`, ... `offsets[3 * k + 3]`; `is_there` has a row that says which it has."""

    lines: Array
    texts: Array
    offsets: Array
    is_there: Array

    @classmethod
    def map(cls, path: Path) -> "ShownFields":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(arrays["lines"], arrays["texts"], arrays["offsets"], arrays["is_there"])

    def write(self, path: Path) -> None:
        arrays = {"lines": self.lines, "texts": self.texts, "offsets": self.offsets, "is_there": self.is_there}
        write_npz(path, arrays)

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """For a single row they are faster than arrays."""
        return self.texts.data, self.offsets.data

    def __len__(self) -> int:
        return len(self.lines)

    def of_row(self, row: int) -> dict[str, Any]:
        """The fields of one document by name."""
        first = len(TEXTS) * row
        texts, offsets = self._views
        ends = offsets[first : first + len(TEXTS) + 1].tolist()
        content = texts[ends[0] : ends[-1]].tobytes()
        there = self.is_there[row].tolist()
        fields: dict[str, Any] = {
            name: content[ends[k] - ends[0] : ends[k + 1] - ends[0]].decode() if there[k] else None
            for k, name in enumerate(TEXTS)
        }
        for name, line in zip(LINES, self.lines[row].tolist(), strict=True):
            fields[name] = None if line == NO_LINE else line
        return fields
