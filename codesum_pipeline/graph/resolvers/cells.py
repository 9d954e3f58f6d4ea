"""What a file answers when others ask for its names, as hashes, so that it can be compared with what was asked before.

Resolving a file is deterministic: it reads its own facts, and of anything else only what it asks for. Each question has
an owner, whose change can change the answer, and a key; a *cell* is both with a hash of the answer. The cells that a
file asked for are its record. While each of them has the same answer, the file has the same edges. Answers name scopes
by their places (`places_of`), never by numbers or lines.
"""

import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import Struct

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.scopes import Binding, Scope, ScopedFile

# Of a file that asks for more, no record is kept: it is resolved again when anything of its family changes.
MOST_CELLS = 20_000
# The answer of what does not exist.
ABSENT = 0
CELL = np.dtype([("owner", "<u8"), ("key", "<u8"), ("answer", "<u8")])
_PACKED = struct.Struct("<QQQ")
_LONGEST_PLACE = 1_000
_NUMBERED = frozenset({Bound.DEFINED, Bound.RECEIVER, Bound.CLASS_RECEIVER})


class LookupRecord(Struct, frozen=True):
    """What one file asked for: packed rows of `CELL`; and its questions about modules, as texts, since the next build
    asks them again. The hash of such a text is its owner."""

    cells: tuple[bytes, ...]
    modules: tuple[str, ...]


# The answers of one owner by key; a key that it lacks is absent.
Answers = Mapping[int, int]
NO_ANSWERS: Answers = MappingProxyType({})


def hash_answer(text: str) -> int:
    """64 bits that stand for a text; never that of what is absent."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


# The owner, key and answer of what a question is about.
CellsOf = Callable[[Any], Iterable[tuple[int, int, int]]]


def pack_record(
    asked: Collection[Any], known: dict[Any, tuple[bytes, ...]], cells_of: CellsOf, modules: Iterable[str] = ()
) -> LookupRecord | None:
    """The record of a file's questions, whose cells are kept in `known`; None if that is too much."""
    if len(asked) > MOST_CELLS:
        return None
    for question in asked:
        if question not in known:
            known[question] = tuple(_PACKED.pack(*cell) for cell in cells_of(question))
    return LookupRecord(tuple({cell for question in asked for cell in known[question]}), tuple(modules))


def owner_of(path: str) -> int:
    """The owner that a file is."""
    return hash_answer(f"file\0{path}")


def places_of(file: ScopedFile) -> list[str]:
    """A name for each scope of a Python file, which stays the same when scopes elsewhere come or go.

    It says the kinds and names of the scopes around; one without a document is numbered among those beside it. A hash
    stands for a long one: of lambdas in lambdas, each place would hold all those around.
    """
    if not file.places:
        beside: Counter[str] = Counter()
        for scope in file.scopes:
            around = scope.parent
            place = scope.kind if around is None else f"{file.places[around.number]}/{scope.kind}"
            if scope.id is not None:
                place += scope.id.removeprefix((around and around.id) or file.path)
            else:
                beside[place] += 1
                place += str(beside[place])
            file.places.append(place if len(place) <= _LONGEST_PLACE else f"{hash_answer(place):x}")
    return file.places


def place_of(scope: Scope) -> str:
    """The place of a scope in its file."""
    return places_of(scope.file)[scope.number]


def name_key(place: str, name: str) -> int:
    """Asks what a scope binds a name to, in its body and as an attribute of its objects."""
    return hash_answer(f"name\0{place}\0{name}")


def head_key(place: str) -> int:
    """Asks for all else that a scope says."""
    return hash_answer(f"head\0{place}")


def export_key(name: str) -> int:
    """Asks whether a file that lists its exports lists a name."""
    return hash_answer(f"export\0{name}")


LISTED = 1
# Asks whether a file lists its exports.
LISTS_EXPORTS = hash_answer("lists exports")
# Asks for everything that others re-export by a star.
EXPORTED = hash_answer("exported")


def name_answer(scope: Scope, name: str) -> int:
    """The bindings of a name, with what they mean in place of numbers."""
    if name not in scope.names and name not in scope.attributes:
        return ABSENT
    places = places_of(scope.file)
    bindings = [_placed(binding, places) for binding in scope.names[name]] if name in scope.names else None
    by_methods = [(places[number], _placed(binding, places)) for number, binding in scope.attributes.get(name, ())]
    return hash_answer(repr((bindings, by_methods)))


def _placed(binding: Binding, places: list[str]) -> Binding:
    if binding[0] in _NUMBERED:
        return [str(binding[0]), places[binding[1]]]
    if binding[0] == Bound.ELSEWHERE:
        return [str(binding[0]), places[binding[1]], _placed(binding[2], places)]
    return [*binding]


def head_answer(scope: Scope) -> int:
    """The bases of a class; what a function says of its result; the star imports of a file."""
    stars = scope.file.stars if scope.is_top else ()
    return hash_answer(repr((scope.bases, scope.returns, scope.decorators, scope.is_generator, [*map(list, stars)])))


def exported_answer(file: ScopedFile) -> int:
    """The definitions of a file that others may use, and its re-exports."""
    rows = [(row.name, row.source, row.original) for row in file.reexports]
    return hash_answer(repr((rows, sorted(own_exports(file)))))


def own_exports(file: ScopedFile) -> Iterator[tuple[str, str]]:
    """The top-level definitions of a file that others may use: names and ids."""
    ids = [scope.id.partition(SEPARATOR) for scope in file.scopes if scope.id and without_suffix(scope.id) == scope.id]
    defined = {name: f"{path}{SEPARATOR}{name}" for path, _, name in ids if name and SEPARATOR not in name}
    if not file.exports:
        yield from ((name, target) for name, target in defined.items() if not name.startswith("_"))
    for export in file.exports or ():
        inner, renamed, outer = export.partition(" as ")
        if inner in defined:
            yield outer if renamed else inner, defined[inner]


def answers_of_file(file: ScopedFile) -> Answers:
    """The answers of a Python file to all questions that it does not answer by absence."""
    found = {EXPORTED: exported_answer(file)}
    if file.exports is not None:
        found |= {LISTS_EXPORTS: LISTED, **{export_key(name): LISTED for name in file.exports}}
    for scope, place in zip(file.scopes, places_of(file), strict=True):
        found[head_key(place)] = head_answer(scope)
        for name in {*scope.names, *scope.attributes}:
            found[name_key(place, name)] = name_answer(scope, name)
    return found
