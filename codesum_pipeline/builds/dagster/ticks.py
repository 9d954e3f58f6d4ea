"""One tick of the planner, and what starts it: sensors for changed repositories and pushes, and the nightly
schedule."""

import logging
from collections.abc import Collection
from typing import Any

import dagster as dg
from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.alerting import evaluate_published, note_plan
from codesum_pipeline.builds.dagster.asset_steps import (
    FINGERPRINT_TAG,
    published_check,
    report_check,
    schedule_of,
    sensor_of,
)
from codesum_pipeline.builds.dagster.assets import index_repository
from codesum_pipeline.builds.dagster.check_verdicts import WHY_BEHIND, restore_verdicts
from codesum_pipeline.builds.dagster.observing import ACTIVE, Sight, active_keys, observe_repositories
from codesum_pipeline.builds.dagster.planner import (
    GOES_ON_TAG,
    NAMED,
    START_STOPPED,
    BuildDecision,
    Observation,
    Plan,
    plan_builds,
    usd_left_today,
)
from codesum_pipeline.builds.dagster.resource import (
    PARTITIONS,
    PORTION,
    add_partitions,
    codesum_repos,
    end_vanished_runs,
    run_config_for,
)
from codesum_pipeline.builds.dagster.tick_record import keep_tick
from codesum_pipeline.builds.reports.build_values import AT_HEAD, BuildOptions
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.source.repositories.poll_state import PollState, marked_keys, open_poll_state

# What is said of each repository that a person has to see to.
_SAID = {
    BuildDecision.EXHAUSTED: "failed too often in this state; a change or `codesum retry KEY` tries again",
    BuildDecision.STOPPED: START_STOPPED,
}
_TOLD = (*_SAID, BuildDecision.UNREADABLE, BuildDecision.WAITING)


class SensorTick(Struct, frozen=True):
    """What a tick found; `published` has an index, and `last` is the last repository it had time for, empty where there
    was time for all."""

    plan: Plan
    new_keys: list[str]
    published: frozenset[str]
    last: str

    @property
    def run_requests(self) -> list[dg.RunRequest]:
        requests = []
        for each in self.plan.requests:
            tags, config = {FINGERPRINT_TAG: each.fingerprint}, None
            if each.usd_left is not None:
                tags[GOES_ON_TAG] = "true"
                config = run_config_for(BuildOptions(llm_usd_left=each.usd_left))
            requests.append(dg.RunRequest(run_key=each.run_key, partition_key=each.key, tags=tags, run_config=config))
        return requests


def take_tick(
    home: Home,
    instance: dg.DagsterInstance,
    *,
    asker: str,
    last: str,
    log: logging.Logger,
    only: Collection[str] | None = None,
) -> SensorTick:
    """Look at the registry's repositories, or `only` at some, and decide which to build.

    `asker` is who asks Dagster for the runs: what another asker asked for just now is not asked for again.
    """
    for run_id in end_vanished_runs(home.layout, instance):
        log.warning("run %s: its process is gone; marked as failed", run_id)
    survey, planner = home.registry.survey(), home.settings.planner
    enabled = [entry for entry in survey.entries if entry.enabled]
    entries = enabled if only is None else [entry for entry in enabled if entry.key in only]
    problems = {} if only is not None else survey.problems
    with open_poll_state(home.layout) as state:
        marks = state.marks()
        if only is None:
            state.forget_others([entry.key for entry in enabled] + list(problems))
        sight = observe_repositories(home, instance, state, entries, last=last, now_due=marks.keys())
        registered = {entry.key for entry in enabled}
        state.drop_marks(marks[key] for key in marks if key in sight.looked_at or key not in registered)
        refused = [Observation(key, wanted=None, complaint=str(problem)) for key, problem in problems.items()]
        plan = plan_builds(
            [*sight.observations, *refused],
            max_attempts=planner.max_attempts,
            max_requests=planner.max_requests_per_tick,
            usd_left=usd_left_today(home, instance, statuses=list(ACTIVE)),
        )
        if plan.requests:
            # A tick takes a while, and a person may have started a run meanwhile.
            plan = plan.without({each.key for each in plan.requests} & active_keys(instance))
        claimed = state.claim({each.key: each.fingerprint for each in plan.requests}, asker, now=utc_now().timestamp())
        plan = plan.without({each.key for each in plan.requests} - claimed)
        _tell(plan, sight, state, log)
    restore_verdicts(home, instance, plan)
    note_plan(home, instance, plan, enabled)
    evaluate_published(home, instance, plan, {each.key: each.recorded for each in sight.observations})
    keep_tick(home, instance, plan, sight.observations, registered=registered | survey.problems.keys())
    # Repositories that Dagster does not know: those to build first, and no more than it takes at one time.
    wanted = {request.key for request in plan.requests}
    new = {entry.key for entry in entries}.difference(instance.get_dynamic_partitions(PARTITIONS))
    new_keys = sorted(new, key=lambda key: (key not in wanted, key))[: max(PORTION, len(wanted))]
    seen = sight.observations
    return SensorTick(
        plan,
        sorted(new_keys),
        frozenset(found.key for found in seen if found.published),
        last=seen[-1].key if seen and len(seen) < len(entries) else "",
    )


