"""An index whose texts hold less than the writer wrote: what each part of a text is worth for search.

`docstring`: the author's words alone. `names`: also the document's name, its
parameters' and its children's, in words. `facts`: the whole text. The lanes
that read code and paths are the same at every level.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.words import identifier_in_words, split_identifier
from codesum_pipeline.foundation.data_model.document import Level, TextRow, WrittenBy, WrittenText
from codesum_pipeline.foundation.data_model.progress import no_progress
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes.lane_texts import author_words
from codesum_pipeline.search.evaluation.scratch import index_texts, scratch_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.texts.summaries.outline import read_outline

TEXT_LEVELS = ("docstring", "names", "facts")


@contextmanager
def index_with(ws: Workspace, parts: str) -> Iterator[PublishedIndex]:
    """The index of a repository that was built, with texts of this level; it goes with the block."""
    with scratch_of(ws) as scratch:
        documents = ws.tables.read("documents", ws.key, columns=["id", "type"])
        written = author_words(ws, documents)
        children = read_outline(ws).children
        for level in Level:
            table = texts_table(level)
            rows = from_table(ws.tables.read(table, ws.key), TextRow)
            below = {row.id: [child.name for child in children.get(row.id, ())] for row in rows}
            kept = [_with_parts(row, parts, written, below[row.id]) for row in rows]
            scratch.tables.write(table, ws.key, to_table(kept, TextRow))
        yield index_texts(scratch, progress=no_progress)


def _with_parts(row: TextRow, parts: str, written: Mapping[str, str], below: Sequence[str]) -> TextRow:
    if parts == "facts" or row.written_by is WrittenBy.PLACEHOLDER:
        return row
    docstring = written.get(row.id, "")
    if parts == "docstring":
        return _with_text(row, WrittenText(docstring, "", ()))
    own = row.id.rpartition("/")[2].replace("::", " ")
    names = [own, *(one.name for one in row.text.inputs), *below]
    words = dict.fromkeys(word for name in names for word in split_identifier(name))
    return _with_text(
        row, WrittenText(" ".join([docstring, *map(identifier_in_words, names)]).strip(), "", tuple(words))
    )


def _with_text(row: TextRow, text: WrittenText) -> TextRow:
    return replace(row, text=text, text_hash=text.text_hash)
