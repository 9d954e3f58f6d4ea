"""Checks between builds, and the sensor that reports failures and recoveries.

An index can become late or damaged while nothing is built: the planner's ticks and the schedule `verification` check
that. The sensor reads their results, finished runs, and the state of the daemon's parts.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from codesum_pipeline.builds.alerts.alert_book import AlertBook, ConditionKind, ConditionState, open_book
from codesum_pipeline.builds.alerts.announcing import announce_changes
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline.builds.dagster.planner import BuildDecision, Plan
from codesum_pipeline.builds.dagster.resource import (
    PARTITION_TAG,
    VERIFY_JOB,
    CodesumResource,
    add_partitions,
    codesum_repos,
)
from codesum_pipeline.builds.dagster.runs import complaint_of
from codesum_pipeline.builds.reports.build_values import NO_DATA, OFF, OK, OUT_OF_BAND, STATE
from codesum_pipeline.builds.steps.freshness import allowed_lag
from codesum_pipeline.foundation.data_model.errors import BrokenStore, CodesumError
from codesum_pipeline.foundation.data_model.moments import iso_moment, utc_now
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import CheckName
from codesum_pipeline.foundation.store.lease import hold_unless_held
from codesum_pipeline.foundation.store.object_storage.bucket_record import send_again
from codesum_pipeline.indexes.publishing.verify import IndexFault, verify_index
from codesum_pipeline.source.git.locations import host_of, is_url

_log = logging.getLogger(__name__)
NAME = "alerts"
# If more runs ended, the next look handles the rest.
RUNS_A_LOOK = 500
# Clocks of several machines differ, and a run may be recorded after one that ended later.
OVERLAP = timedelta(minutes=5)
# How far is looked back without a look before this one.
_LOOK_BACK = timedelta(hours=1)
# Dagster gives a tick 60 s; what is not sent then goes on beside it.
SENDING_S = 25.0
_CURSOR = "runs"
_CHECKS = frozenset(CheckName)
_READ = {
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.RUN_FAILURE,
}
VERIFICATION_CRON = "17 * * * *"
_MARK = "verified:"
# The fingerprint whose publication was evaluated last. An event takes some milliseconds, and others wait for the tick.
_EVALUATED, _EVALUATED_A_TICK = "fresh:", 200
# Findings that are named; the rest is counted.
_NAMED = 5
BEHIND = (
    BuildDecision.BUILD,
    BuildDecision.DEFERRED,
    BuildDecision.HELD,
    BuildDecision.EXHAUSTED,
    BuildDecision.STOPPED,
    BuildDecision.WAITING,
)
_AT_HEAD = (BuildDecision.UP_TO_DATE, BuildDecision.LEFT_OVER, BuildDecision.GO_ON)


def alerts(interval_s: int) -> dg.SensorDefinition:
    """The sensor, looking every `interval_s` seconds; it starts no run."""

    def look_for_alerts(context: dg.SensorEvaluationContext, home: Home) -> str:
        count = look_for_conditions(home, context.instance, context.log)
        return f"{count} alerts" if count else "nothing changed that has to be told"

    return asset_steps.sensor_of(NAME, interval_s, look_for_alerts)


def look_for_conditions(home: Home, instance: dg.DagsterInstance, log: logging.Logger) -> int:
    """Record changes of conditions and send alerts; returns the number of messages."""
    sender = home.digest_desk().sender
    with open_book(home.settings.home, now=utc_now) as book:
        note_runs(home, instance, book)
        note_daemon(instance, book)
        book.keep_only(_registered(home))
        count = announce_changes(book, home.settings.alerts, sender)
    if count:
        thread = threading.Thread(target=sender.send_due, name="alerts", daemon=True)
        thread.start()
        thread.join(SENDING_S)
        if thread.is_alive():
            log.warning("a channel takes long; sending goes on")
    return count


def _registered(home: Home) -> set[str] | None:
    """Repositories that somebody waits for; None if the registry cannot be read, which the planner's ticks say."""
    try:
        survey = home.registry.survey()
    except CodesumError as error:
        _log.error("%s", error)
        return None
    return {entry.key for entry in survey.entries if entry.enabled} | set(survey.problems)


