"""The files whose texts of a level need not be looked at: they were read from the same as when these texts were
written, and what these are written from below them has not changed.

A function, a class and a file are written from their own file and from the texts below them, under settings and
versions; where a model writes, its gates count too, and nothing is known of any file.
"""

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.store.made_from import MadeFrom
from codesum_pipeline.foundation.store.rows import join_by_row
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing.symbols_step import read_origins

_BELOW = {Level.FUNCTION: (), Level.CLASS: (Level.FUNCTION,), Level.FILE: (Level.FUNCTION, Level.CLASS)}
_OF_TEXTS = ["id", "text_hash", "shown_hash", "written_by"]


def unchanged_files(workspace: Workspace, level: Level) -> pa.StringArray:
    """The paths of the files whose texts of a level below modules are as they must be."""
    last = MadeFrom.of_last_build(workspace, texts_table(level))
    if workspace.settings.llm.enabled or not len(last.rows):
        return pa.array([], pa.string())
    now = _origins(workspace, level)
    return now.rows["id"].filter(now.is_same_in(last)).combine_chunks()


def note_files(workspace: Workspace, level: Level) -> None:
    """Say, once all texts of a level are in place and none has failed, what they were written from."""
    if level in _BELOW and not workspace.settings.llm.enabled and not workspace.tables.is_scratch:
        _origins(workspace, level).keep(workspace, texts_table(level))


def is_in_files(ids: pa.ChunkedArray, paths: pa.StringArray) -> pa.ChunkedArray:
    """Whether each document of a file, or the file itself, belongs to one of these."""
    return pc.is_in(paths_of(ids), value_set=paths)


def _origins(workspace: Workspace, level: Level) -> MadeFrom:
    """No step depends on these: they only say which rows need not be looked at."""
    files, tables = read_origins(workspace), workspace.tables.unrecorded()
    columns = [*files.columns]
    for below in _BELOW[level]:
        texts = tables.read_or_empty(texts_table(below), workspace.key, columns=_OF_TEXTS)
        shown = pc.binary_join_element_wise(*(pc.fill_null(texts[name], "") for name in _OF_TEXTS), " ")
        rows = pc.index_in(paths_of(texts["id"]), value_set=files["file_path"].combine_chunks())
        columns.append(join_by_row(rows, shown, files.num_rows, "\n"))
    return MadeFrom.of_columns(files["file_path"], *columns)
