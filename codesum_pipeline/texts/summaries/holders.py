"""What holds each definition, in its author's words: the nearest documented class, or the file.

Free texts say what a document is for in these words. They are the first paragraph of a documentation, so that an edit
further down in it writes no text again. What holds a file is in no text: a work tree's overlay has only the files that
differ, and its texts must equal those of a whole index.
"""

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.evidence.inputs import Holder
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.store.last_reading import LastReading
from codesum_pipeline.foundation.store.rows import tuples_of
from codesum_pipeline.foundation.store.workspace import Workspace

_MAX_CHARS = 600


_COLUMNS = {
    "symbols": ["id", "parent_id", "name", "language", "docstring", "type"],
    "file_facts": ["file_path", "language", "docstring"],
}


class Holders(Struct, frozen=True):
    """By id the documented classes and files; `classes_around` has the definition around each class."""

    documented: Mapping[str, Holder]
    classes_around: Mapping[str, str | None]

    @classmethod
    def of(cls, workspace: Workspace, files: Collection[str] | None = None) -> "Holders":
        """Those of a repository's current `symbols` and `file_facts`, or of some of its files."""
        tables, key = workspace.tables, workspace.key
        hashes = (tables.hash_read(table, key, columns=columns) for table, columns in _COLUMNS.items())
        made_from = (*hashes, hash_of(None if files is None else sorted(files)))
        if known := _LAST_HOLDERS.find(made_from):
            return known
        symbols, facts = (tables.read_files(table, key, files, columns=columns) for table, columns in _COLUMNS.items())
        holders = cls.of_tables(symbols, facts)
        _LAST_HOLDERS.keep(made_from, holders, rows=symbols.num_rows)
        return holders

    @classmethod
    def of_tables(cls, symbols: pa.Table, facts: pa.Table) -> "Holders":
        """Those of some rows of both tables, of which `facts` ends with the docstring."""
        classes = symbols.filter(pc.equal(symbols.column("type"), SymbolType.CLASS.value))
        files = {path: Holder(path, path, language, words) for path, language, words in _documented(facts)}
        documented = {
            id_: Holder(id_, name, language, words)
            for id_, name, language, words in _documented(classes.select(["id", "name", "language", "docstring"]))
        }
        return cls(documented | files, dict(tuples_of(classes, ("id", "parent_id"))))

    def of_symbol(self, parent_id: str | None, path: str) -> Holder | None:
        """What holds a definition: the nearest documented class around it, else its file."""
        while parent_id is not None:
            if found := self.documented.get(parent_id):
                return found
            parent_id = self.classes_around.get(parent_id)
        return self.documented.get(path)


# Most steps of a build read the same ones.
_LAST_HOLDERS = LastReading[Holders]()


def _documented(table: pa.Table) -> list[tuple[str, ...]]:
    """The rows whose last column, the documentation, is not empty, with its first paragraph there."""
    some = table.filter(pc.is_valid(table.column("docstring")))
    *heads, docstrings = (column.to_pylist() for column in some.columns)
    rows = zip(*heads, map(first_paragraph, docstrings), strict=True)
    return [row for row in rows if row[-1]]


def first_paragraph(documentation: str) -> str:
    """The lines up to the first blank one, as many as are read."""
    return documentation[: _MAX_CHARS * 4].strip().partition("\n\n")[0][:_MAX_CHARS].rstrip()
