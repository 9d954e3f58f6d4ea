"""The sensor that notices changed repositories, settings and algorithms."""

import dagster as dg

from codesum_pipeline.defs.jobs import index_repository
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER
from codesum_pipeline.defs.ticks import report_behind, take_tick


def repository_changes(interval_s: int) -> dg.SensorDefinition:
    """The sensor, looking every `interval_s` seconds. It runs unless somebody stops it."""

    @dg.sensor(
        name="repository_changes",
        job=index_repository,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Builds every registered repository whose published index is not what a build would give now.",
        owners=[OWNER],
    )
    def sensor(context: dg.SensorEvaluationContext, codesum: CodesumResource) -> dg.SensorResult:
        tick = take_tick(codesum.open_home(), context.instance, last=context.cursor or "", log=context.log)
        report_behind(context.instance, tick.check_evaluations)
        return dg.SensorResult(
            run_requests=tick.run_requests,
            skip_reason=None if tick.run_requests else dg.SkipReason(tick.plan.summary()),
            cursor=tick.last,
            dynamic_partitions_requests=[codesum_repos.build_add_request(tick.new_keys)] if tick.new_keys else [],
        )

    return sensor
