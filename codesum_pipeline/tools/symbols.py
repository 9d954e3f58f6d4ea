"""`search_symbols`: functions, classes and files by name, also by a similar one."""

import difflib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import Field

from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow, Name, Names, PagedArguments, several_repositories
from codesum_pipeline.tools.call import ToolContext

_NEAR = 20
_NEAR_CUTOFF = 0.7
_MOST_WITH_PREFIX = 2000


class NameMatch(StrEnum):
    """How a document's name is like the wanted one; the best first."""

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
    """One document, and how its name is like the wanted one."""

    match: NameMatch

    def line(self, *, with_repo: bool = False) -> str:
        like = "" if self.match is NameMatch.EXACT else f"  ({self.match})"
        return f"{super().line(with_repo=with_repo)}{like}"


class SymbolSearchPage(AnswerPage):
    """Documents by name: the most alike first, then the most important."""

    hits: list[SymbolHit] = []


def search_symbols(call: ToolContext, asked: SymbolSearchArguments) -> SymbolSearchPage:
    """Find documents by name; names that are only nearly the same count where there are no others."""
    wanted = asked.name.strip().replace("::", ".").lower()
    if not wanted:
        raise ConfigurationError("the name is empty: give a name or a part of one")
    indexes = call.current(asked.repos)
    levels = [Level(name) for name in call.known("level", asked.levels, LEVELS)] or [Level.FUNCTION, Level.CLASS]
    same = (NameMatch.EXACT, NameMatch.PREFIX, NameMatch.PART)
    found = [each for index in indexes for each in _found(index, wanted, levels, same)]
    found = found or [each for index in indexes for each in _found(index, wanted, levels, (NameMatch.NEAR,))]
    order = list(NameMatch)
    found.sort(key=lambda each: (order.index(each[1]), -each[0].importance, each[0].repo, each[0].row))
    part = call.part(
        "search_symbols",
        asked,
        indexes,
        found,
        partial(SymbolHit.line, with_repo=True),
        row=lambda each: SymbolHit.of(each[0], match=each[1]),
    )
    repos = [hit.repo for hit in part.items] or [index.repo for index in indexes]
    return SymbolSearchPage(as_of=call.as_of(repos), hits=part.items, **part.frame)


def symbols_text(page: SymbolSearchPage) -> str:
    several = several_repositories(page.hits)
    lines = [hit.line(with_repo=several) for hit in page.hits]
    return page.framed(lines or ["no document has such a name"], what="names")


def _found(
    index: PublishedIndex, wanted: str, levels: Sequence[Level], ways: Sequence[NameMatch]
) -> Iterator[tuple[IndexedDocument, NameMatch]]:
    """Each document once, by the best of some ways to match."""
    seen: set[int] = set()
    for way in ways:
        for row in _by(index, wanted, way):
            if row not in seen and index.shows(row) and index.level_of(row) in levels:
                seen.add(row)
                yield IndexedDocument(index, row), way


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
