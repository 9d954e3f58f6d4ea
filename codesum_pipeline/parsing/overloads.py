"""Ids of definitions that share a qualified name in one file.

One of them, the implementation, keeps the plain id. Each other gets a suffix
that is read off it: a hash of its signature, with its source only where
another has the same signature, and a count where one has the same source too.
So one that comes or goes moves the id of at most one other, and their order in
the file moves none.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from codesum_pipeline.model.hashing import sha1_hex
from codesum_pipeline.model.ids import SUFFIX_DIGITS, symbol_id

# Part of every parser's version.
IDS_VERSION = 2


class IdentifiedDefinition(Protocol):
    """What ids are made of; `parent` is the number of the definition around it."""

    @property
    def parts(self) -> tuple[str, ...]: ...
    @property
    def parent(self) -> int | None: ...


D = TypeVar("D", bound=IdentifiedDefinition)


class OverloadReader(Struct, Generic[D], frozen=True):
    """How a definition is read: the lower its `rank`, the more it is the implementation; both texts are canonical."""

    rank: Callable[[D], int]
    signature: Callable[[D], str]
    source: Callable[[D], str]


def ids_of(definitions: Sequence[D], file_path: str, reading: OverloadReader[D]) -> list[str]:
    """The id of each definition of a file.

    Of those of one name the lowest rank keeps the plain id; of several, the
    shortest signature, then what stands in the first of their parents, then
    the first source in the order of their texts.
    """
    ids = [symbol_id(file_path, definition.parts) for definition in definitions]
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    for number, id_ in enumerate(ids):
        sharing[id_].append(number)
    plain = sharing.keys()
    # Parents first: their ids are part of the order.
    groups = sorted((group for group in sharing.values() if len(group) > 1), key=lambda g: len(definitions[g[0]].parts))
    for group in groups:
        base = ids[group[0]]
        for number, suffix in _suffixes(_in_order(group, definitions, ids, reading), base, plain):
            ids[number] = base + suffix
    return ids


class _Overload(Struct, frozen=True):
    """One of several definitions of a name; `source` only where another has its rank and signature."""

    rank: int
    signature: str
    parent: str
    source: str
    number: int

    def place(self) -> tuple[int, int, str, str, str, int]:
        """Where it comes among the others: as far as it can be told, by what an edit of a body does not change."""
        return self.rank, len(self.signature), self.signature, self.parent, self.source, self.number

    def hashes(self) -> tuple[str, str]:
        """Of its signature, and of its source too."""
        head = f"{self.rank}\n{self.signature}"
        return _short_hash(head), _short_hash(f"{head}\n{self.source}")


def _in_order(
    group: Sequence[int], definitions: Sequence[D], ids: Sequence[str], reading: OverloadReader[D]
) -> list[_Overload]:
    heads = [(reading.rank(definitions[number]), reading.signature(definitions[number])) for number in group]
    repeated = Counter(heads)
    found = []
    for number, (rank, signature) in zip(group, heads, strict=True):
        definition = definitions[number]
        parent = "" if definition.parent is None else ids[definition.parent]
        source = reading.source(definition) if repeated[rank, signature] > 1 else ""
        found.append(_Overload(rank, signature, parent, source, number))
    return sorted(found, key=_Overload.place)


def _suffixes(overloads: Sequence[_Overload], base: str, plain: Container[str]) -> Iterator[tuple[int, str]]:
    """The suffix of each: the first of its own that no one before it has or could have had."""
    taken: set[str] = set()
    counts: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    for place, overload in enumerate(overloads):
        by_signature, by_source = overload.hashes()
        suffix = ""
        if place:
            suffix = next((one for one in (by_signature, by_source) if one not in taken), "")
            while not suffix or suffix in taken or base + suffix in plain:
                suffix = f"{by_source}-{next(counts[by_source])}"
        taken.update((by_signature, by_source, suffix))
        yield overload.number, suffix


def _short_hash(text: str) -> str:
    return f"#{sha1_hex(text)[:SUFFIX_DIGITS]}"
