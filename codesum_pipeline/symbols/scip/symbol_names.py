"""The names in a SCIP symbol, and whether a text spells them: `scip-typescript npm chai 5.1.0 lib/`chai.js`/use().`

A symbol is a scheme, a package of three words, and descriptors, each a name and what ends it (the grammar is in
`scip.proto`). Symbols that are local to a file have no such names. An index does not say which text it was made from,
but its ranges show it: an occurrence whose text is another name was made from another text.
"""

import re
from collections import defaultdict
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
    """One name of a symbol. Methods of one name, which a symbol distinguishes, have equal descriptors."""

    name: str
    suffix: Suffix


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


# The same symbols occur in many places, and in other files.
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
    scheme, manager, name, version = words
    # The key has no version, whose spaces are written twice.
    head = f"{symbol[: at - 1 - len(version.replace(' ', '  '))]}. "
    return SymbolName(
        scheme, (manager, name), tuple(one for one, _ in found), head + symbol[at:], head + symbol[at : found[-1][1]]
    )


def _descriptors(symbol: str, at: int) -> list[tuple[Descriptor, int]]:
    """Those from a place on, with where each begins; none where something there is no descriptor."""
    found: list[tuple[Descriptor, int]] = []
    while at < len(symbol):
        match = _DESCRIPTOR.match(symbol, at)
        if match is None:
            return []
        type_parameter, parameter, name, ending, disambiguator = match.groups()
        brackets = Suffix.TYPE_PARAMETER if type_parameter else Suffix.PARAMETER if parameter else Suffix.METHOD
        suffix = brackets if disambiguator is not None or not name else _BY_ENDING[ending]
        found.append((Descriptor(_unescaped(type_parameter or parameter or name), suffix), at))
        at = match.end()
    return found


def _unescaped(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


_QUOTES = "'\"`"
# How getters and setters are distinguished from their field.
_ACCESSOR = re.compile(r"<(?:get|set)>(.+)")
# `X as Y`, `X: Y` of a pattern, and `Y = X` of an import.
_ALIASES = re.compile(r"(?<![\w$])([\w$]++)['\"]?\s*+(?:\bas\b|:)\s*+([\w$]+)")
_ASSIGNED = re.compile(r"(?:import|using)\s+([\w$]+)\s*=\s*(?:[\w$]+\.)*([\w$]+)")
# Words for "this object", "its class" or "the default export", which are no names.
_NAMELESS = frozenset({"this", "self", "super", "cls", "Self", "static", "default", "new", "constructor", "init"})
_CONSTRUCTORS = frozenset({
    "<constructor>", "constructor", "__init__", "__new__", "__construct", "<init>", "initialize", "new", "init",
    "apply",
})  # fmt: skip
_PYTHON_MODULE = "__init__"


def is_module(descriptor: Descriptor) -> bool:
    """Whether a symbol that ends so is a file or package."""
    return descriptor.suffix is Suffix.NAMESPACE or descriptor == Descriptor(_PYTHON_MODULE, Suffix.META)


class Spelling:
    """How a file spells names: as they are, or by the aliases that it gives them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._aliases: dict[str, set[str]] | None = None

    def is_spelled(self, symbol: SymbolName, token: str) -> bool:
        """Whether the text can denote the symbol. An empty text can, as for the whole of a file."""
        last = symbol.last
        if symbol.is_local or token in ("", last.name) or token in _NAMELESS:
            return True
        if is_module(last):
            return self._names_module(symbol, token)
        name = _plain(last)
        # Some tools have an occurrence for both names: `X as Y`.
        bare = token.partition(" as ")[0].strip().strip(_QUOTES)
        return (
            bare == name
            # Keys of unnamed objects are numbered: `timeout0`, `'no-else-return'0`.
            or (last.suffix is Suffix.META and name.startswith(bare) and name[len(bare) :].lstrip(_QUOTES).isdigit())
            # A call of a class spells the class, and means its constructor.
            or (last.name in _CONSTRUCTORS and [bare] == [one.name for one in symbol.descriptors[-2:-1]])
            or bare in self._aliases_of(name)
        )

    def _names_module(self, symbol: SymbolName, token: str) -> bool:
        """Whether an import's path or dotted name can lead to the module, or the file gives it that name."""
        namespaces = [one.name for one in symbol.descriptors if one.suffix is Suffix.NAMESPACE]
        folder, module = ["", "", *namespaces][-2:]
        if token[0] in _QUOTES:
            return _leads_to(token.strip(_QUOTES), module, folder)
        if symbol.last.suffix is Suffix.NAMESPACE and "." not in token:
            return True
        name = module.rpartition(".")[2]
        return token.strip(".").rpartition(".")[2] in ("", name) or token in self._aliases_of(name)

    def _aliases_of(self, name: str) -> set[str]:
        """Other names that the file gives to what has this name."""
        if self._aliases is None:
            self._aliases = defaultdict(set)
            for original, alias in _ALIASES.findall(self._text):
                self._aliases[original].add(alias)
            for alias, original in _ASSIGNED.findall(self._text):
                self._aliases[original].add(alias)
        return self._aliases.get(name, set())


@lru_cache(maxsize=1 << 13)
def _plain(descriptor: Descriptor) -> str:
    accessor = _ACCESSOR.fullmatch(descriptor.name)
    return (accessor[1] if accessor else descriptor.name).strip(_QUOTES)


def _leads_to(path: str, module: str, folder: str) -> bool:
    """Whether a path names a file, or its folder; one that does not begin with a dot can be a package's or an alias."""
    name = path.rstrip("/").rpartition("/")[2]
    stem = module.partition(".")[0]
    is_of_folder = stem == "index" and name == folder
    return not path.startswith(".") or name in ("", ".", "..") or name.partition(".")[0] == stem or is_of_folder
