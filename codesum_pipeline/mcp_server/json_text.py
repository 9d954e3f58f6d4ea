"""Inserting a member into a JSON text that people write: comments, trailing commas and layout are kept."""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_SPACE = re.compile(r"\s*")
_INDENT = "  "


class Insertion(Struct, frozen=True):
    """A text to insert before the character at `offset`; `entry` is the member in it."""

    offset: int
    text: str
    entry: str

    def into(self, content: str) -> str:
        return content[: self.offset] + self.text + content[self.offset :]


class _Member(Struct, frozen=True):
    key: str
    value: Any
    value_start: int


def insert_member(content: str, group: str, name: str, value: Any) -> Insertion:
    """Insert `name: value` at the beginning of the root object's object `group`, which is made where it is missing.

    Raises `ConfigurationError` where the text or `group` is no JSON object, or has `name` already.
    """
    if not content.strip():
        entry = _written(name, value, depth=2)
        text = f'{{\n{_INDENT}"{group}": {{\n{_INDENT * 2}{entry}\n{_INDENT}}}\n}}\n'
        return Insertion(len(content), text, entry)
    plain = _plain(content)
    try:
        root = _SPACE.match(plain, 0)
        start = root.end() if root else 0
        members = list(_members(plain, start))
        json.loads(plain)
    except (ValueError, IndexError, RecursionError) as error:
        raise ConfigurationError(f"it is no JSON object ({error}): mend it first") from error
    servers = next((member for member in members if member.key == group), None)
    if servers is None:
        entry = _written(name, value, depth=2)
        inner = f'{_INDENT}"{group}": {{\n{_INDENT * 2}{entry}\n{_INDENT}}}'
        return Insertion(start + 1, f"\n{inner}{',' if members else chr(10)}", entry)
    if not isinstance(servers.value, dict):
        raise ConfigurationError(f"{group!r} in it is no object: mend it first")
    if name in servers.value:
        raise ConfigurationError(f"it has a server {name!r} already: take that away first")
    entry = _written(name, value, depth=2)
    end = "," if servers.value else f"\n{_INDENT}"
    return Insertion(servers.value_start + 1, f"\n{_INDENT * 2}{entry}{end}", entry)


def _written(name: str, value: Any, *, depth: int) -> str:
    lines = json.dumps(value, indent=len(_INDENT)).split("\n")
    return f"{json.dumps(name)}: " + f"\n{_INDENT * depth}".join(lines)


def _plain(content: str) -> str:
    """The same JSON with spaces for comments and trailing commas, so that every character keeps its place."""
    without = _TOKENS.sub(lambda match: match[0] if match[0][0] == '"' else _blank(match[0]), content)
    # Strings are hidden while trailing commas are searched.
    hidden = _TOKENS.sub(lambda match: "_" * len(match[0]), without)
    commas = {match.start() for match in _TRAILING_COMMA.finditer(hidden)}
    return "".join(" " if place in commas else each for place, each in enumerate(without))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _members(plain: str, start: int) -> Iterator[_Member]:
    """The members of the object that begins at `start`."""
    if plain[start] != "{":
        raise ValueError("it does not begin with {")
    decoder, place = json.JSONDecoder(), _skip(plain, start + 1)
    while plain[place] != "}":
        if plain[place] != '"':
            raise ValueError(f"a name is missing at character {place}")
        key, place = decoder.raw_decode(plain, place)
        place = _skip(plain, place)
        if plain[place] != ":":
            raise ValueError(f"a colon is missing at character {place}")
        value_start = _skip(plain, place + 1)
        value, place = decoder.raw_decode(plain, value_start)
        yield _Member(key, value, value_start)
        place = _skip(plain, place)
        if plain[place] == ",":
            place = _skip(plain, place + 1)


def _skip(plain: str, place: int) -> int:
    match = _SPACE.match(plain, place)
    return match.end() if match else place
