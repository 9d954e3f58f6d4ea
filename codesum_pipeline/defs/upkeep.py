"""The job `maintenance` and its schedule: what nobody needs any more goes, and the run says what that was."""

from collections.abc import Iterator

import dagster as dg

from codesum_pipeline.defs.building.values import PreviewRows
from codesum_pipeline.defs.maintaining import maintain
from codesum_pipeline.defs.metadata import metadata_of
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER, stage_failures
from codesum_pipeline.upkeep.freed import FreedSpace, Maintenance, SkippedUpkeep

# A fleet's repositories would make the page of a run too long to read.
_SHOWN = 50


@dg.op(out=dg.Out(dg.Nothing), description="Prune what the settings below `maintenance` let go, and say what that was.")
def prune(context: dg.OpExecutionContext, codesum: CodesumResource) -> Iterator[dg.Output[None]]:
    """One row of `freed` is what went of one kind and repository."""
    with stage_failures():
        done = maintain(codesum.open_home(), context.instance, tell=lambda found: _log(context, found))
    yield dg.Output(None, metadata=maintenance_metadata(done))


@dg.job(
    name="maintenance",
    description="Prune old runs, rows, mirrors and caches, so that a home does not grow for ever.",
    owners=[OWNER],
    executor_def=dg.in_process_executor,
)
def maintenance() -> None:
    """One op: it is no step of an index."""
    prune()


def pruning(cron: str) -> dg.ScheduleDefinition:
    """The schedule. It runs unless somebody stops it."""
    return dg.ScheduleDefinition(
        name="maintenance",
        job=maintenance,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Prunes what the settings below `maintenance` let go.",
        owners=[OWNER],
    )


def maintenance_metadata(done: Maintenance) -> dict[str, dg.MetadataValue]:
    """What went in all and by kind, what most went of, and what was left as it is."""
    largest = sorted(done.freed, key=lambda each: (-each.size, each.kind, each.repository))
    return metadata_of(
        {
            "seconds": done.seconds,
            "freed_bytes": done.size,
            "untouched": len(done.untouched),
            "by_kind": _table(done.by_kind()),
            "freed": _table(largest[:_SHOWN]),
            "left": PreviewRows(
                tuple(
                    {"kind": each.kind or "", "repository": each.repository, "because": each.because}
                    for each in done.untouched[:_SHOWN]
                )
            ),
        }
    )


def _table(rows: list[FreedSpace]) -> PreviewRows:
    return PreviewRows(
        tuple(
            {"kind": each.kind.value, "repository": each.repository, "count": each.count, "bytes": each.size}
            for each in rows
        )
    )


def _log(context: dg.OpExecutionContext, found: FreedSpace | SkippedUpkeep) -> None:
    """Of a fleet only what was left as it is: the rest is in the metadata."""
    if isinstance(found, SkippedUpkeep):
        context.log.warning("%s: left as it is: %s", found.repository or "the home", found.because)
