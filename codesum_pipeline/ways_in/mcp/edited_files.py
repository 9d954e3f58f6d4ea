"""Texts that are put into an agent's files and taken out again: JSON with comments, TOML, and Markdown between marks.

People write these files: comments, trailing commas, line ends and layout are kept. What nobody changed since is taken
out as it was put in, so that the file is byte for byte what it was. A client may write its JSON anew meanwhile: then
the values are taken out wherever they are.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_SPACE = re.compile(r"\s*")
_INDENT = "  "
_BYTE_ORDER_MARK = "\ufeff"
_SERVER_TABLE = ("mcp_servers", "codesum")
BEGIN, END = "<!-- codesum: begin -->", "<!-- codesum: end -->"


class Insertion(Struct, frozen=True):
    """A text to insert before the character at `offset`; `entry` is the part of it that is ours."""

    offset: int
    text: str
    entry: str

    def into(self, content: str) -> str:
        return content[: self.offset] + self.text + content[self.offset :]

    def ending_lines_as(self, content: str) -> "Insertion":
        """The same with the line ends of a content."""
        if "\r\n" not in content:
            return self
        return Insertion(self.offset, self.text.replace("\n", "\r\n"), self.entry.replace("\n", "\r\n"))


class _Item(Struct, frozen=True):
    """A member of an object, or an element of a list, which has no key: from `start` to `end`."""

    key: str | None
    value: Any
    start: int
    value_start: int
    end: int


class _Layout(Struct, frozen=True):
    """What stands before each item on its line, and what is added for each level."""

    margin: str
    unit: str

    def below(self, levels: int) -> "_Layout":
        return _Layout(self.margin + self.unit * levels, self.unit)


Values = Mapping[str, Any] | Sequence[Any]


def insert_values(content: str, path: Sequence[str], values: Values) -> Insertion | None:
    """Insert members, or elements of a list, at the beginning of the object or list at `path` below the root; what is
    missing on the way is made. None where all of them are there already.

    Raises `ConfigurationError` if the text is no JSON object, something on the way is of another kind, or a member has
    another value.
    """
    is_list, is_empty = not isinstance(values, Mapping), not content.strip().strip(_BYTE_ORDER_MARK)
    depth, start, items = (0, 0, []) if is_empty else _reached(_plain(content), path, is_list=is_list)
    missing = path[depth:]
    wanted = values if missing else _without_known(path, values, items)
    if not wanted:
        return None
    layout = _layout_of(content, start, items, depth)
    entry = _lines_of(wanted, layout.below(len(missing)))
    text = _nested(missing, entry, layout, is_list=is_list)
    if is_empty:
        return Insertion(len(content), f"{{\n{text}\n}}\n", entry)
    end = "," if items else f"\n{_INDENT * depth}"
    return Insertion(start + 1, f"\n{text}{end}", entry)


def remove_values(content: str, path: Sequence[str], values: Values) -> str:
    """Take the values out of the object or list at `path`, wherever they are in it; those that are not there are left.

    Raises `ConfigurationError` where a member has another value now, and as `insert_values` does.
    """
    for name, value in _pairs(values):
        plain = _plain(content)
        depth, _, items = _reached(plain, path, is_list=name is None)
        if depth < len(path):
            break
        ours = [item for item in items if item.key == name and (name is not None or item.value == value)]
        if ours and ours[0].value != value:
            raise ConfigurationError(f"its entry for {name} was changed since it was written: remove it by hand")
        if ours:
            content = _without(content, plain, ours[0])
    return content


def insert_table(content: str, path: Sequence[str], lines: Sequence[str]) -> Insertion:
    """The lines of a TOML table, or of several below `path`, at the end; raises `ConfigurationError` if there is one
    already, or it cannot be added."""
    try:
        known: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"it is no TOML ({error}): mend it first") from error
    for name in path:
        known = known.get(name) if isinstance(known, dict) else None
    if known is not None:
        what = f"a server {path[-1]!r}" if len(path) == len(_SERVER_TABLE) else f"a table [{'.'.join(path)}]"
        raise ConfigurationError(f"it has {what} already: remove that first")
    entry = "".join(f"{line}\n" for line in lines)
    found = Insertion(len(content), f"{_blank_line_after(content)}{entry}", entry)
    try:
        tomllib.loads(found.into(content))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"a table [{'.'.join(path)}] cannot be added to it ({error}): add it by hand"
        ) from error
    return found


def insert_block(content: str, lines: Sequence[str]) -> Insertion | None:
    """Lines between marks at the end of a Markdown file; None where they are there already.

    Raises `ConfigurationError` where something else is between such marks.
    """
    entry = "".join(f"{line}\n" for line in (BEGIN, *lines, END))
    if entry in content.replace("\r\n", "\n"):
        return None
    if BEGIN in content or END in content:
        raise ConfigurationError(f"it has other lines between {BEGIN} and {END}: remove them first")
    return Insertion(len(content), f"{_blank_line_after(content)}{entry}", entry)


def _blank_line_after(content: str) -> str:
    return "" if not content else "\n" if content.endswith("\n") else "\n\n"


def _reached(plain: str, path: Sequence[str], *, is_list: bool) -> tuple[int, int, list[_Item]]:
    """How many names of the path are there, where the innermost object or list begins, and its items."""
    try:
        json.loads(plain)
        depth, start = 0, _skip(plain, 0)
        if plain[start] != "{":
            raise ValueError("it does not begin with {")
        items = list(_items(plain, start))
        for name in path:
            found = next((item for item in items if item.key == name), None)
            if found is None:
                break
            depth, start = depth + 1, found.value_start
            begin, kind = ("[", "list") if is_list and depth == len(path) else ("{", "object")
            if plain[start] != begin:
                raise ConfigurationError(f"{'.'.join(path[:depth])!r} in it is no {kind}: mend it first")
            items = list(_items(plain, start))
    except (ValueError, IndexError, RecursionError) as error:
        raise ConfigurationError(f"it is no JSON object ({error}): mend it first") from error
    return depth, start, items


def _without_known(path: Sequence[str], values: Values, items: Sequence[_Item]) -> Values:
    """The values that are not there yet."""
    if not isinstance(values, Mapping):
        known = [item.value for item in items]
        return [value for value in values if value not in known]
    there = {item.key: item.value for item in items}
    for name, value in values.items():
        if name in there and there[name] != value:
            what = "server" if path[-1].lower().endswith("servers") else "value for"
            raise ConfigurationError(f"it has a {what} {name!r} already: remove that first")
    return {name: value for name, value in values.items() if name not in there}


def _pairs(values: Values) -> list[tuple[str | None, Any]]:
    if isinstance(values, Mapping):
        return [*values.items()]
    return [(None, value) for value in values]


def _layout_of(content: str, start: int, items: Sequence[_Item], depth: int) -> _Layout:
    """How the items of the object or list that begins at `start` are written; so many objects are around it."""
    usual = _Layout(_INDENT * (depth + 1), _INDENT)
    if not items:
        return usual
    gap, margin = content[start + 1 : items[0].start], content[: items[0].start].rpartition("\n")[2]
    if "\n" not in gap or margin.strip():
        return usual
    unit = margin[: len(margin) // (depth + 1)]
    return _Layout(margin, unit if unit and unit * (depth + 1) == margin else _INDENT)


def _lines_of(values: Values, layout: _Layout) -> str:
    """The values as they stand in an object or list of that layout."""
    parts = []
    for name, value in _pairs(values):
        lines = json.dumps(value, indent=layout.unit, ensure_ascii=False).split("\n")
        parts.append((f"{json.dumps(name)}: " if name is not None else "") + f"\n{layout.margin}".join(lines))
    return f",\n{layout.margin}".join(parts)


def _nested(names: Sequence[str], entry: str, layout: _Layout, *, is_list: bool) -> str:
    """The entry in the objects that are missing around it, each on lines of its own."""
    if not names:
        return f"{layout.margin}{entry}"
    inner = _nested(names[1:], entry, layout.below(1), is_list=is_list)
    begin, end = "[]" if is_list and len(names) == 1 else "{}"
    return f"{layout.margin}{json.dumps(names[0])}: {begin}\n{inner}\n{layout.margin}{end}"


def _without(content: str, plain: str, item: _Item) -> str:
    """The content without an item, the space before it and one comma."""
    start, end = item.start, item.end
    while content[start - 1].isspace():
        start -= 1
    behind = _skip(plain, end)
    if content[behind] == ",":
        return content[:start] + content[behind + 1 :]
    if content[start - 1] == ",":
        start -= 1
    return content[:start] + content[end:]


def _plain(content: str) -> str:
    """The same JSON with spaces for comments and trailing commas, so that every character keeps its place."""
    content = content.replace(_BYTE_ORDER_MARK, " ", 1) if content.startswith(_BYTE_ORDER_MARK) else content
    without = _TOKENS.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), content)
    # Strings are hidden while trailing commas are searched.
    hidden = _TOKENS.sub(lambda match: "_" * len(match[0]), without)
    commas = {match.start() for match in _TRAILING_COMMA.finditer(hidden)}
    return "".join(" " if place in commas else each for place, each in enumerate(without))


def _items(plain: str, start: int) -> Iterator[_Item]:
    """The members of the object, or the elements of the list, that begins at `start`."""
    is_object = plain[start] == "{"
    decoder, place = json.JSONDecoder(), _skip(plain, start + 1)
    while plain[place] not in "}]":
        key, begin = None, place
        if is_object:
            key, place = decoder.raw_decode(plain, place)
            place = _skip(plain, place)
            if plain[place] != ":":
                raise ValueError(f"a colon is missing at character {place}")
            place = _skip(plain, place + 1)
        value, end = decoder.raw_decode(plain, place)
        yield _Item(key, value, begin, place, end)
        place = _skip(plain, end)
        if plain[place] == ",":
            place = _skip(plain, place + 1)


def _skip(plain: str, place: int) -> int:
    match = _SPACE.match(plain, place)
    return match.end() if match else place
