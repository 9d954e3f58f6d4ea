"""One tick of the planner, whoever asks for it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import dagster as dg

from codesum_pipeline.defs.assets.publishing import published_index
from codesum_pipeline.defs.building.builder import AT_HEAD
from codesum_pipeline.defs.jobs import index_repository
from codesum_pipeline.defs.lateness import note_plan
from codesum_pipeline.defs.leftovers import GOES_ON_TAG, usd_left_today
from codesum_pipeline.defs.observing import ACTIVE, observe
from codesum_pipeline.defs.partitions import PARTITIONS
from codesum_pipeline.defs.planner import Observation, Plan, Request, Verdict, plan_builds
from codesum_pipeline.defs.processes import end_vanished_runs
from codesum_pipeline.defs.resource import resource_config
from codesum_pipeline.defs.steps import FINGERPRINT_TAG
from codesum_pipeline.wiring import Home


@dataclass(frozen=True, slots=True)
class Tick:
    """What a tick found; `published` has an index, and `last` is the last repository it had time for."""

    plan: Plan
    new_keys: list[str]
    published: frozenset[str]
    last: str

    @property
    def run_requests(self) -> list[dg.RunRequest]:
        return [_run_request(request) for request in self.plan.requests]

    @property
    def check_evaluations(self) -> list[dg.AssetCheckEvaluation]:
        """Published indexes that are found behind."""
        return [
            dg.AssetCheckEvaluation(
                asset_key=published_index.key,
                check_name=AT_HEAD,
                passed=False,
                severity=dg.AssetCheckSeverity.WARN,
                description="the repository, its settings or an algorithm is newer than the published index",
                metadata={FINGERPRINT_TAG: request.fingerprint, "attempt": request.number},
                partition=request.key,
            )
            for request in self.plan.requests
            if request.key in self.published - set(self.new_keys) and request.usd_left is None
        ]


def report_behind(instance: dg.DagsterInstance, evaluations: Sequence[dg.AssetCheckEvaluation]) -> None:
    """Write each evaluation to the run that published the index.

    Dagster keeps one evaluation of a check per partition and run: a second one that belongs to no run is refused,
    and the tick with it.
    """
    for evaluation in evaluations:
        published_by = dg.AssetRecordsFilter(
            asset_key=evaluation.asset_key, asset_partitions=[str(evaluation.partition)]
        )
        for record in instance.fetch_materializations(published_by, limit=1).records:
            event = dg.DagsterEvent(
                event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
                job_name=index_repository.name,
                event_specific_data=evaluation,
            )
            instance.report_dagster_event(event, run_id=record.run_id)


def take_tick(home: Home, instance: dg.DagsterInstance, *, last: str, log: logging.Logger) -> Tick:
    """Look at the registry's repositories and decide which to build."""
    for run_id in end_vanished_runs(home.layout, instance):
        log.warning("run %s: its process is gone; marked as failed", run_id)
    survey = home.registry.survey()
    refused = [Observation(key, wanted=None, complaint=str(problem)) for key, problem in survey.problems.items()]
    entries = [entry for entry in survey.entries if entry.enabled]
    seen = observe(home, instance, entries, last=last)
    planner = home.settings.planner
    plan = plan_builds(
        [*seen, *refused],
        max_attempts=planner.max_attempts,
        max_requests=planner.max_requests_per_tick,
        usd_left=usd_left_today(home, instance, statuses=list(ACTIVE)),
    )
    _log(plan, log)
    note_plan(home, instance, plan)
    known = instance.get_dynamic_partitions(PARTITIONS)
    new = sorted({entry.key for entry in entries} - set(known))
    return Tick(
        plan,
        new,
        frozenset(found.key for found in seen if found.published),
        last=_last_looked_at(seen_keys=[found.key for found in seen], all_keys=len(entries)),
    )


def _last_looked_at(*, seen_keys: Sequence[str], all_keys: int) -> str:
    """Where the next tick goes on; nowhere in particular when there was time for all."""
    return seen_keys[-1] if seen_keys and len(seen_keys) < all_keys else ""


def _run_request(request: Request) -> dg.RunRequest:
    tags = {FINGERPRINT_TAG: request.fingerprint}
    if request.usd_left is None:
        return dg.RunRequest(run_key=request.run_key, partition_key=request.key, tags=tags)
    return dg.RunRequest(
        run_key=request.run_key,
        partition_key=request.key,
        tags={**tags, GOES_ON_TAG: "true"},
        run_config=resource_config({"llm_usd_left": request.usd_left}),
    )


def _log(plan: Plan, log: logging.Logger) -> None:
    if unreadable := plan.unreadable():
        log.warning("unreadable: %s", unreadable)
    for key, verdict in plan.verdicts.items():
        if verdict is Verdict.EXHAUSTED:
            log.warning("%s: failed too often in this state; a change or a run started by hand tries again", key)
