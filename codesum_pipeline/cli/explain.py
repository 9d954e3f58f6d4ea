"""`codesum explain`: the chain of causes of a document's last rewrite."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from codesum_pipeline.cli.compact import compactions_of_document
from codesum_pipeline.cli.documents import find_document, readable, telling
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import DocumentRepoOption, switch
from codesum_pipeline.cli.render import SHORT_COMMIT, fields, safe_json, show
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.summaries.explain import ExplainStep
from codesum_pipeline.summaries.explain import explain as explain_document
from codesum_pipeline.wiring import Home

_OF_ROW = (
    *("id", "level", "event", "cause", "cause_ids", "commit", "run_id", "written_at", "cost_usd"),
    *("written_by", "writer"),
)


def explain(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A document's id, as `codesum search` prints it.")],
    repo: DocumentRepoOption = None,
    as_json: Annotated[bool, switch("--json", "Print one JSON object with the steps.")] = False,
) -> None:
    """Show why a document was last rewritten, as the chain of causes.

    Each line is one rewrite: the document, why it was written again, at which commit,
    in which run, when, by which writer and at what price. Below it stand the rewrites that caused it.
    """
    called = invocation(ctx)
    found = find_document(called, id, repo=repo)
    workspace = Home(called.settings).workspace(found.repo, run_id="explain")
    told = telling(called.layout.warehouse, found.repo, found.document())
    steps = explain_document(workspace, found.id)
    compacted = compactions_of_document(called, found.repo, found.id)
    if as_json:
        typer.echo(
            safe_json(
                {"repo": found.repo, "id": found.id, "steps": [_record(step) for step in steps], **told}
                | {"compactions": compacted}
            )
        )
    else:
        show(_tree(steps), fields(readable(told) | {"compacted": [_told(each) for each in compacted]}))


def _record(step: ExplainStep) -> dict[str, Any]:
    """One rewrite as JSON has it."""
    return {
        "depth": step.depth,
        **{name: getattr(step.row, name) for name in _OF_ROW[:-2]},
        "more_causes": step.more_causes,
        **{name: getattr(step.row, name) for name in _OF_ROW[-2:]},
    }


def _told(compaction: Mapping[str, Any]) -> str:
    """Which earlier rows a text stands in place of."""
    number, are = compaction["rows"], compaction["policy"]
    return f"{counted(number, 'earlier row')} ({are}), at {compaction['compacted_at']} by {compaction['job_id']}"


def _tree(steps: Sequence[ExplainStep]) -> Tree:
    """Steps come in order, each one level below the last step of a smaller depth."""
    root = Tree(_line(steps[0]))
    path = [root]
    for step in steps[1:]:
        del path[step.depth :]
        path.append(path[-1].add(_line(step)))
    return root


def _line(step: ExplainStep) -> Text:
    """One rewrite."""
    line = Text(one_line(step.row.id), style="bold")
    line.append(f"  {step.row.level}", style="dim not bold")
    line.append(
        f"  {step.row.event}: {step.row.cause}" if step.row.cause else f"  {step.row.event}", style="yellow not bold"
    )
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
