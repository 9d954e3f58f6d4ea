"""Citations of an answer, `path:line` or `path:from-to`, checked against the sources of the index.

A message is checked while it is written: each block is passed on once it is complete.
"""

import re

from msgspec import Struct

from codesum_pipeline.asking.events import BlockWritten, OnEvent, TextAdded, TextVoided
from codesum_pipeline.asking.repository_files import FileRef, RepositoryFiles
from codesum_pipeline.source.languages import language_of_path

_CITATION = re.compile(
    r"(?<![\w/.:@-])(?:\./)?(?P<path>(?:[\w.@+~\-]+/)*[\w.@+~\-]+):L?(?P<first>\d{1,9})(?:[-\u2013]L?(?P<last>\d{1,9}))?(?![\w/])"
)
_DROPPED = "\0"


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

    def end(self) -> None:
        """End the message."""
        self._take(self._waiting)
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
