"""`codesum maintain`: prune what nobody needs any more, as the schedule does."""

from typing import Annotated

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import note, show, table
from codesum_pipeline.cli.safe_text import safe_json
from codesum_pipeline.upkeep.freed import FreedSpace, Maintenance, SkippedUpkeep
from codesum_pipeline.wiring import Home

_UNITS = ("bytes", "KB", "MB", "GB")


def maintain(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go; nothing is changed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per kind and repository.")] = False,
) -> None:
    """Prune old runs, rows, mirrors and caches, and say what that freed.

    What is kept, and for how long, is set below [bold]maintenance[/] in codesum.toml. The schedule of the same name in
    the Dagster UI does this every night. Builds and readers go on meanwhile; a repository that is being built is left
    for the next time.
    """
    called = invocation(ctx)
    called.settings.apply_mode()
    from codesum_pipeline.defs.control import maintain_home

    done = maintain_home(Home(called.settings), is_dry_run=dry_run, tell=_tell)
    if as_json:
        for each in done.freed:
            typer.echo(safe_json(to_builtins(each)))
    elif done.freed:
        _show(done)
    else:
        note("nothing is old enough to go")


def _tell(found: FreedSpace | SkippedUpkeep) -> None:
    if isinstance(found, SkippedUpkeep):
        note(f"left as it is: {f'{found.repository}: ' if found.repository else ''}{found.because}")


def _show(done: Maintenance) -> None:
    rows = [(each.kind.value, each.repository, each.count, size_text(each.size)) for each in _by_repository(done)]
    verb = "would go" if done.is_dry_run else "went"
    show(table(("what", "repository", verb, "size"), rows, right=(verb, "size")))
    note(f"{size_text(done.size)} {'would be ' if done.is_dry_run else ''}freed in {done.seconds:.1f} s")


def _by_repository(done: Maintenance) -> list[FreedSpace]:
    """One line per kind and repository."""
    sums: dict[tuple[str, str], FreedSpace] = {}
    for each in done.freed:
        place = (each.kind.value, each.repository)
        before = sums.get(place, FreedSpace(each.kind, each.repository, 0, 0))
        sums[place] = FreedSpace(each.kind, each.repository, before.count + each.count, before.size + each.size)
    return list(sums.values())


def size_text(size: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == _UNITS[0] else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {_UNITS[-1]}"
