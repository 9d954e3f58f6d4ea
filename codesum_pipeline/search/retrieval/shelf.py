"""The documents of several indexes as if they were one's: which may answer, and which a question's rankings name.

Filters become one mask of rows per index, which every ranking applies before it is cut to its depth: where ten
documents pass, ten are found. An index remembers its masks, so that the next question with the same filters is as fast
as one without.

Rankings name a few thousand documents, however many an index has: the candidates. From there on a document is a *place*
among these, ascending by number, and facts about documents are arrays with one element for each place.
"""

import difflib
import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.nearest_names import nearest_names
from codesum_pipeline.foundation.data_model.patterns import MOST_PATTERNS, read_patterns
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES, language_of_path
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.query import Pointer, rows_pointed_to
from codesum_pipeline.search.retrieval.weights import Numbers, Places, Ranking, ScoredDocuments, Scores

Mask = npt.NDArray[np.bool_]

# Several people ask a server, with filters of their own.
_MASKS_REMEMBERED = 16
_NEAREST_SHOWN = 3
# Of many paths that match nothing, so many have the nearest named.
_HINTS = 3
_LONGEST_LANGUAGE = 60
_EXCEPT = "!"
# In a line of JSON without spaces; inside a text, quotes have backslashes before them.
_LANGUAGE = re.compile(rb',"language":"([^"\\]*)"')
_WILDCARDS = re.compile(r"[*?\[\]]+")
# A bracket without a backslash before it.
_OPENING = re.compile(r"(?<!\\)\[")


class WhichTests(StrEnum):
    """Whether hits may be test code, may not, or must."""

    IN = "in"
    OUT = "out"
    ONLY = "only"


class Filters(Struct, frozen=True):
    """What a document must be; a filter without values lets everything pass. A document is in one of `languages`; a
    module is in that of most of its children. One of `paths` matches its file, or a module's folder, and none of those
    with a leading `!` does; where all have one, the rest passes. They are patterns as in `.gitignore`, from the root of
    the repository: `src/`, `*.go`, `/docs/**/*.md`. A module is test code where all in it is."""

    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tests: WhichTests = WhichTests.IN


ANYTHING = Filters()


def parse_filters(
    *, languages: Iterable[str] = (), paths: Iterable[str] = (), tests: WhichTests = WhichTests.IN
) -> Filters:
    """Filters as people write them: `py` is `python`, `./src` is `src`. Raises `ConfigurationError` for an unknown
    language, for a malformed or long pattern, and for too many."""
    paths = list(paths)
    if len(paths) > MOST_PATTERNS:
        raise ConfigurationError(f"{len(paths):,} paths are given: a search takes at most {MOST_PATTERNS}")
    patterns = tuple(dict.fromkeys(map(_pattern, paths)))
    for pattern in patterns:
        _matcher([pattern.removeprefix(_EXCEPT)])
    return Filters(tuple(dict.fromkeys(map(_language, languages))), patterns, tests)


def check_filters(indexes: Sequence[PublishedIndex], filters: Filters) -> None:
    """Raise `ConfigurationError` for a language that no document of any index has, and for a path that matches none."""
    for _, message in unfit_filters(indexes, filters):
        raise ConfigurationError(message)


def unfit_filters(indexes: Sequence[PublishedIndex], filters: Filters) -> Iterator[tuple[str, str]]:
    """Each language that no document of any index has, and each path that matches none, with what is to be said."""
    repositories = ", ".join(dict.fromkeys(index.repo for index in indexes))
    wanted = [pattern for pattern in filters.paths if not pattern.startswith(_EXCEPT)]
    if filters.languages:
        known = sorted({_language_of(index, row) for index in indexes for row in _places(index)})
        for language in filters.languages:
            if language not in known:
                yield language, f"nothing in {repositories} is in {language!r}; languages are: {', '.join(known)}"
    hints = _HINTS
    names = {_name(index, row) for index in indexes for row in _places(index)} if wanted else ()
    for pattern in wanted:
        if not any(map(_checked(_matcher([pattern])), names)):
            near, hints = _nearest(pattern, names) if hints else [], max(hints - 1, 0)
            hint = f"; nearest: {', '.join(near)}" if near else ""
            yield pattern, f"path {pattern!r} matches nothing in {repositories}{hint}"


def allowed_rows(index: PublishedIndex, filters: Filters) -> Mask | None:
    """Whether each document of an index passes; None where all do."""
    if filters == ANYTHING:
        return index.answering
    mask = index.masks.get(filters)
    if mask is None:
        if len(index.masks) >= _MASKS_REMEMBERED:
            index.masks.clear()
        # The filter applies to files and modules; the documents in a file pass with it.
        passes = np.zeros(len(index), dtype=np.bool_)
        is_wanted = _judge(filters.paths)
        for row in _places(index):
            stop_if_cancelled()
            passes[row] = (not filters.languages or _language_of(index, row) in filters.languages) and is_wanted(
                _name(index, row)
            )
        files = index.arrays["file_row"]
        stands_in_file = files >= 0
        passes[stands_in_file] = passes[files[stands_in_file]]
        if filters.tests is not WhichTests.IN:
            passes &= index.arrays["is_test"] == (filters.tests is WhichTests.ONLY)
        mask = index.masks[filters] = passes if index.answering is None else passes & index.answering
    return mask


