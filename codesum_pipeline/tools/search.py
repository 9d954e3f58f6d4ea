"""`search`: documents by their purpose or name."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from msgspec import to_builtins
from pydantic import Field

from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import clean
from codesum_pipeline.retrieval.filters import Filters, WhichTests, check_filters, parse_filters
from codesum_pipeline.retrieval.hits import Excerpt, Hit
from codesum_pipeline.retrieval.query import check_says_something
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import answer
from codesum_pipeline.tools.answers import (
    AnswerPage,
    DocumentRow,
    Names,
    PagedArguments,
    indented,
    numbered,
    several_repositories,
    shortened,
)
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.paging import fitting

_TOOL = "search"
# More hits help nobody: another query would.
_MOST_RANKED = 200
# A hit is judged by its summary; an agent pays for each character, and can read the document that fits.
_LONGEST_SUMMARY = 240
_LONGEST_IN_TEXT = 160


class SearchArguments(PagedArguments):
    """A query, and the documents that are searched."""

    query: str = Field(max_length=8000, description="Words on what the code does, a name, or quoted text")
    repos: Annotated[Names, Field(description="Keys or owner/name; default: this checkout's, else all")] = []
    levels: Annotated[Names, Field(description="function, class, file, module")] = []
    languages: Names = []
    paths: Annotated[Names, Field(description="As in .gitignore: src/, *.go, !docs/")] = []
    tests: Literal["in", "out", "only"] = "in"
    limit: int = Field(5, ge=1, le=100)
    excerpt: int = Field(0, ge=0, le=40, description="Lines of source a hit")


class SearchHit(DocumentRow):
    """A found document, the reason, and its lines that fit best."""

    why: str = ""
    excerpt: list[str] = []
    excerpt_start: int | None = None

    def line(self, *, with_repo: bool = False) -> str:
        row = self.model_copy(update={"text": shortened(self.text, most=_LONGEST_IN_TEXT)})
        lines = indented(numbered(self.excerpt, self.excerpt_start or 1))
        return "\n".join([DocumentRow.line(row, with_repo=with_repo), *lines])


class SearchPage(AnswerPage):
    """Hits, best first. Where they do not `fits_well`, the best has little to do with the question."""

    hits: list[SearchHit] = []
    fits_well: bool | None = None


def search(call: ToolContext, asked: SearchArguments) -> SearchPage:
    """Answer with as many hits as fit."""
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
        levels=[Level(name) for name in call.known("level", asked.levels, LEVELS)] or LEVELS,
        filters=_filters(call, indexes, asked),
        read=sources.read,
    )
    wanted = found.hits[start : start + asked.limit]
    if asked.excerpt:
        sources.read_of(indexes, wanted)
    size = asked.excerpt
    hits = (_hit(hit, sources.excerpt(hit, asked.query, size=size) if size else None) for hit in wanted)
    kept = fitting(hits, partial(SearchHit.line, with_repo=True), limit=asked.limit, tokens=asked.tokens)
    end = start + len(kept)
    if found.fits_well is False and kept:
        call.tell("nothing fits well: the best hits have little to do with the question")
    return SearchPage(
        as_of=call.as_of([hit.repo for hit in kept] or [index.repo for index in indexes]),
        shown=len(kept),
        next=call.next(_TOOL, asked, indexes, (end,)) if kept and end < len(found.hits) else None,
        hits=kept,
        fits_well=found.fits_well,
    )


def search_text(page: SearchPage) -> str:
    several = several_repositories(page.hits)
    return page.framed([hit.line(with_repo=several) for hit in page.hits] or ["nothing found"], what="hits")


def _hit(hit: Hit, excerpt: Excerpt | None) -> SearchHit:
    return SearchHit.showing(
        hit.repo,
        hit.id,
        hit.type,
        to_builtins(hit),
        longest=_LONGEST_SUMMARY,
        why=hit.why,
        excerpt=[clean(line) for line in excerpt.lines] if excerpt else [],
        excerpt_start=excerpt.start_line if excerpt else None,
    )


def _filters(call: ToolContext, indexes: Sequence[PublishedIndex], asked: SearchArguments) -> Filters:
    """The filters that some document passes; the others are left out, with a note."""

    def passes(filters: dict[str, Any]) -> bool:
        try:
            check_filters(indexes, parse_filters(**filters))
        except ConfigurationError as error:
            call.tell(f"filter left out: {shortened(str(error))}")
            return False
        return True

    languages = [name for name in asked.languages if passes({"languages": [name]})]
    paths = [path for path in asked.paths if passes({"paths": [path]})]
    return parse_filters(languages=languages, paths=paths, tests=WhichTests(asked.tests))
