"""`codesum audit`: who asked what over HTTP with a token, or having signed in."""

from typing import Any

from codesum_pipeline.foundation.data_model.printable import clean_text
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import make_table, present_rows
from codesum_pipeline.ways_in.http_serving.audit_log import read_audit

_FIELDS = ("time", "token", "person", "entrance", "asked", "repos", "outcome", "duration_ms", "hits")


def audit(
    invocation: Invocation,
    token: str | None = None,
    person: str | None = None,
    repo: str | None = None,
    outcome: str | None = None,
    since: str | None = None,
    limit: int = 100,
    as_json: bool = False,
) -> None:
    """Show who asked what over HTTP, by token or by sign-in, newest last."""
    folder = invocation.layout.audit

    def is_wanted(line: dict[str, Any]) -> bool:
        return (
            (token is None or line.get("token") == token)
            and (person is None or person in (line.get("person"), line.get("subject")))
            and (repo is None or repo in (line.get("repos") or ()))
            and (outcome is None or line.get("outcome") == outcome)
            and (since is None or str(line.get("time", "")) >= since)
        )

    lines = list(filter(is_wanted, read_audit(folder)))[-limit:]
    # The subject stands in the place of a name that the provider did not give.
    named = [{**line, "person": line.get("person") or line.get("subject")} for line in lines]
    rows = [[_shown(line.get(name)) for name in _FIELDS] for line in named]
    none = f"no such request is written down in {folder}"
    present_rows(lines, lambda: make_table(_FIELDS, rows), as_json=as_json, otherwise=none)


def _shown(value: Any) -> str:
    return clean_text(", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value))
