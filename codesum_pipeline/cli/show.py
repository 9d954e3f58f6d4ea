"""`codesum show`: one document, readable, with what it belongs to and what it uses."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import Found, RepoOption, find_document
from codesum_pipeline.cli.render import fields, lines_of, styled
from codesum_pipeline.cli.render import show as show_parts
from codesum_pipeline.cli.safe_text import clean, one_line, safe_json

_ORIGIN_FIELDS = (
    "written_by", "model", "prompt_version", "gate", "last_updated", "cause", "cause_ids", "commit", "run_id",
    "content_hash", "graph_hash", "summary_hash", "text_hash",
)  # fmt: skip


def show(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A document's id, as `codesum search` prints it.")],
    repo: RepoOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the document as one JSON object.")] = False,
) -> None:
    """Show one document with all its fields.

    An id is a path (src/auth.py), a path and names (src/auth.py::Login::check), or a folder (src; . is the root).
    """
    found = find_document(invocation(ctx), id, repo=repo)
    document = found.document()
    if as_json:
        typer.echo(safe_json({"repo": found.repo, **document, "children": _children(found)}))
    else:
        show_parts(*_sections(found, document))


def _sections(found: Found, document: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield Text.assemble((one_line(document["id"]), "bold"), (f"  {lines_of(document)}".rstrip(), "cyan"))
    marks = [name for name in ("placeholder", "test", "vendored") if document[f"is_{name}"]]
    kind = (document["type"], document["language"], found.repo, *marks)
    yield styled(" · ".join(one_line(part) for part in kind if part), "dim")
    if document["signature"]:
        yield Padding(styled(document["signature"], "cyan"), (1, 0, 0, 2))
    yield Padding(Text(clean(document["summary"])), (1, 0, 1, 2))
    yield fields(_said(document) | _neighbours(found, document))
    yield Text("\nHow it was written", style="bold")
    yield fields({name.replace("_", " "): document[name] for name in _ORIGIN_FIELDS})


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


def _neighbours(found: Found, document: Mapping[str, Any]) -> dict[str, Any]:
    """Where it belongs, what belongs to it, and both ends of its calls."""
    return {
        "part of": list(_parents(found)),
        "contains": _children(found),
        "called by": document["context"]["called_by"],
        "calls": document["context"]["calls"],
        "depends on": document["dependencies"],
    }


def _parents(found: Found) -> Iterator[str]:
    """Nearest first, up to the root module."""
    above = found.index.arrays["parent_row"]
    row = int(above[found.row])
    while row >= 0:
        yield found.index.ids[row]
        row = int(above[row])


def _children(found: Found) -> list[str]:
    rows = np.flatnonzero(found.index.arrays["parent_row"] == found.row)
    return [found.index.ids[row] for row in rows.tolist()]
