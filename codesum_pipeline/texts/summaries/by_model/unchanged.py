"""Which texts of a model stand although the hash of their input is another: the code that they describe is the same.

What is stored of the code, or what the free writers make of it, may change with a version of codesum: a secret that was
stored is masked by now. Nothing that a model wrote is paid for again because of that. Only where the code of a document
is that of the last build, and no model's text below it differs, does its text stand.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import LEVELS, ChildPair, Level, WrittenBy
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.foundation.store.rows import tuples_of
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.prompting import TextSource

# What is said of a document: the hash of its code, and its language.
Code = tuple[str, str]
# What is said of its text: who wrote it, and its hash.
Text = tuple[str, str]
_NONE: Text = ("", "")


class UnchangedCode:
    """Compares the documents of the last build with the tables of this one, for one level.

    `documents` has the last build until all levels are written. Each table is read at its first use and remembered.
    """

    def __init__(self, workspace: Workspace, level: Level) -> None:
        # A store of its own: no text is made from what is compared here.
        self._tables = workspace.tables.without_base()
        self._key = workspace.key
        self._level = level
        # Texts of this level that a model wrote in this build.
        self._written: dict[str, str] = {}

    def note(self, texts: Mapping[str, str]) -> None:
        """Take in texts, by id with their hashes, that a model wrote at this level in this build."""
        self._written |= texts

    def still_describes(self, source: TextSource, children: Sequence[ChildPair]) -> bool:
        """Whether the text of a document, which was written of `children`, describes the code as it is now."""
        now = {child.id: child.text_hash for child in source.children}
        before = {child.id: child.text_hash for child in children}
        if now.keys() != before.keys() or not self._is_same_code(source.id):
            return False
        changed = [id_ for id_, text_hash in now.items() if before[id_] != text_hash]
        return all(map(self._is_free_all_below, changed))

    def _is_same_code(self, id_: str) -> bool:
        if id_ in self._code:
            return self._code[id_] == self._last_code.get(id_)
        # A folder is the files in it.
        was, is_ = (
            {path: code for path, code in known.items() if SEPARATOR not in path and _is_inside(path, id_)}
            for known in (self._last_code, self._code)
        )
        return bool(is_) and was == is_

    def _is_free_all_below(self, id_: str) -> bool:
        """Whether no model wrote a changed text of a document or of what is in it, then or now."""
        written = (
            each for each, text_hash in self._written.items() if self._last_texts.get(each, _NONE)[1] != text_hash
        )
        return not any(_is_inside(each, id_) for each in (*self._changed_below, *written))

    @cached_property
    def _changed_below(self) -> list[str]:
        """The documents of the levels below with another text that a model wrote, then or now, or another writer."""
        found = []
        for id_, (writer, text_hash) in self._texts.items():
            last_writer, last_hash = self._last_texts.get(id_, _NONE)
            # A version of codesum may find functions without a name where the last one found none.
            if not last_writer and writer != WrittenBy.LLM:
                continue
            if last_writer != writer or (writer == WrittenBy.LLM and last_hash != text_hash):
                found.append(id_)
        return found

    @cached_property
    def _code(self) -> dict[str, Code]:
        """Of each symbol and file of this build."""
        symbols = self._tables.read_or_empty("symbols", self._key, columns=["id", "content_hash", "language"])
        files = self._tables.read_or_empty("file_facts", self._key, columns=["file_path", "content_hash", "language"])
        return _pairs(symbols) | _pairs(files)

    @cached_property
    def _last(self) -> pa.Table:
        names = ["id", "type", "content_hash", "language", "written_by", "text_hash"]
        return self._tables.read_or_empty("documents", self._key, columns=names)

    @cached_property
    def _last_code(self) -> dict[str, Code]:
        is_code = pc.not_equal(self._last["type"], Level.MODULE.value)
        return _pairs(self._last.filter(is_code).select(["id", "content_hash", "language"]))

    @cached_property
    def _last_texts(self) -> dict[str, Text]:
        return _pairs(self._last.select(["id", "written_by", "text_hash"]))

    @cached_property
    def _texts(self) -> dict[str, Text]:
        """Of the levels below, which are written."""
        found: dict[str, Text] = {}
        for level in LEVELS[: LEVELS.index(self._level)]:
            columns = ["id", "written_by", "text_hash"]
            found |= _pairs(self._tables.read_or_empty(texts_table(level), self._key, columns=columns))
        return found


def _pairs(table: pa.Table) -> dict[str, tuple[str, str]]:
    return {id_: (one, two) for id_, one, two in tuples_of(table)}


def _is_inside(id_: str, holder: str) -> bool:
    """Whether a document is another one or is in it."""
    return id_ == holder or holder == ROOT_MODULE or id_.startswith((f"{holder}/", f"{holder}::"))
