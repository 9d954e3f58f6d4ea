"""The jobs that are about the whole home, with their schedules: digests, and the registry that follows code hosts.

A run of theirs holds no lease: it reads what is published. No run config reaches a channel, a key or an address: these
come from the home and from the environment of the process that runs.
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline.builds.dagster.observing import ACTIVE
from codesum_pipeline.builds.dagster.resource import CodesumResource, add_partitions, end_vanished_runs
from codesum_pipeline.builds.reports.build_values import StepOutcome
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS
from codesum_pipeline.builds.steps.scheduled_digests import (
    explain_due_digests,
    explain_no_rollups,
    tell_due_digests,
    write_rollups,
)
from codesum_pipeline.foundation.data_model.errors import CodesumError

# Late on the first of a month, when it is the first everywhere; and each day again, for what failed and for a question
# that was badly answered and is another one since.
ROLLUP_CRON = "0 14 * * *"


def _asset(name: str, work: Callable[[Home], StepOutcome], *deps: str) -> dg.AssetsDefinition:
    """An asset of the whole home; one row is one digest. Every run materialises, also where nothing was due."""

    @dg.asset(
        name=name,
        description=asset_steps.DEFINITIONS["home_assets"][name],
        group_name="digests",
        kinds={"markdown", "sqlite"},
        owners=[asset_steps.OWNER],
        code_version=STAGE_FACTS.get().assets["intent_digests"].code_version,
        deps=deps,
        metadata=asset_steps.table_metadata("digests"),
    )
    def tell(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
        with asset_steps.stage_failures():
            done = work(codesum.open_home())
        asset_steps.log_outcome(context, done)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(done.table_hash),
            metadata={
                asset_steps.SECONDS: done.seconds,
                "dagster/row_count": done.rows,
                **asset_steps.metadata_of(done.values),
            },
        )

    return tell


def _job(name: str, asset: dg.AssetsDefinition) -> Any:
    return dg.define_asset_job(
        name=name,
        description=asset_steps.DEFINITIONS["jobs"][name],
        owners=[asset_steps.OWNER],
        selection=dg.AssetSelection.assets(asset),
        executor_def=dg.in_process_executor,
    )


scheduled_digests = _asset("scheduled_digests", tell_due_digests, "intent_matches")
digest_rollups = _asset("digest_rollups", write_rollups, "intent_digests", "scheduled_digests")
HOME_ASSETS = (scheduled_digests, digest_rollups)
send_digests = _job("send_digests", scheduled_digests)
roll_up_digests = _job("roll_up_digests", digest_rollups)


@dg.op(description="Asks each organisation's host which repositories it has, and brings repos.yaml up to date.")
def follow_hosts(context: dg.OpExecutionContext, codesum: CodesumResource) -> None:
    """What one host refuses keeps no other from being asked; the run fails at its end."""
    home, problems = codesum.open_home(), []
    for organisation in home.registry.organisations():
        try:
            plan = home.syncer().sync(organisation)
        except CodesumError as error:
            problems.append(str(error))
            continue
        add_partitions(context.instance, [entry.key for entry in plan.added])
        for word, entries in (("new", plan.added), ("moved", plan.moved), ("back", plan.returned)):
            for entry in entries:
                context.log.info("%s: %s: %s", organisation.name, word, entry.key)
        for entry in plan.retired:
            context.log.warning("%s: retired: %s", entry.key, entry.retired.why if entry.retired else "")
        for problem in plan.unusable:
            context.log.warning("%s: left out: %s", organisation.name, problem)
        context.log.info("%s: %d repositories as before", organisation.name, plan.kept)
        if plan.why_held:
            problems.append(
                f"{organisation.name}: nothing is retired: {plan.why_held}; "
                f"`codesum org sync {organisation.name} --yes` retires them"
            )
    if problems:
        raise dg.Failure("\n".join(problems), allow_retries=False)


@dg.job(
    name="sync_organisations",
    description=asset_steps.DEFINITIONS["jobs"]["sync_organisations"],
    owners=[asset_steps.OWNER],
    executor_def=dg.in_process_executor,
)
def sync_organisations() -> None:
    """One op: hosts are asked one after the other."""
    follow_hosts()


HOME_JOBS = (send_digests, roll_up_digests, sync_organisations)


def home_schedules(*, digests_cron: str, sync_cron: str) -> list[dg.ScheduleDefinition]:
    """When these jobs run: where there is nothing to do, they do not."""
    return [
        asset_steps.schedule_of("digests", send_digests, digests_cron, _look_for_digests),
        asset_steps.schedule_of("digest_rollup", roll_up_digests, ROLLUP_CRON, _look_for_rollups),
        asset_steps.schedule_of("sync_organisations", sync_organisations, sync_cron, _look_at_hosts),
    ]


def _look_for_digests(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    """After days without a look there is one, and so one digest."""
    at = context.scheduled_execution_time
    wanted = explain_due_digests(home, now=lambda: at)
    if not wanted:
        return "no digest is due"
    if _goes_on(home, context.instance, send_digests.name):
        return f"{wanted}; the run before goes on"
    context.log.info(wanted)
    return [dg.RunRequest()]


def _look_for_rollups(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    at = context.scheduled_execution_time
    return explain_no_rollups(home, now=lambda: at) or [dg.RunRequest()]


def _look_at_hosts(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    if home.settings.offline:
        return "offline = true: no code host is asked"
    if not home.registry.organisations():
        return "no organisation is registered: `codesum org add` registers one"
    is_under_way = _goes_on(home, context.instance, sync_organisations.name)
    return "the sync before goes on" if is_under_way else [dg.RunRequest()]


def _goes_on(home: Home, instance: dg.DagsterInstance, job: str) -> bool:
    end_vanished_runs(home.layout, instance)
    return instance.get_runs_count(dg.RunsFilter(job_name=job, statuses=list(ACTIVE))) > 0
