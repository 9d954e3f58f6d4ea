"""Which comments of a file that is read by a table document a definition, and which the file."""

import re
from collections.abc import Sequence

from codesum_pipeline.languages.outlines.outline_table import OutlineTable
from codesum_pipeline.symbols.parsing.comments import is_note
from codesum_pipeline.symbols.parsing.outline_findings import Place

_BLANKS = b" \t\r\n\f"
_SHOWN = re.compile(rb"[^ \t\r\n\f]")


class OutlineComments:
    """The comments of one file, by where they begin and end, and the marks before definitions."""

    def __init__(self, table: OutlineTable, source: bytes) -> None:
        self._table, self._source = table, source
        self._by_end: dict[int, Place] = {}
        self._by_start: dict[int, Place] = {}
        self._preambles: dict[int, Place] = {}
        self._documenting: set[int] = set()
        self._after_marks = tuple(mark.encode() for mark in table.after_marks)

    def add(self, comments: Sequence[Place]) -> None:
        """Take comments that the query finds."""
        self._by_end.update((self.shown_end(node.end_byte), node) for node in comments)
        self._by_start.update((node.start_byte, node) for node in comments)

    def add_preambles(self, marks: Sequence[Place]) -> None:
        """Take marks before definitions that the query finds."""
        self._preambles.update((self.shown_end(node.end_byte), node) for node in marks)

    def around(self, node: Place, start: int, texts: Sequence[Place]) -> tuple[int, int, list[Place]]:
        """Where the marks before a definition begin, where those on its own line do, and what documents it: comments
        above, `texts`, else a comment below."""
        code_start, line_start, docs = self._before(start)
        docs += texts or (() if docs else self._after(node))
        self._documenting.update(node.start_byte for node in docs)
        return code_start, line_start, docs

    def _before(self, start: int) -> tuple[int, int, list[Place]]:
        """Where the marks before a definition begin, where those on its own line do, and the comments right above them
        that document it: a licence at the top of the file does not."""
        docs: list[Place] = []
        position = code_start = line_start = start
        while True:
            end = self.shown_end(position)
            rows = self._source.count(b"\n", end, position)
            if (preamble := self._preambles.get(end)) is not None and not docs:
                line_start = preamble.start_byte if position == line_start and not rows else line_start
                position = code_start = preamble.start_byte
                continue
            comment = self._by_end.get(end)
            if comment is None or rows > 1 or comment.start_byte in self._documenting or not self._is_alone(comment):
                break
            docs.insert(0, comment)
            position = comment.start_byte
        if docs and not self.shown_end(docs[0].start_byte):
            written = self._written(docs)
            docs = [] if "\n" in written and is_note(written) else docs
        return code_start, line_start, docs

    def _after(self, node: Place) -> list[Place]:
        """The comment right below a definition, or beside one of one line, that documents it."""
        if not self._table.after_marks:
            return []
        end = self.shown_end(node.end_byte)
        shown = _SHOWN.search(self._source, end)
        comment = self._by_start.get(shown.start()) if shown else None
        if comment is None or not self._source.startswith(self._after_marks, comment.start_byte):
            return []
        has_lines = self._source.find(b"\n", node.start_byte, node.end_byte) >= 0
        belongs_to_last_part = has_lines and self._column(comment) > self._column(node)
        return [] if belongs_to_last_part or self._source.count(b"\n", end, comment.start_byte) > 1 else [comment]

    def end_without_following(self, node: Place, end: int) -> int:
        """The end of a definition without comments at it that are no further in than its line: where nothing closes a
        definition, a grammar may give it the documentation of what follows."""
        last = self.shown_end(end)
        while (comment := self._by_end.get(last)) is not None and comment.start_byte > node.start_byte:
            if not self._is_alone(comment) or self._column(comment) > self._indent(node):
                break
            last = end = self.shown_end(comment.start_byte)
        return end

    def _indent(self, place: Place) -> int:
        """How far in the line of a place begins."""
        line = self._source.rfind(b"\n", 0, place.start_byte) + 1
        shown = _SHOWN.search(self._source, line)
        return shown.start() - line if shown else 0

    def _column(self, place: Place) -> int:
        return place.start_byte - self._source.rfind(b"\n", 0, place.start_byte) - 1

    def _is_alone(self, comment: Place) -> bool:
        """Whether nothing stands before a comment on its line."""
        start = comment.start_byte
        return not self._source[start - self._column(comment) : start].strip()

    def of_file(self) -> list[Place]:
        """The first run of comments, before any code, that documents no definition and is no licence; to ask
        when all definitions were."""
        runs: list[list[Place]] = []
        position = 0
        for _, node in sorted(self._by_start.items()):
            between = self._source[position : node.start_byte]
            if node.start_byte in self._documenting or between.strip():
                break
            if not runs or between.count(b"\n") > 1:
                runs.append([])
            runs[-1].append(node)
            position = self.shown_end(node.end_byte)
        return next((run for run in runs if not is_note(self._written(run))), [])

    def _written(self, run: Sequence[Place]) -> str:
        return self._source[run[0].start_byte : run[-1].end_byte].decode("latin-1")

    def shown_end(self, position: int) -> int:
        """The end of the last byte before a place that is not blank."""
        while position and self._source[position - 1] in _BLANKS:
            position -= 1
        return position
