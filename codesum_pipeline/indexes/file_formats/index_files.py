"""The files of an index that a query maps into memory: strings, names, uses, and what hits show.

Nothing is read until something is looked up.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import asdict, replace

from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.indexes.file_formats.stored_zip import Array, map_npz, write_npz

# As many as one number holds.
_HEAD_BYTES = 8


class StringTable:
    """The UTF-8 bytes of string k are `content[offsets[k]:offsets[k + 1]]`. `find` and `with_prefix` need the strings
    sorted by those bytes, which is how Python sorts strings. Once it is searched, it remembers their first bytes."""

    def __init__(self, content: Array, offsets: Array) -> None:
        self.content = content
        self.offsets = offsets
        # A query looks at hundreds of strings, and an array takes its time for a single number.
        self._views = (content.data, offsets.data)

    @classmethod
    def of(cls, strings: Sequence[str]) -> "StringTable":
        """Keep the strings in the given order."""
        joined = "".join(strings)
        # Of ASCII strings the lengths in bytes are known.
        sized = strings if joined.isascii() else [string.encode() for string in strings]
        offsets = np.zeros(len(strings) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, sized), dtype=np.int64, count=len(sized)), out=offsets[1:])
        return cls(np.frombuffer(joined.encode(), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> str:
        return self._bytes_at(position).decode()

    def __iter__(self) -> Iterator[str]:
        return (self[position] for position in range(len(self)))

    def to_list(self) -> list[str]:
        """All strings."""
        content, spans = self.content.tobytes(), pairwise(self.offsets.tolist())
        if content.isascii():
            text = content.decode()
            return [text[start:end] for start, end in spans]
        return [content[start:end].decode() for start, end in spans]

    def find(self, string: str, *, start: int = 0, end: int | None = None) -> int | None:
        """The position of a string between two positions, or None."""
        return self._find(string.encode(), start, len(self) if end is None else end)

    def find_all(self, strings: Sequence[str]) -> list[int | None]:
        """The position of each string, or None: of several strings faster than one after the other."""
        wanted, heads = _with_heads(tuple(strings))
        found: list[int | None] = [None] * len(wanted)
        if not len(self):
            return found
        ours, (content, offsets) = self._sorted_heads, self._views
        lows = ours.searchsorted(heads)
        # Most strings have an unknown head, and for most others the first match is the string itself.
        (there,) = (ours.take(lows, mode="clip") == heads).nonzero()
        highs = ours.searchsorted(heads[there], side="right")
        for place, low, high in zip(there.tolist(), lows[there].tolist(), highs.tolist(), strict=True):
            if content[offsets[low] : offsets[low + 1]].tobytes() == wanted[place]:
                found[place] = low
            elif high > low + 1:
                found[place] = self._find(wanted[place], low + 1, high)
        return found

    @cached_property
    def _sorted_heads(self) -> Array:
        return _heads(self.content, self.offsets)

    def with_prefix(self, prefix: str) -> range:
        """The positions of all strings that start with `prefix`, which is not empty."""
        wanted = prefix.encode()
        # No UTF-8 text holds the byte 0xff: this sorts behind every string with the prefix.
        last = wanted + b"\xff" * _HEAD_BYTES
        heads = self._sorted_heads
        low = int(heads.searchsorted(np.uint64(_head(wanted))))
        high = int(heads.searchsorted(np.uint64(_head(last)), side="right"))
        first = self._first_not_below(wanted, low, high)
        return range(first, self._first_not_below(last, first, high))

    def place_of(self, string: str) -> int:
        """The position of the first string that does not sort before this one."""
        return self._first_not_below(string.encode(), 0, len(self))

    def _find(self, wanted: bytes, start: int, end: int) -> int | None:
        position = start if end - start == 1 else self._first_not_below(wanted, start, end)
        return position if position < end and self._bytes_at(position) == wanted else None

    def _first_not_below(self, wanted: bytes, low: int, high: int) -> int:
        return bisect_left(range(high), wanted, low, high, key=self._bytes_at)

    def _bytes_at(self, position: int) -> bytes:
        content, offsets = self._views
        return content[offsets[position] : offsets[position + 1]].tobytes()


# The same strings are looked for in one table after the other.
@lru_cache(maxsize=16)
def _with_heads(strings: tuple[str, ...]) -> tuple[list[bytes], Array]:
    encoded = [string.encode() for string in strings]
    return encoded, np.array(encoded, dtype=f"S{_HEAD_BYTES}").view(">u8").astype(np.uint64)


def _head(string: bytes) -> int:
    """The first eight bytes as one number, which sorts as the strings do where they differ in these."""
    return int.from_bytes(string[:_HEAD_BYTES].ljust(_HEAD_BYTES, b"\0"), "big")


def _heads(content: Array, offsets: Array) -> Array:
    padded = np.concatenate((content, np.zeros(_HEAD_BYTES, dtype=np.uint8)))
    # The number that begins at each byte: a view, in which numbers overlap.
    numbers = np.ndarray(len(content) + 1, dtype=">u8", buffer=padded.data, strides=(1,))
    beyond = np.uint64(8) * (_HEAD_BYTES - np.minimum(np.diff(offsets), _HEAD_BYTES)).astype(np.uint64)
    heads = numbers[offsets[:-1]].astype(np.uint64)
    # Bytes after a short string are cleared; an empty one has none, and numpy cannot shift by all bits.
    return np.where(beyond < 64, heads >> beyond % 64 << beyond % 64, np.uint64(0))


class SymbolNames(Struct, frozen=True):
    """The rows of the documents named `names[k]` are `rows[indptr[k]:indptr[k + 1]]`. `aliases` are the names under
    which files re-export documents."""

    names: StringTable
    rows: Array
    indptr: Array
    aliases: "SymbolNames | None" = None

    def rows_named(self, name: str) -> list[int]:
        """The rows of the documents with this name, in row order; those that have it as an alias too."""
        position = self.names.find(name.lower())
        own = [] if position is None else self._rows_at(position)
        others = self.aliases.rows_named(name) if self.aliases else []
        return sorted({*own, *others}) if others else own

    def rows_by_name(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The rows of the documents with some names, given in lower case, by those names that are there."""
        positions = zip(names, self.names.find_all(names), strict=True)
        found = {name: self._rows_at(position) for name, position in positions if position is not None}
        if self.aliases is not None:
            for name, rows in self.aliases.rows_by_name(names).items():
                found[name] = sorted({*found.get(name, ()), *rows})
        return found

    def with_prefix(self, prefix: str, *, limit: int) -> Array:
        """The rows of at most `limit` documents whose name is longer than `prefix` and starts with it. Shorter names
        come first."""
        wanted = prefix.lower()
        found = self.names.with_prefix(wanted)
        if not found:
            return self.rows[:0]
        # A name equal to the prefix sorts before all longer ones.
        is_name = self.names[found.start] == wanted
        first, last = found.start + is_name, found.stop
        order = np.argsort(np.diff(self.names.offsets[first : last + 1]), kind="stable") + first
        rows = ranges_of(self.rows, self.indptr[order], self.indptr[order + 1])
        return np.array([*islice(dict.fromkeys(rows.tolist()), limit)], dtype=rows.dtype)

    def write(self, path: Path) -> None:
        others = self.aliases or build_names({})
        write_npz(path, self._arrays() | {f"alias_{name}": array for name, array in others._arrays().items()})

    @classmethod
    def map_file(cls, path: Path) -> "SymbolNames":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        aliases = cls._of_arrays({name.removeprefix("alias_"): arrays[name] for name in arrays if "alias_" in name})
        return replace(cls._of_arrays(arrays), aliases=aliases if len(aliases.rows) else None)

    def _arrays(self) -> dict[str, Array]:
        return {"names": self.names.content, "offsets": self.names.offsets, "rows": self.rows, "indptr": self.indptr}

    @classmethod
    def _of_arrays(cls, arrays: Mapping[str, Array]) -> "SymbolNames":
        return cls(StringTable(arrays["names"], arrays["offsets"]), arrays["rows"], arrays["indptr"])

    def _rows_at(self, position: int) -> list[int]:
        start, end = self.indptr[position : position + 2].tolist()
        rows: list[int] = self.rows[start:end].tolist()
        return rows


