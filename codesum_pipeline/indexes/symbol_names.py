"""The names that a document can be called by, without regard to case."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.indexes.string_table import StringTable


class SymbolNames(Struct, frozen=True):
    """The rows of the documents named `names[k]` are `rows[indptr[k]:indptr[k + 1]]`.

    `aliases` are the names under which files re-export documents."""

    names: StringTable
    rows: Array
    indptr: Array
    aliases: "SymbolNames | None" = None

    def exactly(self, name: str) -> list[int]:
        """The rows of the documents with this name, in row order; those that have it as an alias too."""
        position = self.names.find(name.lower())
        own = [] if position is None else self._rows_at(position)
        others = self.aliases.exactly(name) if self.aliases else []
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
        """The rows of at most `limit` documents whose name is longer than `prefix` and starts with it.

        Shorter names come first.
        """
        wanted = prefix.lower()
        found = self.names.with_prefix(wanted)
        if not found:
            return self.rows[:0]
        # The name that is the prefix itself sorts before all that go on.
        is_name = self.names[found.start] == wanted
        first, last = found.start + is_name, found.stop
        order = np.argsort(np.diff(self.names.offsets[first : last + 1]), kind="stable") + first
        rows = ranges_of(self.rows, self.indptr[order], self.indptr[order + 1])
        return np.array([*islice(dict.fromkeys(rows.tolist()), limit)], dtype=rows.dtype)

    def write(self, path: Path) -> None:
        others = self.aliases or build_names({})
        write_npz(path, self._arrays() | {f"alias_{name}": array for name, array in others._arrays().items()})

    @classmethod
    def map(cls, path: Path) -> "SymbolNames":
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
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    places: Array = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return values[places]


def build_symbol_names(
    documents: Iterable[tuple[str | None, str]], aliases: Iterable[tuple[str, int]] = ()
) -> SymbolNames:
    """The names of documents given in row order as (qualified name or None, path), and further ones of single rows.

    An alias finds its document only in full: it is left out of `with_prefix`.
    """
    rows_by_name: dict[str, list[int]] = {}
    for row, (qualified_name, path) in enumerate(documents):
        for name in names_of(qualified_name, path):
            rows_by_name.setdefault(name, []).append(row)
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
        names = [qualified_name, qualified_name.rpartition(".")[2]]
    else:
        file_name = path.rpartition("/")[2]
        names = [path, file_name, file_name.partition(".")[0]]
    return [name for name in dict.fromkeys(name.lower() for name in names) if name]
