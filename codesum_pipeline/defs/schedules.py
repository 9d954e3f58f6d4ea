"""The nightly look at every repository, for those who stop the sensor, and the looks for digests that are due."""

import dagster as dg

from codesum_pipeline.defs.attempts import ACTIVE
from codesum_pipeline.defs.jobs import index_repository
from codesum_pipeline.defs.partitions import add_partitions
from codesum_pipeline.defs.processes import end_vanished_runs
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.scheduled import roll_up_digests, send_digests
from codesum_pipeline.defs.steps import OWNER
from codesum_pipeline.defs.syncing import sync_organisations
from codesum_pipeline.defs.ticks import take_tick

# Late on the first of a month, when it is the first everywhere; and a week long again, for what failed.
ROLLUP_CRON = "0 14 1-7 * *"


def nightly(cron: str) -> dg.ScheduleDefinition:
    """The schedule. What the sensor has built already is up to date, and is not built again."""

    @dg.schedule(
        name="nightly",
        job=index_repository,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Builds every registered repository that is not up to date.",
        owners=[OWNER],
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, codesum: CodesumResource
    ) -> list[dg.RunRequest] | dg.SkipReason:
        tick = take_tick(codesum.open_home(), context.instance, asker="nightly", last="", log=context.log)
        add_partitions(context.instance, tick.new_keys)
        return tick.run_requests or dg.SkipReason(tick.plan.summary())

    return schedule


def organisations_synced(cron: str) -> dg.ScheduleDefinition:
    """The look at what organisations have; no run where none is registered, or no host may be asked."""

    @dg.schedule(
        name="sync_organisations",
        job=sync_organisations,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Registers what is new in the organisations of code hosts, and retires what is gone.",
        owners=[OWNER],
    )
    def schedule(context: dg.ScheduleEvaluationContext, codesum: CodesumResource) -> dg.RunRequest | dg.SkipReason:
        home = codesum.open_home()
        if home.settings.offline:
            return dg.SkipReason("offline = true: no host is asked")
        if not home.registry.organisations():
            return dg.SkipReason("no organisation is registered: `codesum org add` registers one")
        end_vanished_runs(home.layout, context.instance)
        if context.instance.get_runs_count(dg.RunsFilter(job_name=sync_organisations.name, statuses=list(ACTIVE))):
            return dg.SkipReason("the sync before goes on")
        return dg.RunRequest()

    return schedule


def digests_due(cron: str) -> dg.ScheduleDefinition:
    """The look for digests that are due: no run where none is. After days without one there is one look, and so one
    digest."""

    @dg.schedule(
        name="digests",
        job=send_digests,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Starts a run where a daily or weekly digest is due, or something is to be tried or sent again.",
        owners=[OWNER],
    )
    def schedule(context: dg.ScheduleEvaluationContext, codesum: CodesumResource) -> dg.RunRequest | dg.SkipReason:
        from codesum_pipeline.defs.building.scheduled_digests import wanted_now

        home, at = codesum.open_home(), context.scheduled_execution_time
        wanted = wanted_now(home, now=lambda: at)
        if not wanted:
            return dg.SkipReason("no digest is due")
        end_vanished_runs(home.layout, context.instance)
        if context.instance.get_runs_count(dg.RunsFilter(job_name=send_digests.name, statuses=list(ACTIVE))):
            return dg.SkipReason(f"{wanted}; the run before goes on")
        context.log.info(wanted)
        return dg.RunRequest()

    return schedule


@dg.schedule(
    name="digest_rollup",
    job=roll_up_digests,
    cron_schedule=ROLLUP_CRON,
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Has the digests of the month before written up in one, once a month.",
    owners=[OWNER],
)
def monthly_rollup(context: dg.ScheduleEvaluationContext, codesum: CodesumResource) -> dg.RunRequest | dg.SkipReason:
    """No run where the month before is rolled up, or has too little in it."""
    from codesum_pipeline.defs.building.scheduled_digests import rollups_wanted

    at = context.scheduled_execution_time
    wanted = rollups_wanted(codesum.open_home(), now=lambda: at)
    return dg.RunRequest() if wanted else dg.SkipReason("the month before is rolled up, or has too few digests")
