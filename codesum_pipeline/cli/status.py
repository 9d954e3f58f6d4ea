"""`codesum status`: one line per repository, or all that is known of one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.building.freshness import IndexState
from codesum_pipeline.cli.built import broken_files
from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.digest_trouble import digest_troubles
from codesum_pipeline.cli.failed_items import failure_lines, failures_json, failures_of
from codesum_pipeline.cli.freshness import Freshness, look_at
from codesum_pipeline.cli.index_health import IndexedFiles, edges_line, last_disagreement
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import SHORT_COMMIT, fields, note, show, styled, table
from codesum_pipeline.cli.safe_text import safe_json
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.llm.ledger import spent_today
from codesum_pipeline.llm.totals import total
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.errors import CannotWrite
from codesum_pipeline.model.ledger import LedgerRow
from codesum_pipeline.model.moments import age, moment_at, utc_now
from codesum_pipeline.source.locations import redact
from codesum_pipeline.wiring import Home

if TYPE_CHECKING:
    from codesum_pipeline.defs.control import PastRun

_RUNS_SHOWN = 5
_STYLES = {
    IndexState.FRESH: "green",
    IndexState.BUILDING: "cyan",
    IndexState.BEHIND: "yellow",
    IndexState.CHANGED: "yellow",
    IndexState.OTHER_INDEXES: "yellow",
    IndexState.UNFINISHED: "yellow",
    IndexState.BROKEN: "red",
    IndexState.UNKNOWN: "red",
}


def status(
    ctx: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY", autocompletion=complete_keys, show_default=False, help="Tell all about this repository."
        ),
    ] = None,
    remote: Annotated[
        bool, typer.Option("--remote", help="Ask servers for their newest commit instead of what was fetched last.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per repository.")] = False,
) -> None:
    """Show how fresh each repository's index is.

    [bold]behind[/]: the repository has a newer commit. [bold]settings changed[/]: a setting or a new version
    of codesum would give another index. [bold]compilers' indexes changed[/]: a SCIP index came, changed or went.
    [bold]build unfinished[/]: the last build stopped half-way.
    In all four cases [bold]codesum index KEY[/] brings it up to date.
    """
    called = invocation(ctx)
    home = Home(called.settings)
    entries = [home.registry.get(key)] if key else called.entries()
    found = look_at(home, entries, ask_remotes=remote)
    if as_json:
        for each in found:
            typer.echo(safe_json(_as_json(each) | {"failures": failures_json(failures_of(home, each.entry.key))}))
    elif key:
        show(*_details(home, found[0]), *_runs(home, key))
    elif found:
        show(_overview(found))
        if troubles := [*digest_troubles(home)]:
            note(f"digests: {troubles[0].what}{_and_more(len(troubles) - 1)}")
    else:
        note("no repository is registered: `codesum index PATH|URL` registers and indexes one")


def _and_more(others: int) -> str:
    return f"; and {others:,} more: `codesum doctor` names all" if others else ""


def _as_json(found: Freshness) -> dict[str, Any]:
    out = found.published
    return {
        "repo": found.entry.key,
        "state": found.state,
        "commit": out and out.commit,
        "head": found.head,
        "documents": out and out.count("documents"),
        "placeholders": out and out.count("placeholders"),
        "published_at": out and moment_at(out.published_at),
        "lease": str(found.holder) if found.holder else None,
        "why": found.why or None,
    }


def _overview(found: Sequence[Freshness]) -> RenderableType:
    rows = [
        (
            each.entry.key,
            Text(each.state, style=_STYLES.get(each.state, "dim")),
            _commit(each.published.commit if each.published else None),
            _commit(each.head),
            each.published and each.published.count("documents"),
            each.published and each.published.count("placeholders"),
            f"{age(each.published.published_at)} ago" if each.published else None,
            _remark(each),
        )
        for each in found
    ]
    columns = ["repository", "state", "indexed", "head", "documents", "placeholders", "published", "remark"]
    if not any(row[-1] for row in rows):
        rows, columns = [row[:-1] for row in rows], columns[:-1]  # type: ignore[misc]
    return table(columns, rows, right=("documents", "placeholders"))


def _remark(found: Freshness) -> str:
    """Who builds it, or what keeps us from telling."""
    if found.holder and found.state is IndexState.BUILDING:
        return f"by {found.holder}"
    if found.holder and found.holder.is_gone():
        return "its last build was killed"
    return found.why


def _details(home: Home, found: Freshness) -> Iterator[RenderableType]:
    entry, out = found.entry, found.published
    yield Text.assemble((entry.key, "bold"), ("  ", ""), (found.state, _STYLES.get(found.state, "dim")))
    yield fields(
        {
            "location": redact(entry.location),
            "ref": "work tree" if entry.worktree else entry.ref or "HEAD",
            "subdir": entry.subdir,
            "include": ", ".join(entry.include),
            "exclude": ", ".join(entry.exclude),
            "head": found.head,
            "indexed": out and out.commit,
            "published": out and f"{moment_at(out.published_at)}, {age(out.published_at)} ago",
            "documents": out and _documents(out.manifest["counts"]),
            "texts": _texts(home, entry.key),
            "calls": _calls(home, entry.key),
            "files": _files(home, entry.key),
            "not parsed": _broken(home, entry.key),
            "index": _index(home, entry.key),
            "failed": [*failure_lines(entry.key, failures_of(home, entry.key))],
            "digests": _waiting(home, entry.key),
            "lease": _lease(found),
            "problem": found.why,
        }
    )


def _runs(home: Home, key: str) -> Iterator[RenderableType]:
    """The last runs, where Dagster has any."""
    if not home.layout.dagster_home.is_dir():
        return
    from codesum_pipeline.defs.control import run_history

    try:
        runs = run_history(home, key, limit=_RUNS_SHOWN)
    except CannotWrite as error:
        yield styled(f"\nno runs are shown: {error}", "dim")
        return
    if runs:
        rows = [(run.run_id[:SHORT_COMMIT], run.status.lower(), _when(run), _took(run), run.started_by) for run in runs]
        yield Text("\nLast runs", style="bold")
        yield table(("run", "result", "started", "seconds", "by"), rows, right=("seconds",))


def _when(run: "PastRun") -> str | None:
    return moment_at(run.started_at) if run.started_at else None


def _took(run: "PastRun") -> str | None:
    return f"{run.ended_at - run.started_at:.1f}" if run.started_at and run.ended_at else None


def _documents(counts: dict[str, Any]) -> str:
    if not counts:
        return ""
    levels = ", ".join(f"{counts['levels'][level]:,} {level}" for level in LEVELS)
    return f"{counts['documents']:,} ({levels}), of them {counts['placeholders']:,} placeholders"


def _files(home: Home, key: str) -> str:
    """How many are indexed, and for which reasons others are not."""
    reasons = Counter(home.tables.read_or_empty("files", key, columns=["reason"]).column("reason").to_pylist())
    indexed = reasons.pop(None, 0)
    skipped = ", ".join(f"{number:,} {reason}" for reason, number in sorted(reasons.items()))
    return f"{indexed:,} indexed" + (f"; skipped: {skipped}" if skipped else "") if indexed or skipped else ""


def _broken(home: Home, key: str) -> str:
    """How many files have syntax errors, and how many definitions are lost in them."""
    facts = home.tables.read_or_empty("file_facts", key, columns=["syntax_errors", "lost_definitions"])
    broken = sum(errors > 0 for errors in facts["syntax_errors"].to_pylist())
    lost = sum(number or 0 for number in facts["lost_definitions"].to_pylist())
    return ", ".join(broken_files({"files_with_syntax_errors": broken, "lost_definitions": lost}))


def _index(home: Home, key: str) -> str:
    """Of how many files a compiler's index tells, and how many edges it confirms."""
    files = IndexedFiles.of(home, key)
    return f"{files}; {edges_line(last_disagreement(home, key))}" if files else ""


