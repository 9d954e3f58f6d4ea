"""What code calls a document: for judging whether a text still names one, and which one a dotted name means."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from codesum_pipeline.model.ids import ROOT_MODULE, SEPARATOR, without_suffix

_WORD = re.compile(r"\w+")
_SEPARATORS = re.compile(r"[./:\\]+")
# Files that are spoken of by the name of their folder.
_ENTRIES = frozenset({"__init__", "index", "mod", "lib", "main"})
# Called by the name of their class.
_CONSTRUCTORS = frozenset({"constructor", "initialize", "new", "init"})
_SUPER = "super"
# A class and its method.
_LONGEST_QUALIFIED = 2


def words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def qualified_parts(id_: str) -> list[str]:
    """The names behind the path of an id; none of a file or folder."""
    return without_suffix(id_).split(SEPARATOR)[1:]


def names_of(id_: str) -> frozenset[str]:
    """The words of which a text must have one if it uses a document."""
    parts = qualified_parts(id_)
    if not parts:
        path = PurePosixPath(id_)
        return frozenset({path.name.partition(".")[0], path.parent.name})
    last = parts[-1]
    is_special = last.startswith("__") or last in _CONSTRUCTORS
    return frozenset({last, parts[-2], _SUPER} if is_special and len(parts) > 1 else {last})


def dotted_parts(name: str) -> list[str]:
    """The parts of a name as code writes it: `shop.money.round_cents`, `example.com/shop/money.Cents`."""
    return [part for part in _SEPARATORS.split(name) if part]


def shared_end(name: str, id_: str) -> int:
    """How many of the last parts of a dotted name are the qualified name of an id; 0 where not all of that are."""
    parts, qualified = dotted_parts(name), qualified_parts(id_)
    for count in range(min(len(parts), len(qualified)), 0, -1):
        if parts[-count:] == qualified[-count:] and count == len(qualified):
            return count
    return 0


def splits(name: str) -> list[tuple[list[str], list[str]]]:
    """A dotted name as a module and what is in it, the shortest of these first."""
    parts = dotted_parts(name)
    return [(parts[:-count], parts[-count:]) for count in range(1, _LONGEST_QUALIFIED + 1) if len(parts) > count]


def is_module(path: str, module: Sequence[str], *, packages: Sequence[str] | frozenset[str]) -> bool:
    """Whether a file is the module of this dotted name, counted from a folder that is no package itself.

    `packages` are the folders of packages. A single name counts only from the root: `json` is not `tools/json.py`.
    """
    plain = PurePosixPath(path).with_suffix("")
    parts = [*plain.parts[:-1]] if plain.name in _ENTRIES else [*plain.parts]
    above, end = parts[: -len(module)], parts[-len(module) :]
    if list(end) != list(module):
        return False
    return not above or (len(module) > 1 and ("/".join(above) or ROOT_MODULE) not in packages)
