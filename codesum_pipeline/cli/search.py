"""`codesum search`: questions to the published indexes, with numpy alone."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.asking_options import (
    LanesOption,
    LanguagesOption,
    LevelsOption,
    PathsOption,
    ReposOption,
    TestsOption,
)
from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import open_published
from codesum_pipeline.cli.reading_aids import Sources
from codesum_pipeline.cli.render import note, show
from codesum_pipeline.cli.safe_text import escaped, one_line, safe_json
from codesum_pipeline.cli.shown_hits import Aids, blocks, hit_json, with_aids
from codesum_pipeline.indexes.embedders import embedder_of
from codesum_pipeline.indexes.lanes import LANES
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.batch import Answer, BadRow, answer_batch
from codesum_pipeline.retrieval.filters import ANYTHING, WhichTests, check_filters, parse_filters
from codesum_pipeline.retrieval.search import DEFAULT_TOP
from codesum_pipeline.retrieval.search import search as search_indexes

_STDIN = "-"


def search(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", show_default=False, help="What is looked for, in words or as a name."),
    ] = None,
    repo: ReposOption = None,
    level: LevelsOption = None,
    language: LanguagesOption = None,
    path: PathsOption = None,
    tests: TestsOption = WhichTests.IN,
    lane: LanesOption = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many hits at most.")] = DEFAULT_TOP,
    excerpt: Annotated[
        int, typer.Option(min=0, metavar="N", show_default=False, help="Show the N lines of each hit that fit best.")
    ] = 0,
    context: Annotated[
        bool,
        typer.Option(
            "--context", help="Show what each hit is part of and contains, its callers and callees, what it depends on."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help='Print {"hits": [...]} for programs.')] = False,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help='Answer every line {"id", "query", "repo"?, "level"?} of a file, or of stdin with -, '
            "one line of JSON each.",
        ),
    ] = None,
) -> None:
    """Find functions, classes, files and modules by what they do.

    codesum search "where are retries counted" --level function --path src/ --tests out --excerpt 5
    """
    query = " ".join(words) if words else None
    if (query is None) == (batch is None):
        raise ConfigurationError("give one QUERY, or --batch FILE")
    aids = Aids(context=context, excerpt_lines=excerpt)
    if batch is not None and aids != Aids():
        raise ConfigurationError("--context and --excerpt are for one QUERY: leave them out with --batch")
    called = invocation(ctx)
    filters = parse_filters(languages=language or (), paths=path or (), tests=tests)
    indexes = open_published(called, repo or ())
    check_filters(indexes, filters)
    embedder, levels, lanes = embedder_of(called.settings.options), level or LEVELS, lane or LANES
    if query is None:
        file = batch or _STDIN
        answers = answer_batch(
            _lines(file), indexes, embedder=embedder, top=top, lanes=lanes, levels=levels, filters=filters
        )
        _print_answers(file, answers)
        return
    hits = search_indexes(indexes, query, embedder=embedder, top=top, levels=levels, lanes=lanes, filters=filters)
    shown = list(with_aids(hits, query, indexes, Sources.of(called, indexes), aids))
    if as_json:
        typer.echo(safe_json({"hits": [hit_json(each, aids) for each in shown]}))
    elif shown:
        show(*blocks(shown, several=len(indexes) > 1))
    else:
        among = "" if filters == ANYTHING else " among what the filters let through"
        note(f"nothing found for {one_line(query)!r} in {', '.join(index.repo for index in indexes)}{among}")


def _print_answers(file: str, answers: Iterable[Answer | BadRow]) -> None:
    """One line out per line in; a line that cannot be answered is told on stderr, and the rest goes on."""
    bad = 0
    for answer in answers:
        if isinstance(answer, BadRow):
            bad += 1
            complain(f"{file}: {answer}")
        else:
            typer.echo(escaped(answer.line))
    if bad:
        raise typer.Exit(FAILED)


def _lines(file: str) -> Iterable[str]:
    if file == _STDIN:
        return sys.stdin
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--batch {file}: {error}") from error