def note_runs(home: Home, instance: dg.DagsterInstance, book: AlertBook) -> None:
    """Record the results of the runs that ended since the last look, oldest first."""
    cursor, now = book.marks(_CURSOR).get(_CURSOR), utc_now()
    since = datetime.fromisoformat(cursor) if cursor else now
    if since >= now:
        # The first look, or the clock was set back; what was counted already is known.
        since = now - _LOOK_BACK
    last = since
    for record in _unseen_runs(instance, book, since - OVERLAP):
        _note_run(home, instance, book, record.dagster_run)
        last = max(last, _moment_of(record))
    book.set_marks({_CURSOR: last.isoformat()})
    book.forget_runs(since - 4 * OVERLAP)


def _unseen_runs(instance: dg.DagsterInstance, book: AlertBook, after: datetime) -> Sequence[dg.RunRecord]:
    """The first runs that ended after a moment and are not counted, `RUNS_A_LOOK` at most.

    A busy fleet ends more runs than that within the overlap: who stopped at so many records would never get past them.
    """
    unseen: dict[str, dg.RunRecord] = {}
    limit = RUNS_A_LOOK
    while len(unseen) < RUNS_A_LOOK:
        ended = dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE], updated_after=after)
        page = instance.get_run_records(ended, limit=limit, order_by="update_timestamp", ascending=True)
        for record in page:
            if not book.has_seen(record.dagster_run.run_id):
                unseen.setdefault(record.dagster_run.run_id, record)
        if len(page) < limit:
            break
        # Runs of one moment are taken again, more of them where all are of that moment.
        following = _moment_of(page[-1]) - timedelta(microseconds=1)
        limit = 2 * limit if following <= after else RUNS_A_LOOK
        after = max(after, following)
    return list(unseen.values())[:RUNS_A_LOOK]


def _moment_of(record: dg.RunRecord) -> datetime:
    last = record.update_timestamp
    return last if last.tzinfo else last.replace(tzinfo=UTC)


def note_daemon(instance: dg.DagsterInstance, book: AlertBook) -> None:
    """How the last tick of each sensor and schedule ended; a `repos.yaml` that cannot be read ends them all."""
    observed = []
    for state in instance.all_instigator_state():
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=3)
        last = next((tick for tick in ticks if tick.status.value != "STARTED"), None)
        if state.instigator_name != NAME and state.is_running and last:
            error = last.error
            while error and error.cause:
                error = error.cause
            subject = f"{'sensor' if state.instigator_type.value == 'SENSOR' else 'schedule'} {state.instigator_name}"
            detail, is_bad = str(error.message).strip() if error else "", last.status.value == "FAILURE"
            observed.append(ConditionState(ConditionKind.DAEMON, subject, is_bad, detail))
    book.note(observed)


def _note_run(home: Home, instance: dg.DagsterInstance, book: AlertBook, run: dg.DagsterRun) -> None:
    """Count a run and note what its checks found, in one transaction."""
    failed = run.status is dg.DagsterRunStatus.FAILURE and not asset_steps.is_held(run)
    # A repository where it was to be built, else the job and what it was about.
    key = run.tags.get(PARTITION_TAG, "")
    subject = f"{run.job_name} of {key}" if key else run.job_name
    if key and run.job_name in (asset_steps.JOB, "__ASSET_JOB"):
        subject = key
    records = instance.get_records_for_run(run.run_id, of_type=_READ).records
    events = [event for record in records if (event := record.event_log_entry.dagster_event) is not None]
    complaint = complaint_of(events)[0] if failed else ""
    judged = list(_judged(home, events))
    with book.together():
        failures = book.note_run(run.run_id, subject, failed=failed)
        if failures is not None:
            is_bad = failures >= home.settings.alerts.failed_builds
            detail = f"{failures} runs in a row failed; the last one: {complaint}" if failed else ""
            book.note([ConditionState(ConditionKind.BUILDS, subject, is_bad, detail), *judged])


def _judged(home: Home, events: Sequence[dg.DagsterEvent]) -> Iterator[ConditionState]:
    """Nothing of a check without threshold, or of one that had nothing to look at."""
    for event in events:
        if event.event_type is not dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            continue
        found = event.asset_check_evaluation_data
        state, name = found.metadata.get(STATE), str(found.check_name)
        if name not in _CHECKS or not found.partition or (state and state.value in (NO_DATA, OFF)):
            continue
        counts = home.settings.alerts.severity == "WARN" or found.severity is dg.AssetCheckSeverity.ERROR
        is_bad = not found.passed and counts
        yield ConditionState(ConditionKind.CHECK, str(found.partition), is_bad, found.description or "", name)


