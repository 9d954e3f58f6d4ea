"""Whether the text at an occurrence spells the symbol that an index has there.

An index does not say which text it was made from. What stands at its ranges does: an occurrence whose text is another
name, in a file that no tool misnames, was made from another text.
"""

import re
from collections import defaultdict
from functools import lru_cache

from codesum_pipeline.scip.symbol_names import Descriptor, Suffix, SymbolName

_QUOTES = "'\"`"
# How getters and setters are told apart from the field that they stand for.
_ACCESSOR = re.compile(r"<(?:get|set)>(.+)")
# `X as Y`, `X: Y` of a pattern, and `Y = X` of an import.
_ALIASES = re.compile(r"([\w$]+)['\"]?\s*(?:\bas\b|:)\s*([\w$]+)")
_ASSIGNED = re.compile(r"(?:import|using)\s+([\w$]+)\s*=\s*(?:[\w$]+\.)*([\w$]+)")
# What says "this object", "its class" or "what is handed on by default" and no name.
_NAMELESS = frozenset({"this", "self", "super", "cls", "Self", "static", "default", "new", "constructor", "init"})
_CONSTRUCTORS = frozenset(
    {"<constructor>", "constructor", "__init__", "__new__", "__construct", "<init>", "initialize"}
)
_CONSTRUCTORS_OF_ANY_NAME = frozenset({"new", "init", "apply"})
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
        """Whether the text can stand for the symbol. What is empty, as the whole of a file, can."""
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
            or (last.suffix is Suffix.META and _is_numbered(name, bare))
            or _is_constructor_of(symbol, bare)
            or bare in self._given(name)
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
        return token.strip(".").rpartition(".")[2] in ("", name) or token in self._given(name)

    def _given(self, name: str) -> set[str]:
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


def _is_numbered(name: str, token: str) -> bool:
    """Keys of unnamed objects are numbered: `timeout0`, `'no-else-return'0`."""
    return name.startswith(token) and name[len(token) :].lstrip(_QUOTES).isdigit()


def _is_constructor_of(symbol: SymbolName, token: str) -> bool:
    """A call of a class spells the class, and means its constructor."""
    if len(symbol.descriptors) < 2 or symbol.last.name not in _CONSTRUCTORS | _CONSTRUCTORS_OF_ANY_NAME:
        return False
    return token == symbol.descriptors[-2].name


def _leads_to(path: str, module: str, folder: str) -> bool:
    """Whether a path names a file, or its folder; one that does not begin with a dot can be a package's or an alias."""
    name = path.rstrip("/").rpartition("/")[2]
    stem = module.partition(".")[0]
    is_of_folder = stem == "index" and name == folder
    return not path.startswith(".") or name in ("", ".", "..") or name.partition(".")[0] == stem or is_of_folder
