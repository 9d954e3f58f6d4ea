"""One published version of an index: arrays are mapped into memory, documents are read when a hit needs them."""

import json
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import BrokenIndex, ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, parent_modules
from codesum_pipeline.foundation.data_model.notebook_cells import NotebookCell, cell_at, cell_fields
from codesum_pipeline.foundation.language_facts.file_languages import is_notebook, language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import unread_languages
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, LocalFiles
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index
from codesum_pipeline.indexes.file_formats.index_files import (
    Callers,
    ConstantUses,
    ShownFields,
    StringTable,
    SymbolNames,
    Uses,
)
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Vectors, map_bytes, map_matrix, map_npy, map_npz
from codesum_pipeline.indexes.file_formats.version_folder import INDEX_SCHEMA_VERSION, Lane, Version, read_version
from codesum_pipeline.search.retrieval.file_names import FileNames


class PublishedIndex(Struct, dict=True, eq=False):
    """One repository's index; row k is the same document in every array but the vectors.

    Row k of the vectors is document `arrays["dense_rows"][k]`. The words of `code` have the documents first and
    then the passages of files: `passage_files[k]` is the document of passage k, ascending.

    `owners` has the long function of some passages: the row of the file, the number of the passage in it, and the row
    of the function.

    Only documents that are `visible` are returned, and of these only the `answering` as hits; None means all. `home` is
    the home that the index was built in, if it differs from the home that is searched: then the index is an overlay,
    stored beside its base.

    What questions need again and again is worked out at the first one and remembered: which documents pass a filter,
    files by their names, and where levels and passages begin.
    """

    version: Version
    arrays: Mapping[str, Array]
    ids: StringTable
    vectors: Mapping[Lane, Vectors]
    words: Mapping[Lane, Bm25Index]
    passage_files: Array
    owners: Array
    names: SymbolNames
    callers: Callers
    uses: Uses
    constants: ConstantUses
    shown: ShownFields
    _lines: npt.NDArray[np.uint8] | None
    _offsets: Array
    visible: npt.NDArray[np.bool_] | None = None
    home: Path | None = None

    @classmethod
    def open(cls, path: Path, *, files: LocalFiles = WHOLE_FOLDER) -> "PublishedIndex":
        """Open the version that a published name points at now, one of the `files` of its home. Everything is mapped
        here, so that the version stays readable when it is replaced and deleted later. Raises `MissingTable` if nothing
        is published, `BrokenIndex` where the index cannot be read."""
        with files.keep_index(path.name):
            return cls._open(path)

    @classmethod
    def _open(cls, path: Path) -> "PublishedIndex":
        while True:
            found = _resolve(path)
            try:
                return cls._map(read_version(found[0]))
            except FileNotFoundError as error:
                # The version was replaced and deleted after its name was read: read the name again. A folder may come
                # back under its digest, so the link is compared and not the folder.
                if _resolve(path) == found:
                    raise BrokenIndex(f"{path}: {error.filename} is missing: run `codesum doctor`") from error

    @classmethod
    def of_version(cls, folder: Path) -> "PublishedIndex":
        return cls._map(read_version(folder))

    @classmethod
    def _map(cls, version: Version) -> "PublishedIndex":
        folder, manifest = version.folder, version.manifest
        if manifest["schema_version"] != INDEX_SCHEMA_VERSION:
            is_newer = manifest["schema_version"] > INDEX_SCHEMA_VERSION
            way_out = "upgrade codesum here" if is_newer else f"`codesum index {manifest['repo']}` brings it up to date"
            raise BrokenIndex(
                f"{folder}: index schema version {manifest['schema_version']}, this package reads "
                f"{INDEX_SCHEMA_VERSION}: {way_out}"
            )
        for name in version.damaged_files(read_content=False):
            # Raises `FileNotFoundError` for a missing file; others have another size than was written.
            (folder / name).stat()
            raise BrokenIndex(f"{folder / name} is damaged: run `codesum doctor`")
        arrays = map_npz(folder / paths.DOCUMENT_ARRAYS)
        dimensions = manifest["embedder"]["dimensions"]
        return cls(
            version=version,
            arrays=arrays,
            ids=StringTable(arrays["ids"], arrays["id_offsets"]),
            vectors={lane: map_matrix(folder / name, dimensions) for lane, name in paths.VECTOR_FILES.items()},
            words={lane: Bm25Index.map_file(folder / name) for lane, name in paths.BM25_FILES.items()},
            passage_files=map_npy(folder / paths.PASSAGES),
            owners=map_npy(folder / paths.PASSAGE_OWNERS),
            names=SymbolNames.map_file(folder / paths.SYMBOL_NAMES),
            callers=Callers.map_file(folder / paths.CALLERS),
            uses=Uses.map_file(folder / paths.USES),
            constants=ConstantUses.map_file(folder / paths.CONSTANTS),
            shown=ShownFields.map_file(folder / paths.SHOWN_FIELDS),
            _lines=map_bytes(folder / paths.DOCUMENTS) if manifest["counts"]["documents"] else None,
            _offsets=map_npy(folder / paths.OFFSETS),
        )

    @property
    def repo(self) -> str:
        return str(self.version.manifest["repo"])

    @property
    def slug(self) -> str | None:
        """`owner/name`, where the repository's location has one."""
        slug: str | None = self.version.manifest["slug"]
        return slug

    @property
    def commit(self) -> str:
        return str(self.version.manifest["commit"])

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def masks(self) -> dict[Hashable, npt.NDArray[np.bool_]]:
        """Which documents pass, for filters of earlier questions."""
        return {}

    @cached_property
    def answering(self) -> npt.NDArray[np.bool_] | None:
        """The visible documents but namespaces, which are in the names of what they hold; None means all."""
        are_namespaces = self.arrays["is_namespace"]
        if not are_namespaces.any():
            return self.visible
        return ~are_namespaces if self.visible is None else self.visible & ~are_namespaces

    @cached_property
    def file_names(self) -> FileNames:
        return FileNames.of((row, self.ids[row]) for row in self.rows_at(Level.FILE))

    @cached_property
    def unread_programs(self) -> list[str]:
        """The languages of its programs that no grammar reads, those of most files first."""
        languages = Counter(language_of_path(self.ids[row]) for row in self.rows_at(Level.FILE))
        return [name for name, _ in languages.most_common() if name in unread_languages()]

    @cached_property
    def dense_rows(self) -> Array:
        return self.arrays["dense_rows"]

    @cached_property
    def level_starts(self) -> list[int]:
        """The row where each level begins, and how many documents there are."""
        starts: list[int] = np.searchsorted(self.arrays["level"], np.arange(len(LEVELS) + 1)).tolist()
        return starts

    @cached_property
    def confirmed_uses(self) -> Uses:
        """The uses that a compiler's index confirms."""
        return self.uses.confirmed

    @cached_property
    def files_with_passages(self) -> tuple[Array, Array]:
        """The files that have passages, and the first passage of each."""
        is_first = np.ones(len(self.passage_files), dtype=np.bool_)
        is_first[1:] = self.passage_files[1:] != self.passage_files[:-1]
        firsts = is_first.nonzero()[0]
        return self.passage_files[firsts], firsts

    @cached_property
    def owned_passages(self) -> tuple[Array, Array]:
        """The passages that are in long functions, ascending, and these functions."""
        files, numbers, functions = self.owners.T
        places = self.passage_files.searchsorted(files) + numbers
        is_there = places < len(self.passage_files)
        is_there[is_there] = self.passage_files[places[is_there]] == files[is_there]
        return places[is_there], functions[is_there]

    @cached_property
    def dense_starts(self) -> list[int]:
        """Where among the vectors each level begins, and how many there are."""
        starts: list[int] = np.searchsorted(self.dense_rows, self.level_starts).tolist()
        return starts

    @property
    def unread_count(self) -> int:
        """How many definitions could not be read."""
        return len(self.arrays["unread_lines"])

    def unread_lines(self, path: str) -> list[int]:
        """The lines of a file that look like a definition and could not be read as one."""
        row = self.row(path) if self.unread_count else None
        found: list[int] = (
            [] if row is None else self.arrays["unread_lines"][self.arrays["unread_rows"] == row].tolist()
        )
        return found

    @cached_property
    def has_notebooks(self) -> bool:
        return len(self.arrays["cell_rows"]) > 0

    def cell_at(self, path: str, line: int | None) -> NotebookCell | None:
        """The cell that has a line of a notebook; None for any other file."""
        if line is None or not self.has_notebooks or not is_notebook(path):
            return None
        row = self.row(path)
        if row is None:
            return None
        first, end = self.arrays["cell_rows"].searchsorted([row, row + 1])
        return cell_at(self.arrays["cell_lines"][first:end].tolist(), line)

    def rows_of(self, level: Level) -> slice:
        number = LEVELS.index(level)
        return slice(*self.level_starts[number : number + 2])

    def rows_at(self, level: Level) -> range:
        rows = self.rows_of(level)
        return range(rows.start, rows.stop)

    def level_of(self, row: int) -> Level:
        return LEVELS[self.arrays["level"][row]]

    def row(self, id_: str) -> int | None:
        """The row of a document id, or None."""
        for level in LEVELS:
            rows = self.rows_of(level)
            found = self.ids.find(id_, start=rows.start, end=rows.stop)
            if found is not None:
                return found if self.shows(found) else None
        return None

    def rows_by_name(self, names: Sequence[str]) -> dict[str, list[int]]:
        """The rows of the documents with some names, given in lower case, by those names that are there. Of a name that
        only namespaces have: the files that open these."""
        found = self.names.rows_by_name(names)
        are_namespaces = self.arrays["is_namespace"]
        if self.answering is not None:
            for name, rows in found.items():
                if are_namespaces[rows].any():
                    others = [row for row in rows if not are_namespaces[row]]
                    found[name] = others or np.unique(self.arrays["file_row"][rows]).tolist()
        return found

    def without(self, folders: Collection[str]) -> "PublishedIndex":
        """The same index without what is below some folders, and without the folders above, whose texts tell of it."""
        visible = np.ones(len(self), dtype=np.bool_) if self.visible is None else self.visible.copy()
        above = {parent for folder in folders for parent in parent_modules(f"{folder}/x")}
        for row, id_ in enumerate(self.ids):
            if id_ in above or any(id_.startswith(f"{folder}/") for folder in folders):
                visible[row] = False
        return replace(self, visible=visible)

    def shows(self, row: int) -> bool:
        """Whether a document is there."""
        return self.visible is None or bool(self.visible[row])

    def may_answer(self, row: int) -> bool:
        """Whether a document may be a hit."""
        return self.answering is None or bool(self.answering[row])

    def document(self, row: int) -> dict[str, Any]:
        """The whole document, with its provenance."""
        document: dict[str, Any] = json.loads(self.line(row))
        return document

    def line(self, row: int) -> bytes:
        if self._lines is None:
            raise IndexError(f"row {row} of an index without documents")
        start, end = self._offsets[row : row + 2].tolist()
        return self._lines[start:end].tobytes()

    def check_embedder(self, embedder: Embedder) -> None:
        """Raise `ConfigurationError` if another model made the vectors."""
        made_by = self.version.manifest["embedder"]
        if made_by["model_id"] != embedder.model_id or made_by["query_prompt"] != embedder.query_prompt:
            raise ConfigurationError(
                f"repository {self.repo!r}: its vectors are by {made_by['model_id']!r}, the query's would be by "
                f"{embedder.model_id!r}: set embedder to {made_by['name']!r}, or run `codesum index {self.repo}`"
            )

    def check_query(self, vector: Vectors) -> None:
        """Raise `ConfigurationError` for a vector of another length: the provider changed the model behind a name."""
        made_by = self.version.manifest["embedder"]
        if len(vector) != made_by["dimensions"]:
            raise ConfigurationError(
                f"repository {self.repo!r}: its vectors by {made_by['model_id']!r} have {made_by['dimensions']} "
                f"numbers, the query's has {len(vector)}: run `codesum index {self.repo} --force`"
            )


