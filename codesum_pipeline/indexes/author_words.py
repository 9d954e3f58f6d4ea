"""What an author wrote of a document that a model wrote about: the lanes read it beside the model's text.

A model's text replaces the extractive one, which opens with the author's own
words; what they are searched by must not be lost with it.
"""

from collections.abc import Collection, Iterator

import pyarrow as pa

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.extractive.upper import author_opening, author_opening_of_function
from codesum_pipeline.summaries.functions import docstrings_of
from codesum_pipeline.summaries.outline import read_outline
from codesum_pipeline.summaries.placeholder import UpperInput

# Of builds in which a model writes: a change makes their lanes anew.
AUTHOR_WORDS_VERSION = "3"


def author_words(ws: Workspace, documents: pa.Table) -> dict[str, str]:
    """By id the opening of what documents it, for those of `documents` (id, type) that have one."""
    ids, levels = (documents.column(name).to_pylist() for name in ("id", "type"))
    by_level = {level: {id_ for id_, found in zip(ids, levels, strict=True) if found == level} for level in Level}
    words: dict[str, str] = {}
    # A document whose documentation cannot be read has none; the step that wrote its text counted it.
    guard = FailureGuard()
    for id_, language, name, docstring in docstrings_of(ws, by_level[Level.FUNCTION]):
        with guard.item(id_):
            words[id_] = author_opening_of_function(docstring, language, name)
    for given in _upper(ws, by_level[Level.CLASS], by_level[Level.FILE], by_level[Level.MODULE]):
        with guard.item(given.id):
            words[given.id] = author_opening(given)
    return {id_: found for id_, found in words.items() if found}


def _upper(
    ws: Workspace, classes: Collection[str], files: Collection[str], folders: Collection[str]
) -> Iterator[UpperInput]:
    if classes:
        yield from (shows.class_head(symbol) for symbol in shows.read_classes(ws) if symbol.id in classes)
    if files:
        yield from (found for found in shows.read_files(ws) if found.id in files)
    if folders:
        readmes = shows.read_readmes(ws, read_outline(ws))
        yield from (shows.module_head(path, ws, readmes) for path in folders)