def ranges_of(values: Array, starts: Array, ends: Array) -> Array:
    """Several ranges of an array, one behind the other."""
    return values[places_between(starts, ends)]


def places_between(starts: Array, ends: Array) -> Array:
    """The places in several ranges, one behind the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    places: Array = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return places


def build_symbol_names(
    documents: Iterable[tuple[str | None, str]], aliases: Iterable[tuple[str, int]] = ()
) -> SymbolNames:
    """The names of documents given in row order as (qualified name or None, path), and further ones of single rows. An
    alias finds its document only in full: it is left out of `with_prefix`."""
    rows_by_name: dict[str, list[int]] = {}
    for row, (qualified_name, path) in enumerate(documents):
        for name in names_of(qualified_name, path):
            if name in rows_by_name:
                rows_by_name[name].append(row)
            else:
                rows_by_name[name] = [row]
    others: dict[str, list[int]] = {}
    for name, row in sorted({(name.lower(), row) for name, row in aliases}):
        if row not in rows_by_name.get(name, ()):
            others.setdefault(name, []).append(row)
    return replace(build_names(rows_by_name), aliases=build_names(others) if others else None)


def build_names(rows_by_name: Mapping[str, Sequence[int]]) -> SymbolNames:
    """Names in lower case with the rows of each, ascending."""
    names = sorted(rows_by_name)
    indptr = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum([len(rows_by_name[name]) for name in names], out=indptr[1:])
    rows = np.array([row for name in names for row in rows_by_name[name]], dtype=np.int32)
    return SymbolNames(StringTable.of(names), rows, indptr)


def names_of(qualified_name: str | None, path: str) -> list[str]:
    """What a person may type for a document, in lower case: its full name, its short one, a file's without ending."""
    if qualified_name:
        name = qualified_name.lower()
        short = name.rpartition(".")[2]
        return [name, short] if short and short != name else [name]
    path = path.lower()
    file_name = path.rpartition("/")[2]
    return [name for name in dict.fromkeys((path, file_name, file_name.partition(".")[0])) if name]


