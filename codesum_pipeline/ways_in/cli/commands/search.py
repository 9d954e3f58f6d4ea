"""`codesum search`: questions to the published indexes, with numpy alone."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader, repositories_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import AsOf
from codesum_pipeline.answers.agent_tools.changed_files import changed_files
from codesum_pipeline.answers.agent_tools.start_names import lines_beside
from codesum_pipeline.answers.agent_tools.surroundings import DocumentRelations, bound_surroundings, surroundings_of
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.notebook_cells import told_cell
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import LANES
from codesum_pipeline.search.retrieval.hits import Excerpt, Hit
from codesum_pipeline.search.retrieval.passages import Passage
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
from codesum_pipeline.search.retrieval.shelf import ANYTHING, WhichTests, parse_filters
from codesum_pipeline.ways_in.cli.document_views import (
    call_here,
    check_fit,
    describe_neighbours,
    explain_trust_mark,
    hit_heading,
    note_as_of,
    number_excerpt,
    open_published,
)
from codesum_pipeline.ways_in.cli.filter_options import LanesOption, LanguagesOption, LevelsOption
from codesum_pipeline.ways_in.cli.first_use import open_scope
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    FAILED,
    complain,
    indent_part,
    lines_of,
    make_fields,
    print_json,
    show_parts,
    style_text,
    write_note,
)

_STDIN = "-"
# What `--context` adds to all hits together, unless another bound is asked for.
_CONTEXT_TOKENS = 1200
# The first ones of many parameters are enough to recognise a signature.
_SIGNATURE_CHARACTERS = 160


def search(
    invocation: Invocation,
    words: list[str] | None = None,
    repo: list[str] | None = None,
    level: LevelsOption = None,
    language: LanguagesOption = None,
    path: list[str] | None = None,
    tests: WhichTests = WhichTests.IN,
    lane: LanesOption = None,
    top: int = DEFAULT_TOP,
    excerpt: int = 0,
    context: bool = False,
    context_tokens: int = _CONTEXT_TOKENS,
    everything: bool = False,
    as_json: bool = False,
    batch: str | None = None,
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
    filters = parse_filters(languages=language or (), paths=path or (), tests=tests)
    scope = open_scope(invocation, repo or (), everything=everything, may_ask=batch is None)
    nameable = open_published(invocation) if batch is not None and scope.leaves_out else scope.indexes
    call = call_here(invocation)
    searched, nameable = call.current_of(scope.indexes), call.current_of(nameable)
    check_fit(call, nameable, filters)
    asker = _Asker(
        call=call,
        sources=call.sources(nameable),
        ask=partial(
            answer_query, embedder=embedder_of(invocation.settings), top=top, lanes=lane or LANES, filters=filters
        ),
        context_tokens=context_tokens if context else None,
        excerpt_lines=excerpt,
    )
    levels = tuple(level or LEVELS)
    if scope.remark:
        write_note(scope.remark)
    if batch is not None:
        _print_answers(read_batch(_lines(batch), searched, nameable), batch, asker, levels)
        return
    found = asker.answer(query or "", searched, levels)
    if as_json:
        print_json(found.as_json())
    elif found.hits:
        if found.fits_well is False:
            write_note(f"nothing fits well: the best hits have little to do with {one_line(found.query)!r}")
        # The context has the same, and more.
        shown = [] if context else [(each.hit.repo, each.hit.id) for each in found.hits]
        show_parts(*found.blocks(lines_beside(call, shown)))
    else:
        among = "" if filters == ANYTHING else " among what the filters let through"
        write_note(f"nothing found for {one_line(found.query)!r} in {', '.join(found.repositories)}{among}")


def _print_answers(
    rows: Iterable[RoutedQuestion | BadRow], file: str, asker: "_Asker", levels: Sequence[Level]
) -> None:
    """One line out per line in; a line that cannot be answered is reported on stderr, and the rest goes on."""
    bad = 0
    for row in rows:
        if isinstance(row, BadRow):
            bad += 1
            complain(f"{file}: {row}")
        else:
            question = row.question
            found = asker.answer(question.query, row.indexes, (question.level,) if question.level else levels)
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
    """One hit, the passage of a long one, whether its file changed since the commit that is searched, and the aids that
    were asked for."""

    hit: Hit
    passage: Passage | None
    changed_since: bool
    relations: DocumentRelations | None
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
            relations = {**to_builtins(each.relations), "more": each.relations.more} if each.relations else {}
            own = {**to_builtins(each.hit), "passage": each.passage, "changed_since": each.changed_since}
            hits.append({**own, **relations, **each.aids})
        return asdict(self) | {"hits": hits}

    def blocks(self, beside: Mapping[tuple[str, str], str]) -> Iterator[RenderableType]:
        """One block per hit: where it is, how it is called, what it does, the line `beside` its text by repository and
        id, why it was found."""
        width = len(str(len(self.hits)))
        for rank, each in enumerate(self.hits, start=1):
            hit, signature = each.hit, one_line(each.hit.signature_summary or "")
            lines, cell = lines_of(hit.start_line, hit.end_line), told_cell(hit.cell, hit.cell_line)
            if each.passage:
                of = f" of {hit.start_line}-{hit.end_line}" if hit.start_line else ""
                lines = f"{lines_of(each.passage.start_line, each.passage.end_line)}{of}"
                cell = told_cell(each.passage.cell, each.passage.cell_line)
            lines = f"{cell}  {lines}" if cell else lines
            rest = Text.assemble(
                (f"  {lines}" if lines else "", "cyan"),
                (f"  {hit.type}{f' in {hit.repo}' if len(self.repositories) > 1 else ''}", "dim"),
                ("  changed since" if each.changed_since else "", "yellow"),
            )
            yield hit_heading(f"{rank:>{width}}. ", one_line(hit.id), rest)
            if len(signature) > _SIGNATURE_CHARACTERS:
                signature = f"{signature[: _SIGNATURE_CHARACTERS - 1].rstrip()}…"
            if signature:
                yield indent_part(style_text(signature, "cyan"), width + 2)
            yield indent_part(Text(clean_text(hit.summary)), width + 2)
            if line := beside.get((hit.repo, hit.id)):
                yield indent_part(Text(line), width + 2)
            yield indent_part(style_text(one_line(hit.why), "dim"), width + 2)
            if excerpt := each.aids.get("excerpt"):
                yield indent_part(number_excerpt(excerpt), width + 4)
            if each.relations:
                yield indent_part(make_fields(describe_neighbours(each.relations, hit.id)), width)
            if rank < len(self.hits):
                yield ""
        yield from explain_trust_mark(each.relations for each in self.hits if each.relations)


class _Asker(Struct, eq=False):
    """Asks each question of a call, and looks up what is shown of each hit besides itself. It remembers the commits of
    the answers, so that each repository's is mentioned once."""

    call: ToolContext
    sources: SourceReader
    ask: Callable[..., SearchAnswer]
    context_tokens: int | None
    excerpt_lines: int
    commits: dict[str, AsOf] = field(default_factory=dict)

    def answer(self, query: str, indexes: Sequence[PublishedIndex], levels: Sequence[Level]) -> AnswerView:
        found = self.ask(indexes, query, levels=levels, read=self.sources.read)
        searched = repositories_of(indexes)
        # A version other than the newest commit is mentioned, once.
        repos = list(dict.fromkeys(hit.repo for hit in found.hits)) or searched
        self.commits.update(
            (each.repo, each) for each in note_as_of(self.call, [r for r in repos if r not in self.commits])
        )
        files: dict[str, set[str]] = {}
        for hit in found.hits:
            if hit.type != Level.MODULE:
                files.setdefault(hit.repo, set()).add(hit.file_path)
        changed = changed_files(self.call, files)
        self.sources.read_of(indexes, [hit for hit in found.hits if hit.may_be_long])
        views, tokens = [], self.context_tokens or 0
        for place, hit in enumerate(found.hits):
            relations = None
            documents = self.call.documents(hit.repo) if self.context_tokens is not None else None
            number = documents.number(hit.id) if documents else None
            if documents and number is not None:
                # The contexts of all hits share one limit evenly.
                share = tokens // (len(found.hits) - place)
                relations, left = bound_surroundings(surroundings_of(documents, number), tokens=share)
                tokens -= share - left
            size, passage = self.excerpt_lines, self.sources.passage(hit, query)
            aids = {"excerpt": self.sources.excerpt(hit, query, size=size, within=passage)} if size else {}
            views.append(HitView(hit, passage, hit.file_path in changed.get(hit.repo, ()), relations, aids))
        return AnswerView(query, searched, [self.commits[repo] for repo in repos], found.fits_well, views)
