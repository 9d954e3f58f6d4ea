"""Which documents a search may answer with.

Filters become one mask of rows per index, which every ranking applies before it is cut to its depth: where ten
documents pass, ten are found. An index remembers its masks, so that the next question with the same filters is as fast
as one without.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.languages import LANGUAGES, language_of_path

Mask = npt.NDArray[np.bool_]

# Several people ask a server, with filters of their own.
_MASKS_REMEMBERED = 16
_NEAREST_SHOWN = 3
_EXCEPT = "!"
# In a line of JSON without spaces; inside a text, quotes have backslashes before them.
_LANGUAGE = re.compile(rb',"language":"([^"\\]*)"')
_WILDCARDS = re.compile(r"[*?\[\]]+")


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
    language and for a malformed pattern."""
    patterns = tuple(dict.fromkeys(map(_pattern, paths)))
    for pattern in patterns:
        _matcher([pattern.removeprefix(_EXCEPT)])
    return Filters(tuple(dict.fromkeys(map(_language, languages))), patterns, tests)


def check_filters(indexes: Sequence[PublishedIndex], filters: Filters) -> None:
    """Raise `ConfigurationError` for a language that no document of any index has, and for a path that matches none."""
    asked = ", ".join(dict.fromkeys(index.repo for index in indexes))
    wanted = [pattern for pattern in filters.paths if not pattern.startswith(_EXCEPT)]
    if filters.languages:
        known = sorted({_language_of(index, row) for index in indexes for row in _places(index)})
        for language in filters.languages:
            if language not in known:
                raise ConfigurationError(f"nothing in {asked} is in {language!r}; languages are: {', '.join(known)}")
    if wanted:
        names = {_name(index, row) for index in indexes for row in _places(index)}
        for pattern in wanted:
            if not any(map(_matcher([pattern]), names)):
                near = _nearest(pattern, names)
                hint = f"; nearest: {', '.join(near)}" if near else ""
                raise ConfigurationError(f"path {pattern!r} matches nothing in {asked}{hint}")


def allowed_rows(index: PublishedIndex, filters: Filters) -> Mask | None:
    """Whether each document of an index passes; None where all do."""
    if filters == ANYTHING:
        return index.visible
    mask = index.masks.get(filters)
    if mask is None:
        if len(index.masks) >= _MASKS_REMEMBERED:
            index.masks.clear()
        # Files and modules pass or not, and what stands in a file passes with it.
        passes = np.zeros(len(index), dtype=np.bool_)
        is_wanted = _judge(filters.paths)
        for row in _places(index):
            passes[row] = (not filters.languages or _language_of(index, row) in filters.languages) and is_wanted(
                _name(index, row)
            )
        files = index.arrays["file_row"]
        stands_in_file = files >= 0
        passes[stands_in_file] = passes[files[stands_in_file]]
        if filters.tests is not WhichTests.IN:
            passes &= index.arrays["is_test"] == (filters.tests is WhichTests.ONLY)
        mask = index.masks[filters] = passes if index.visible is None else passes & index.visible
    return mask


def _judge(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test of whether the patterns, in any order, let a name pass."""
    wanted = [pattern for pattern in patterns if not pattern.startswith(_EXCEPT)]
    unwanted = [pattern.removeprefix(_EXCEPT) for pattern in patterns if pattern.startswith(_EXCEPT)]
    is_wanted, is_unwanted = _matcher(wanted), _matcher(unwanted)
    return lambda name: (not wanted or is_wanted(name)) and not is_unwanted(name)


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    # Thirty milliseconds, for which a search without patterns does not wait.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns, backend="simple").match_file
    except ValueError as error:
        raise ConfigurationError(f"path {patterns[0]!r} is no pattern as in .gitignore: {error}") from error


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
        near = difflib.get_close_matches(name, sorted(LANGUAGES), n=1, cutoff=0.0)[0]
        raise ConfigurationError(f"unknown language {written!r}; the nearest is {near!r}")
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
    near = [by_path[path] for path in difflib.get_close_matches(literal, by_path, n=_NEAREST_SHOWN)]
    near += [by_name[name] for name in difflib.get_close_matches(last, by_name, n=_NEAREST_SHOWN)]
    return list(dict.fromkeys(near))[:_NEAREST_SHOWN]
