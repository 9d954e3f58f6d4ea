"""Which texts are written again, and why: one comparison, the same for every level.

A text is a function of its id, its writer and what that writer is shown. The
`summary_hash` covers the last two, so a text is kept exactly where its id
and `summary_hash` are unchanged; the rest of the comparison only names the cause.
"""

from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Cause, ChildPair, HistoryEvent, Level, WrittenBy
from codesum_pipeline.foundation.store.rows import column_names, from_table, rows_with, tuples_of
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.masking.secrets import mask_secrets


class RequiredDocument(Struct, frozen=True):
    """A document that must exist, or one of the last build: its writer, and the hashes of what that writer is shown."""

    id: str
    writer: str
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str


@lru_cache(maxsize=64)
def kind_of_writer(writer: str) -> WrittenBy:
    """Which kind of writer has this name."""
    return WrittenBy(writer.partition("/")[0])


class Rewrite(Struct, frozen=True):
    """One text that is written, why, and the ids that caused it."""

    id: str
    cause: Cause
    cause_ids: tuple[str, ...]


class LastTexts:
    """The last build's texts of one level; `rows` is their table where it is already read.

    Most texts are kept, so of all only ids and hashes are read; the causes are looked up for the others. The history is
    read for the first text that is new, and remembered.
    """

    def __init__(self, workspace: Workspace, level: Level, rows: pa.Table | None = None) -> None:
        self._workspace = workspace
        self._level = level
        self._rows = rows
        table = self._columns(["id", "summary_hash"])
        self._hashes: dict[str, str] = dict(tuples_of(table))

    @classmethod
    def of_files(cls, workspace: Workspace, level: Level, files: Collection[str] | None) -> "LastTexts":
        """Those of some files, or of all."""
        if files is None:
            return cls(workspace, level)
        names = column_names(RequiredDocument)
        return cls(
            workspace, level, workspace.tables.read_files(texts_table(level), workspace.key, files, columns=names)
        )

    def decide(self, wanted: Sequence[RequiredDocument], *, force: bool) -> list[Rewrite]:
        """What to write of `wanted`, sorted by id; the rest is kept."""
        changed = [document for document in wanted if self._hashes.get(document.id) != document.summary_hash]
        origins = self.of([document.id for document in changed if document.id in self._hashes])
        rewrites = [self._rewrite(document, origins.get(document.id)) for document in changed]
        if force:
            names = {document.id for document in changed}
            rewrites += [
                Rewrite(document.id, Cause.FORCED, (document.id,)) for document in wanted if document.id not in names
            ]
        return sorted(rewrites, key=lambda rewrite: rewrite.id)

    @property
    def ids(self) -> Collection[str]:
        """The documents that have a text."""
        return self._hashes.keys()

    def removed(self, wanted_ids: Collection[str]) -> list[str]:
        """The ids that have a text and must not exist any more."""
        return sorted(self._hashes.keys() - set(wanted_ids))

    def _rewrite(self, wanted: RequiredDocument, before: RequiredDocument | None) -> Rewrite:
        """What a document itself shows outranks its children as a cause, since it would have caused it alone."""
        own = (wanted.id,)
        if before is None:
            # A text that had been removed and returns unchanged.
            is_restored = (wanted.id, wanted.summary_hash) in self._ever_written
            return Rewrite(wanted.id, Cause.RESTORED if is_restored else Cause.NEW, own)
        # Above functions a model is shown other metadata than the extractive writer: their hashes do not compare.
        was, is_ = (kind_of_writer(one.writer) is WrittenBy.LLM for one in (before, wanted))
        turned = None if was == is_ else Cause.UPGRADED if is_ else Cause.DOWNGRADED
        if turned and self._level is not Level.FUNCTION:
            return Rewrite(wanted.id, turned, own)
        if before.own_hash != wanted.own_hash:
            return Rewrite(wanted.id, Cause.CONTENT, own)
        # The children, or what holds a function, that came, went or read otherwise.
        changed = {(c.id, c.text_hash) for c in wanted.children} ^ {(c.id, c.text_hash) for c in before.children}
        if turned or not changed or before.writer != wanted.writer:
            return Rewrite(wanted.id, turned or (Cause.PROMPT if is_ else Cause.SETTINGS), own)
        # An earlier version may have stored an id with a secret in it.
        causes = {mask_secrets(id_).text for id_, _ in changed}
        cause = Cause.CONTENT if self._level is Level.FUNCTION else Cause.CHILD
        return Rewrite(wanted.id, cause, tuple(sorted(causes)))

    def of(self, ids: Collection[str]) -> dict[str, RequiredDocument]:
        """What the texts of some documents were written from, by id; those without a text are left out."""
        if not ids:
            return {}
        table = self._columns(column_names(RequiredDocument))
        return {row.id: row for row in from_table(rows_with(table, ids), RequiredDocument)}

    def _columns(self, names: list[str]) -> pa.Table:
        if self._rows is not None:
            return self._rows.select(names)
        return self._workspace.tables.read_or_empty(texts_table(self._level), self._workspace.key, columns=names)

    @cached_property
    def _ever_written(self) -> set[tuple[str, str]]:
        names = ["id", "summary_hash", "level", "event"]
        table = self._workspace.tables.read_or_empty("document_history", self._workspace.key, columns=names)
        of_level = pc.equal(table.column("level"), self._level.value)
        rows = table.filter(pc.and_(of_level, pc.equal(table.column("event"), HistoryEvent.WRITTEN.value)))
        return {*tuples_of(rows, ("id", "summary_hash"))}
