"""Lines that look like a definition, told without a grammar.

A second opinion about a file: what such a line names and no symbol has may be
lost. Patterns see one line, so they also match in comments and strings; who
counts must leave those out.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Those of one language: to compile all takes as long as a few files."""
    numbered = (pattern.replace("(?P<name>", f"(?P<name{number}>") for number, pattern in enumerate(patterns))
    return re.compile("|".join(f"(?:^(?:{pattern}))" for pattern in numbered), re.MULTILINE)


class DefinitionLine(Struct, frozen=True):
    """A line that looks like a definition: the name that it defines, and where that begins, in characters."""

    name: str
    start: int


def definition_lines(text: str, patterns: tuple[str, ...]) -> Iterator[DefinitionLine]:
    """Those of a text, in order, by patterns whose group `name` is the name; none without patterns."""
    for match in _compiled(patterns).finditer(text) if patterns else ():
        if group := match.lastgroup:
            yield DefinitionLine(match[group].strip("`"), match.start(group))
