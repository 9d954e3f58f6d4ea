"""After each tick: what the planner knows now is kept for those who ask for the state of the fleet."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg
from msgspec import json
from msgspec.structs import replace

from codesum_pipeline.builds.alerts.alert_book import open_book
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.planner import Observation, Plan
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.builds.dagster.runs import complaint_of
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned, read_planned, shortened
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.source.repositories.poll_state import PollState, open_poll_state

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
