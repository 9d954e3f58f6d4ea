"""`codesum show` and `explain`: one document, with what it belongs to and uses, and why it was last written.

`codesum overview`: the page of a repository, for somebody who sees it for the first time.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct, to_builtins
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text
from rich.theme import Theme
from rich.tree import Tree

from codesum_pipeline.ground.model.document import Level
from codesum_pipeline.ground.model.errors import BrokenStore, ConfigurationError, MissingTable
from codesum_pipeline.ground.model.model_call import AttemptOutcome
from codesum_pipeline.ground.model.printable import clean, counted, one_line
from codesum_pipeline.ground.model.repository import RepositoryEntry
from codesum_pipeline.indexes.formats.version_folder import read_published
from codesum_pipeline.search.retrieval.published_index import IndexedDocument
from codesum_pipeline.source.repositories.checkouts import checkout_of, entries_of
from codesum_pipeline.ways_in.cli.document_views import (
    catalogue_of,
    described,
    failure_and_price,
    find_document,
    legend,
    readable,
    templates_named,
    told_as_of,
)
from codesum_pipeline.ways_in.cli.invocation import Invocation, invocation
from codesum_pipeline.ways_in.cli.options import DocumentArgument, DocumentRepoOption, argument, complete_keys, switch
from codesum_pipeline.ways_in.cli.render import (
    SHORT_COMMIT,
    fields,
    indented,
    lines_of,
    note,
    on_terminal,
    print_json,
    styled,
)
from codesum_pipeline.ways_in.cli.render import show as show_parts
from codesum_pipeline.ways_in.tools.call import ToolContext
from codesum_pipeline.ways_in.tools.graph_tool import DocumentRelations, surroundings
from codesum_pipeline.ways_in.tools.overview_tool import read_overview, tell_differing
from codesum_pipeline.ways_in.tools.read_tool import facts_of
from codesum_pipeline.ways_in.tools.tool_registry import changed_files

if TYPE_CHECKING:
    from codesum_pipeline.texts.summaries.text_history import ExplainStep


_ORIGIN_FIELDS = (
    "written_by", "model", "prompt_version", "templates", "gate", "failure", "last_updated", "cause", "cause_ids",
    "commit", "run_id", "content_hash", "graph_hash", "summary_hash", "text_hash",
)  # fmt: skip
_OF_ATTEMPT = ("model", "started_at", "run_id", "attempt", "cost_usd", "error", "answer")
_PUBLISHED = ("written_by", "model", "prompt_version", "gate")
_OF_ROW = ("id", "level", "event", "cause", "cause_ids", "commit", "run_id", "written_at", "cost_usd")


def show(
    ctx: typer.Context,
    id: DocumentArgument,
    repo: DocumentRepoOption = None,
    as_json: Annotated[bool, switch("--json", "Print the document as one JSON object.")] = False,
    answer: Annotated[
        bool, switch("--answer", "Show instead the last answer of a model that was refused, and why.")
    ] = False,
    prompt: Annotated[
        bool, switch("--prompt", "Show instead the prompt that a model would get about it; no model is asked.")
    ] = False,
) -> None:
    """Show one document with all its fields.

    An id is a path (src/auth.py), a path and names (src/auth.py::Login::check), or a folder (src; . is the root).
    """
    if answer and prompt:
        raise ConfigurationError("--answer and --prompt: choose one of them")
    called = invocation(ctx)
    call = ToolContext(catalogue_of(called), Path.cwd(), on_note=note)
    found = find_document(called, id, repo=repo, call=None if answer or prompt else call)
    if answer or prompt:
        values, parts = _refused_answer(called, found) if answer else _prompt(called, found)
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
    around = surroundings(documents, number)
    document |= failure_and_price(called.layout.warehouse, found.repo, document)
    document["templates"] = templates_named(called.settings, document)
    changed = changed_files(call, {found.repo: [] if document["type"] == Level.MODULE else [document["file_path"]]})
    if as_json:
        said_of = {"as_of": call.as_of([found.repo]), "changed_since": bool(changed[found.repo])}
        print_json({"repo": found.repo, **document, **to_builtins(around), **said_of})
        return
    told_as_of(call, [found.repo])
    show_parts(*_sections(found.repo, document, around))


def _sections(repo: str, document: Mapping[str, Any], around: DocumentRelations) -> Iterator[RenderableType]:
    lines = lines_of(document["start_line"], document["end_line"])
    yield Text.assemble((one_line(document["id"]), "bold"), (f"  {lines}".rstrip(), "cyan"))
    marks = [name for name in ("placeholder", "test", "vendored") if document[f"is_{name}"]]
    kind = (document["type"], document["language"], repo, *marks)
    yield styled(" · ".join(one_line(part) for part in kind if part), "dim")
    if document["signature"]:
        yield indented(styled(document["signature"], "cyan"), 2, above=1)
    yield indented(Text(clean(document["summary"])), 2, above=1, below=1)
    facts = facts_of(document)
    said = {
        "intent": facts.pop("intent"),
        "interface": document["signature_summary"],
        **facts,
        "keywords": ", ".join(document["keywords"]),
        "supported by": [
            f"{each['field']}: lines {each['start_line']}-{each['end_line']}" for each in document["citations"]
        ],
    }
    yield fields(said | described(around))
    yield from legend([around])
    yield Text("\nHow it was written", style="bold")
    yield fields(readable({name: document.get(name) for name in (*_ORIGIN_FIELDS, "cost_usd")}))


def _refused_answer(called: Invocation, found: IndexedDocument) -> tuple[dict[str, Any], list[RenderableType]]:
    """The last answer of a model that could not be taken, and why: what the ledger keeps of it, and the same for a
    person. Raises `ConfigurationError` if there is none."""
    from codesum_pipeline.ground.store.tables import tables_of

    tables = tables_of(called.layout)
    ledger = tables.read_or_empty("ledger", found.repo, columns=["id", "sequence", "outcome", *_OF_ATTEMPT])
    rows = [row for row in ledger.to_pylist() if row["id"] == found.id]
    attempts = sorted(rows, key=lambda row: int(row["sequence"]))
    refused = [row for row in attempts if row["outcome"] == AttemptOutcome.INVALID and row["answer"]]
    if not refused:
        asked = f"of {len(attempts)} attempts none" if attempts else "no model was asked, so none"
        raise ConfigurationError(f"{found.id!r}: no answer of a model was refused ({asked} has one)")
    last = refused[-1]
    later = [row["outcome"] for row in attempts if row["sequence"] > last["sequence"]]
    was_taken, laid_out = AttemptOutcome.GOOD in later, last["answer"]
    with suppress(ValueError, RecursionError):
        laid_out = json.dumps(json.loads(last["answer"]), ensure_ascii=False, indent=2)
    told = {
        "model": last["model"],
        "asked at": last["started_at"],
        "run": last["run_id"],
        "attempt": str(last["attempt"]),
        "price": f"${last['cost_usd']:.4f}",
        "a later answer was taken": "yes" if was_taken else "no",
    }
    return {name: last[name] for name in _OF_ATTEMPT} | {"a_later_answer_was_taken": was_taken}, [
        fields(told),
        Text("\nWhy it was refused", style="bold"),
        indented(Text(clean(last["error"] or "")), 2),
        Text("\nThe answer", style="bold"),
        indented(Text(clean(laid_out)), 2),
    ]


def _prompt(called: Invocation, found: IndexedDocument) -> tuple[dict[str, Any], list[RenderableType]]:
    """What a model would be asked, from the tables of the last build; nobody is asked.

    A person sees the user's turn, and of the system turn, which is the same for every document, where to read it.
    """
    # Other documents are shown without what renders prompts.
    from codesum_pipeline.texts.summaries.by_model.flow import prompt_of

    asked = prompt_of(called.home.workspace(found.repo, run_id="prompt"), found.id, Level(found.document()["type"]))
    kind, _, name = asked.templates[0].partition("/")
    told = {
        "system turn": f"{len(asked.system):,} characters: `codesum prompts show {kind} {name}`",
        "user's turn": f"{len(asked.user):,} characters: {asked.templates[1]}, filled in as below",
        "secrets masked": ", ".join(f"{number} {kind}" for kind, number in asked.masked.items()) or None,
    }
    return to_builtins(asked), [fields(told), Text(f"\n{clean(asked.user)}")]


def explain(
    ctx: typer.Context,
    id: DocumentArgument,
    repo: DocumentRepoOption = None,
    as_json: Annotated[bool, switch("--json", "Print one JSON object with the steps.")] = False,
) -> None:
    """Show why a document was last rewritten, as the chain of causes.

    Each line is one rewrite: the document, why it was written again, at which commit,
    in which run, when, by which writer and at what price. Below it stand the rewrites that caused it.
    """
    # What explains reads the tables; documents are shown without it.
    from codesum_pipeline.texts.summaries.text_history import explain_text as explain_document
    from codesum_pipeline.ways_in.cli.commands.compact import compactions_of_document

    called = invocation(ctx)
    found = find_document(called, id, repo=repo)
    document = found.document()
    told = {name: document[name] for name in _PUBLISHED}
    told |= failure_and_price(called.layout.warehouse, found.repo, document)
    steps = explain_document(called.home.workspace(found.repo, run_id="explain"), found.id)
    compacted = compactions_of_document(called, found.repo, found.id)
    if as_json:
        values = [
            {
                "depth": step.depth,
                **{name: getattr(step.row, name) for name in _OF_ROW},
                "more_causes": step.more_causes,
                "written_by": step.row.written_by,
                "writer": step.row.writer,
            }
            for step in steps
        ]
        print_json({"repo": found.repo, "id": found.id, "steps": values, **told, "compactions": compacted})
        return
    # Which earlier rows a text replaced.
    earlier = [
        f"{counted(each['rows'], 'earlier row')} ({each['policy']}), at {each['compacted_at']} by {each['job_id']}"
        for each in compacted
    ]
    show_parts(_tree(steps), fields(readable(told) | {"compacted": earlier}))


def _tree(steps: "Sequence[ExplainStep]") -> Tree:
    """Steps come in order, each one level below the last step of a smaller depth."""
    root = Tree(_line(steps[0]))
    path = [root]
    for step in steps[1:]:
        del path[step.depth :]
        path.append(path[-1].add(_line(step)))
    return root


def _line(step: "ExplainStep") -> Text:
    """One rewrite."""
    line = Text(one_line(step.row.id), style="bold")
    line.append(f"  {step.row.level}", style="dim not bold")
    cause = f": {step.row.cause}" if step.row.cause else ""
    line.append(f"  {step.row.event}{cause}", style="yellow not bold")
    price = f"${step.row.cost_usd:.4f}" if step.row.cost_usd else "free"
    details = (
        f"commit {step.row.commit[:SHORT_COMMIT]}",
        f"run {step.row.run_id[:SHORT_COMMIT]}",
        step.row.written_at,
        step.row.writer,
        price,
    )
    line.append(f"  {one_line(' · '.join(details))}", style="dim not bold")
    if step.more_causes:
        line.append(f"  and {step.more_causes:,} more causes", style="dim not bold")
    return line


# A terminal shows what uses what in words.
_DIAGRAM = re.compile(r"```mermaid\n(?:[^`]|`(?!``))*+```\n+")


def overview(
    ctx: typer.Context,
    repo: Annotated[
        str | None,
        argument(
            "[REPO]",
            "The repository's key, or owner/name. Default: that of this folder, or the only one.",
            autocompletion=complete_keys,
        ),
    ] = None,
    as_json: Annotated[bool, switch("--json", "Print the facts as one JSON object.")] = False,
) -> None:
    """Show a repository to a newcomer: its parts, entry points, frameworks, where to start.

    Through a pipe it is the page's Markdown, with a Mermaid diagram of the parts.
    """
    called = invocation(ctx)
    entry = _entry(called, repo)
    row = read_overview(called.layout, entry.key)
    if as_json:
        print_json({**json.loads(row["facts"]), "page": row["page"]})
        return
    # Between the publication of an index and the writing of its page, or where that failed.
    published, commit = read_published(called.layout, entry.key), row["commit"]
    if published and published.commit and published.commit != commit:
        note(
            f"the page is of commit {commit[:SHORT_COMMIT]}, the published index of "
            f"{published.commit[:SHORT_COMMIT]}: `codesum index {entry.key}` writes it anew"
        )
    call = ToolContext(catalogue_of(called), Path.cwd(), on_note=note)
    # The page can be read where its index cannot.
    with suppress(MissingTable, BrokenStore):
        tell_differing(call, call.index(entry.key), json.loads(row["facts"]))
    page = clean(row["page"])
    if on_terminal():
        show_parts(MarkdownPage(_DIAGRAM.sub("", page)))
    else:
        typer.echo(page, nl=False)


class MarkdownPage(Struct, frozen=True):
    """Markdown whose code keeps the terminal's own background."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.markdown import Markdown

        with console.use_theme(Theme({"markdown.code": "cyan"})):
            yield from console.render(Markdown(self.text, hyperlinks=False), options)


def _entry(called: Invocation, name: str | None) -> RepositoryEntry:
    """The one repository that is meant; raises `ConfigurationError` if there are several, or none."""
    if name:
        found = catalogue_of(called).entries_named(name)
    else:
        checkout = checkout_of(Path.cwd())
        every = called.entries()
        found = (entries_of(checkout, every) if checkout else []) or every
    if not found:
        raise MissingTable(f"{called.layout.home} holds no index yet: run `codesum index PATH|URL`")
    if len(found) > 1:
        keys = ", ".join(entry.key for entry in found[:12])
        raise ConfigurationError(
            f"{len(found)} repositories ({keys}): name the one to show, as in `codesum overview KEY`"
        )
    return found[0]
