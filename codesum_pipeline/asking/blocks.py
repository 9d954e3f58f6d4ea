"""A message while it is written, block by block: each is handed on once it is whole and its citations were checked."""

import re

from codesum_pipeline.asking.citations import check_citations
from codesum_pipeline.asking.events import BlockWritten, OnEvent, TextCame, TextVoid
from codesum_pipeline.asking.repository_files import RepositoryFiles

_FENCE = re.compile(r"^ {0,3}(```|~~~)")


class MessageBlocks:
    """The blocks of one message after the other. A block ends with an empty line outside of fenced code."""

    def __init__(self, sources: RepositoryFiles, on_event: OnEvent) -> None:
        self._sources = sources
        self._on_event = on_event
        self._waiting = ""
        self._lines: list[str] = []
        self._is_fenced = False

    def hear(self, text: str) -> None:
        """More of the message."""
        self._on_event(TextCame(text))
        *whole, self._waiting = (self._waiting + text).split("\n")
        for line in whole:
            self._take(line)

    def end(self) -> None:
        """The message is whole."""
        self._take(self._waiting)
        self._hand_on()
        self._waiting = ""

    def void(self, reason: str) -> None:
        """What came of this message is no part of an answer."""
        self._waiting, self._lines, self._is_fenced = "", [], False
        self._on_event(TextVoid(reason))

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
