"""What asks for builds: the sensors for changed repositories and for pushes, and the nightly look for those who stop
them."""

import dagster as dg

from codesum_pipeline.defs.jobs import index_repository
from codesum_pipeline.defs.partitions import add_partitions, codesum_repos
from codesum_pipeline.defs.records import active_keys
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER, schedule_of
from codesum_pipeline.defs.ticks import SensorTick, take_tick
from codesum_pipeline.source.poll_state import marked_keys
from codesum_pipeline.wiring import Home


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
        tick = take_tick(
            codesum.open_home(),
            context.instance,
            asker="repository_changes",
            last=context.cursor or "",
            log=context.log,
        )
        return _result(context.instance, tick)

    return sensor


def pushed_repositories(interval_s: int) -> dg.SensorDefinition:
    """The sensor for repositories that are marked as due: seconds after a push, without a look at any other."""

    @dg.sensor(
        name="pushed_repositories",
        job=index_repository,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Builds repositories seconds after a webhook said that they were pushed to.",
        owners=[OWNER],
    )
    def sensor(context: dg.SensorEvaluationContext, codesum: CodesumResource) -> dg.SensorResult:
        home = codesum.open_home()
        marked = marked_keys(home.layout)
        only = set(marked) - (active_keys(context.instance) if marked else set())
        if not only:
            why = f"{len(marked)} being built" if marked else "no push was told of"
            return dg.SensorResult(skip_reason=dg.SkipReason(why))
        tick = take_tick(home, context.instance, asker="pushed_repositories", last="", log=context.log, only=only)
        return _result(context.instance, tick)

    return sensor


def nightly(cron: str) -> dg.ScheduleDefinition:
    """The schedule. What the sensor has built already is up to date, and is not built again."""
    return schedule_of(
        "nightly", index_repository, cron, "Builds every registered repository that is not up to date.", _look_at_night
    )


def _look_at_night(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    tick = take_tick(home, context.instance, asker="nightly", last="", log=context.log)
    add_partitions(context.instance, tick.new_keys)
    return tick.run_requests or tick.plan.summary()


def _result(instance: dg.DagsterInstance, tick: SensorTick) -> dg.SensorResult:
    tick.report_behind(instance)
    return dg.SensorResult(
        run_requests=tick.run_requests,
        skip_reason=None if tick.run_requests else dg.SkipReason(tick.plan.summary()),
        cursor=tick.last,
        dynamic_partitions_requests=[codesum_repos.build_add_request(tick.new_keys)] if tick.new_keys else [],
    )
