"""`codesum show`: one document, readable, with what it belongs to and what it uses."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.documents import (
    catalogue_of,
    described,
    failure_and_price,
    find_document,
    legend,
    readable,
    templates_named,
)
from codesum_pipeline.cli.invocation import Invocation, invocation
from codesum_pipeline.cli.options import DocumentRepoOption, switch
from codesum_pipeline.cli.render import fields, indented, lines_of, note, safe_json, styled
from codesum_pipeline.cli.render import show as show_parts
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.model.printable import clean, one_line
from codesum_pipeline.retrieval.reader import IndexedDocument
from codesum_pipeline.summaries.by_model.prompt_of import PromptTurns, prompt_of
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.registry import changed_files
from codesum_pipeline.tools.surroundings import DocumentRelations, surroundings
from codesum_pipeline.wiring import Home

_ORIGIN_FIELDS = (
    "written_by", "model", "prompt_version", "templates", "gate", "failure", "last_updated", "cause", "cause_ids",
    "commit", "run_id", "content_hash", "graph_hash", "summary_hash", "text_hash",
)  # fmt: skip


def show(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A document's id, as `codesum search` prints it.")],
    repo: DocumentRepoOption = None,
    as_json: Annotated[bool, switch("--json", "Print the document as one JSON object.")] = False,
    answer: Annotated[
        bool, switch("--answer", "Show the last answer of a model that was refused, and why, instead.")
    ] = False,
    prompt: Annotated[
        bool, switch("--prompt", "Show what a model would be asked about it, instead; nobody is asked.")
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
    if answer:
        refused = refused_answer(called.layout.warehouse, found.repo, found.id)
        if as_json:
            typer.echo(safe_json({"repo": found.repo, "id": found.id, **refused}))
        else:
            show_parts(*answer_sections(found.repo, found.id, refused))
        return
    if prompt:
        # Other documents are shown without what renders prompts.
        from codesum_pipeline.cli.show import asked_prompt, prompt_sections

        asked = asked_prompt(called, found.repo, found.id, found.document()["type"])
        if as_json:
            typer.echo(safe_json({"repo": found.repo, "id": found.id, **to_builtins(asked)}))
        else:
            show_parts(*prompt_sections(found.repo, found.id, asked))
        return
    document, around = found.document(), _around(call, found)
    document |= failure_and_price(called.layout.warehouse, found.repo, document)
    document["templates"] = templates_named(called.settings, document)
    changed = changed_files(call, {found.repo: [] if document["type"] == Level.MODULE else [document["file_path"]]})
    standing = call.as_of([found.repo])
    if as_json:
        said_of = {"as_of": [each.model_dump() for each in standing], "changed_since": bool(changed[found.repo])}
        typer.echo(safe_json({"repo": found.repo, **document, **to_builtins(around), **said_of}))
        return
    for each in standing:
        if each.of_tree or each.behind:
            note(f"as of {each}")
    show_parts(*_sections(found.repo, document, around))


def _around(call: ToolContext, found: IndexedDocument) -> DocumentRelations:
    documents = call.documents(found.repo)
    number = documents.number_of(found)
    call.tell_gone(documents, number)
    return surroundings(documents, number)


def _sections(repo: str, document: Mapping[str, Any], around: DocumentRelations) -> Iterator[RenderableType]:
    yield Text.assemble((one_line(document["id"]), "bold"), (f"  {lines_of(document)}".rstrip(), "cyan"))
    marks = [name for name in ("placeholder", "test", "vendored") if document[f"is_{name}"]]
    kind = (document["type"], document["language"], repo, *marks)
    yield styled(" · ".join(one_line(part) for part in kind if part), "dim")
    if document["signature"]:
        yield indented(styled(document["signature"], "cyan"), 2, above=1)
    yield indented(Text(clean(document["summary"])), 2, above=1, below=1)
    yield fields(_said(document) | described(around))
    yield from legend([around])
    yield Text("\nHow it was written", style="bold")
    yield fields(readable({name: document.get(name) for name in (*_ORIGIN_FIELDS, "cost_usd")}))


def _said(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the writer said besides the summary."""
    returns = document["returns"]
    described = returns and f"{returns['type']}: {returns['type_summary']} {returns['details']}"
    return {
        "intent": document["business_intent"],
        "interface": document["signature_summary"],
        "inputs": [f"{each['name']}: {each['type']} - {each['description']}" for each in document["inputs"]],
        "returns": described,
        "side effects": document["side_effects"],
        "invariants": document["invariants"],
        "responsible for": document["responsibilities"],
        "keywords": ", ".join(document["keywords"]),
        "supported by": [
            f"{each['field']}: lines {each['start_line']}-{each['end_line']}" for each in document["citations"]
        ],
    }