class MappedArrays(Struct, frozen=True):
    """Arrays in one file, each under the name of its field."""

    def write(self, path: Path) -> None:
        write_npz(path, asdict(self))

    @classmethod
    def map_file(cls, path: Path) -> Self:
        """Open what `write` wrote, memory-mapped."""
        return cls(**map_npz(path))


class Callers(MappedArrays, frozen=True):
    """The callers of row k are `rows[indptr[k]:indptr[k + 1]]`, ascending, each once and never k itself."""

    rows: Array
    indptr: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def of(self, rows: npt.NDArray[np.integer]) -> tuple[Array, Array]:
        """How many callers each of some functions and classes has, and those of all, one after the other."""
        starts, ends = self.indptr[rows], self.indptr[rows + 1]
        return ends - starts, ranges_of(self.rows, starts, ends)


# The numbers by which an index knows them.
KINDS = (EdgeKind.CALL, EdgeKind.IMPORT, EdgeKind.INHERIT, EdgeKind.REFERENCE)


class Uses(MappedArrays, frozen=True):
    """The users of row k are `users[indptr[k]:indptr[k + 1]]`, ascending; for each of them `kinds` has a position in
    `KINDS`, and `trusted` says whether a compiler's index confirms the use. The rows are those of functions, classes
    and files; calls by a file are those outside of functions."""

    users: Array
    kinds: Array
    indptr: Array
    trusted: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def users_of(self, row: int, kind: EdgeKind) -> list[int]:
        """What calls, imports, inherits from or refers to a row, ascending."""
        span = slice(*self.indptr[row : row + 2].tolist())
        found: list[int] = self.users[span][self.kinds[span] == KINDS.index(kind)].tolist()
        return found

    @property
    def confirmed(self) -> "Uses":
        """The uses that a compiler's index confirms."""
        before = np.concatenate(([0], np.cumsum(self.trusted)))
        return Uses(self.users[self.trusted], self.kinds[self.trusted], before[self.indptr], self.trusted[self.trusted])

    def used_by_any(self, rows: Sequence[int], kind: EdgeKind) -> list[int]:
        """What any of some rows calls, imports, inherits from or refers to, ascending, each once."""
        is_one = np.isin(self.users, np.array(rows, dtype=self.users.dtype))
        places = (is_one & (self.kinds == KINDS.index(kind))).nonzero()[0]
        found: list[int] = np.unique(self.indptr.searchsorted(places, side="right") - 1).tolist()
        return found