def _check(name: CheckName, look: Callable[[Home, str, str], dg.AssetCheckEvaluation]) -> dg.AssetChecksDefinition:
    """A check of the published index that a person can also have carried out."""
    says = asset_steps.DEFINITIONS["standing_checks"][asset_steps.PUBLISHED_INDEX.to_user_string()][name]

    @dg.asset_check(asset=asset_steps.PUBLISHED_INDEX, name=name.value, partitions_def=codesum_repos, description=says)
    def check(context: dg.AssetCheckExecutionContext, codesum: CodesumResource) -> dg.AssetCheckResult:
        found = look(codesum.open_home(), context.partition_key, context.run.run_id)
        return dg.AssetCheckResult(
            passed=found.passed, severity=found.severity, description=found.description, metadata=found.metadata
        )

    return check


def _lateness(home: Home, key: str, _run_id: str) -> dg.AssetCheckEvaluation:
    with open_book(home.settings.home, now=utc_now) as book:
        since = book.behind_since(key)
    allowed = allowed_lag(home.settings.checks, home.registry.get(key))
    is_late = since is not None and datetime.fromisoformat(since) <= utc_now() - allowed
    description = f"behind its repository since {since}" if since else "at the newest commit that a tick has seen"
    return _fresh(home, key, allowed, passed=not is_late, description=description)


def _fresh(home: Home, key: str, allowed: timedelta, *, passed: bool, description: str) -> dg.AssetCheckEvaluation:
    severity, hours = asset_steps.severity_of(home, CheckName.FRESH), allowed / timedelta(hours=1)
    return asset_steps.published_check(
        CheckName.FRESH, key, passed=passed, description=description, severity=severity, allowed_hours=hours
    )


def _verify(home: Home, key: str, run_id: str) -> dg.AssetCheckEvaluation:
    """What `codesum doctor` finds about the index."""
    with asset_steps.stage_failures():
        findings = _findings(home, key, run_id)
    severity, state = asset_steps.severity_of(home, CheckName.VERIFIED), OUT_OF_BAND if findings else OK
    description = "no fault"
    if findings:
        faults = [f"{each.check}: {each.subject}: {each.detail}" for each in findings]
        description = f"{some_of(faults, _NAMED, mark='; ')} (`codesum index {key} --force` writes it anew)"
    elif findings is None:
        severity, state, description = dg.AssetCheckSeverity.WARN, NO_DATA, f"{NO_DATA}: nothing is published"
    numbers = {"wrong": len(findings or ()), STATE: state}
    return asset_steps.published_check(
        CheckName.VERIFIED, key, passed=state == OK, description=description, severity=severity, **numbers
    )


def _findings(home: Home, key: str, run_id: str) -> Sequence[IndexFault] | None:
    """The faults of the published index; None if nothing is published.

    Of a bucket its objects come first: this worker's copy may be whole where they are not, and cannot be made of broken
    ones. Then what is broken is sent again.
    """
    layout = home.layout
    if layout.bucket is not None:
        try:
            parts, is_sent = send_again(layout, key, run_id=run_id)
        except BrokenStore as error:
            return [IndexFault("bucket", key, str(error))]
        if parts and not is_sent:
            return [IndexFault("bucket", name, problem) for name, problem in parts]
    with hold_unless_held(layout, key, run_id=run_id, wait_s=home.settings.lease_wait_s):
        return verify_index(layout, key, tables=home.tables) if layout.published(key).is_symlink() else None


STANDING_CHECKS = (_check(CheckName.FRESH, _lateness), _check(CheckName.VERIFIED, _verify))


@dg.op(tags={"dagster/kind": "numpy"})
def verify_published_index(context: dg.OpExecutionContext, codesum: CodesumResource) -> None:
    """The same, by itself: Dagster gives no partition to a job that has nothing but checks."""
    # It takes these, too; only its annotation does not say so.
    context.log_event(_verify(codesum.open_home(), context.partition_key, context.run_id))  # type: ignore[arg-type]


@dg.job(
    name=VERIFY_JOB,
    description=asset_steps.DEFINITIONS["jobs"][VERIFY_JOB],
    partitions_def=codesum_repos,
    executor_def=dg.in_process_executor,
    owners=[asset_steps.OWNER],
)
def verify_indexes() -> None:
    """One run for each repository, which holds its lease meanwhile."""
    verify_published_index()


