"""The lines that match, grouped by the function or class around them, the most telling groups first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.search.retrieval.innermost import innermost_around
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.shelf import Mask
from codesum_pipeline.search.source_lines.line_kinds import LineKind, gives_value, kinds_of, place_of_word
from codesum_pipeline.search.source_lines.matching import LinePattern, find_matches
from codesum_pipeline.search.source_lines.packed_texts import PackedTexts

Span = tuple[int, int]
Numbers = npt.NDArray[np.int64]
# An answer that has more lines answers nothing; and of one line, so many matches are marked.
MOST_LINES = 10_000
MOST_MARKED = 20
# The name of a definition stands in its first lines, behind decorators and a type.
_HEAD_LINES = 12


class SearchedTexts(Struct, frozen=True):
    """The texts of an index, and which of its documents are searched; None means all."""

    index: PublishedIndex
    texts: PackedTexts
    allowed: Mask | None

    def files(self) -> Numbers:
        """The numbers of the files that are searched: those that have a document which is, such as a test in a file of
        code."""
        rows = self.index.rows_of(Level.FILE)
        if self.allowed is None:
            return np.arange(rows.stop - rows.start)
        found: Numbers = np.unique(self.index.arrays["file_row"][self.allowed]).astype(np.int64)
        numbers: Numbers = found[found >= rows.start] - rows.start
        return numbers

    def passes(self, row: int) -> bool:
        """Whether the lines that a document holds are searched."""
        return self.allowed is None or bool(self.allowed[row])

    def runs(self, files: Numbers) -> Iterator[memoryview]:
        """The texts of some files; those of neighbours are one."""
        ends = np.append((np.diff(files) != 1).nonzero()[0] + 1, len(files)).tolist()
        first = 0
        for end in ends if len(files) else ():
            start, stop = self.texts.starts[files[first]], self.texts.starts[files[end - 1] + 1]
            yield self.texts.text[start:stop].data
            first = end


class MatchingLine(Struct, frozen=True):
    """A line by its number, its bytes without the line end, and where in them matches are, of many the first ones."""

    number: int
    text: bytes
    spans: tuple[Span, ...]
    kind: LineKind


class LineGroup(Struct, frozen=True):
    """What holds some lines: the innermost function or class, else the file."""

    document: IndexedDocument
    kind: LineKind
    lines: list[MatchingLine]


class MatchingLines(Struct, frozen=True):
    """Groups, the most telling first, then the most important. `stopped` says why there may be more lines."""

    groups: list[LineGroup]
    stopped: str


def find_lines(
    pattern: LinePattern, searched: Sequence[SearchedTexts], *, timeout_s: float, most_lines: int | None = None
) -> MatchingLines:
    """The lines of some texts that match: the first `MOST_LINES`, or another number. Raises `ConfigurationError` for a
    pattern that cannot be searched for."""
    most_lines = MOST_LINES if most_lines is None else most_lines
    files = [each.files() for each in searched]
    views = [view for each, some in zip(searched, files, strict=True) for view in each.runs(some)]
    found = find_matches(pattern, views, most_lines=most_lines, timeout_s=timeout_s)
    stream = _Stream.of(searched, files)
    groups: list[LineGroup] = []
    left, is_more = most_lines, False
    for place, by_file in stream.located(found.spans).items():
        holders = _LineHolders(searched[place])
        for file, spans in by_file.items():
            stop_if_cancelled()
            lines = _lines_of(searched[place].texts.of_file(file), spans)
            is_more = is_more or len(lines) > left
            groups += (
                group for group in holders.group(file, lines[:left]) if searched[place].passes(group.document.row)
            )
            left -= min(len(lines), left)
    groups.sort(key=lambda group: (group.kind, -group.document.importance, group.document.repo, group.document.row))
    more = f"more than {count_noun(most_lines, 'line')} match; only the first ones were looked at" if is_more else ""
    return MatchingLines(groups, found.stopped or more)


class _Stream(Struct, frozen=True):
    """Where the file `files[k]` of the index `places[k]` begins in the stream."""

    starts: Numbers
    places: Numbers
    files: Numbers

    @classmethod
    def of(cls, searched: Sequence[SearchedTexts], files: Sequence[Numbers]) -> "_Stream":
        sizes = [np.diff(each.texts.starts)[some] for each, some in zip(searched, files, strict=True)]
        ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *sizes]))
        places = np.repeat(np.arange(len(files)), [len(some) for some in files])
        return cls(ends[:-1], places, np.concatenate([np.zeros(0, dtype=np.int64), *files]))

    def located(self, spans: Sequence[Span]) -> Mapping[int, Mapping[int, list[Span]]]:
        """The matches of each file of each index, from the beginning of its text."""
        found: dict[int, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
        # Of several files that begin at one place, all but the last are empty.
        numbers = self.starts.searchsorted([start for start, _ in spans], side="right") - 1
        for (start, end), number in zip(spans, numbers.tolist(), strict=True):
            before = int(self.starts[number])
            found[int(self.places[number])][int(self.files[number])].append((start - before, end - before))
        return found


class _LineInFile(Struct, frozen=True):
    """A line that begins at a byte of its file."""

    number: int
    start: int
    text: bytes
    spans: tuple[Span, ...]


def _lines_of(text: npt.NDArray[np.uint8], spans: Sequence[Span]) -> list[_LineInFile]:
    """The lines of a file that have matches, ascending."""
    ends = (text == ord("\n")).nonzero()[0]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends + 1])
    numbers = ends.searchsorted([start for start, _ in spans]).tolist()
    by_line: dict[int, list[Span]] = {}
    for number, span in zip(numbers, spans, strict=True):
        by_line.setdefault(number, []).append(span)
    content, found = text.data, []
    for number, those in by_line.items():
        first, end = int(starts[number]), int(ends[number])
        within = tuple((start - first, stop - first) for start, stop in those[:MOST_MARKED])
        found.append(_LineInFile(number + 1, first, content[first:end].tobytes().removesuffix(b"\r"), within))
    return found


class _LineHolders:
    """The functions and classes of one index, by the lines that they have."""

    def __init__(self, searched: SearchedTexts) -> None:
        self._index, self._texts = searched.index, searched.texts
        self._first_file = self._index.rows_of(Level.FILE).start
        levels = self._index.arrays["level"]
        rows = np.isin(levels, [LEVELS.index(Level.FUNCTION), LEVELS.index(Level.CLASS)]).nonzero()[0]
        if self._index.answering is not None:
            rows = rows[self._index.answering[rows]]
        of_file = self._index.arrays["file_row"][rows]
        order = of_file.argsort(kind="stable")
        self._rows, self._files = rows[order], of_file[order]

    def group(self, file: int, lines: Sequence[_LineInFile]) -> Iterator[LineGroup]:
        """The groups of the lines of a file."""
        row = self._first_file + file
        rows = self._rows[slice(*self._files.searchsorted([row, row + 1]))]
        holders = innermost_around(self._index, rows, [line.number for line in lines])
        by_holder: dict[int, list[MatchingLine]] = {}
        for line, kind, holder in zip(lines, self._kinds(file, lines, holders), holders, strict=True):
            found = MatchingLine(line.number, line.text, line.spans, kind)
            by_holder.setdefault(row if holder is None else holder, []).append(found)
        for holder, some in by_holder.items():
            yield LineGroup(IndexedDocument(self._index, holder), min(line.kind for line in some), some)

    def _kinds(self, file: int, lines: Sequence[_LineInFile], holders: Sequence[int | None]) -> list[LineKind]:
        row = self._first_file + file
        arrays, path = self._index.arrays, self._index.ids[row]
        if arrays["is_vendored"][row]:
            return [LineKind.VENDORED] * len(lines)
        if arrays["is_test"][row]:
            return [LineKind.TEST] * len(lines)
        text = self._texts.of_file(file).tobytes()
        kinds = kinds_of(path, text, [line.start + line.spans[0][0] for line in lines])
        for at, (line, holder) in enumerate(zip(lines, holders, strict=True)):
            if arrays["is_test"][row if holder is None else holder]:
                kinds[at] = LineKind.TEST
            elif kinds[at] is LineKind.CODE and self._is_definition(path, text, line, holder):
                kinds[at] = LineKind.DEFINITION
        return kinds

    def _is_definition(self, path: str, text: bytes, line: _LineInFile, holder: int | None) -> bool:
        """Whether a match touches the name of what its line defines: of the innermost function or class, or of a
        constant."""
        if holder is not None:
            first = int(self._index.shown.lines[holder][0])
            name = own_name(self._index.ids[holder]).encode()
            at = place_of_word(name, line.text) if line.number < first + _HEAD_LINES else None
            if at is not None and not _has_name(text, line, first, name):
                return any(start < at + len(name) and end > at for start, end in line.spans)
        return any(self._defines_constant(path, line, span) for span in line.spans)

    def _defines_constant(self, path: str, line: _LineInFile, span: Span) -> bool:
        name = line.text[slice(*span)].decode("utf-8", "replace")
        if self._index.constants is None or not name.isidentifier() or not gives_value(line.text, *span):
            return False
        return any(id_.startswith(f"{path}::") for id_ in self._index.constants.named(name))


def _has_name(text: bytes, line: _LineInFile, first: int, name: bytes) -> bool:
    """Whether a name stands in the lines from the `first` of a definition to one of its lines, without that."""
    count = line.number - first + 1
    return any(place_of_word(name, each) is not None for each in text[: line.start].rsplit(b"\n", count)[-count:-1])