def _judge(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test of whether the patterns, in any order, let a name pass."""
    wanted = [pattern for pattern in patterns if not pattern.startswith(_EXCEPT)]
    unwanted = [pattern.removeprefix(_EXCEPT) for pattern in patterns if pattern.startswith(_EXCEPT)]
    is_wanted, is_unwanted = _matcher(wanted), _matcher(unwanted)
    return lambda name: (not wanted or is_wanted(name)) and not is_unwanted(name)


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test of whether a pattern fits a name, also where brackets are letters of names, as in `pages/[id].tsx`, and no
    classes of characters."""
    with_brackets = [pattern for pattern in patterns if _OPENING.search(pattern)]
    as_written = read_patterns(patterns, "path").match_file
    if not with_brackets:
        return as_written
    as_letters = read_patterns([_OPENING.sub(_escaped, pattern) for pattern in with_brackets], "path").match_file
    return lambda name: as_written(name) or as_letters(name)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _checked(matches: Callable[[str], bool]) -> Callable[[str], bool]:
    def match(name: str) -> bool:
        stop_if_cancelled()
        return matches(name)

    return match


def _pattern(written: str) -> str:
    sign = _EXCEPT if written.startswith(_EXCEPT) else ""
    pattern = written.removeprefix(_EXCEPT).removeprefix("./")
    if not pattern.strip():
        raise ConfigurationError(f"path {written!r} is empty: give a folder as src/ or a pattern as *.py")
    # In .gitignore a comment; here a name.
    return sign + (f"\\{pattern}" if pattern.startswith(("#", _EXCEPT)) else pattern)


def _language(written: str) -> str:
    name = written.lower()
    language = name if name in LANGUAGES else language_of_path(f"x.{name}")
    if language is None:
        near = difflib.get_close_matches(name[:_LONGEST_LANGUAGE], sorted(LANGUAGES), n=1, cutoff=0.0)[0]
        raise ConfigurationError(f"unknown language {shorten_text(written)!r}; the nearest is {near!r}")
    return language


def _places(index: PublishedIndex) -> Iterator[int]:
    """The rows of files and modules, whose id is their path."""
    for level in (Level.FILE, Level.MODULE):
        yield from filter(index.shows, index.rows_at(level))


def _name(index: PublishedIndex, row: int) -> str:
    """A path as patterns see it: a folder's ends with a slash."""
    return f"{index.ids[row]}/" if index.level_of(row) is Level.MODULE else index.ids[row]


def _language_of(index: PublishedIndex, row: int) -> str:
    found = _LANGUAGE.search(index.line(row))
    return found[1].decode() if found else ""


def _nearest(pattern: str, paths: Iterable[str]) -> list[str]:
    """Files and folders whose path, or last name, is spelled nearly like the literal part of a pattern."""
    literal = "/".join(part for part in _WILDCARDS.sub("", pattern).split("/") if part).lower()
    by_path: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for path in sorted(paths):
        by_path.setdefault(path.rstrip("/").lower(), path)
        by_name.setdefault(path.rstrip("/").rpartition("/")[2].lower(), path)
    last = literal.rpartition("/")[2]
    near = [by_path[path] for path in nearest_names(literal, [*by_path], most=_NEAREST_SHOWN)]
    near += [by_name[name] for name in nearest_names(last, [*by_name], most=_NEAREST_SHOWN)]
    return list(dict.fromkeys(near))[:_NEAREST_SHOWN]


class Shelf:
    """The documents of several indexes, numbered through index after index, row after row, and which of them pass the
    filters."""

    def __init__(self, indexes: Sequence[PublishedIndex], filters: Filters = ANYTHING) -> None:
        self.indexes = indexes
        self.filters = filters
        # Whether each document passes the filters, by index and of all; None where all do.
        self.allowed = [allowed_rows(index, filters) for index in indexes]
        self.is_allowed: Mask | None = None
        if any(mask is not None for mask in self.allowed):
            masks = zip(indexes, self.allowed, strict=True)
            self.is_allowed = join_arrays(
                [np.ones(len(index), np.bool_) if mask is None else mask for index, mask in masks]
            )
        # The number of the first document of each index, and then of all; likewise for passages and vectors.
        self.starts = [0, *accumulate(map(len, indexes))]
        self.passage_starts = [0, *accumulate(len(index.passage_files) for index in indexes)]
        self.vector_starts = [0, *accumulate(len(index.dense_rows) for index in indexes)]

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, number: int) -> IndexedDocument:
        position = bisect_right(self.starts, number) - 1
        return IndexedDocument(self.indexes[position], number - self.starts[position])

    def gather(self, numbers: Numbers, *names: str) -> list[Array]:
        """Some of the arrays of the documents, for some of these, given in ascending order."""
        parts = [[index.arrays[name][rows] for name in names] for index, _, rows in self.split(numbers)]
        return [*map(join_arrays, zip(*parts, strict=True))]

    def files(self, numbers: Numbers) -> Numbers:
        """The file of each of some documents, which ascend: itself for a file, -1 for a module."""
        found = []
        for index, start, rows in self.split(numbers):
            file_rows = index.arrays["file_row"][rows]
            found.append(np.where(file_rows >= 0, file_rows.astype(np.int64) + start, -1))
        return join_arrays(found)

    def files_of_passages(self, places: Numbers) -> Numbers:
        """The file of each of some passages, given ascending by place."""
        split = self.split(places, self.passage_starts)
        return join_arrays([index.passage_files[some].astype(np.int64) + start for index, start, some in split])

    def of_vectors(self, places: Numbers) -> Numbers:
        """The document of each of some vectors, given ascending by place."""
        split = self.split(places, self.vector_starts)
        return join_arrays([index.dense_rows[some].astype(np.int64) + start for index, start, some in split])

    def callers(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The number of callers of each of some functions and classes, which ascend, and these callers one after the
        other."""
        counts, found = [], []
        for index, start, rows in self.split(numbers):
            count, callers = index.callers.of(rows)
            counts.append(count)
            found.append(callers.astype(np.int64) + start)
        return join_arrays(counts), join_arrays(found)

    def pointed(self, pointers: Sequence[Pointer]) -> Numbers:
        found = [start + row for index, start in self.with_starts() for row in rows_pointed_to(index, pointers)]
        numbers = np.array(found, dtype=np.int64)
        return numbers if self.is_allowed is None else numbers[self.is_allowed[numbers]]

    def with_starts(self) -> Iterator[tuple[PublishedIndex, int]]:
        """Each index and the number of its first document."""
        return zip(self.indexes, self.starts, strict=False)

    def split(
        self, places: Numbers, starts: Sequence[int] | None = None
    ) -> Iterator[tuple[PublishedIndex, int, Numbers]]:
        """The rows of some documents, index by index, each with the number of its first document; at least one index.
        With the starts of passages or vectors, places and rows are those of passages or vectors."""
        if len(self.indexes) == 1 or not len(places):
            yield self.indexes[0], 0, places
            return
        starts = starts or self.starts
        ends = places.searchsorted(starts).tolist()
        for (index, number), start, first, last in zip(self.with_starts(), starts, ends[:-1], ends[1:], strict=False):
            if first < last:
                yield index, number, places[first:last] - start


def join_arrays(parts: Sequence[Array]) -> Array:
    """One or more arrays one behind the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


K = TypeVar("K", bound=Hashable)


class Candidates(Struct, frozen=True):
    """Documents by number, and the files that contain them. `files` are the places of these files: of a file itself,
    of a module -1."""

    numbers: Numbers
    files: Places
    importance: Scores
    is_test: Mask
    is_vendored: Mask
    only_reexports: Mask
    # Positions in `ROLES`.
    roles: Places
    # The place of each document; defined for candidates only.
    _places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, shelf: Shelf, named: Iterable[Numbers]) -> "Candidates":
        """Some documents of a shelf, in any order and as often as it comes, and their files."""
        is_one = np.zeros(len(shelf), dtype=np.bool_)
        is_one[np.concatenate([*named])] = True
        files = shelf.files(is_one.nonzero()[0])
        is_one[files[files >= 0]] = True
        numbers = is_one.nonzero()[0]
        places = np.empty(len(shelf), dtype=np.int32)
        places[numbers] = np.arange(len(numbers))
        files = shelf.files(numbers)
        importance, *others = shelf.gather(numbers, "importance", "is_test", "is_vendored", "only_reexports", "role")
        is_test, is_vendored, only_reexports, roles = others
        return cls(
            numbers=numbers,
            files=np.where(files >= 0, places[files], -1),
            importance=importance,
            is_test=is_test,
            is_vendored=is_vendored,
            only_reexports=only_reexports,
            roles=roles,
            _places=places,
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def places(self, numbers: Numbers) -> Places:
        return self._places[numbers]

    def are_among(self, some: Numbers) -> Mask:
        is_among = np.zeros(len(self._places), dtype=np.bool_)
        is_among[some] = True
        return is_among[self.numbers]

    def rank_all(self, found: Mapping[K, ScoredDocuments], *, limit: int) -> dict[K, Ranking]:
        """At most `limit` of each ranking, best first; ties break by importance, then by number."""
        return {key: self._rank(each, limit) for key, each in found.items()}

    def _rank(self, found: ScoredDocuments, limit: int) -> Ranking:
        places = self.places(found.numbers)
        order = np.lexsort((-self.importance[places], -found.scores))[:limit]
        return Ranking(places[order], found.scores[order].astype(np.float64))

    def rank_files(self, found: ScoredDocuments, *, limit: int) -> Ranking:
        """At most `limit` files, best first; ties break by number."""
        order = (-found.scores).argsort(kind="stable")[:limit]
        return Ranking(self.places(found.numbers[order]), found.scores[order].astype(np.float64))
