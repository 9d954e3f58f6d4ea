"""`codesum maintain`: prune what is old, and say what that freed."""

from rich.filesize import decimal

from codesum_pipeline.builds.maintenance.freed import FreedSpace, SkippedUpkeep
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import make_table, present_rows, write_note


def maintain(invocation: Invocation, dry_run: bool = False, as_json: bool = False) -> None:
    """Prune old runs, rows, mirrors and caches, and say what that freed.

    The settings below [bold]maintenance[/] in codesum.toml say what is kept, and for how long. The schedule of the same
    name in the Dagster UI does this every night. Builds and searches continue meanwhile; a repository that is being
    built is pruned the next time.
    """
    invocation.settings.apply_mode()
    from codesum_pipeline.builds.dagster.control import maintain_home

    def tell(found: FreedSpace | SkippedUpkeep) -> None:
        if isinstance(found, SkippedUpkeep):
            write_note(f"left as it is: {f'{found.repository}: ' if found.repository else ''}{found.because}")

    done = maintain_home(invocation.home, is_dry_run=dry_run, tell=tell)
    # One line per kind and repository.
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for each in done.freed:
        count, size = sums.get((each.kind.value, each.repository), (0, 0))
        sums[each.kind.value, each.repository] = count + each.count, size + each.size
    rows = [(*place, count, decimal(size)) for place, (count, size) in sums.items()]
    verb = "would go" if done.is_dry_run else "went"
    columns = ("what", "repository", verb, "size")
    none = "nothing is old enough to go"
    present_rows(done.freed, lambda: make_table(columns, rows, right=columns[2:]), as_json=as_json, otherwise=none)
    if done.freed and not as_json:
        write_note(f"{decimal(done.size)} {'would be ' if done.is_dry_run else ''}freed in {done.seconds:.1f} s")