class ConstantUses(MappedArrays, frozen=True):
    """The users of constants, which have no documents: those of the k-th, whose id is the k-th of `ids`, are
    `users[indptr[k]:indptr[k + 1]]`, ascending, as rows of functions, classes and files. The bytes of the ids, which
    are sorted, lie one behind the other between `offsets[k]`, ...; `names` sorts them by their last names."""

    ids: Array
    offsets: Array
    users: Array
    indptr: Array
    names: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def table(self) -> StringTable:
        return StringTable(self.ids, self.offsets)

    def named(self, name: str) -> list[str]:
        """The ids of the constants with a last name, sorted."""
        table, order = self.table, self.names.tolist()
        first = bisect_left(order, name, key=lambda place: own_name(table[place]))
        ids = (table[place] for place in order[first:])
        return sorted(takewhile(lambda id_: own_name(id_) == name, ids))

    def users_of(self, id_: str) -> list[int]:
        """The users of a constant, ascending; none of an unknown one."""
        place = self.table.find(id_)
        return [] if place is None else self.users[slice(*self.indptr[place : place + 2].tolist())].tolist()

    def used_by(self, rows: Sequence[int]) -> list[str]:
        """The ids of the constants that any of some rows uses, sorted."""
        places = np.isin(self.users, np.array(rows, dtype=self.users.dtype)).nonzero()[0]
        found = np.unique(self.indptr.searchsorted(places, side="right") - 1).tolist()
        table = self.table
        return [table[place] for place in found]


LINES = ("start_line", "end_line")
TEXTS = ("qualified_name", "summary", "signature_summary")
NO_LINE = -1


class ShownFields(MappedArrays, frozen=True):
    """`lines` has a row of `LINES` for each document, -1 for none. The UTF-8 bytes of its texts lie one behind the
    other between `offsets[3 * k]`, ... `offsets[3 * k + 3]`; `is_there` has a row that says which it has."""

    lines: Array
    texts: Array
    offsets: Array
    is_there: Array

    def __len__(self) -> int:
        return len(self.lines)

    def of_row(self, row: int) -> dict[str, Any]:
        first = len(TEXTS) * row
        # For a single row, views of the memory are faster than arrays.
        texts, offsets = self.texts.data, self.offsets.data
        ends = offsets[first : first + len(TEXTS) + 1].tolist()
        content = texts[ends[0] : ends[-1]].tobytes()
        there = self.is_there[row].tolist()
        fields: dict[str, Any] = {
            name: content[ends[k] - ends[0] : ends[k + 1] - ends[0]].decode() if there[k] else None
            for k, name in enumerate(TEXTS)
        }
        for name, line in zip(LINES, self.lines[row].tolist(), strict=True):
            fields[name] = None if line == NO_LINE else line
        return fields
