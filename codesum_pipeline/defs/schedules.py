"""The nightly look at every repository, for those who stop the sensor."""

import dagster as dg

from codesum_pipeline.defs.jobs import index_repository
from codesum_pipeline.defs.partitions import add_partitions
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.ticks import take_tick


def nightly(cron: str) -> dg.ScheduleDefinition:
    """The schedule. What the sensor has built already is up to date, and is not built again."""

    @dg.schedule(
        name="nightly",
        job=index_repository,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Builds every registered repository that is not up to date.",
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, codesum: CodesumResource
    ) -> list[dg.RunRequest] | dg.SkipReason:
        tick = take_tick(codesum.open_home(), context.instance, last="", log=context.log)
        add_partitions(context.instance, tick.new_keys)
        return tick.run_requests or dg.SkipReason(tick.plan.summary())

    return schedule
