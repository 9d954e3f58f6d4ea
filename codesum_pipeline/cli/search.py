"""`codesum search`: questions to the published indexes, with numpy alone."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import open_published
from codesum_pipeline.cli.render import lines_of, note, show, styled
from codesum_pipeline.cli.safe_text import clean, escaped, one_line, safe_json
from codesum_pipeline.indexes.embedders import Embedder, embedder_of
from codesum_pipeline.indexes.lanes import LANES, Lane
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.batch import BadRow, answer_batch
from codesum_pipeline.retrieval.hits import Hit
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.search import DEFAULT_TOP
from codesum_pipeline.retrieval.search import search as search_indexes

_STDIN = "-"


def search(
    ctx: typer.Context,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", show_default=False, help="What is looked for, in words or as a name."),
    ] = None,
    repo: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY", show_default=False, help="Only this repository (key or owner/name). Can be repeated."
        ),
    ] = None,
    level: Annotated[
        list[Level] | None,
        typer.Option(
            metavar="LEVEL",
            show_default=False,
            help="Only functions, classes, files or modules (function, class, file, module). Can be repeated.",
        ),
    ] = None,
    lane: Annotated[
        list[Lane] | None,
        typer.Option(
            metavar="LANE",
            show_default=False,
            help="Rank by this alone (code, summary, fused, keywords, symbol) instead of a weighted mix of all. "
            "Can be repeated.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many hits at most.")] = DEFAULT_TOP,
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

    codesum search "where are retries counted" --level function --top 5
    """
    if (query is None) == (batch is None):
        raise ConfigurationError("give one QUERY, or --batch FILE")
    called = invocation(ctx)
    indexes = open_published(called, repo or ())
    embedder = embedder_of(called.settings.options)
    levels, lanes = level or LEVELS, lane or LANES
    if query is None:
        _answer(batch or _STDIN, indexes, embedder, top, levels, lanes)
        return
    hits = search_indexes(indexes, query, embedder=embedder, top=top, levels=levels, lanes=lanes)
    if as_json:
        typer.echo(safe_json({"hits": [asdict(hit) for hit in hits]}))
    else:
        _show(hits, query, indexes)


def _answer(
    file: str,
    indexes: list[PublishedIndex],
    embedder: Embedder,
    top: int,
    levels: Sequence[Level],
    lanes: Sequence[Lane],
) -> None:
    """One line out per line in; a line that cannot be answered is told on stderr, and the rest goes on."""
    bad = 0
    for answer in answer_batch(_lines(file), indexes, embedder=embedder, top=top, lanes=lanes, levels=levels):
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


def _show(hits: Sequence[Hit], query: str, indexes: Sequence[PublishedIndex]) -> None:
    """One block per hit: where it is, what it does, why it was found."""
    if not hits:
        note(f"nothing found for {one_line(query)!r} in {', '.join(index.repo for index in indexes)}")
    several = len(indexes) > 1
    width = len(str(len(hits)))
    for rank, hit in enumerate(hits, start=1):
        lines = lines_of(asdict(hit))
        head = Text.assemble(
            (f"{rank:>{width}}. ", "bold"),
            (one_line(hit.id), "bold cyan"),
            (f"  {lines}" if lines else "", "cyan"),
            (f"  {hit.type}{f' in {hit.repo}' if several else ''}", "dim"),
        )
        body = Padding(Text(clean(hit.summary)), (0, 0, 0, width + 2))
        why = Padding(styled(one_line(hit.why), "dim"), (0, 0, 1 if rank < len(hits) else 0, width + 2))
        show(head, body, why)
