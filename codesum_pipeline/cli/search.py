"""`codesum search`: questions to the published indexes, with numpy alone."""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct, field, to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.documents import catalogue_of, described, excerpt_json, legend, numbered, open_published
from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.first_use import open_scope
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import (
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
from codesum_pipeline.cli.render import fields, indented, lines_of, note, safe_json, show, styled
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.indexes.version_folder import LANES
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import clean, one_line
from codesum_pipeline.retrieval.filters import ANYTHING, WhichTests, check_filters, parse_filters
from codesum_pipeline.retrieval.hits import Excerpt, Hit
from codesum_pipeline.retrieval.query import check_says_something
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import DEFAULT_TOP, BadRow, RoutedQuestion, SearchAnswer, answer, read_batch
from codesum_pipeline.tools.as_of import AsOf
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.registry import changed_files
from codesum_pipeline.tools.sources import SourceReader, repositories
from codesum_pipeline.tools.surroundings import BoundedSurroundings, bound_surroundings, surroundings

_STDIN = "-"


# What `--context` adds to all hits together, unless another bound is asked for.
CONTEXT_TOKENS = 1200
# Of a signature with many parameters the first ones tell it apart.
SIGNATURE_CHARACTERS = 160
_NAMES = {
    "parents": "part of",
    "children": "contains",
    "called_by": "called by",
    "calls": "calls",
    "dependencies": "depends on",
}


class Aids(Struct, frozen=True):
    """What is shown of each hit besides itself: what stands around it, and how many of its lines."""

    context: bool = False
    context_tokens: int = CONTEXT_TOKENS
    excerpt_lines: int = 0


class HitView(Struct, frozen=True):
    """One hit with the aids that were asked for, and whether its file changed since the commit that is searched."""

    hit: Hit
    changed_since: bool
    around: BoundedSurroundings | None
    excerpt: Excerpt | None


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
    ] = CONTEXT_TOKENS,
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

    In a checkout of an indexed repository that one alone is searched, and with --all every one. What is in quotes is
    found where it stands: codesum search '"failed to open %s"'
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
    asking = _SearchView(
        call=call,
        sources=call.sources(nameable),
        ask=partial(answer, embedder=embedder_of(called.settings), top=top, lanes=lane or LANES, filters=filters),
        levels=tuple(level or LEVELS),
        aids=Aids(context=context, context_tokens=context_tokens, excerpt_lines=excerpt),
    )
    if scope.remark:
        note(scope.remark)
    if query is None:
        _print_answers(read_batch(_lines(batch or _STDIN), searched, nameable), batch or _STDIN, asking)
        return
    if as_json:
        typer.echo(safe_json(asking.json(query, searched, asking.levels)))
        return
    found, shown = asking.hits(query, searched, asking.levels)
    if shown:
        if found.fits_well is False:
            note(f"nothing fits well: the best hits have little to do with {one_line(query)!r}")
        show(*blocks(shown, several=len(repositories(searched)) > 1))
    else:
        among = "" if filters == ANYTHING else " among what the filters let through"
        note(f"nothing found for {one_line(query)!r} in {', '.join(repositories(searched))}{among}")


class _SearchView(Struct, frozen=True):
    """How each question of a call is asked and shown."""

    call: ToolContext
    sources: SourceReader
    ask: Callable[..., SearchAnswer]
    levels: tuple[Level, ...]
    aids: Aids
    standing: dict[str, AsOf] = field(default_factory=dict)

    def hits(
        self, query: str, indexes: Sequence[PublishedIndex], levels: Sequence[Level]
    ) -> tuple[SearchAnswer, list[HitView]]:
        """The answer, and its hits with what helps to judge them."""
        found = self.ask(indexes, query, levels=levels, read=self.sources.read)
        self.as_of(found.hits, indexes)
        changed = changed_files(self.call, _files_of(found.hits))
        return found, list(with_aids(found.hits, query, self.call, self.sources, self.aids, changed=changed))

    def json(self, query: str, indexes: Sequence[PublishedIndex], levels: Sequence[Level]) -> dict[str, Any]:
        """The fields that a program gets."""
        found, shown = self.hits(query, indexes, levels)
        as_of = self.as_of(found.hits, indexes)
        return answer_json(query, found, shown, searched=indexes, aids=self.aids, as_of=as_of)

    def as_of(self, hits: Sequence[Hit], indexes: Sequence[PublishedIndex]) -> list[AsOf]:
        """What the answer stands for, repository by repository; what is not simply the newest commit is told, once."""
        repos = list(dict.fromkeys(hit.repo for hit in hits)) or repositories(indexes)
        for each in self.call.as_of(repo for repo in repos if repo not in self.standing):
            self.standing[each.repo] = each
            if each.of_tree or each.behind:
                note(f"as of {each}")
        return [self.standing[repo] for repo in repos]