def _look_for_due(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    """Those that were looked at longest ago, or never; an hour's share of all."""
    keys = take_due(home, home.registry.survey().entries)
    add_partitions(context.instance, keys)
    return [dg.RunRequest(partition_key=key) for key in keys] or "no index is due"


verification = asset_steps.schedule_of(
    "verification",
    verify_indexes,
    VERIFICATION_CRON,
    _look_for_due,
)


def take_due(home: Home, entries: Sequence[RepositoryEntry]) -> list[str]:
    """The repositories whose turn it is, which counts as taken."""
    days = home.settings.checks.verify_days
    enabled = [entry.key for entry in entries if entry.enabled]
    with open_book(home.settings.home, now=utc_now) as book:
        last = {name.removeprefix(_MARK): moment for name, moment in book.marks(_MARK).items()}
        limit = iso_moment(utc_now() - timedelta(days=days))
        due = sorted((last.get(key, ""), key) for key in enabled if last.get(key, "") <= limit)
        keys = [key for _, key in due[: math.ceil(len(enabled) / (24 * days))]]
        book.set_marks({f"{_MARK}{key}": book.moment() for key in keys})
    return keys


def note_plan(home: Home, instance: dg.DagsterInstance, plan: Plan, entries: Sequence[RepositoryEntry]) -> None:
    """Note who is behind, late, or cannot be read; an event is written for those alone that become late, or in time.

    Of repositories that are not in the plan, or are being built, nothing changes.
    """
    allowed = {entry.key: allowed_lag(home.settings.checks, entry) for entry in entries}
    hosts = {entry.key: host_of(entry.location) for entry in entries if is_url(entry.location)}
    kind, unreadable = ConditionKind.REMOTE, BuildDecision.UNREADABLE
    with open_book(home.settings.home, now=utc_now) as book:
        book.note(
            ConditionState(kind, key, verdict is unreadable, plan.complaints.get(key, ""), cause=hosts.get(key, ""))
            for key, verdict in plan.verdicts.items()
            if verdict is not BuildDecision.ACTIVE
        )
        # In one transaction, so that recorded lateness was always reported.
        with book.together():
            found = book.note_behind(
                [key for key, verdict in plan.verdicts.items() if verdict in BEHIND],
                [key for key, verdict in plan.verdicts.items() if verdict in _AT_HEAD],
                late_after=allowed,
            )
            late = {
                key: f"behind its repository since {datetime.fromisoformat(since):%Y-%m-%d %H:%M} UTC"
                for key, since in found.late.items()
            }
            name = CheckName.FRESH.value
            if home.settings.alerts.severity == "WARN" or name in home.settings.checks.errors:
                book.note(
                    ConditionState(ConditionKind.CHECK, key, True, description, name)
                    for key, description in late.items()
                )
            book.note(ConditionState(ConditionKind.CHECK, key, False, name=name) for key in found.in_time)
    again = dict.fromkeys(found.in_time, "at the repository's newest commit again")
    for key, description in {**late, **again}.items():
        passed = key not in late
        asset_steps.report_check(instance, _fresh(home, key, allowed[key], passed=passed, description=description))


def evaluate_published(
    home: Home, instance: dg.DagsterInstance, plan: Plan, recorded: Mapping[str, str | None]
) -> None:
    """Evaluate freshness once for each publication that is at its repository's head, some in each tick; `recorded` are
    the fingerprints of the last publications."""
    at_head = {key: recorded.get(key) for key, verdict in plan.verdicts.items() if verdict in _AT_HEAD}
    with open_book(home.settings.home, now=utc_now) as book:
        known = book.marks(_EVALUATED)
        new = {f"{_EVALUATED}{key}": found for key, found in at_head.items() if found}
        new = dict([(name, found) for name, found in new.items() if known.get(name) != found][:_EVALUATED_A_TICK])
        entries = home.registry.survey().entries if new else ()
        for entry in (each for each in entries if f"{_EVALUATED}{each.key}" in new):
            allowed = allowed_lag(home.settings.checks, entry)
            description = "at the repository's newest commit"
            asset_steps.report_check(instance, _fresh(home, entry.key, allowed, passed=True, description=description))
        book.set_marks(new)
