"""The names in a SCIP symbol: `scip-typescript npm chai 5.1.0 lib/`chai.js`/use().`

A symbol is a scheme, a package of three words, and descriptors, each a name and what ends it (the grammar stands in
`scip.proto`). Symbols that are local to a file have no such names.
"""

import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

_LOCAL = "local "
# A word of the head ends at a space; two spaces are one of its letters.
_WORD = re.compile(r"((?:[^ ]|  )*) ")
_NAME = r"(?:[\w+$-]+|`(?:[^`]|``)+`)"
_DESCRIPTOR = re.compile(rf"\[({_NAME})\]|\(({_NAME})\)|({_NAME})(/|#|:|!|\(([\w+$-]*)\)\.|\.)")
_HEAD_WORDS = 4


class Suffix(StrEnum):
    """What a descriptor names, by what ends it."""

    NAMESPACE = "/"
    TYPE = "#"
    TERM = "."
    META = ":"
    MACRO = "!"
    METHOD = "()."
    TYPE_PARAMETER = "[]"
    PARAMETER = "()"


_BY_ENDING = {suffix.value: suffix for suffix in Suffix}


class Descriptor(Struct, frozen=True):
    """One name of a symbol. `disambiguator` tells methods of one name apart."""

    name: str
    suffix: Suffix
    disambiguator: str = ""


class SymbolName(Struct, frozen=True):
    """A symbol: one that other files can name, or one that is local to its file and has a number alone.

    `package` is its manager and name. `key` is the symbol without the package's version, which is often that of a
    commit, and `owner` the key of what it is a member of; both can be parsed again.
    """

    scheme: str
    package: tuple[str, str]
    descriptors: tuple[Descriptor, ...]
    key: str
    owner: str

    @property
    def is_local(self) -> bool:
        return not self.owner

    @property
    def last(self) -> Descriptor:
        return self.descriptors[-1]


def is_local(symbol: str) -> bool:
    """Whether nothing outside its file can name it."""
    return symbol.startswith(_LOCAL)


# The same symbols stand in many places, and in other files.
@lru_cache(maxsize=1 << 15)
def parse_symbol(symbol: str) -> SymbolName | None:
    """The names of a symbol, none for a local one; None for what is no symbol."""
    if is_local(symbol):
        return SymbolName(_LOCAL.strip(), ("", ""), (Descriptor("", Suffix.TERM),), symbol, "")
    words: list[str] = []
    at = 0
    while len(words) < _HEAD_WORDS and (word := _WORD.match(symbol, at)):
        words.append(word[1].replace("  ", " "))
        at = word.end()
    if len(words) < _HEAD_WORDS or not words[0]:
        return None
    found = _descriptors(symbol, at)
    if not found:
        return None
    head = f"{symbol[: _end_of_package(symbol, at, words[-1])]}. "
    scheme, manager, name, _version = words
    return SymbolName(
        scheme, (manager, name), tuple(one for one, _ in found), head + symbol[at:], head + symbol[at : found[-1][1]]
    )


def _end_of_package(symbol: str, at: int, version: str) -> int:
    """Where the version begins, whose spaces are written twice."""
    return at - 1 - len(version.replace(" ", "  "))


def _descriptors(symbol: str, at: int) -> list[tuple[Descriptor, int]]:
    """Those from a place on, with where each begins; none where something there is no descriptor."""
    found: list[tuple[Descriptor, int]] = []
    while at < len(symbol):
        match = _DESCRIPTOR.match(symbol, at)
        if match is None:
            return []
        found.append((_descriptor(match), at))
        at = match.end()
    return found


def _descriptor(match: re.Match[str]) -> Descriptor:
    type_parameter, parameter, name, ending, disambiguator = match.groups()
    if type_parameter is not None:
        return Descriptor(_unescaped(type_parameter), Suffix.TYPE_PARAMETER)
    if parameter is not None:
        return Descriptor(_unescaped(parameter), Suffix.PARAMETER)
    if disambiguator is not None:
        return Descriptor(_unescaped(name), Suffix.METHOD, disambiguator)
    return Descriptor(_unescaped(name), _BY_ENDING[ending])


def _unescaped(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
