"""`codesum search`: questions to the published indexes, with numpy alone."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct, field, to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.ground.model.document import LEVELS, Level
from codesum_pipeline.ground.model.errors import ConfigurationError
from codesum_pipeline.ground.model.printable import clean, one_line
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.formats.version_folder import LANES
from codesum_pipeline.search.retrieval.hits import Excerpt, Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import check_says_something
from codesum_pipeline.search.retrieval.searching import (
    DEFAULT_TOP,
    BadRow,
    RoutedQuestion,
    SearchAnswer,
    answer_query,
    read_batch,
)
from codesum_pipeline.search.retrieval.shelf import ANYTHING, WhichTests, check_filters, parse_filters
from codesum_pipeline.ways_in.cli.document_views import (
    catalogue_of,
    described,
    legend,
    numbered,
    open_published,
    told_as_of,
)
from codesum_pipeline.ways_in.cli.first_use import open_scope
from codesum_pipeline.ways_in.cli.invocation import invocation
from codesum_pipeline.ways_in.cli.options import (
    LanesOption,
    LanguagesOption,
    LevelsOption,
    PathsOption,
    ReposOption,
    TestsOption,
    argument,
    option,
    switch,
)
from codesum_pipeline.ways_in.cli.render import (
    FAILED,
    complain,
    fields,
    indented,
    lines_of,
    note,
    print_json,
    show,
    styled,
)
from codesum_pipeline.ways_in.tools.answering_sources import SourceReader, repositories
from codesum_pipeline.ways_in.tools.call import ToolContext
from codesum_pipeline.ways_in.tools.catalogue import AsOf
from codesum_pipeline.ways_in.tools.graph_tool import DocumentRelations, bound_surroundings, surroundings
from codesum_pipeline.ways_in.tools.tool_registry import changed_files

_STDIN = "-"
# What `--context` adds to all hits together, unless another bound is asked for.
_CONTEXT_TOKENS = 1200
# The first ones of many parameters are enough to recognise a signature.
_SIGNATURE_CHARACTERS = 160


def search(
    ctx: typer.Context,
    words: Annotated[list[str] | None, argument("QUERY", "What is looked for, in words or as a name.")] = None,
    repo: ReposOption = None,
    level: LevelsOption = None,
    language: LanguagesOption = None,
    path: PathsOption = None,
    tests: TestsOption = WhichTests.IN,
    lane: LanesOption = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many hits at most.")] = DEFAULT_TOP,
    excerpt: Annotated[int, option("N", "Show the N lines of each hit that fit best.", min=0)] = 0,
    context: Annotated[
        bool,
        switch("--context", "Show what each hit is part of and contains, its callers and callees, what it depends on."),
    ] = False,
    context_tokens: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="How many tokens --context may add, of four characters, to all hits."),
    ] = _CONTEXT_TOKENS,
    everything: Annotated[bool, switch("--all", "Search all repositories, also in a checkout of one of them.")] = False,
    as_json: Annotated[
        bool, switch("--json", 'Print {"query", "repositories", "as_of", "fits_well", "hits": [...]} for programs.')
    ] = False,
    batch: Annotated[
        str | None,
        option(
            "FILE",
            'Answer every line {"id", "query", "repo"?, "level"?} of a file, or of stdin with -, '
            'one line each: "id" and the fields of --json.',
        ),
    ] = None,
) -> None:
    """Find functions, classes, files and modules by what they do.

    codesum search "where are retries counted" --level function --path src/ --tests out --excerpt 5

    In a checkout of an indexed repository, only that repository is searched; --all searches every one. Text in quotes
    is found word for word: codesum search '"failed to open %s"'
    """
    query = " ".join(words) if words is not None else None
    if (query is None) == (batch is None):
        raise ConfigurationError("give one QUERY, or --batch FILE")
    if query is not None:
        check_says_something(query)
    called = invocation(ctx)
    filters = parse_filters(languages=language or (), paths=path or (), tests=tests)
    scope = open_scope(called, repo or (), everything=everything, may_ask=batch is None)
    nameable = open_published(called) if batch is not None and scope.leaves_out else scope.indexes
    call = ToolContext(catalogue_of(called), Path.cwd(), on_note=note)
    searched, nameable = call.current_of(scope.indexes), call.current_of(nameable)
    check_filters(nameable, filters)
    asking = _Asking(
        call=call,
        sources=call.sources(nameable),
        ask=partial(answer_query, embedder=embedder_of(called.settings), top=top, lanes=lane or LANES, filters=filters),
        context_tokens=context_tokens if context else None,
        excerpt_lines=excerpt,
    )
    levels = tuple(level or LEVELS)
    if scope.remark:
        note(scope.remark)
    if batch is not None:
        _print_answers(read_batch(_lines(batch), searched, nameable), batch, asking, levels)
        return
    found = asking.answer(query or "", searched, levels)
    if as_json:
        print_json(found.as_json())
    elif found.hits:
        if found.fits_well is False:
            note(f"nothing fits well: the best hits have little to do with {one_line(found.query)!r}")
        show(*found.blocks())
    else:
        among = "" if filters == ANYTHING else " among what the filters let through"
        note(f"nothing found for {one_line(found.query)!r} in {', '.join(found.repositories)}{among}")


def _print_answers(
    rows: Iterable[RoutedQuestion | BadRow], file: str, asking: "_Asking", levels: Sequence[Level]
) -> None:
    """One line out per line in; a line that cannot be answered is reported on stderr, and the rest goes on."""
    bad = 0
    for row in rows:
        if isinstance(row, BadRow):
            bad += 1
            complain(f"{file}: {row}")
        else:
            question = row.question
            found = asking.answer(question.query, row.indexes, (question.level,) if question.level else levels)
            print_json({"id": question.id, **found.as_json()})
    if bad:
        raise typer.Exit(FAILED)


def _lines(file: str) -> Iterable[str]:
    if file == _STDIN:
        return sys.stdin
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--batch {file}: {error}") from error


class HitView(Struct, frozen=True):
    """One hit, whether its file changed since the commit that is searched, and the aids that were asked for."""

    hit: Hit
    changed_since: bool
    around: DocumentRelations | None
    aids: dict[str, Excerpt | None]


class AnswerView(Struct, frozen=True):
    """The answer to one question, for programs and for people."""

    query: str
    repositories: list[str]
    as_of: list[AsOf]
    fits_well: bool | None
    hits: list[HitView]

    def as_json(self) -> dict[str, Any]:
        hits = []
        for each in self.hits:
            around = {**to_builtins(each.around), "more": each.around.more} if each.around else {}
            hits.append({**to_builtins(each.hit), "changed_since": each.changed_since, **around, **each.aids})
        return {
            "query": self.query,
            "repositories": self.repositories,
            "as_of": self.as_of,
            "fits_well": self.fits_well,
            "hits": hits,
        }

    def blocks(self) -> Iterator[RenderableType]:
        """One block per hit: where it is, how it is called, what it does, why it was found."""
        width = len(str(len(self.hits)))
        for rank, each in enumerate(self.hits, start=1):
            hit, signature = each.hit, one_line(each.hit.signature_summary or "")
            lines = lines_of(hit.start_line, hit.end_line)
            yield Text.assemble(
                (f"{rank:>{width}}. ", "bold"),
                (one_line(hit.id), "bold cyan"),
                (f"  {lines}" if lines else "", "cyan"),
                (f"  {hit.type}{f' in {hit.repo}' if len(self.repositories) > 1 else ''}", "dim"),
                ("  changed since" if each.changed_since else "", "yellow"),
            )
            if len(signature) > _SIGNATURE_CHARACTERS:
                signature = f"{signature[: _SIGNATURE_CHARACTERS - 1].rstrip()}…"
            if signature:
                yield indented(styled(signature, "cyan"), width + 2)
            yield indented(Text(clean(hit.summary)), width + 2)
            yield indented(styled(one_line(hit.why), "dim"), width + 2)
            if excerpt := each.aids.get("excerpt"):
                yield indented(numbered(excerpt), width + 4)
            if each.around:
                yield indented(fields(described(each.around)), width)
            if rank < len(self.hits):
                yield ""
        yield from legend(each.around for each in self.hits if each.around)


class _Asking(Struct, frozen=True):
    """How each question of a call is asked, and what is shown of each hit besides itself."""

    call: ToolContext
    sources: SourceReader
    ask: Callable[..., SearchAnswer]
    context_tokens: int | None
    excerpt_lines: int
    told: dict[str, AsOf] = field(default_factory=dict)

    def answer(self, query: str, indexes: Sequence[PublishedIndex], levels: Sequence[Level]) -> AnswerView:
        found = self.ask(indexes, query, levels=levels, read=self.sources.read)
        searched = repositories(indexes)
        # A version other than the newest commit is mentioned, once.
        repos = list(dict.fromkeys(hit.repo for hit in found.hits)) or searched
        self.told.update((each.repo, each) for each in told_as_of(self.call, [r for r in repos if r not in self.told]))
        files: dict[str, set[str]] = {}
        for hit in found.hits:
            if hit.type != Level.MODULE:
                files.setdefault(hit.repo, set()).add(hit.file_path)
        changed = changed_files(self.call, files)
        views, tokens = [], self.context_tokens or 0
        for place, hit in enumerate(found.hits):
            around = None
            documents = self.call.documents(hit.repo) if self.context_tokens is not None else None
            number = documents.number(hit.id) if documents else None
            if documents and number is not None:
                # The contexts of all hits share one limit evenly.
                share = tokens // (len(found.hits) - place)
                around, left = bound_surroundings(surroundings(documents, number), tokens=share)
                tokens -= share - left
            size = self.excerpt_lines
            aids = {"excerpt": self.sources.excerpt(hit, query, size=size)} if size else {}
            views.append(HitView(hit, hit.file_path in changed.get(hit.repo, ()), around, aids))
        return AnswerView(query, searched, [self.told[repo] for repo in repos], found.fits_well, views)
