"""The texts below a level, as the writers of the level are shown them."""

from collections.abc import Collection, Iterable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.evidence.inputs import ChildText
from codesum_pipeline.foundation.data_model.document import Level, TextRow, WrittenBy
from codesum_pipeline.foundation.store.rows import rows_with
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.outline import DocumentTree

# What a text's hash, as those above it are shown it, is told by.
OF_HEADS = ("id", "text_hash", "shown_hash", "written_by")


class Texts:
    """The texts below a level: the hashes of all, and the words of those that a writer is shown.

    Of levels whose texts belong to a file, those `of_files`. `own` is the level itself and `previous` what is known of
    its texts of the last build, for documents that hold others of their level; `add_written` replaces those that are
    written anew.
    """

    def __init__(
        self,
        workspace: Workspace,
        *levels: Level,
        own: Level | None = None,
        previous: pa.Table | None = None,
        of_files: Collection[str] | None = None,
    ) -> None:
        self._workspace = workspace
        # This build's before the last one's: a name may have changed its kind.
        self._levels = (*levels, own) if own else levels
        self._heads: dict[str, tuple[str, bool]] = {}
        self._words: dict[str, tuple[str, tuple[str, ...]]] = {}
        names = [*OF_HEADS]
        read, key = workspace.tables.read, workspace.key
        if of_files is not None:
            read = partial(workspace.tables.read_files, paths=of_files)
        tables = [read(texts_table(level), key, columns=names) for level in levels]
        for table in [previous.select(names), *tables] if previous is not None else tables:
            is_placeholder = pc.equal(table.column("written_by"), WrittenBy.PLACEHOLDER.value)
            # A parent is written again where it would be shown something else.
            hashes = pc.coalesce(table.column("shown_hash"), table.column("text_hash"))
            heads = zip(hashes.to_pylist(), is_placeholder.to_pylist(), strict=True)
            self._heads.update(zip(table.column("id").to_pylist(), heads, strict=True))

    def add_written(self, rows: Iterable[TextRow]) -> None:
        """Take in texts that were just written."""
        for row in rows:
            self._heads[row.id] = (row.shown_hash or row.text_hash, row.written_by is WrittenBy.PLACEHOLDER)
            self._words[row.id] = (row.text.summary, row.text.keywords)

    def has_text(self, id_: str) -> bool:
        """Whether a document has a text of one of the levels."""
        return id_ in self._heads

    def heads(self, id_: str, outline: DocumentTree) -> list[ChildText]:
        """The children of one document, without their words."""
        return [
            ChildText(child.id, child.name, child.level, *self._heads[child.id])
            for child in outline.children.get(id_, ())
        ]

    def children(self, ids: Iterable[str], outline: DocumentTree) -> dict[str, tuple[ChildText, ...]]:
        """The children of some documents with their words."""
        heads = {id_: self.heads(id_, outline) for id_ in ids}
        words = self._read_words({child.id for found in heads.values() for child in found})
        return {
            id_: tuple(ChildText(c.id, c.name, c.level, c.text_hash, c.is_placeholder, *words[c.id]) for c in found)
            for id_, found in heads.items()
        }

    def _read_words(self, ids: Collection[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The summary and keywords of each document."""
        found = {id_: self._words[id_] for id_ in ids if id_ in self._words}
        for level in self._levels:
            if missing := set(ids) - found.keys():
                paths = {*paths_of(pa.array([*missing], pa.string())).to_pylist()}
                tables, key = self._workspace.tables, self._workspace.key
                texts = tables.read_files(texts_table(level), key, paths, columns=["id", "text"])
                found |= _words_in(rows_with(texts, missing))
        return found


def _words_in(texts: pa.Table) -> dict[str, tuple[str, tuple[str, ...]]]:
    summaries, keywords = (pc.struct_field(texts.column("text"), name).to_pylist() for name in ("summary", "keywords"))
    return dict(zip(texts.column("id").to_pylist(), zip(summaries, map(tuple, keywords), strict=True), strict=True))
