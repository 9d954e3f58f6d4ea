"""What parsers wrote down of each file for the graph; a file's long text is read when it is asked for, part by part."""

from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import sha1_hex
from codesum_pipeline.foundation.data_model.scopes import Row
from codesum_pipeline.foundation.store.made_from import MadeFrom, hash_files
from codesum_pipeline.foundation.store.table_by_parts import TableByParts
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing.text import NO_REFERENCES

_TABLE = "file_facts"
_REFERENCES = "references"
_LONG = ["file_path", _REFERENCES]
_SHORT = ["file_path", "language", "exports", "reexports"]


class FactsRow(dict[str, Any]):
    """The row of one file, with the hash of its `references`, which are read each time that they are asked for."""

    def __init__(self, short: Row, hash_: str, *, is_silent: bool, read: Callable[[], str]) -> None:
        super().__init__(short)
        self.hash, self.is_silent, self._read = hash_, is_silent, read

    def __missing__(self, name: str) -> str:
        if name != _REFERENCES:
            raise KeyError(name)
        return self._read()


def read_facts(ws: Workspace) -> list[Row]:
    """The rows of all files, in the order of paths."""
    short = ws.tables.read(_TABLE, ws.key, columns=_SHORT)
    paths = short["file_path"].combine_chunks()
    hashes = hash_files(ws, _TABLE, _LONG).at(short["file_path"])
    silent = MadeFrom.of_columns(paths, paths, pa.repeat(NO_REFERENCES, len(paths))).rows["hash"]
    texts = _LongTexts(ws.tables.by_parts(_TABLE, ws.key, columns=_LONG))
    columns = zip(short.to_pylist(), hashes.to_pylist(), pc.equal(hashes, silent).to_pylist(), strict=True)
    return [
        FactsRow(row, hash_, is_silent=is_silent, read=partial(texts.read, number, row["file_path"]))
        for number, (row, hash_, is_silent) in enumerate(columns)
    ]


def hash_of_references(row: Row) -> str:
    """A hash of what a row says to the graph besides its short columns."""
    return row.hash if isinstance(row, FactsRow) else sha1_hex(row[_REFERENCES])


def says_nothing(row: Row) -> bool:
    """Whether a file has nothing to resolve."""
    return row.is_silent if isinstance(row, FactsRow) else row[_REFERENCES] == NO_REFERENCES


class _LongTexts:
    """The texts of the rows of a table by their numbers; a part that was read is kept."""

    def __init__(self, parts: TableByParts) -> None:
        self._parts = parts
        self._starts = [0, *accumulate(parts.sizes())]
        self._read: dict[int, pa.Table] = {}

    def read(self, row: int, path: str) -> str:
        """The text of a row, which is that of the file at a path."""
        part = bisect_right(self._starts, row) - 1
        if row < self._starts[-1]:
            if part not in self._read:
                self._read[part] = self._parts.read(part)
            rows, at = self._read[part], row - self._starts[part]
            if rows["file_path"][at].as_py() == path:
                found: str = rows[_REFERENCES][at].as_py()
                return found
        raise BrokenStore(
            f"table {_TABLE!r} of repository {self._parts.repo!r} was replaced by another build while this one read "
            "it: run the same command again"
        )