def _files_of(hits: Iterable[Hit]) -> dict[str, set[str]]:
    """The files that hits are in, by repository."""
    found: dict[str, set[str]] = {}
    for hit in hits:
        if hit.type != Level.MODULE:
            found.setdefault(hit.repo, set()).add(hit.file_path)
    return found


def _print_answers(rows: Iterable[RoutedQuestion | BadRow], file: str, asking: _SearchView) -> None:
    """One line out per line in; a line that cannot be answered is told on stderr, and the rest goes on."""
    bad = 0
    for row in rows:
        if isinstance(row, BadRow):
            bad += 1
            complain(f"{file}: {row}")
            continue
        question = row.question
        levels = (question.level,) if question.level else asking.levels
        typer.echo(safe_json({"id": question.id, **asking.json(question.query, row.indexes, levels)}))
    if bad:
        raise typer.Exit(FAILED)


def _lines(file: str) -> Iterable[str]:
    if file == _STDIN:
        return sys.stdin
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--batch {file}: {error}") from error


def with_aids(
    hits: Sequence[Hit],
    query: str,
    call: ToolContext,
    sources: SourceReader,
    aids: Aids,
    *,
    changed: Mapping[str, Collection[str]],
) -> Iterator[HitView]:
    """Read what was asked for of each hit; what stands around them shares one bound, evenly."""
    tokens = aids.context_tokens
    for place, hit in enumerate(hits):
        around = None
        documents = call.documents(hit.repo) if aids.context else None
        number = documents.number(hit.id) if documents else None
        if documents and number is not None:
            share = tokens // (len(hits) - place)
            around, left = bound_surroundings(surroundings(documents, number), tokens=share)
            tokens -= share - left
        excerpt = sources.excerpt(hit, query, size=aids.excerpt_lines) if aids.excerpt_lines else None
        yield HitView(hit, hit.file_path in changed.get(hit.repo, ()), around, excerpt)


def answer_json(
    query: str,
    answer: SearchAnswer,
    shown: Sequence[HitView],
    *,
    searched: Sequence[PublishedIndex],
    aids: Aids,
    as_of: Sequence[AsOf],
) -> dict[str, Any]:
    """The answer to one question, as `--json` prints it and each line of `--batch`."""
    return {
        "query": query,
        "repositories": repositories(searched),
        "as_of": [each.model_dump() for each in as_of],
        "fits_well": answer.fits_well,
        "hits": [_hit_json(each, aids) for each in shown],
    }


def _hit_json(shown: HitView, aids: Aids) -> dict[str, Any]:
    """The hit's own fields, then those of each aid that was asked for."""
    around: Mapping[str, Any] = (
        {**to_builtins(shown.around.around), "more": dict(shown.around.more)} if shown.around else {}
    )
    excerpt = {"excerpt": excerpt_json(shown.excerpt)} if aids.excerpt_lines else {}
    return {**to_builtins(shown.hit), "changed_since": shown.changed_since, **around, **excerpt}


def blocks(shown: Sequence[HitView], *, several: bool) -> Iterator[RenderableType]:
    """One block per hit: where it is, how it is called, what it does, why it was found; `several` repositories are
    named."""
    width = len(str(len(shown)))
    for rank, each in enumerate(shown, start=1):
        hit = each.hit
        lines = lines_of(to_builtins(hit))
        yield Text.assemble(
            (f"{rank:>{width}}. ", "bold"),
            (one_line(hit.id), "bold cyan"),
            (f"  {lines}" if lines else "", "cyan"),
            (f"  {hit.type}{f' in {hit.repo}' if several else ''}", "dim"),
            ("  changed since" if each.changed_since else "", "yellow"),
        )
        if hit.signature_summary:
            yield indented(styled(_short(one_line(hit.signature_summary)), "cyan"), width + 2)
        yield indented(Text(clean(hit.summary)), width + 2)
        yield indented(styled(one_line(hit.why), "dim"), width + 2)
        if each.excerpt:
            yield indented(numbered(each.excerpt), width + 4)
        if each.around:
            yield indented(fields(_described(each.around)), width)
        if rank < len(shown):
            yield ""
    yield from legend(each.around.around for each in shown if each.around)


def _short(text: str) -> str:
    return text if len(text) <= SIGNATURE_CHARACTERS else f"{text[: SIGNATURE_CHARACTERS - 1].rstrip()}…"


def _described(bounded: BoundedSurroundings) -> dict[str, list[RenderableType]]:
    """What stands around a hit, and behind each part how many more there are."""
    parts = described(bounded.around)
    for name, left in bounded.more.items():
        parts[_NAMES[name]].append(styled(f"… {left:,} more (`codesum show` lists all)", "dim"))
    return parts
