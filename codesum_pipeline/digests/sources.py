"""The files that changed documents are cited from, as the mirrors have them."""

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from codesum_pipeline.digests.hunks import Hunk, hunk_of
from codesum_pipeline.model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.model.intents import DocumentChange, DocumentState
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.git import BlobReader

# Changes of one file stand near each other.
_KEPT_FILES = 64

_log = logging.getLogger(__name__)


class RepositorySource(Struct, frozen=True):
    """What a repository is called, None where that could not be found out, and its mirror."""

    name: str | None
    git_dir: Path


class Files:
    """Reads the cited lines of documents, with one git process for each repository that is asked for."""

    def __init__(self, sources: Mapping[str, RepositorySource]) -> None:
        self._sources = sources
        self._readers: dict[str, BlobReader | None] = {}
        self._open = ExitStack()
        self._text = lru_cache(maxsize=_KEPT_FILES)(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def hunk(self, change: DocumentChange) -> Hunk | None:
        """How its lines changed; None where what was or what is there cannot be read, or has no lines."""
        before, after = (self._lines(change, state) for state in (change.before, change.after))
        if (change.before and before is None) or (change.after and after is None):
            return None
        return hunk_of(before, after, change.state.file_path)

    def _lines(self, change: DocumentChange, state: DocumentState | None) -> str | None:
        if state is None or state.blob is None:
            return None
        text = self._text(change.repository, state.blob, change.language)
        if text is None or not state.start_line:
            return text
        return "\n".join(text.split("\n")[state.start_line - 1 : state.end_line or state.start_line])

    def _read(self, repository: str, blob: str, language: str) -> str | None:
        reader = self._reader(repository)
        if reader is None:
            return None
        try:
            return decode_text(reader.read(blob), language)
        except SkippedFile:
            return None
        except RepositoryUnavailable as error:
            _log.warning("%s: digests show no lines of it: %s", repository, error)
            self._readers[repository] = None
            return None

    def _reader(self, repository: str) -> BlobReader | None:
        if repository not in self._readers:
            source = self._sources.get(repository)
            git_dir = source.git_dir if source and source.git_dir.exists() else None
            self._readers[repository] = self._open.enter_context(BlobReader(git_dir)) if git_dir else None
        return self._readers[repository]
