"""`search`: documents by their purpose or name; and `search_symbols`: by name alone, also by a similar one."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal, Self

from msgspec import Struct, to_builtins
from pydantic import BeforeValidator, Field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader, repositories_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.surroundings import called_names
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    DocumentRow,
    Name,
    Names,
    PagedArguments,
    end_of_name,
    has_several_repositories,
    indent_lines,
    number_lines,
    parse_names,
    place_of,
    take_fitting,
)
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, NotIndexedFile
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.nearest_names import nearest_names
from codesum_pipeline.foundation.data_model.patterns import LONGEST_PATTERN, MOST_PATTERNS
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line, shorten_text, some_of
from codesum_pipeline.search.retrieval.hits import Excerpt, Hit, HitPlace, share_places
from codesum_pipeline.search.retrieval.passages import NO_LINES, Passage, TellingLines
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.query import check_says_something
from codesum_pipeline.search.retrieval.searching import answer_query
from codesum_pipeline.search.retrieval.shelf import ANYTHING, Filters, WhichTests, parse_filters, unfit_filters

_TOOL = "search"
_NAMES = re.compile(r"\w+")
# More hits help nobody: another query would.
_MOST_RANKED = 200
# A hit is judged by its summary; an agent pays for each character, and can read the document that fits.
_LONGEST_SUMMARY = 240
_LONGEST_IN_TEXT = 160
# Beside lines of code a sentence is enough.
_LONGEST_BESIDE_LINES = 110
# How many hits show lines that tell why they fit, how many lines, and how much of each (`benchmarks/results/hits.md`).
_HITS_WITH_LINES = 2
_TELLING_LINES = 4
# Of one file so many hits have a place of their own; more are named by the last of them.
_PLACES_OF_FILE = 2
_OTHERS_NAMED = 3
_LONGEST_TELLING = 100


class SearchArguments(PagedArguments):
    """A query, and the documents that are searched."""

    query: str = Field(max_length=8000, description="Words on what the code does, a name, or quoted text")
    repos: Annotated[Names, Field(description="Keys or owner/name; default: this checkout's, else all")] = []
    levels: Annotated[Names, Field(description="function, class, file, module")] = []
    languages: Names = []
    paths: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_PATTERN)]],
        BeforeValidator(parse_names),
        Field(max_length=MOST_PATTERNS, description="As in .gitignore: src/, *.go, !docs/"),
    ] = []
    tests: Literal["in", "out", "only"] = "in"
    limit: int = Field(5, ge=1, le=100)
    excerpt: int = Field(0, ge=0, le=40, description="Lines of source for each hit")


class SearchHit(DocumentRow):
    """A found document, the reason, what it calls in the repository, and its lines that fit best: of a long one the
    lines of its `passage`; of the first hits some `telling` ones as `number<tab>line`. `others` of its file fit less
    well."""

    why: str = ""
    passage_start: int | None = None
    passage_end: int | None = None
    passage_cell: int | None = None
    passage_cell_line: int | None = None
    calls: list[str] = []
    excerpt: list[str] = []
    excerpt_start: int | None = None
    telling: list[str] = []
    others: list[str] = []

    def line(self, *, with_repo: bool = False) -> str:
        most = _LONGEST_BESIDE_LINES if self.telling else _LONGEST_IN_TEXT
        row = self._in_passage().model_copy(update={"text": shorten_text(self._said, most=most)})
        calls = [f"calls: {', '.join(self._unseen_calls())}"] if self._unseen_calls() else []
        others = [f"also in this file: {some_of(self.others, _OTHERS_NAMED)}"] if self.others else []
        lines = indent_lines([*calls, *self.telling, *others, *number_lines(self.excerpt, self.excerpt_start or 1)])
        return "\n".join([DocumentRow.line(row, with_repo=with_repo), *lines])

    def _in_passage(self) -> Self:
        """The row with the lines of the passage, and what these are in."""
        if self.passage_start is None:
            return self
        around = "file" if self.start_line is None else f"{end_of_name(self._name)} ({self.start_line}-{self.end_line})"
        lines = {"start_line": self.passage_start, "end_line": self.passage_end}
        lines |= {"cell": self.passage_cell, "cell_line": self.passage_cell_line}
        return self.model_copy(update={"kind": f"in {around}", **lines})

    def _unseen_calls(self) -> list[str]:
        """What it calls, without those whose names stand in its lines."""
        seen = {word for line in (*self.telling, *self.excerpt) for word in _NAMES.findall(line)}
        return [end_of_name(name) for name in self.calls if name.rpartition(".")[2] not in seen]

    @property
    def _name(self) -> str:
        return one_line(without_suffix(self.id).partition(SEPARATOR)[2].replace(SEPARATOR, "."))

    @property
    def _said(self) -> str:
        """The text with the end of a name, and without a name that the passage tells."""
        name = self._name
        if not name or not self.text.startswith(name):
            return self.text
        told = self.text.removeprefix(name)
        return f"{end_of_name(name)}{told}" if self.passage_start is None else told.removeprefix(": ")

    @property
    def passage(self) -> str:
        """`path:first-last` of the passage; empty where there is none."""
        return "" if self.passage_start is None else self._in_passage().place


class SearchPage(AnswerPage):
    """Hits, best first. Where they do not `fits_well`, the best has little to do with the question."""

    hits: list[SearchHit] = []
    fits_well: bool | None = None

    def text(self) -> str:
        several = has_several_repositories(self.hits)
        return self.framed([hit.line(with_repo=several) for hit in self.hits] or ["nothing found"], what="hits")


def fits_of(page: AnswerPage) -> bool | None:
    """Whether any hit of a search has to do with the question; None for other answers."""
    return page.fits_well is not False and page.shown > 0 if isinstance(page, SearchPage) else None


def search(call: ToolContext, arguments: SearchArguments) -> SearchPage:
    check_says_something(arguments.query[:1000])
    indexes = call.current(arguments.repos)
    start = call.start(_TOOL, arguments, indexes)[0]
    # Several hits may share a place.
    behind = start + arguments.limit * (1 if arguments.excerpt else 2)
    top = min(behind + 1, _MOST_RANKED)
    sources = call.sources(indexes)
    found = answer_query(
        indexes,
        arguments.query,
        embedder=call.catalogue.embedder,
        top=top,
        levels=[Level(name) for name in call.known("level", arguments.levels, LEVELS)] or LEVELS,
        filters=filters_of(call, indexes, languages=arguments.languages, paths=arguments.paths, tests=arguments.tests),
        read=sources.read,
    )
    places, taken = share_places(found.hits[start:behind], arguments.limit, most_of_file=_PLACES_OF_FILE)
    sources.read_of(indexes, [place.hit for place in places])
    shown = [_FoundHit.of(place, sources, arguments) for place in places]
    has_lines = _most_telling(shown)
    hits = (_hit(call, each, sources, arguments, has_lines=number in has_lines) for number, each in enumerate(shown))
    kept = take_fitting(hits, partial(SearchHit.line, with_repo=True), limit=arguments.limit, tokens=arguments.tokens)
    end = start + (places[len(kept)].at if len(kept) < len(places) else taken)
    if found.fits_well is False and kept:
        call.tell("nothing fits well: the best hits have little to do with the question")
    return SearchPage(
        as_of=call.as_of([hit.repo for hit in kept] or [index.repo for index in indexes]),
        shown=len(kept),
        next=call.next(_TOOL, arguments, indexes, (end,)) if kept and end < len(found.hits) else None,
        hits=kept,
        fits_well=found.fits_well,
    )


class _FoundHit(Struct, frozen=True):
    """A hit with its lines, and the hits that share its place. Where an excerpt is asked for, no other lines are looked
    for."""

    hit: Hit
    others: Sequence[Hit]
    passage: Passage | None
    excerpt: Excerpt | None
    telling: TellingLines

    @classmethod
    def of(cls, place: HitPlace, sources: SourceReader, arguments: SearchArguments) -> Self:
        hit, query, size = place.hit, arguments.query, arguments.excerpt
        passage = sources.passage(hit, query)
        excerpt = sources.excerpt(hit, query, size=size, within=passage) if size else None
        lines = partial(sources.telling_lines, hit, query, most=_TELLING_LINES, within=passage)
        telling = NO_LINES if size else lines(by_words=True)
        return cls(hit, place.others, passage, excerpt, telling)


def _most_telling(found: Sequence[_FoundHit]) -> set[int]:
    """The numbers of the hits whose lines are shown: of the first, and of those whose lines fit best and are none of
    the first's, as a class's may be."""
    first = {(each.hit.repo, each.hit.file_path, *each.telling.lines) for each in found[:1]}
    others = [
        number
        for number, each in enumerate(found)
        if (each.hit.repo, each.hit.file_path, *each.telling.lines) not in first
    ]
    return {0, *sorted(others, key=lambda number: -found[number].telling.share)[: _HITS_WITH_LINES - 1]}


def _hit(
    call: ToolContext, found: _FoundHit, sources: SourceReader, arguments: SearchArguments, *, has_lines: bool
) -> SearchHit:
    hit, passage, excerpt = found.hit, found.passage, found.excerpt
    documents = call.documents(hit.repo) if hit.type == Level.FUNCTION else None
    number = documents.number(hit.id) if documents else None
    lines: dict[int, str] = {}
    if has_lines and found.telling.lines:
        lines = sources.telling_lines(hit, arguments.query, most=_TELLING_LINES, within=passage).lines
    return SearchHit.showing(
        hit.repo,
        hit.id,
        hit.type,
        to_builtins(hit),
        longest=_LONGEST_SUMMARY,
        why=hit.why,
        passage_start=passage.start_line if passage else None,
        passage_end=passage.end_line if passage else None,
        passage_cell=passage.cell if passage else None,
        passage_cell_line=passage.cell_line if passage else None,
        calls=called_names(documents, number) if documents and number is not None else [],
        excerpt=[clean_text(line) for line in excerpt.lines] if excerpt else [],
        excerpt_start=excerpt.start_line if excerpt else None,
        others=[place_in_file(other) for other in found.others],
        telling=[f"{number}\t{shorten_text(one_line(text), most=_LONGEST_TELLING)}" for number, text in lines.items()],
    )


def place_in_file(hit: Hit) -> str:
    """`Class.method:first-last` of a hit whose file is known; the file itself is `lines of it`."""
    name = end_of_name(one_line(hit.qualified_name or "")) or "lines of it"
    return place_of(name, hit.start_line, hit.end_line)


def filters_of(
    call: ToolContext,
    indexes: Sequence[PublishedIndex],
    *,
    languages: Sequence[str],
    paths: Sequence[str],
    tests: str,
) -> Filters:
    """The filters that some document passes; the others are left out, with a note."""

    def parsed(**filter_: Any) -> Filters:
        try:
            return parse_filters(**filter_)
        except ConfigurationError as error:
            call.tell(f"filter left out: {shorten_text(str(error))}")
            return ANYTHING

    known = [name for each in languages for name in parsed(languages=[each]).languages]
    patterns = [path for each in paths for path in parsed(paths=[each]).paths]
    unfit = dict(unfit_filters(indexes, Filters(tuple(known), tuple(patterns))))
    for name, reason in unfit.items():
        if name not in patterns or not _tell_skipped(call, indexes, name):
            call.tell(f"filter left out: {shorten_text(reason)}")

    def kept(some: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for each in some if each not in unfit))

    return Filters(kept(known), kept(patterns), WhichTests(tests))


def _tell_skipped(call: ToolContext, indexes: Sequence[PublishedIndex], path: str) -> bool:
    """Whether a path is that of a skipped file, with a note that says so."""
    try:
        call.check_skipped(repositories_of(indexes), path)
    except NotIndexedFile as error:
        call.tell(f"filter left out: {error}")
        return True
    return False


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

    def text(self) -> str:
        several = has_several_repositories(self.hits)
        lines = [hit.line(with_repo=several) for hit in self.hits]
        return self.framed(lines or ["no document has such a name"], what="names")


def search_symbols(call: ToolContext, arguments: SymbolSearchArguments) -> SymbolSearchPage:
    """Find documents by name; names that are only nearly the same count where there are no others."""
    wanted = arguments.name.strip().replace("::", ".").lower()
    if not wanted:
        raise ConfigurationError("the name is empty: give a name or a part of one")
    indexes = call.current(arguments.repos)
    levels = [Level(name) for name in call.known("level", arguments.levels, LEVELS)] or [Level.FUNCTION, Level.CLASS]
    same = (NameMatch.EXACT, NameMatch.PREFIX, NameMatch.PART)
    found = [each for index in indexes for each in _found(index, wanted, levels, same)]
    found = found or [each for index in indexes for each in _found(index, wanted, levels, (NameMatch.NEAR,))]
    order = list(NameMatch)
    found.sort(key=lambda each: (order.index(each[1]), -each[0].importance, each[0].repo, each[0].row))
    part = call.part(
        "search_symbols",
        arguments,
        indexes,
        found,
        partial(SymbolHit.line, with_repo=True),
        row=lambda each: SymbolHit.of(each[0], match=each[1]),
    )
    repos = [hit.repo for hit in part.items] or [index.repo for index in indexes]
    return SymbolSearchPage(as_of=call.as_of(repos), hits=part.items, **part.frame)


def _found(
    index: PublishedIndex, wanted: str, levels: Sequence[Level], ways: Sequence[NameMatch]
) -> Iterator[tuple[IndexedDocument, NameMatch]]:
    """Each document once, by the best of some ways to match."""
    seen: set[int] = set()
    for way in ways:
        for row in _by(index, wanted, way):
            if row not in seen and index.may_answer(row) and index.level_of(row) in levels:
                seen.add(row)
                yield IndexedDocument(index, row), way


def _by(index: PublishedIndex, wanted: str, way: NameMatch) -> Sequence[int]:
    names = index.names
    if way is NameMatch.EXACT:
        return names.rows_named(wanted)
    if way is NameMatch.PREFIX:
        rows: list[int] = names.with_prefix(wanted, limit=_MOST_WITH_PREFIX).tolist()
        return rows
    if way is NameMatch.PART:
        like = [name for name in names.names if wanted in name]
    else:
        like = nearest_names(wanted, [*names.names], most=_NEAR, least_likeness=_NEAR_CUTOFF)
    return [row for name in like for row in names.rows_named(name)]
