"""The files of a question's repositories, as its indexes have them, and an answer's citations (`path:line` or
`path:from-to`), which are checked against these files.

A message is checked while it is written: each block is passed on once it is complete.
"""

import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.question_answering.turn_events import BlockWritten, OnEvent, TextAdded, TextVoided
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.data_model.markdown import with_closed_fence
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query
from codesum_pipeline.source.files.path_rules import is_bundled

_MOST_FITTING = 50


class FileRef(Struct, frozen=True):
    """A file of a repository."""

    repo: str
    path: str


class FileStanding(Struct, frozen=True):
    """What an index knows of a file: how important it is, how much it defines, and whether a build made it from other
    files."""

    importance: float
    definitions: int = 0
    is_bundled: bool = False


class RepositoryFiles(Struct, eq=False):
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
        """The commit of a repository's index."""
        return self._index(repo).commit

    def text(self, file: FileRef) -> str | None:
        """A file's text; None if the file is missing, deleted in the work tree, or no text."""
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

    def indexed_files(self) -> dict[FileRef, FileStanding]:
        """The indexed files, without tests and copies of others' code."""
        found: dict[FileRef, FileStanding] = {}
        for index in self.indexes:
            importance, of_file = index.arrays["importance"], index.arrays["file_row"]
            definitions = np.bincount(of_file[of_file >= 0], minlength=len(index))
            left_out = index.arrays["is_test"] | index.arrays["is_vendored"]
            for row in _files(index):
                if not left_out[row]:
                    path = index.ids[row]
                    found[FileRef(index.repo, path)] = FileStanding(
                        float(importance[row]), int(definitions[row]), is_bundled(path)
                    )
        return found

    def fitting(self, question: str) -> list[FileRef]:
        """The files that fit a question well, best first."""
        found = answer_query(self.indexes, question, embedder=self.embedder, top=_MOST_FITTING, levels=(Level.FILE,))
        return [FileRef(hit.repo, hit.file_path) for hit in found.hits] if found.fits_well else []

    def _index(self, repo: str) -> PublishedIndex:
        return next(index for index in self.indexes if index.repo == repo)


def _files(index: PublishedIndex) -> Iterator[int]:
    return filter(index.shows, index.rows_at(Level.FILE))


_CITATION = re.compile(
    r"(?<![\w/.:@+~-])(?:\./)?(?P<path>(?:[\w.@+~\-]{1,255}+/)*+[\w.@+~\-]{1,255}+):L?(?P<first>\d{1,9})(?:[-\u2013]L?(?P<last>\d{1,9}))?(?![\w/])"
)
_DROPPED = "\0"
_OPENING = " \t\n([`"


class CheckedText(Struct, frozen=True):
    """A text whose citations all resolve, the number of these, and the number of those taken out."""

    text: str
    kept: int
    dropped: int


def check_citations(text: str, sources: RepositoryFiles) -> CheckedText:
    """Take out citations of lines that the sources do not have."""
    kept = dropped = 0

    def judged(match: re.Match[str]) -> str:
        nonlocal kept, dropped
        verdict = _resolves(match, sources)
        if verdict is None:
            return match[0]
        kept, dropped = kept + verdict, dropped + (not verdict)
        return match[0] if verdict else _DROPPED

    checked = _CITATION.sub(judged, text)
    return CheckedText(_without_dropped(checked) if dropped else text, kept, dropped)


def end_of_cut(text: str) -> str:
    """A text that was cut: without a citation that its end may have cut in two, and with its fence of code closed."""
    last = deque(_CITATION.finditer(text), maxlen=1)
    if last and last[0].end() == len(text):
        text = text[: last[0].start()].rstrip(_OPENING)
    return with_closed_fence(text.rstrip())


def _resolves(match: re.Match[str], sources: RepositoryFiles) -> bool | None:
    """Whether the sources have the lines; None for text that is no citation: a port, a time."""
    path, first = match["path"], int(match["first"])
    last = int(match["last"] or first)
    texts = [text for repo in sources.repos if (text := sources.text(FileRef(repo, path))) is not None]
    if not texts and "/" not in path and language_of_path(path) is None:
        return None
    return any(1 <= first <= last <= len(text.removesuffix("\n").split("\n")) for text in texts)


def _without_dropped(text: str) -> str:
    """The text without the dropped citations, and without the brackets that held nothing else."""
    marked = re.sub(rf"`{_DROPPED}`", _DROPPED, text)
    marked = re.sub(rf"{_DROPPED}\s*[,;]\s*(?=\S)|[,;]\s*{_DROPPED}", "", marked)
    bare = re.sub(rf"[ \t]?[(\[]\s*{_DROPPED}\s*[)\]]|[ \t]?{_DROPPED}", "", marked)
    return bare.replace(_DROPPED, "")


_FENCE = re.compile(r"^ {0,3}(```|~~~)")


class MessageBlocks:
    """Splits messages into blocks. A block ends with an empty line outside of fenced code."""

    def __init__(self, sources: RepositoryFiles, on_event: OnEvent) -> None:
        self._sources = sources
        self._on_event = on_event
        self._waiting = ""
        self._lines: list[str] = []
        self._is_fenced = False

    def hear(self, text: str) -> None:
        """Take more text of the message."""
        self._on_event(TextAdded(text))
        *whole, self._waiting = (self._waiting + text).split("\n")
        for line in whole:
            self._take(line)

    def end(self, *, is_cut: bool = False) -> None:
        """End the message, which may have been cut."""
        self._take(self._waiting)
        if is_cut:
            self._lines = end_of_cut("\n".join(self._lines)).split("\n")
        self._hand_on()
        self._waiting = ""

    def void(self, reason: str) -> None:
        """Drop the text of this message."""
        self._waiting, self._lines, self._is_fenced = "", [], False
        self._on_event(TextVoided(reason))

    def _take(self, line: str) -> None:
        if _FENCE.match(line):
            self._is_fenced = not self._is_fenced
        if line.strip() or self._is_fenced:
            self._lines.append(line)
        else:
            self._hand_on()

    def _hand_on(self) -> None:
        text = "\n".join(self._lines)
        self._lines, self._is_fenced = [], False
        if text.strip():
            self._on_event(BlockWritten(check_citations(text, self._sources).text))
