"""`codesum audit`: who asked what with a token."""

from typing import Annotated, Any

import typer

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import note, show, table
from codesum_pipeline.cli.safe_text import clean, safe_json
from codesum_pipeline.serving.audit import read_audit

_FIELDS = ("time", "token", "entrance", "asked", "repos", "outcome", "duration_ms", "hits")


def audit(
    ctx: typer.Context,
    token: Annotated[
        str | None, typer.Option(metavar="NAME", show_default=False, help="Requests with the token of this name.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="KEY", show_default=False, help="Requests that this repository answered.")
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(show_default=False, help="Requests that ended so: answered, refused, failed or cancelled."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", show_default=False, help="From then on, in UTC: 2027-01-31, or 2027-01-31T12:00."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per request, all fields.")] = False,
) -> None:
    """Show who asked what of servers that ask for a token, newest last."""
    folder = invocation(ctx).layout.audit

    def is_wanted(line: dict[str, Any]) -> bool:
        return (
            (token is None or line.get("token") == token)
            and (repo is None or repo in (line.get("repos") or ()))
            and (outcome is None or line.get("outcome") == outcome)
            and (since is None or str(line.get("time", "")) >= since)
        )

    lines = list(filter(is_wanted, read_audit(folder)))[-limit:]
    if as_json:
        for line in lines:
            typer.echo(safe_json(line))
    elif lines:
        show(table(_FIELDS, [[_shown(line.get(name)) for name in _FIELDS] for line in lines]))
    else:
        note(f"no such request is written down in {folder}")


def _shown(value: Any) -> str:
    return clean(", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value))
