"""The files of a question's repositories, as the indexes that answer it have them."""

import threading
from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import answer
from codesum_pipeline.tools.sources import SourceReader

_MOST_FITTING = 50


class FileRef(Struct, frozen=True):
    """A file of a repository."""

    repo: str
    path: str


class RepositoryFiles(Struct, frozen=True):
    """Reads each file once, for several threads. A work tree may have two indexes, first that of the commit."""

    sources: SourceReader
    embedder: Embedder
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def indexes(self) -> Sequence[PublishedIndex]:
        return self.sources.indexes

    @property
    def repos(self) -> list[str]:
        """The repositories, each once."""
        return list(dict.fromkeys(index.repo for index in self.indexes))

    def commit(self, repo: str) -> str:
        """The commit that a repository's index stands for."""
        return self._index(repo).commit

    def text(self, file: FileRef) -> str | None:
        """A file's text; None where the file is missing, deleted in the work tree, or no text."""
        ours = [index for index in self.indexes if index.repo == file.repo]
        is_deleted = all(index.row(file.path) is None for index in ours) and any(
            replace(index, visible=None).row(file.path) is not None for index in ours
        )
        if "\n" in file.path or is_deleted:
            return None
        with self._lock:
            return self.sources.text(file.repo, file.path)

    def paths(self, repo: str) -> list[str]:
        """The indexed files of a repository: no model reads files that are kept out of the index."""
        return [index.ids[row] for index in self.indexes if index.repo == repo for row in _files(index)]

    def root(self, repo: str) -> str:
        """The folder that a repository's index covers, with a slash behind it; "" for all of the repository."""
        index = self._index(repo)
        tops = [index.ids[row] for row in index.rows_at(Level.MODULE) if index.arrays["parent_row"][row] < 0]
        return f"{tops[0]}/" if tops and tops[0] != ROOT_MODULE else ""

    def indexed_files(self) -> dict[FileRef, float]:
        """The indexed files, without tests and copies of others' code, with the importance of each."""
        found: dict[FileRef, float] = {}
        for index in self.indexes:
            importance = index.arrays["importance"]
            left_out = index.arrays["is_test"] | index.arrays["is_vendored"]
            kept = (row for row in _files(index) if not left_out[row])
            found.update((FileRef(index.repo, index.ids[row]), float(importance[row])) for row in kept)
        return found

    def fitting(self, question: str) -> list[FileRef]:
        """The files that fit a question well, best first."""
        found = answer(self.indexes, question, embedder=self.embedder, top=_MOST_FITTING, levels=(Level.FILE,))
        return [FileRef(hit.repo, hit.file_path) for hit in found.hits] if found.fits_well else []

    def _index(self, repo: str) -> PublishedIndex:
        return next(index for index in self.indexes if index.repo == repo)


def _files(index: PublishedIndex) -> Iterator[int]:
    return filter(index.shows, index.rows_at(Level.FILE))
