"""The line of a manifest that says something.

Parsers of JSON and TOML give values without places. The value is looked for in
the text, after the names of the sections that it stands in.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

_BEFORE, _AFTER = (r"(?<![\w@./-])", r"(?<![\w@/-])"), r"(?![\w./-])"

# A longer line declares nothing that a person wrote, and expressions may take its length squared.
_LONGEST = 1_000


def short_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers, from 1; overlong ones are left out."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if len(line) <= _LONGEST)


class ManifestLines:
    """The lines of one text, numbered from 1."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def number(self, position: int) -> int:
        """The line of a position."""
        return bisect_right(self._starts, position)

    def of(self, *names: str) -> int:
        """The line of the last of these names, each looked for after the one before; that of the last one found."""
        position = 0
        for name in names:
            # As a word of its own, else as the last part of a dotted key.
            found = next(
                filter(
                    None,
                    (
                        re.compile(f"{before}{re.escape(name)}{_AFTER}").search(self.text, position)
                        for before in _BEFORE
                    ),
                ),
                None,
            )
            position = found.end() if found else position
        return self.number(max(position - 1, 0))