_TOLD = ("model", "started_at", "run_id", "attempt", "cost_usd", "error", "answer")


def refused_answer(warehouse: Path, key: str, id_: str) -> dict[str, Any]:
    """What the ledger keeps of it, and whether a later answer was taken; raises `ConfigurationError` without one."""
    from codesum_pipeline.store.tables import TableStore

    ledger = TableStore(warehouse).read_or_empty("ledger", key, columns=["id", "sequence", "outcome", *_TOLD])
    attempts = sorted((row for row in ledger.to_pylist() if row["id"] == id_), key=lambda row: int(row["sequence"]))
    refused = [row for row in attempts if row["outcome"] == AttemptOutcome.INVALID and row["answer"]]
    if not refused:
        asked = f"of {len(attempts)} attempts none" if attempts else "no model was asked, so none"
        raise ConfigurationError(f"{id_!r}: no answer of a model was refused ({asked} has one)")
    last = refused[-1]
    later = [row for row in attempts if row["sequence"] > last["sequence"]]
    was_taken = any(row["outcome"] == AttemptOutcome.GOOD for row in later)
    return {name: last[name] for name in _TOLD} | {"a_later_answer_was_taken": was_taken}


def answer_sections(repo: str, id_: str, found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The same for a person: the reasons line by line, the answer as JSON where it is some."""
    yield Text.assemble((one_line(id_), "bold"), (f"  refused answer · {repo}", "dim"))
    later = "yes" if found["a_later_answer_was_taken"] else "no"
    yield fields(
        {
            "model": found["model"],
            "asked at": found["started_at"],
            "run": found["run_id"],
            "attempt": str(found["attempt"]),
            "price": f"${found['cost_usd']:.4f}",
            "a later answer was taken": later,
        }
    )
    yield Text("\nWhy it was refused", style="bold")
    yield indented(Text(clean(found["error"] or "")), 2)
    yield Text("\nThe answer", style="bold")
    yield indented(Text(clean(_laid_out(found["answer"]))), 2)


def _laid_out(answer: str) -> str:
    try:
        return json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return answer


def asked_prompt(called: Invocation, key: str, id_: str, level: str) -> PromptTurns:
    """Both turns, from the tables of the last build; nobody is asked."""
    return prompt_of(Home(called.settings).workspace(key, run_id="prompt"), id_, Level(level))


def prompt_sections(repo: str, id_: str, asked: PromptTurns) -> Iterator[RenderableType]:
    """The user's turn, as it is sent; of the system turn, which is the same for every document, where to read it."""
    yield Text.assemble((one_line(id_), "bold"), (f"  prompt · {repo}", "dim"))
    kind, _, name = asked.templates[0].partition("/")
    masked = ", ".join(f"{number} {kind}" for kind, number in asked.masked.items())
    yield fields(
        {
            "system turn": f"{len(asked.system):,} characters: `codesum prompts show {kind} {name}`",
            "user's turn": f"{len(asked.user):,} characters: {asked.templates[1]}, filled in as below",
            "secrets masked": masked or None,
        }
    )
    yield Text(f"\n{clean(asked.user)}")
