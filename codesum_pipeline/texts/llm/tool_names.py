"""The tool that a model means where it writes its name in another way: `Functions.Search`, `default_api:search`."""

import re
from collections.abc import Collection

# What models and servers put in front of a tool's name with an underscore, as others do with a dot.
_PREFIX = re.compile(r"^(?:functions?|tools?|default_?api|api|mcp)_+(?=.)", re.IGNORECASE)
# No tool's name has any of these.
_SEPARATOR = re.compile(r"[^\w-]+|__+")
_NO_LETTER = re.compile(r"[\W_]+")


def find_tool(written: str, names: Collection[str]) -> str | None:
    """The tool that a written name means: upper and lower case, blanks, hyphens, a prefix and a number behind it do not
    count. An empty name means the only tool. None if it means none of them, or several."""
    if written in names:
        return written
    if not written.strip() and len(names) == 1:
        return next(iter(names))
    by_letters = {_letters(name): name for name in names}
    parts = (written, _PREFIX.sub("", written.strip()), *_SEPARATOR.split(written))
    meant = {by_letters[letters] for letters in map(_letters, parts) if letters in by_letters}
    return meant.pop() if len(meant) == 1 else None


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name).casefold()
