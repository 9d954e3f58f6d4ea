"""Verdicts of earlier runs that still count after a run that was cancelled or failed.

Every run plans the checks of its assets, and Dagster shows of each check what the newest run made of it. One that ended
before it came to a check shows "skipped" there, or "execution failed", and hides what an earlier run has found about
what is still the same.
"""

import dagster as dg

from codesum_pipeline.builds.alerts.alert_book import open_book
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline.builds.dagster.alerting import BEHIND, STANDING_CHECKS
from codesum_pipeline.builds.dagster.assets import CHECKS, OWN_CHECKS
from codesum_pipeline.builds.dagster.planner import BuildDecision, Plan
from codesum_pipeline.builds.dagster.private_names import PartitionKeyFilter
from codesum_pipeline.builds.reports.build_values import AT_HEAD
from codesum_pipeline.foundation.data_model.moments import utc_now

WHY_BEHIND = "the repository, its settings or an algorithm is newer than the published index"
_WHAT_FOLLOWS = (
    f"This run did not come to the checks below. What they check is still the same, so they show what the run in "
    f"`{asset_steps.EVALUATED_IN}` found."
)
# The run of each repository whose checks were looked at last.
_LOOKED_AT = "verdicts:"
# A run has up to 16 checks, and the event of each takes some milliseconds. Others wait for the next tick.
_RUNS_A_TICK = 20
# Runs whose checks are looked through for a verdict: each of them was looked at in its turn.
_RUNS_BACK = 10
_KEYS = (
    *(check.key for check in OWN_CHECKS),
    *(key for each in (*CHECKS, *STANDING_CHECKS) for key in each.check_keys),
)


def restore_verdicts(home: Home, instance: dg.DagsterInstance, plan: Plan) -> None:
    """Look once at each run that was cancelled or failed, some in each tick: checks that it did not come to get their
    last verdict again, where that is about what is still the same."""
    badly = dg.RunsFilter(statuses=[dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE])
    last = {run.partition: run.run_id for run in instance.run_storage.get_run_partition_data(badly)}
    with open_book(home.settings.home, now=utc_now) as book:
        known = book.marks(_LOOKED_AT)
        new = [key for key in sorted(last) if key in plan.verdicts and known.get(f"{_LOOKED_AT}{key}") != last[key]]
        for key in new[:_RUNS_A_TICK]:
            _tell_of_hold(instance, key, last[key], plan)
            _restore(instance, key, last[key], is_behind=plan.verdicts[key] in BEHIND)
        book.set_marks({f"{_LOOKED_AT}{key}": last[key] for key in new[:_RUNS_A_TICK]})


def _tell_of_hold(instance: dg.DagsterInstance, key: str, run_id: str, plan: Plan) -> None:
    """Say on the page of a run that a person cancelled what follows from that."""
    run = instance.get_run_by_id(run_id)
    if run and run.status is dg.DagsterRunStatus.CANCELED and plan.verdicts[key] is BuildDecision.STOPPED:
        held = f"A person cancelled this run, so nothing builds {key} before a new commit or `codesum retry {key}`."
        instance.report_engine_event(held, run)


def _restore(instance: dg.DagsterInstance, key: str, run_id: str, *, is_behind: bool) -> None:
    storage, of_repository = instance.event_log_storage, PartitionKeyFilter(key=key)
    shown = storage.get_latest_asset_check_execution_by_key(_KEYS, partition_filter=of_repository)
    restored = []
    for check, record in shown.items():
        if record.run_id != run_id or record.status.value != "PLANNED":
            continue
        if check.name == AT_HEAD and is_behind:
            asset_steps.report_check(
                instance, asset_steps.published_check(AT_HEAD, key, passed=False, description=WHY_BEHIND)
            )
            continue
        made = asset_steps.last_record(instance, check.asset_key, key)
        history = storage.get_asset_check_execution_history(check, limit=_RUNS_BACK, partition_filter=of_repository)
        done = next((each for each in history if each.status.value != "PLANNED"), None)
        if made and done and done.evaluation:
            target = done.evaluation.target_materialization_data
            is_about_it = target.storage_id == made.storage_id if target else done.run_id == made.run_id
            if is_about_it:
                source = {
                    asset_steps.EVALUATED_IN: dg.MetadataValue.dagster_run(done.run_id),
                    **done.evaluation.metadata,
                }
                restored.append(done.evaluation.with_metadata(source))
    run = instance.get_run_by_id(run_id) if restored else None
    if run:
        instance.report_engine_event(_WHAT_FOLLOWS, run)
    for evaluation in restored:
        asset_steps.write_evaluation(instance, evaluation, run_id=run_id)
