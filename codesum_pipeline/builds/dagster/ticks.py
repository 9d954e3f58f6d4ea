"""One tick of the planner, and what starts it: sensors for changed repositories and pushes, and the nightly
schedule."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from msgspec import Struct, json
from msgspec.structs import replace

from codesum_pipeline.builds.alerts.alert_book import open_book
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline.builds.dagster.alerting import evaluate_published, note_plan
from codesum_pipeline.builds.dagster.assets import index_repository
from codesum_pipeline.builds.dagster.check_verdicts import WHY_BEHIND, restore_verdicts
from codesum_pipeline.builds.dagster.observing import ACTIVE, Sight, active_keys, observe_repositories
from codesum_pipeline.builds.dagster.planner import GOES_ON_TAG, Observation, Plan, plan_builds, usd_left_today
from codesum_pipeline.builds.dagster.resource import (
    PARTITION_TAG,
    PARTITIONS,
    PORTION,
    add_partitions,
    codesum_repos,
    end_vanished_runs,
    run_config_for,
)
from codesum_pipeline.builds.dagster.runs import complaint_of
from codesum_pipeline.builds.reports.build_values import AT_HEAD, BuildOptions
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned, read_planned, shortened
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.source.repositories.poll_state import PollState, marked_keys, open_poll_state


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
            tags, config = {asset_steps.FINGERPRINT_TAG: each.fingerprint}, None
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
    now = {key: reason for key in plan.verdicts if (reason := plan.reason(key))}
    before = state.reported_problems()
    new = {key: text for key, text in now.items() if before.get(key) != text}
    if new:
        log.warning(plan.reasons(new, is_timed=False))
    for rest in (rest for rest in sight.rests if rest.failures == 1):
        log.warning("%s asks for fewer requests: nothing is asked of it for %.0f s", rest.host, rest.lasts_s)
    state.keep_reported_problems({**new, **{key: "" for key in before if key in plan.verdicts and key not in now}})


def _result(context: dg.SensorEvaluationContext, tick: SensorTick) -> dg.SensorResult:
    # The check of published indexes that are to be built fails.
    for request in tick.plan.requests:
        if request.key in tick.published.difference(tick.new_keys) and request.usd_left is None:
            tried: dict[str, Any] = {asset_steps.FINGERPRINT_TAG: request.fingerprint, "attempt": request.number}
            asset_steps.report_check(
                context.instance,
                asset_steps.published_check(AT_HEAD, request.key, passed=False, description=WHY_BEHIND, **tried),
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

    return asset_steps.sensor_of(name, interval_s, look, job=index_repository)


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

    return asset_steps.sensor_of(name, interval_s, look, job=index_repository)


def nightly(cron: str) -> dg.ScheduleDefinition:
    """The schedule. What the sensor has built already is up to date, and is not built again."""

    def look(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
        tick = take_tick(home, context.instance, asker="nightly", last="", log=context.log)
        add_partitions(context.instance, tick.new_keys)
        return tick.run_requests or tick.plan.summary()

    return asset_steps.schedule_of("nightly", index_repository, cron, look)


_log = logging.getLogger(__name__)
# What is kept of the last failed run, beside the polls.
_FAILURE = "failure"
_OF_RUNS = ("wanted", "published", "failures", "failed_run", "failed_at", "failure")
# How long a tick may look for the reasons of failures; the others follow in the next one.
_LOOK_S = 5.0
_READ = {dg.DagsterEventType.ASSET_CHECK_EVALUATION, dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}


def keep_tick(
    home: Home,
    instance: dg.DagsterInstance,
    plan: Plan,
    observations: Sequence[Observation],
    *,
    registered: Collection[str],
) -> None:
    """Keep what a tick found out about the repositories in its plan; those that are not `registered` are forgotten."""
    seen = {each.key: each for each in observations}
    record, _ = read_planned(home.layout, is_offline=True)
    before = record.builds if record else {}
    try:
        with open_book(home.settings.home, now=utc_now) as book:
            behind = book.all_behind()
        with open_poll_state(home.layout) as state:
            polls, failures = state.polls(), _failures(instance, state, observations)
    except CodesumError as error:
        # The tick has done its work; what it knows is shown when its files can be written again.
        _log.warning("the state of the fleet is not kept: %s", error)
        return
    now, builds = time.time(), {}
    for key, verdict in plan.verdicts.items():
        poll, each, wait = polls.get(key), seen.get(key), plan.waits.get(key)
        known = PlannedBuild(
            decision=str(verdict),
            at=now,
            head=poll.head if poll else None,
            head_at=poll.polled_at if poll and not poll.complaint else None,
            next_poll_at=poll.due_at if poll else None,
            behind_since=behind.get(key),
            complaint=shortened(plan.complaints.get(key, "")),
            waits_for=wait.fault if wait else "",
            next_try_at=wait.until.timestamp() if wait else None,
        )
        if each and not each.is_active:
            run_id, failed_at, failure = failures.get(key, (None, None, ""))
            of_runs = (each.wanted, each.published, each.attempts, run_id, failed_at, failure)
        else:
            # While it is built, nobody looks at it: what was known before is still true.
            old = before.get(key, known)
            of_runs = (old.wanted, old.published, old.failures, old.failed_run, old.failed_at, old.failure)
        builds[key] = replace(known, **dict(zip(_OF_RUNS, of_runs, strict=True)))
    try:
        keep_planned(
            home.layout,
            builds,
            registered=registered,
            every_s=float(home.settings.planner.sensor_interval_s),
            version=installed_version(),
        )
    except CodesumError as error:
        _log.warning("the state of the fleet is not kept: %s", error)


def _failures(
    instance: dg.DagsterInstance, state: PollState, observations: Sequence[Observation]
) -> Mapping[str, tuple[str, float | None, str]]:
    """The last failed run of each repository that was tried, when it ended and why it failed; each run is read once."""
    tried = {each.key: f"{each.target}/{each.launches}/{each.attempts}" for each in observations if each.attempts}

    def read(keys: Sequence[str]) -> dict[str, str | None]:
        return {key: _last_failure(instance, key) for key in keys}

    found = state.derived(_FAILURE, tried, read, give_up_at=time.monotonic() + _LOOK_S)
    return {key: decode(text, tuple[str, float | None, str]) for key, text in found.items() if text}


def _last_failure(instance: dg.DagsterInstance, key: str) -> str | None:
    failed = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], tags={PARTITION_TAG: key})
    for record in instance.get_run_records(failed, limit=1):
        run_id = record.dagster_run.run_id
        events = instance.get_records_for_run(run_id, of_type=_READ).records
        complaint, _ = complaint_of(event for each in events if (event := each.event_log_entry.dagster_event))
        ended_at = record.end_time or _seconds(record.update_timestamp)
        return json.encode((run_id, ended_at, shortened(complaint))).decode()
    return None


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
