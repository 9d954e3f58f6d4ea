"""`codesum show`: one document, readable, with what it belongs to and what it uses."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import RepoOption, catalogue_of, find_document
from codesum_pipeline.cli.origin import failure_and_price, readable, templates_named
from codesum_pipeline.cli.reading_aids import described, legend
from codesum_pipeline.cli.refused_answer import answer_sections, refused_answer
from codesum_pipeline.cli.render import fields, indented, lines_of, note, styled
from codesum_pipeline.cli.render import show as show_parts
from codesum_pipeline.cli.safe_text import clean, one_line, safe_json
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import IndexedDocument
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.registry import changed_files
from codesum_pipeline.tools.surroundings import DocumentRelations, surroundings

_ORIGIN_FIELDS = (
    "written_by", "model", "prompt_version", "templates", "gate", "failure", "last_updated", "cause", "cause_ids",
    "commit", "run_id", "content_hash", "graph_hash", "summary_hash", "text_hash",
)  # fmt: skip


def show(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A document's id, as `codesum search` prints it.")],
    repo: RepoOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the document as one JSON object.")] = False,
    answer: Annotated[
        bool, typer.Option("--answer", help="Show the last answer of a model that was refused, and why, instead.")
    ] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Show what a model would be asked about it, instead; nobody is asked.")
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
        from codesum_pipeline.cli.asked_prompt import asked_prompt, prompt_sections

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