def _texts(home: Home, key: str) -> str:
    """By which writers, and of those that are not a model's what kept it from them, where one may write."""
    if not home.settings.llm.enabled:
        return ""
    columns = ["written_by", "model", "gate"]
    rows = home.tables.read_or_empty("documents", key, columns=columns).to_pylist()
    writers = Counter(row["model"] or row["written_by"] for row in rows)
    gates = Counter(row["gate"] for row in rows if row["gate"])
    said = ", ".join(f"{number:,} by {name}" for name, number in writers.most_common())
    return (
        f"{said}; not by the model: {', '.join(f'{n:,} {name}' for name, n in gates.most_common())}" if gates else said
    )


def _calls(home: Home, key: str) -> str:
    """What calls cost so far."""
    found = total(home.tables.read_rows_or_empty("ledger", key, LedgerRow))
    if not found.calls:
        return ""
    today = spent_today(home.layout.state(key), now=utc_now())
    return f"{found.calls:,} for ${found.cost_usd:,.4f}, of that ${today:,.4f} today"


def _waiting(home: Home, key: str) -> str:
    """What waits for a digest, by standing question."""
    if not home.layout.digests.exists():
        return ""
    with open_digests(home.layout.digests, now=utc_now) as digests:
        waiting = digests.count_pending(key)
        written = digests.count(key)
    said = ", ".join(f"{changes:,} for {name}" for name, changes in waiting.items())
    return f"{written:,} written; {f'changes that wait: {said}' if said else 'no change waits'}"


def _lease(found: Freshness) -> str:
    if not found.holder:
        return ""
    return f"{found.holder}{', which is gone' if found.holder.is_gone() else ''}"


def _commit(commit: str | None) -> Text | None:
    return styled(commit[:SHORT_COMMIT], "cyan") if commit else None
