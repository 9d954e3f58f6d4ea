"""`codesum repos`: the registry, with what is published of each entry."""

from typing import Annotated

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import SHORT_COMMIT, note, show, table
from codesum_pipeline.cli.safe_text import safe_json
from codesum_pipeline.indexes.version_folder import read_published
from codesum_pipeline.model.moments import age, moment_at
from codesum_pipeline.source.locations import redact


def repos(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per repository.")] = False,
) -> None:
    """List the registered repositories.

    They are kept in repos.yaml in the home, which can also be edited by hand.
    """
    called = invocation(ctx)
    found = [(entry, read_published(called.layout, entry.key)) for entry in called.entries()]
    if as_json:
        for entry, out in found:
            built = out and {
                "commit": out.commit, "documents": out.count("documents"), "published_at": moment_at(out.published_at)
            }  # fmt: skip
            shown = {"location": redact(entry.location), "scip_command": redact(entry.scip_command), "published": built}
            typer.echo(safe_json(to_builtins(entry) | shown))
        return
    if not found:
        note("no repository is registered: `codesum index PATH|URL` registers and indexes one")
        return
    rows = [
        (
            entry.key,
            redact(entry.location) + (f" ({entry.subdir})" if entry.subdir else ""),
            "work tree" if entry.worktree else entry.ref or "HEAD",
            "retired" if entry.retired else entry.enabled,
            out and out.commit and out.commit[:SHORT_COMMIT],
            out and out.count("documents"),
            f"{age(out.published_at)} ago" if out else None,
        )
        for entry, out in found
    ]
    columns = ("key", "location", "ref", "enabled", "commit", "documents", "published")
    show(table(columns, rows, right=("documents",)))
    for entry, _ in found:
        for place in entry.scip:
            show(f"{entry.key}: compiler's index {place}")
        if entry.scip_command:
            show(f"{entry.key}: compiler's index made by {redact(entry.scip_command)}")
