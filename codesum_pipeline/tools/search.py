"""`search`: documents by what they do or are called."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import clean, one_line
from codesum_pipeline.retrieval.excerpts import Excerpt
from codesum_pipeline.retrieval.filters import Filters, WhichTests, check_filters, parse_filters
from codesum_pipeline.retrieval.hits import Hit
from codesum_pipeline.retrieval.query import check_says_something
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import answer
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow, Names, PagedArguments, shortened
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.finding import shortened as told
from codesum_pipeline.tools.levels import known_levels
from codesum_pipeline.tools.paging import fitting
from codesum_pipeline.tools.text import indented, numbered, row_line, several_repositories, with_frame

_TOOL = "search"
# Beyond so many hits nobody is helped by more: the question is to be asked otherwise.
_MOST_RANKED = 200
# A hit is judged by what it says; an agent pays for each character of each, and can read the one that fits.
_LONGEST_SUMMARY = 240
_LONGEST_IN_TEXT = 160


class SearchArguments(PagedArguments):
    """What is looked for, and among which documents."""

    query: str = Field(max_length=8000, description="Words on what the code does, a name, or quoted text")
    repos: Annotated[Names, Field(description="Keys or owner/name; default: this checkout's, else all")] = []
    levels: Annotated[Names, Field(description="function, class, file, module")] = []
    languages: Names = []
    paths: Annotated[Names, Field(description="As in .gitignore: src/, *.go, !docs/")] = []
    tests: Literal["in", "out", "only"] = "in"
    limit: int = Field(5, ge=1, le=100)
    excerpt: int = Field(0, ge=0, le=40, description="Lines of source a hit")


class SearchHit(DocumentRow):
    """One document found, why, and its lines that fit best."""

    why: str = ""
    excerpt: list[str] = []
    excerpt_start: int | None = None


class SearchPage(AnswerPage):
    """Hits, best first. Where they do not `fits_well`, the best has little to do with the question."""

    hits: list[SearchHit] = []
    fits_well: bool | None = None


def search(call: ToolContext, asked: SearchArguments) -> SearchPage:
    """Answer with as many hits as there is room for."""
    check_says_something(asked.query[:1000])
    indexes = call.current(asked.repos)
    start = (call.start(_TOOL, asked, indexes) or (0,))[0]
    top = min(start + asked.limit + 1, _MOST_RANKED)
    sources = call.sources(indexes)
    found = answer(
        indexes,
        asked.query,
        embedder=call.catalogue.embedder,
        top=top,
        levels=known_levels(call, asked.levels),
        filters=_filters(call, indexes, asked),
        read=sources.read,
    )
    wanted = found.hits[start : start + asked.limit]
    if asked.excerpt:
        sources.read_of(indexes, wanted)
    hits = [
        _hit(hit, sources.excerpt(hit, asked.query, size=asked.excerpt) if asked.excerpt else None) for hit in wanted
    ]
    kept = fitting(
        ((hit, "\n".join(_lines(hit, several=True))) for hit in hits), limit=asked.limit, tokens=asked.tokens
    )
    end = start + len(kept)
    if found.fits_well is False and kept:
        call.tell("nothing fits well: the best hits have little to do with the question")
    return SearchPage(
        as_of=call.as_of([hit.repo for hit in kept] or [index.repo for index in indexes]),
        notes=call.notes,
        shown=len(kept),
        next=call.next(_TOOL, asked, indexes, (end,)) if kept and end < len(found.hits) else None,
        hits=kept,
        fits_well=found.fits_well,
    )


def search_text(page: SearchPage) -> str:
    several = several_repositories(page.hits)
    lines = [line for hit in page.hits for line in _lines(hit, several=several)]
    return with_frame(page, lines or ["nothing found"], what="hits")


def _lines(hit: SearchHit, *, several: bool) -> list[str]:
    row = hit.model_copy(update={"text": shortened(hit.text, most=_LONGEST_IN_TEXT)})
    return [row_line(row, several=several), *indented(numbered(hit.excerpt, hit.excerpt_start or 1))]


def _hit(hit: Hit, excerpt: Excerpt | None) -> SearchHit:
    is_module = hit.type == Level.MODULE
    name = one_line(hit.qualified_name or "")
    said = one_line(hit.summary)
    return SearchHit(
        repo=hit.repo,
        id=hit.id,
        kind=hit.type,
        path=f"{hit.file_path}/" if is_module else hit.file_path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        text=shortened(": ".join(part for part in (name, said) if part), most=_LONGEST_SUMMARY),
        why=hit.why,
        excerpt=[clean(line) for line in excerpt.lines] if excerpt else [],
        excerpt_start=excerpt.start_line if excerpt else None,
    )


def _filters(call: ToolContext, indexes: Sequence[PublishedIndex], asked: SearchArguments) -> Filters:
    """The filters that something passes; the others are left out, and told."""
    languages = [name for name in asked.languages if _passes(call, indexes, languages=[name])]
    paths = [path for path in asked.paths if _passes(call, indexes, paths=[path])]
    return parse_filters(languages=languages, paths=paths, tests=WhichTests(asked.tests))


def _passes(
    call: ToolContext, indexes: Sequence[PublishedIndex], *, languages: Sequence[str] = (), paths: Sequence[str] = ()
) -> bool:
    try:
        check_filters(indexes, parse_filters(languages=languages, paths=paths))
    except ConfigurationError as error:
        call.tell(f"filter left out: {told(str(error))}")
        return False
    return True
