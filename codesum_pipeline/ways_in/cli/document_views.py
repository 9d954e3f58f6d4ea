"""One document: how it is found in the published indexes, and how people see its neighbours, source and origin."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.answers.agent_tools.answering_sources import repositories_of
from codesum_pipeline.answers.agent_tools.call import ToolContext, documents_meant, documents_with_id, no_such_document
from codesum_pipeline.answers.agent_tools.catalogue import AsOf, IndexCatalogue
from codesum_pipeline.answers.agent_tools.surroundings import (
    TRUST_LEGEND,
    TRUST_MARK,
    DocumentRelations,
    RelatedDocument,
)
from codesum_pipeline.foundation.data_model.document import Gate, Level, WrittenBy
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.search.retrieval.hits import Excerpt
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.shelf import Filters, check_filters
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import TextByWidth, complain, fold_words, style_text, write_note

_MOST_SHOWN = 5


def catalogue_of(invocation: Invocation) -> IndexCatalogue:
    """The repositories and indexes of the home of a call."""
    return IndexCatalogue(invocation.settings, invocation.layout, invocation.registry)


def call_here(invocation: Invocation) -> ToolContext:
    """A call of the tools from the current folder; its notes go to stderr."""
    return ToolContext(catalogue_of(invocation), Path.cwd(), on_note=write_note)


def check_fit(call: ToolContext, indexes: Sequence[PublishedIndex], filters: Filters) -> None:
    """As `check_filters`; of a path that was skipped, the reason is raised."""
    try:
        check_filters(indexes, filters)
    except ConfigurationError:
        for each in filters.paths:
            call.check_skipped(repositories_of(indexes), each)
        raise


def open_published(invocation: Invocation, names: Sequence[str] = ()) -> list[PublishedIndex]:
    """As `IndexCatalogue.open_all`; what is left out is named on stderr."""
    return catalogue_of(invocation).open_all(names, tell=complain)


def find_document(
    invocation: Invocation, doc_id: str, *, repo: str | None, call: ToolContext | None = None
) -> IndexedDocument:
    """The one document with an id, else with a name; of several, that of the current folder's repository, with a note.

    With a `call`, the document is that of the folder's work tree. Raises `NotIndexedFile` for a file that was skipped,
    and `ConfigurationError` where there is none, or
    more than one.
    """
    indexes = open_published(invocation, [repo] if repo else [])
    indexes = call.current_of(indexes) if call else indexes
    found = documents_with_id(indexes, doc_id)
    if not found and not (found := _document_called(doc_id, indexes)):
        (call or ToolContext(catalogue_of(invocation), Path.cwd())).check_skipped(repositories_of(indexes), doc_id)
        raise no_such_document(doc_id, indexes)
    if len(found) == 1:
        return found[0]
    here = catalogue_of(invocation).keys_of_folder(Path.cwd())
    ours = [each for each in found if each.repo in here]
    if len(ours) != 1:
        keys = ", ".join(each.repo for each in found)
        raise ConfigurationError(f"document {doc_id!r} is in {len(found)} repositories ({keys}): choose with --repo")
    others = ", ".join(each.repo for each in found if each is not ours[0])
    write_note(f"{doc_id!r} of {ours[0].repo}, the repository of this folder; also in {others}: choose with --repo")
    return ours[0]


def _document_called(name: str, indexes: Sequence[PublishedIndex]) -> list[IndexedDocument]:
    """The document with a name, such as a route or a command, if there is one.

    Raises `ConfigurationError` where several have it.
    """
    found = documents_meant(indexes, name)
    ids = [*dict.fromkeys(each.id for each in found)]
    if len(ids) > 1:
        shown = ", ".join(one_line(id_) for id_ in ids[:_MOST_SHOWN])
        raise ConfigurationError(f"{len(ids)} documents are called {one_line(name)!r}: choose one of {shown}")
    return found


def note_as_of(call: ToolContext, repos: Sequence[str]) -> list[AsOf]:
    """The commits that answers about repositories are of, with a note where one is not the newest commit."""
    found = call.as_of(repos)
    for each in found:
        if each.of_tree or each.behind:
            write_note(f"as of {each}")
    return found


_TAB = 4
# Fewer characters of a summary say nothing.
_SHORTEST_SUMMARY = 20
_RELATIONS = {
    "parents": "part of", "children": "contains", "called_by": "called by", "referenced_by": "referenced by",
    "calls": "calls", "dependencies": "depends on",
}  # fmt: skip
# A document names only some of them.
_OF_USERS = frozenset({"called_by", "referenced_by"})


def describe_neighbours(relations: DocumentRelations, id_: str) -> dict[str, list[RenderableType]]:
    """The neighbours of a document by relation, a line each; below them how many there are, if more."""
    parts: dict[str, list[RenderableType]] = {
        label: [Text(one_line(each)) if isinstance(each, str) else _line(each) for each in getattr(relations, name)]
        for name, label in _RELATIONS.items()
    }
    for name, left in relations.more.items():
        shown, command = parts[_RELATIONS[name]], "show"
        if name in _OF_USERS:
            command = f"impact --of {shlex.quote(one_line(id_))} --steps 1"
        shown.append(style_text(f"… {left:,} more of {len(shown) + left:,} (`codesum {command}` lists all)", "dim"))
    return parts


def explain_trust_mark(shown: Iterable[DocumentRelations]) -> Iterator[RenderableType]:
    """What the mark behind neighbours means, where one of them has it."""
    if any(
        each.trusted
        for relations in shown
        for each in (*relations.called_by, *relations.referenced_by, *relations.calls)
    ):
        yield Text(f"  {TRUST_LEGEND}", style="dim")


def number_excerpt(excerpt: Excerpt) -> Text:
    """Lines behind their numbers, cut at the edge of a terminal."""
    width = len(str(excerpt.start_line + len(excerpt.lines) - 1))
    shown = Text(no_wrap=True, overflow="ellipsis")
    for number, line in enumerate(excerpt.lines, start=excerpt.start_line):
        shown.append(f"{number:>{width}} ", "dim")
        # Safe for a terminal, with the indentation that it has, on one line.
        shown.append(clean_text(line).replace("\n", " ").expandtabs(_TAB))
        shown.append("\n")
    shown.rstrip()
    return shown


def hit_heading(rank: str, id_: str, rest: Text) -> TextByWidth:
    """The first line of a hit. Where it is too long, the id is folded behind slashes and colons, beside its rank."""

    def of_width(width: int) -> Text:
        room = width - len(rank)
        lines = fold_words(Text(id_), room, is_one=True).plain.split("\n")
        folded = f"\n{' ' * len(rank)}".join(lines)
        # The rest begins with two spaces.
        break_before = "" if cell_len(lines[-1]) + rest.cell_len <= room else f"\n{' ' * (len(rank) - 2)}"
        return Text.assemble((rank, "bold"), (folded, "bold cyan"), break_before, rest, overflow="fold")

    return TextByWidth(of_width)


def _line(neighbour: RelatedDocument) -> TextByWidth:
    """A neighbour: its whole id, and as much of its summary as the line has room for."""
    id_ = f"{one_line(neighbour.id)}{f' {TRUST_MARK}' if neighbour.trusted else ''}"

    def of_width(width: int) -> Text:
        if cell_len(id_) + _SHORTEST_SUMMARY > width:
            return fold_words(Text(id_), width)
        whole = Text.assemble(id_, (f"  {one_line(neighbour.summary)}", "dim"))
        whole.truncate(width, overflow="ellipsis")
        return whole

    return TextByWidth(of_width)


_IN_TABLES = ("failure", "cost_usd")


def failure_and_price(layout: HomeLayout, key: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Why a model's text failed, and its price; empty where no model was asked, or the tables have another text."""
    if document["written_by"] != WrittenBy.LLM and document["gate"] != Gate.FAILED:
        return {}
    # Arrow takes longer to load than to show a document, and most are shown without it.
    import pyarrow.compute as pc

    from codesum_pipeline.foundation.store.schemas import texts_table
    from codesum_pipeline.foundation.store.tables import tables_of

    table = texts_table(Level(document["type"]))
    texts = tables_of(layout).read_or_empty(table, key, columns=["id", "text_hash", *_IN_TABLES])
    rows = texts.filter(pc.equal(texts.column("id"), document["id"])).to_pylist()
    same = [row for row in rows if row["text_hash"] == document["text_hash"]]
    return {name: row[name] for row in same for name in _IN_TABLES}


def templates_named(settings: Settings, document: Mapping[str, Any]) -> list[str] | None:
    """The templates that a model wrote a document with; None where no model did, or they have changed since.

    A template that cannot be used now counts as changed, so that it keeps no document from being shown.
    """
    if not document["prompt_version"]:
        return None
    # Most documents are shown without what reads a template.
    from codesum_pipeline.texts.llm.templates import resolve_short_template, resolve_template

    level, folder = Level(document["type"]), settings.prompts_dir
    for read in (resolve_template, resolve_short_template):
        with suppress(ConfigurationError):
            found = read(folder, level, language=settings.llm.language)
            if found and found.digest == document["prompt_version"]:
                return list(found.names)
    return None


def name_for_people(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with names for people; a text that was free has no price."""
    named = {name.replace("_", " "): value for name, value in values.items() if name != "cost_usd"}
    return named | ({"price": f"${values['cost_usd']:.4f}"} if values.get("cost_usd") else {})
