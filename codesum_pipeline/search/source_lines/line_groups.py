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
from codesum_pipeline.foundation.language_facts.file_languages import ROLES, FileRole
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
# What the lines of a file are that is no test and no code of others.
_KINDS = {FileRole.PROSE: LineKind.COMMENT, FileRole.HISTORY: LineKind.COMMENT, FileRole.DATA: LineKind.STRING}
_KINDS_BY_ROLE = np.array([_KINDS.get(role, LineKind.CODE) for role in ROLES], dtype=np.int64)


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

    def kinds_of(self, files: Numbers) -> Numbers:
        """The kinds of most lines of some files, as numbers."""
        rows, arrays = files + self.index.rows_of(Level.FILE).start, self.index.arrays
        kinds: Numbers = np.where(arrays["is_test"][rows], int(LineKind.TEST), _KINDS_BY_ROLE[arrays["role"][rows]])
        kinds[arrays["is_vendored"][rows]] = LineKind.VENDORED
        return kinds


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
    stream = _Stream.of(searched)
    found = find_matches(pattern, [*stream.texts()], most_lines=most_lines, timeout_s=timeout_s)
    groups: list[LineGroup] = []
    holders: dict[int, _LineHolders] = {}
    left, is_more = most_lines, False
    for (place, file), spans in stream.located(found.spans).items():
        stop_if_cancelled()
        if place not in holders:
            holders[place] = _LineHolders(searched[place])
        lines = _lines_of(searched[place].texts.of_file(file), spans)
        is_more = len(lines) > left
        if not left:
            break
        groups += (
            group for group in holders[place].group(file, lines[:left]) if searched[place].passes(group.document.row)
        )
        left -= min(len(lines), left)
    groups.sort(key=lambda group: (group.kind, -group.document.importance, group.document.repo, group.document.row))
    return MatchingLines(groups, found.stopped or (_tell_more(most_lines, groups, searched) if is_more else ""))


def _tell_more(most_lines: int, groups: Sequence[LineGroup], searched: Sequence[SearchedTexts]) -> str:
    """That there are more lines than were looked at, and where these are."""
    having, among = len({group.document.repo for group in groups}), len({each.index.repo for each in searched})
    where = f" in {having:,} of {among:,} repositories" if among > 1 else ""
    return (
        f"more than {count_noun(most_lines, 'line')} match; only the first ones{where} were looked at, those of code "
        "before those of prose, data and tests"
    )


class _Stream(Struct, frozen=True):
    """The texts of all files that are searched, one after the other, in the order in which lines of their kinds stand
    in an answer: what is beyond a limit would have been the last.

    The file `files[k]` of the index `places[k]` begins at `starts[k]` of the stream, and is the bytes `own[0, k]` to
    `own[1, k]` of its index.
    """

    searched: Sequence[SearchedTexts]
    starts: Numbers
    places: Numbers
    files: Numbers
    own: Numbers

    @classmethod
    def of(cls, searched: Sequence[SearchedTexts]) -> "_Stream":
        files, none = [each.files() for each in searched], np.zeros(0, dtype=np.int64)
        both = [*zip(searched, files, strict=True)]
        order = np.concatenate([none, *(each.kinds_of(some) for each, some in both)]).argsort(kind="stable")
        begin = np.concatenate([none, *(each.texts.starts[some] for each, some in both)])[order]
        end = np.concatenate([none, *(each.texts.starts[some + 1] for each, some in both)])[order]
        places = np.repeat(np.arange(len(files)), [len(some) for some in files])[order]
        starts = np.cumsum(end - begin) - (end - begin)
        return cls(searched, starts, places, np.concatenate([none, *files])[order], np.stack([begin, end]))

    def texts(self) -> Iterator[memoryview]:
        """The stream; the texts of neighbours in one index are one."""
        breaks = ((np.diff(self.places) != 0) | (np.diff(self.files) != 1)).nonzero()[0] + 1
        firsts, ends = [0, *breaks.tolist()], [*breaks.tolist(), len(self.files)]
        for first, end in zip(firsts, ends, strict=True) if len(self.files) else ():
            text = self.searched[self.places[first]].texts.text
            yield text[self.own[0, first] : self.own[1, end - 1]].data

    def located(self, spans: Sequence[Span]) -> Mapping[tuple[int, int], list[Span]]:
        """The matches of each file of each index, from the beginning of its text, in the order of the stream."""
        found: dict[tuple[int, int], list[Span]] = defaultdict(list)
        # Of several files that begin at one place, all but the last are empty.
        numbers = self.starts.searchsorted([start for start, _ in spans], side="right") - 1
        places, files, starts = (each[numbers].tolist() for each in (self.places, self.files, self.starts))
        for (start, end), place, file, before in zip(spans, places, files, starts, strict=True):
            found[place, file].append((start - before, end - before))
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
        first = -_HEAD_LINES if holder is None else int(self._index.shown.lines[holder][0])
        if holder is not None and line.number < first + _HEAD_LINES:
            name = own_name(self._index.ids[holder]).encode()
            at = place_of_word(name, line.text)
            if at is not None and not _has_name(text, line, first, name):
                return any(start < at + len(name) and end > at for start, end in line.spans)
        return any(self._defines_constant(path, line, span) for span in line.spans)

    def _defines_constant(self, path: str, line: _LineInFile, span: Span) -> bool:
        name = line.text[slice(*span)].decode("utf-8", "replace")
        if not name.isidentifier() or not gives_value(line.text, *span):
            return False
        return any(id_.startswith(f"{path}::") for id_ in self._index.constants.named(name))


def _has_name(text: bytes, line: _LineInFile, first: int, name: bytes) -> bool:
    """Whether a name stands in the lines from the `first` of a definition to one of its lines, without that."""
    count = line.number - first + 1
    return any(place_of_word(name, each) is not None for each in text[: line.start].rsplit(b"\n", count)[-count:-1])
