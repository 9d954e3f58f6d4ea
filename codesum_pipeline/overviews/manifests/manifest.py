"""What a manifest declares: the project's own names, its dependencies, and its entry points; each with its line.

Parsers of JSON and TOML give values without places. A value is searched in the text, after the names of the sections
around it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct


class DependencyScope(StrEnum):
    """What a dependency is needed for."""

    RUN = "run"
    DEV = "dev"
    BUILD = "build"


class Dependency(Struct, frozen=True):
    """A dependency as a manifest declares it; `ecosystem` names the registry that its name belongs to."""

    ecosystem: str
    name: str
    constraint: str | None
    path: str
    line: int
    scope: DependencyScope = DependencyScope.RUN


class EntryKind(StrEnum):
    """How something is started."""

    COMMAND = "command"
    MAIN = "main function"
    SCRIPT = "script"
    LIBRARY = "library entry"
    APPLICATION = "application"
    CONTAINER = "container"


class EntryPoint(Struct, frozen=True):
    """Where execution, or the use of a library, begins; `target` is the file or function that it leads to, if known."""

    name: str
    kind: EntryKind
    path: str
    line: int
    target: str | None = None


class Manifest(Struct, frozen=True):
    """One manifest; `names` are its names for the project itself."""

    path: str
    names: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()


class MalformedManifest(Exception):
    """A manifest that its format's parser refuses."""


_BEFORE, _AFTER = (r"(?<![\w@./-])", r"(?<![\w@/-])"), r"(?![\w./-])"

# No person writes longer lines, and a regular expression may take the square of a line's length.
_LONGEST = 1_000


def short_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers, from 1, without overlong ones."""
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
        """The line of the last of these names that is found; each is searched after the one before."""
        position = 0
        for name in names:
            # As a word of its own, else as the last part of a dotted key.
            for before in _BEFORE:
                found = re.compile(f"{before}{re.escape(name)}{_AFTER}").search(self.text, position)
                if found:
                    position = found.end()
                    break
        return self.number(max(position - 1, 0))
