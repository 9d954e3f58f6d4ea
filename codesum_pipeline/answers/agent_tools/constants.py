"""Constants: they have no documents, but an index says which documents use each.

Their lines are read from the source. In a work tree that differs from its index, a use counts where both texts still
say so.
"""

import re
from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import qualified_parts
from codesum_pipeline.answers.agent_tools.tool_answers import DocumentRow
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

CONSTANT = "constant"
# Between a constant's name and what makes it one, on its line.
_NEAR = r"[^=\n]{0,80}"
_DECLARING = r"\b(?:const|define|final|let|static|val|var)\b"


def constants_named(indexes: Sequence[PublishedIndex], text: str) -> list[tuple[str, str]]:
    """The repositories and ids of the constants that a text names, by its id, or as `NAME` or `Class.NAME`."""
    path, separator, _ = text.partition(SEPARATOR)
    parts = qualified_parts(text) if separator else text.split(".")
    found: dict[tuple[str, str], None] = {}
    for index in indexes:
        for id_ in index.constants.named(parts[-1]) if parts[-1] else ():
            if qualified_parts(id_)[-len(parts) :] == parts and path in (id_.partition(SEPARATOR)[0], text):
                found[index.repo, id_] = None
    return list(found)


class ConstantReader(Struct, frozen=True):
    """The constants of a repository as the caller's tree has them."""

    documents: JoinedDocuments
    sources: SourceReader

    def row(self, id_: str) -> DocumentRow:
        path, line = id_.partition(SEPARATOR)[0], self._line(id_)
        name = ".".join(qualified_parts(id_))
        return DocumentRow(
            repo=self.documents.repo, id=id_, kind=CONSTANT, path=path, start_line=line, end_line=line, text=name
        )

    def file(self, id_: str) -> int | None:
        return self.documents.number(id_.partition(SEPARATOR)[0])

    def users_of(self, id_: str) -> list[int]:
        """The documents that use a constant, most important first."""
        documents = self.documents
        parts = zip(documents.starts, documents.parts, strict=False)
        before = {start + row for start, index in parts for row in index.constants.users_of(id_)}
        found = {int(documents.joined.now[number]) for number in before if self._still_uses(number, id_)}
        return sorted(found, key=lambda number: (-documents.importance[number], number))

    def constants_in(self, paths: Collection[str]) -> list[str]:
        """The ids of the constants of some files, sorted."""
        tables = [index.constants.table for index in self.documents.parts]
        return sorted({id_ for table in tables for id_ in table if id_.partition(SEPARATOR)[0] in paths})

    def used_by(self, numbers: Sequence[int]) -> list[str]:
        """The ids of the constants that any of some documents uses, sorted."""
        documents = self.documents
        found = set[str]()
        for start, index in zip(documents.starts, documents.parts, strict=False):
            now = documents.joined.now[start : start + len(index)]
            rows = np.isin(now, np.array(numbers, dtype=np.int64)).nonzero()[0].tolist()
            ids = index.constants.used_by(rows) if rows else []
            found.update(id_ for id_ in ids if not {*numbers}.isdisjoint(self.users_of(id_)))
        return sorted(found)

    def _still_uses(self, before: int, id_: str) -> bool:
        """Whether a document of an index is in the tree, and names a constant that is there, too."""
        documents, now = self.documents, int(self.documents.joined.now[before])
        if now == NOTHING or documents.is_one_index:
            return now != NOTHING
        file = self.file(id_)
        if file is None:
            return False
        is_unchanged = documents[file].index is documents.parts[0]
        if not is_unchanged and _defining(own_name(id_)).search(self._text(id_)) is None:
            return False
        return now == before or whole_word(own_name(id_)).search(self._lines_of(now)) is not None

    def _line(self, id_: str) -> int | None:
        text = self._text(id_)
        found = _defining(own_name(id_)).search(text) or whole_word(own_name(id_)).search(text)
        return text.count("\n", 0, found.start()) + 1 if found else None

    def _text(self, id_: str) -> str:
        return self.sources.text(self.documents.repo, id_.partition(SEPARATOR)[0]) or ""

    def _lines_of(self, number: int) -> str:
        row, text = self.documents.row(number), self._text(self.documents[number].id)
        if row.kind == Level.FILE or row.start_line is None:
            return text
        return "\n".join(text.split("\n")[row.start_line - 1 : row.end_line])


def whole_word(name: str) -> re.Pattern[str]:
    """Finds a name where it is no part of another."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _defining(name: str) -> re.Pattern[str]:
    """Where a constant gets its value, or is declared."""
    word = rf"(?<!\.){whole_word(name).pattern}"
    return re.compile(rf"{word}{_NEAR}=(?!=)|{_DECLARING}{_NEAR}{word}")
