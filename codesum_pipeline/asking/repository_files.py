"""The files of a question's repositories, as the indexes that answer it have them."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import answer
from codesum_pipeline.source.file_text import read_file
from codesum_pipeline.store.layout import HomeLayout

_MOST_FITTING = 50


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file of a repository."""

    repo: str
    path: str


@dataclass(frozen=True)
class RepositoryFiles:
    """Reads each file once, for several threads. A work tree may have two indexes, first that of the commit."""

    indexes: Sequence[PublishedIndex]
    mirrors: dict[str, Path]
    timeout_s: float
    embedder: Embedder
    _texts: dict[FileRef, str | None] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def repos(self) -> list[str]:
        """The repositories, each once."""
        return list(dict.fromkeys(index.repo for index in self.indexes))

    def commit(self, repo: str) -> str:
        """The commit that a repository's index stands for."""
        return self._index(repo).commit

    def text(self, file: FileRef) -> str | None:
        """A file's text; None where the file is missing or no text."""
        with self._lock:
            if file not in self._texts:
                self._texts[file] = self._read(file)
            return self._texts[file]

    def paths(self, repo: str) -> list[str]:
        """The indexed files of a repository: no model reads files that are kept out of the index."""
        return [index.ids[row] for index in self.indexes if index.repo == repo for row in _files(index)]

    def root(self, repo: str) -> str:
        """The folder that a repository's index covers, with a slash behind it; "" for all of the repository."""
        index = self._index(repo)
        modules = index.rows_of(Level.MODULE)
        tops = [index.ids[row] for row in range(modules.start, modules.stop) if index.arrays["parent_row"][row] < 0]
        return f"{tops[0]}/" if tops and tops[0] != ROOT_MODULE else ""

    def indexed_files(self) -> dict[FileRef, float]:
        """The indexed files, without tests and copies of others' code, with the importance of each."""
        found = {}
        for index in self.indexes:
            importance = index.arrays["importance"]
            left_out = index.arrays["is_test"] | index.arrays["is_vendored"]
            for row in _files(index):
                if left_out[row]:
                    continue
                found[FileRef(index.repo, index.ids[row])] = float(importance[row])
        return found

    def fitting(self, question: str) -> list[FileRef]:
        """The files that fit a question well, best first."""
        found = answer(self.indexes, question, embedder=self.embedder, top=_MOST_FITTING, levels=(Level.FILE,))
        return [FileRef(hit.repo, hit.file_path) for hit in found.hits] if found.fits_well else []

    def _index(self, repo: str) -> PublishedIndex:
        return next(index for index in self.indexes if index.repo == repo)

    def _read(self, file: FileRef) -> str | None:
        """Read a file that the work tree changed from the index of changed files; one that it deleted is missing."""
        ours = [index for index in self.indexes if index.repo == file.repo]
        having = next((index for index in ours if index.row(file.path) is not None), ours[0])
        is_hidden = having.row(file.path) is None and replace(having, visible=None).row(file.path) is not None
        if "\n" in file.path or is_hidden:
            return None
        mirror = self.mirrors[file.repo] if having.home is None else HomeLayout(having.home).mirror(file.repo)
        try:
            return read_file(mirror, commit=having.commit, path=file.path, timeout_s=self.timeout_s)
        except (RepositoryUnavailable, SkippedFile):
            return None


def _files(index: PublishedIndex) -> Iterator[int]:
    return filter(index.shows, index.rows_at(Level.FILE))
