"""`search_symbols`: functions, classes and files by their names, also nearly so."""

import difflib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow, Name, Names, PagedArguments, row_of
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.levels import known_levels
from codesum_pipeline.tools.paging import fitting
from codesum_pipeline.tools.text import row_line, several_repositories, with_frame

_TOOL = "search_symbols"
_NEAR = 20
_NEAR_CUTOFF = 0.7
_MOST_WITH_PREFIX = 2000


class NameMatch(StrEnum):
    """How a name is like the one that was asked for; the best first."""

    EXACT = "exact"
    PREFIX = "prefix"
    PART = "part"
    NEAR = "near"


class SymbolSearchArguments(PagedArguments):
    """A name, or a part of it."""

    name: Name = Field(min_length=1, description="`name`, `Class.method`, or a part")
    repos: Names = []
    levels: Annotated[Names, Field(description="Default: function, class")] = []


class SymbolHit(DocumentRow):
    """One document, and how its name is like what was asked for."""

    match: NameMatch


class SymbolSearchPage(AnswerPage):
    """Documents by name: the likest first, then the most important."""

    hits: list[SymbolHit] = []


def search_symbols(call: ToolContext, asked: SymbolSearchArguments) -> SymbolSearchPage:
    """Names that are only nearly the same come where there are no others."""
    wanted = asked.name.strip().replace("::", ".").lower()
    if not wanted:
        raise ConfigurationError("the name is empty: give a name or a part of one")
    indexes = call.current(asked.repos)
    start = (call.start(_TOOL, asked, indexes) or (0,))[0]
    levels = known_levels(call, asked.levels) if asked.levels else (Level.FUNCTION, Level.CLASS)
    same = (NameMatch.EXACT, NameMatch.PREFIX, NameMatch.PART)
    found = [each for index in indexes for each in _found(index, wanted, levels, same)]
    found = found or [each for index in indexes for each in _found(index, wanted, levels, (NameMatch.NEAR,))]
    order = list(NameMatch)
    found.sort(key=lambda each: (order.index(each[2]), -each[0].arrays["importance"][each[1]], each[0].repo, each[1]))
    hits = (SymbolHit(**row_of(index, row).model_dump(), match=match) for index, row, match in found[start:])
    kept = fitting(((hit, f"{hit.repo}  {_line(hit)}") for hit in hits), limit=asked.limit, tokens=asked.tokens)
    end = start + len(kept)
    return SymbolSearchPage(
        as_of=call.as_of([hit.repo for hit in kept] or [index.repo for index in indexes]),
        notes=call.notes,
        shown=len(kept),
        total=len(found),
        next=call.next(_TOOL, asked, indexes, (end,)) if kept and end < len(found) else None,
        hits=kept,
    )


def symbols_text(page: SymbolSearchPage) -> str:
    several = several_repositories(page.hits)
    lines = [f"{f'{hit.repo}  ' if several else ''}{_line(hit)}" for hit in page.hits]
    return with_frame(page, lines or ["no document has such a name"], what="names")


def _line(hit: SymbolHit) -> str:
    return row_line(hit) if hit.match is NameMatch.EXACT else f"{row_line(hit)}  ({hit.match})"


def _found(
    index: PublishedIndex, wanted: str, levels: Sequence[Level], ways: Sequence[NameMatch]
) -> Iterator[tuple[PublishedIndex, int, NameMatch]]:
    """Each document once, by the first way that finds it."""
    seen: set[int] = set()
    for way in ways:
        for row in _by(index, wanted, way):
            if row not in seen and index.shows(row) and index.level_of(row) in levels:
                seen.add(row)
                yield index, row, way


def _by(index: PublishedIndex, wanted: str, way: NameMatch) -> Sequence[int]:
    names = index.names
    if way is NameMatch.EXACT:
        return names.exactly(wanted)
    if way is NameMatch.PREFIX:
        rows: list[int] = names.with_prefix(wanted, limit=_MOST_WITH_PREFIX).tolist()
        return rows
    if way is NameMatch.PART:
        like = [name for name in names.names if wanted in name]
    else:
        like = difflib.get_close_matches(wanted, list(names.names), n=_NEAR, cutoff=_NEAR_CUTOFF)
    return [row for name in like for row in names.exactly(name)]