class IndexedDocument(Struct, frozen=True, eq=False):
    """One document of one index."""

    index: PublishedIndex
    row: int

    @property
    def repo(self) -> str:
        return self.index.repo

    @property
    def id(self) -> str:
        return self.index.ids[self.row]

    @property
    def level(self) -> Level:
        return self.index.level_of(self.row)

    @property
    def importance(self) -> float:
        return float(self.index.arrays["importance"][self.row])

    @property
    def path(self) -> str:
        """The file or folder that contains it, or that it is."""
        return self.id.partition(SEPARATOR)[0]

    def shown(self) -> dict[str, Any]:
        """The fields that hits show, with the cell of a notebook."""
        shown = self.index.shown.of_row(self.row)
        return shown | cell_fields(self.index.cell_at(self.path, shown["start_line"]))

    def document(self) -> dict[str, Any]:
        """All its fields, provenance too."""
        return self.index.document(self.row)


def _resolve(path: Path) -> tuple[Path, tuple[int, int]]:
    try:
        link = path.lstat()
        return path.parent / path.readlink(), (link.st_ino, link.st_mtime_ns)
    except FileNotFoundError as error:
        raise MissingTable(f"repository {path.name!r} has no index yet: run `codesum index {path.name}`") from error
    except OSError as error:
        raise BrokenIndex(f"{path} is no link to a version: run `codesum doctor`") from error
