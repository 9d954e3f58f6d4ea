"""The files, or folders, whose texts of a level must be looked at: they were read from something else than when these
texts were written, or what these are written from below them has changed.

A function, a class and a file are written from their own file and from the texts below them, under settings and
versions, and a folder from what is in it: with a file each folder above it is looked at. Where a model writes, its
gates count too, and nothing is known of any file.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import LEVELS, Gate, Level
from codesum_pipeline.foundation.data_model.edge import Context
from codesum_pipeline.foundation.data_model.ids import parent_modules
from codesum_pipeline.foundation.store.last_reading import LastReading
from codesum_pipeline.foundation.store.made_from import MadeFrom, changed_paths, hash_files
from codesum_pipeline.foundation.store.rows import column_names
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing.symbols_step import hash_origins, read_origins

# All that others make of a text follows from these.
_OF_TEXTS = [
    "id", "summary_hash", "text_hash", "shown_hash", "written_by", "model", "prompt_version", "gate", "purpose_source",
]  # fmt: skip
# What texts do not show follows from the same files and folders.
_OF_DOCUMENTS = [
    "id", "type", "file_path", "qualified_name", "signature", "is_placeholder", "parent_id", "written_by",
    "content_hash", "text_hash",
]  # fmt: skip


def changed_files(workspace: Workspace, level: Level) -> set[str] | None:
    """The paths of the files, or folders, whose texts of a level may be others, or are gone; None for all."""
    if workspace.settings.llm.enabled:
        return None
    paths = changed_paths(workspace, texts_table(level), lambda: _origins(workspace, level))
    if paths is None or level is not Level.MODULE:
        return paths
    return {folder for path in paths for folder in parent_modules(path, root=workspace.entry.root_module)}


def note_files(workspace: Workspace, level: Level) -> None:
    """Say, once all texts of a level are in place and none has failed, what they were written from."""
    if not workspace.settings.llm.enabled and not workspace.tables.is_scratch:
        _origins(workspace, level).keep(workspace, texts_table(level))


def is_in_files(ids: pa.ChunkedArray, paths: Collection[str]) -> pa.ChunkedArray:
    """Whether each document of a file, or the file itself, belongs to one of these."""
    return pc.is_in(paths_of(ids), value_set=pa.array([*paths], pa.string()))


def usual_gate(workspace: Workspace) -> Gate:
    """What stops a model at most documents."""
    return Gate.OFFLINE if workspace.settings.offline else Gate.DISABLED


def hash_texts(workspace: Workspace, levels: Sequence[Level], paths: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """For each path the hash of its texts, a column for each level."""
    return [hash_files(workspace, texts_table(level), _OF_TEXTS).at(paths) for level in levels]


def hash_contexts(workspace: Workspace, paths: pa.ChunkedArray) -> pa.ChunkedArray:
    """For each path the hash of the contexts of its documents."""
    return hash_files(workspace, "contexts", column_names(Context)).at(paths)


def hash_documents(workspace: Workspace) -> MadeFrom:
    """For each path the hash of its documents as the lanes read them."""
    return hash_files(workspace, "documents", _OF_DOCUMENTS)


# The plan, a level and what is noted of it look at the same ones.
_LAST_ORIGINS = defaultdict[Level, LastReading[MadeFrom]](LastReading)


def _origins(workspace: Workspace, level: Level) -> MadeFrom:
    """No step depends on these: they only say which rows need not be looked at. What folders are written from is told
    of each file below them."""
    below = (Level.FILE,) if level is Level.MODULE else LEVELS[: LEVELS.index(level)]
    tables, gate = workspace.tables.unrecorded(), str(usual_gate(workspace))
    hashes = (tables.content_hash(texts_table(one), workspace.key, columns=_OF_TEXTS) for one in below)
    made_from = (gate, *hash_origins(workspace), *hashes)
    if known := _LAST_ORIGINS[level].find(made_from):
        return known
    paths, origins = read_origins(workspace).rows.columns
    found = MadeFrom.of_hashes(paths, origins, pa.repeat(gate, len(paths)), *hash_texts(workspace, below, paths))
    _LAST_ORIGINS[level].keep(made_from, found, rows=len(paths))
    return found
