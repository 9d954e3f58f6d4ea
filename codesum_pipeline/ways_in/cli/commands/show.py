"""`codesum show`: one document, with what it belongs to and uses.

`codesum overview`: the page of a repository, for somebody who sees it for the first time.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from msgspec import Struct, to_builtins
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text
from rich.theme import Theme

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.changed_files import changed_files
from codesum_pipeline.answers.agent_tools.graph_role import GraphRole, role_of
from codesum_pipeline.answers.agent_tools.graph_subjects import constant_meant
from codesum_pipeline.answers.agent_tools.overview_tool import read_overview, tell_differing
from codesum_pipeline.answers.agent_tools.read_tool import facts_of
from codesum_pipeline.answers.agent_tools.relations import Relation
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped, told_skipped
from codesum_pipeline.answers.agent_tools.start_names import start_names
from codesum_pipeline.answers.agent_tools.surroundings import DocumentRelations, neighbours_of, surroundings_of
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import BrokenStore, ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.data_model.notebook_cells import cell_fields, told_cell
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.file_formats.version_folder import read_published
from codesum_pipeline.search.retrieval.published_index import IndexedDocument
from codesum_pipeline.source.repositories.checkouts import checkout_of, entries_of
from codesum_pipeline.ways_in.cli.document_views import (
    call_here,
    catalogue_of,
    describe_neighbours,
    explain_trust_mark,
    failure_and_price,
    find_document,
    name_for_people,
    note_as_of,
    open_published,
    templates_named,
)
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    SHORT_COMMIT,
    indent_part,
    is_on_terminal,
    lines_of,
    make_fields,
    print_json,
    show_parts,
    style_text,
    write_note,
)

_ORIGIN_FIELDS = (
    "written_by", "model", "prompt_version", "templates", "gate", "failure", "last_updated", "cause", "cause_ids",
    "commit", "run_id", "content_hash", "graph_hash", "summary_hash", "text_hash",
)  # fmt: skip
_OF_ATTEMPT = ("model", "started_at", "run_id", "attempt", "cost_usd", "error", "answer")


def show(
    invocation: Invocation,
    id: str,
    repo: str | None = None,
    as_json: bool = False,
    answer: bool = False,
    prompt: bool = False,
) -> None:
    """Show one document with all its fields.

    An id is a path (src/auth.py), a path and names (src/auth.py::Login::check), or a folder (src; . is the root).
    """
    if answer and prompt:
        raise ConfigurationError("--answer and --prompt: choose one of them")
    call = call_here(invocation)
    try:
        found = find_document(invocation, id, repo=repo, call=None if answer or prompt else call)
    except ConfigurationError:
        if answer or prompt or not _show_constant(call, id, invocation, repo, as_json=as_json):
            raise
        return
    if answer or prompt:
        values, parts = _refused_answer(invocation, found) if answer else _prompt(invocation, found)
        head = Text.assemble(
            (one_line(found.id), "bold"), (f"  {'refused answer' if answer else 'prompt'} · {found.repo}", "dim")
        )
        if as_json:
            print_json({"repo": found.repo, "id": found.id, **values})
        else:
            show_parts(head, *parts)
        return
    document, documents = found.document(), call.documents(found.repo)
    number = documents.number_of(found)
    call.tell_gone(documents, number)
    relations = surroundings_of(documents, number)
    role = role_of(documents, number, start_names(call, found.repo))
    document |= cell_fields(found.index.cell_at(found.path, document["start_line"]))
    document |= failure_and_price(invocation.layout, found.repo, document)
    document["templates"] = templates_named(invocation.settings, document)
    changed = changed_files(call, {found.repo: [] if document["type"] == Level.MODULE else [document["file_path"]]})
    if as_json:
        freshness = {"as_of": call.as_of([found.repo]), "changed_since": bool(changed[found.repo])}
        print_json({"repo": found.repo, **document, **to_builtins(relations), "role": to_builtins(role), **freshness})
        return
    note_as_of(call, [found.repo])
    skipped = read_skipped(invocation.layout, found.repo).named(found.id) if found.level is Level.MODULE else ""
    show_parts(*_sections(found.repo, document, relations, role, skipped))


def _show_constant(call: ToolContext, name: str, invocation: Invocation, repo: str | None, *, as_json: bool) -> bool:
    """Show where a constant is and what refers to it, since it has no document; False where no constant has a name."""
    indexes = call.current_of(open_published(invocation, [repo] if repo else []))
    constant = constant_meant(call, name, indexes)
    if constant is None:
        return False
    documents, row = constant.documents, constant.row
    above, users = (
        neighbours_of(documents, (each.number for each in constant.related_numbers(relation)))
        for relation in (Relation.PART_OF, Relation.REFERENCED_BY)
    )
    if as_json:
        place = {"repo": row.repo, "id": row.id, "type": row.kind, "file_path": row.path, "start_line": row.start_line}
        around = {"parents": to_builtins(above), "referenced_by": to_builtins(users)}
        print_json({**place, **around, "as_of": call.as_of([row.repo])})
        return True
    note_as_of(call, [row.repo])
    relations = DocumentRelations(
        parents=above, children=(), called_by=(), referenced_by=users, calls=(), dependencies=()
    )
    show_parts(
        Text.assemble((one_line(row.id), "bold"), (f"  {lines_of(row.start_line, row.end_line)}".rstrip(), "cyan")),
        style_text(f"{row.kind} · {row.repo}", "dim"),
        make_fields(describe_neighbours(relations, row.id)),
    )
    return True


def _sections(
    repo: str, document: Mapping[str, Any], relations: DocumentRelations, role: GraphRole, skipped: str
) -> Iterator[RenderableType]:
    places = told_cell(document["cell"], document["cell_line"]), lines_of(document["start_line"], document["end_line"])
    lines = "  ".join(filter(None, places))
    yield Text.assemble((one_line(document["id"]), "bold"), (f"  {lines}".rstrip(), "cyan"))
    marks = [name for name in ("placeholder", "test", "vendored") if document[f"is_{name}"]]
    kind = (document["type"], document["language"], repo, *marks)
    yield style_text(" · ".join(one_line(part) for part in kind if part), "dim")
    if document["signature"]:
        yield indent_part(style_text(document["signature"], "cyan"), 2, above=1)
    yield indent_part(Text(clean_text(document["summary"])), 2, above=1, below=1)
    facts = facts_of(document)
    fields_shown = {
        **role.facts(),
        "intent": facts.pop("intent"),
        "interface": document["signature_summary"],
        **facts,
        "keywords": ", ".join(document["keywords"]),
        "skipped": skipped,
        "supported by": [
            f"{each['field']}: lines {each['start_line']}-{each['end_line']}" for each in document["citations"]
        ],
    }
    yield make_fields(fields_shown | describe_neighbours(relations, document["id"]))
    yield from explain_trust_mark([relations])
    yield Text("\nHow it was written", style="bold")
    yield make_fields(name_for_people({name: document.get(name) for name in (*_ORIGIN_FIELDS, "cost_usd")}))


def _refused_answer(invocation: Invocation, found: IndexedDocument) -> tuple[dict[str, Any], list[RenderableType]]:
    """The last answer of a model that could not be taken, and why: what the ledger keeps of it, and the same for a
    person. Raises `ConfigurationError` if there is none."""
    # Arrow takes longer to load than to show a document.
    from codesum_pipeline.foundation.store.tables import tables_of

    tables = tables_of(invocation.layout)
    ledger = tables.read_or_empty("ledger", found.repo, columns=["id", "sequence", "outcome", *_OF_ATTEMPT])
    rows = [row for row in ledger.to_pylist() if row["id"] == found.id]
    attempts = sorted(rows, key=lambda row: int(row["sequence"]))
    refused = [row for row in attempts if row["outcome"] == AttemptOutcome.INVALID and row["answer"]]
    if not refused:
        attempted = f"of {len(attempts)} attempts none" if attempts else "no model was asked, so none"
        raise ConfigurationError(f"{found.id!r}: no answer of a model was refused ({attempted} has one)")
    last = refused[-1]
    later = [row["outcome"] for row in attempts if row["sequence"] > last["sequence"]]
    was_taken, laid_out = AttemptOutcome.GOOD in later, last["answer"]
    with suppress(ValueError, RecursionError):
        laid_out = json.dumps(json.loads(last["answer"]), ensure_ascii=False, indent=2)
    facts = {
        "model": last["model"],
        "asked at": last["started_at"],
        "run": last["run_id"],
        "attempt": str(last["attempt"]),
        "price": f"${last['cost_usd']:.4f}",
        "a later answer was taken": "yes" if was_taken else "no",
    }
    return {name: last[name] for name in _OF_ATTEMPT} | {"a_later_answer_was_taken": was_taken}, [
        make_fields(facts),
        Text("\nWhy it was refused", style="bold"),
        indent_part(Text(clean_text(last["error"] or "")), 2),
        Text("\nThe answer", style="bold"),
        indent_part(Text(clean_text(laid_out)), 2),
    ]


def _prompt(invocation: Invocation, found: IndexedDocument) -> tuple[dict[str, Any], list[RenderableType]]:
    """What a model would be asked, from the tables of the last build; nobody is asked.

    A person sees the user's turn, and of the system turn, which is the same for every document, where to read it.
    """
    # Other documents are shown without what renders prompts.
    from codesum_pipeline.texts.summaries.by_model.flow import prompt_of

    prompt = prompt_of(
        invocation.home.workspace(found.repo, run_id="prompt"), found.id, Level(found.document()["type"])
    )
    kind, _, name = prompt.templates[0].partition("/")
    facts = {
        "system turn": f"{len(prompt.system):,} characters: `codesum prompts show {kind} {name}`",
        "user's turn": f"{len(prompt.user):,} characters: {prompt.templates[1]}, filled in as below",
        "secrets masked": ", ".join(f"{number} {kind}" for kind, number in prompt.masked.items()) or None,
    }
    return to_builtins(prompt), [make_fields(facts), Text(f"\n{clean_text(prompt.user)}")]


# A terminal shows what uses what in words.
_DIAGRAM = re.compile(r"```mermaid\n(?:[^`]|`(?!``))*+```\n+")


def overview(invocation: Invocation, repo: str | None = None, as_json: bool = False) -> None:
    """Show a repository to a newcomer: its parts, entry points, frameworks, where to start.

    Through a pipe it is the page's Markdown, with a Mermaid diagram of the parts.
    """
    entry = _entry(invocation, repo)
    row = read_overview(invocation.layout, entry.key)
    if as_json:
        print_json({**json.loads(row["facts"]), "page": row["page"]})
        return
    # Between the publication of an index and the writing of its page, or where that failed.
    published, commit = read_published(invocation.layout, entry.key), row["commit"]
    if published and published.commit and published.commit != commit:
        write_note(
            f"the page is of commit {commit[:SHORT_COMMIT]}, the published index of "
            f"{published.commit[:SHORT_COMMIT]}: `codesum index {entry.key}` writes it anew"
        )
    call = call_here(invocation)
    # The page can be read where its index cannot.
    with suppress(MissingTable, BrokenStore):
        tell_differing(call, call.index(entry.key), json.loads(row["facts"]))
    if counts := read_skipped(invocation.layout, entry.key).counts():
        write_note(f"skipped: {told_skipped(counts)}; `codesum show PATH` says why")
    page = clean_text(row["page"])
    if is_on_terminal():
        show_parts(MarkdownPage(_DIAGRAM.sub("", page)))
    else:
        typer.echo(page, nl=False)


class MarkdownPage(Struct, frozen=True):
    """Markdown whose code keeps the terminal's own background."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Only an overview on a terminal waits for it.
        from rich.markdown import Markdown

        with console.use_theme(Theme({"markdown.code": "cyan"})):
            yield from console.render(Markdown(self.text, hyperlinks=False), options)


def _entry(invocation: Invocation, name: str | None) -> RepositoryEntry:
    """The one repository that is meant; raises `ConfigurationError` if there are several, or none."""
    if name:
        found = catalogue_of(invocation).entries_named(name)
    else:
        checkout = checkout_of(Path.cwd())
        every = invocation.entries()
        found = (entries_of(checkout, every) if checkout else []) or every
    if not found:
        raise MissingTable(f"{invocation.layout.home} holds no index yet: run `codesum index PATH|URL`")
    if len(found) > 1:
        keys = ", ".join(entry.key for entry in found[:12])
        raise ConfigurationError(
            f"{len(found)} repositories ({keys}): name the one to show, as in `codesum overview KEY`"
        )
    return found[0]