def _tell(plan: Plan, sight: Sight, state: PollState, log: logging.Logger) -> None:
    """Log each problem once, and again when it is another one."""
    details = {**plan.complaints, **{key: wait.fault for key, wait in plan.waits.items()}}
    now = {key: f"{verdict}: {details.get(key, '')}" for key, verdict in plan.verdicts.items() if verdict in _TOLD}
    before = state.reported_problems()
    new = {key: text for key, text in now.items() if before.get(key) != text}
    if unreadable := plan.unreadable(new.keys()):
        log.warning("unreadable: %s", unreadable)
    for verdict, what in _SAID.items():
        if keys := sorted(key for key in new if plan.verdicts[key] is verdict):
            log.warning("%s: %s", some_of(keys, NAMED), what)
    for fault in sorted({plan.waits[key].fault for key in new if plan.verdicts[key] is BuildDecision.WAITING}):
        waiting = sorted(key for key in new if key in plan.waits and plan.waits[key].fault == fault)
        log.warning("%s: failed by no fault of their own (%s); tried again", some_of(waiting, NAMED), fault)
    for rest in (rest for rest in sight.rests if rest.failures == 1):
        log.warning("%s asks for fewer requests: nothing is asked of it for %.0f s", rest.host, rest.lasts_s)
    state.keep_reported_problems({**new, **{key: "" for key in before if key in plan.verdicts and key not in now}})


def _result(context: dg.SensorEvaluationContext, tick: SensorTick) -> dg.SensorResult:
    # The check of published indexes that are to be built fails.
    for request in tick.plan.requests:
        if request.key in tick.published.difference(tick.new_keys) and request.usd_left is None:
            tried: dict[str, Any] = {FINGERPRINT_TAG: request.fingerprint, "attempt": request.number}
            report_check(
                context.instance, published_check(AT_HEAD, request.key, passed=False, description=WHY_BEHIND, **tried)
            )
    return dg.SensorResult(
        run_requests=tick.run_requests,
        skip_reason=None if tick.run_requests else dg.SkipReason(tick.plan.summary()),
        cursor=tick.last,
        dynamic_partitions_requests=[codesum_repos.build_add_request(tick.new_keys)] if tick.new_keys else [],
    )


def repository_changes(interval_s: int) -> dg.SensorDefinition:
    """The sensor, looking every `interval_s` seconds."""
    name = "repository_changes"

    def look(context: dg.SensorEvaluationContext, home: Home) -> dg.SensorResult:
        last = context.cursor or ""
        return _result(context, take_tick(home, context.instance, asker=name, last=last, log=context.log))

    return sensor_of(name, interval_s, look, job=index_repository)


def pushed_repositories(interval_s: int) -> dg.SensorDefinition:
    """The sensor for repositories that are marked as due: seconds after a push, without a look at any other."""
    name = "pushed_repositories"

    def look(context: dg.SensorEvaluationContext, home: Home) -> dg.SensorResult | str:
        marked = marked_keys(home.layout)
        only = set(marked) - (active_keys(context.instance) if marked else set())
        if not only:
            return f"{len(marked)} being built" if marked else "no push was told of"
        tick = take_tick(home, context.instance, asker=name, last="", log=context.log, only=only)
        return _result(context, tick)

    return sensor_of(name, interval_s, look, job=index_repository)


def nightly(cron: str) -> dg.ScheduleDefinition:
    """The schedule. What the sensor has built already is up to date, and is not built again."""

    def look(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
        tick = take_tick(home, context.instance, asker="nightly", last="", log=context.log)
        add_partitions(context.instance, tick.new_keys)
        return tick.run_requests or tick.plan.summary()

    return schedule_of("nightly", index_repository, cron, look)
