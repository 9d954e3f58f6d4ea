"""The sensor that tells people of what broke and what recovered, by finished runs and by how the daemon's parts do."""

import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg

from codesum_pipeline.alerts.announcing import announce, note_absence
from codesum_pipeline.alerts.book import AlertBook, ConditionKind, ConditionState, open_book
from codesum_pipeline.defs.building.values import NO_DATA, OFF, STATE
from codesum_pipeline.defs.partitions import PARTITION_TAG
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.runs import complaint_of
from codesum_pipeline.defs.steps import JOB, OWNER, is_held
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.settings.operation import CheckName
from codesum_pipeline.wiring import Home

_log = logging.getLogger(__name__)
NAME = "alerts"
# Of more runs than these, the next look takes care.
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
_UNJUDGED = (NO_DATA, OFF)


def alerts(interval_s: int) -> dg.SensorDefinition:
    """The sensor, looking every `interval_s` seconds. It runs unless somebody stops it."""

    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells the channels of `alerts.channels` of checks, builds, remotes and parts of the daemon that "
        "fail or recover. Starts no run.",
        owners=[OWNER],
    )
    def sensor(context: dg.SensorEvaluationContext, codesum: CodesumResource) -> dg.SkipReason:
        told = look(codesum.open_home(), context.instance, context.log)
        return dg.SkipReason(f"{told} alerts" if told else "nothing changed that has to be told")

    return sensor


def look(home: Home, instance: dg.DagsterInstance, log: logging.Logger) -> int:
    """Note what changed and tell it; how many messages that are."""
    sender = home.digest_desk().sender
    with open_book(home.settings.home, now=utc_now) as book:
        note_absence(book, home.settings.alerts)
        note_runs(home, instance, book)
        note_daemon(instance, book)
        book.keep_only(_registered(home))
        told = announce(book, home.settings.alerts, sender)
    if told:
        thread = threading.Thread(target=sender.send_due, name="alerts", daemon=True)
        thread.start()
        thread.join(SENDING_S)
        if thread.is_alive():
            log.warning("a channel takes long; sending goes on")
    return told


def _registered(home: Home) -> set[str] | None:
    """Repositories that somebody waits for; None where the registry cannot be read, which the planner's ticks say."""
    try:
        survey = home.registry.survey()
    except CodesumError as error:
        _log.error("%s", error)
        return None
    return {entry.key for entry in survey.entries if entry.enabled} | set(survey.problems)


def note_runs(home: Home, instance: dg.DagsterInstance, book: AlertBook) -> None:
    """What the runs that ended since the last look came to, the first one first."""
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
    unseen: list[dg.RunRecord] = []
    limit = RUNS_A_LOOK
    while len(unseen) < RUNS_A_LOOK:
        ended = dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE], updated_after=after)
        page = instance.get_run_records(ended, limit=limit, order_by="update_timestamp", ascending=True)
        taken = {record.dagster_run.run_id for record in unseen}
        unseen += [
            record
            for record in page
            if record.dagster_run.run_id not in taken and not book.has_seen(record.dagster_run.run_id)
        ]
        if len(page) < limit:
            break
        # Runs of one moment are taken again, more of them where all are of that moment.
        following = _moment_of(page[-1]) - timedelta(microseconds=1)
        limit = 2 * limit if following <= after else RUNS_A_LOOK
        after = max(after, following)
    return unseen[:RUNS_A_LOOK]


def _moment_of(record: dg.RunRecord) -> datetime:
    last = record.update_timestamp
    return last if last.tzinfo else last.replace(tzinfo=UTC)


def note_daemon(instance: dg.DagsterInstance, book: AlertBook) -> None:
    """How the last tick of each sensor and schedule ended; a `repos.yaml` that cannot be read ends them all."""
    observed = []
    for state in instance.all_instigator_state():
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=3)
        ended = [tick for tick in ticks if tick.status.value != "STARTED"]
        if state.instigator_name != NAME and state.is_running and ended:
            error = ended[0].error
            kind = "sensor" if state.instigator_type.value == "SENSOR" else "schedule"
            observed.append(
                ConditionState(
                    ConditionKind.DAEMON,
                    f"{kind} {state.instigator_name}",
                    is_bad=ended[0].status.value == "FAILURE",
                    detail=_innermost(error) if error else "",
                )
            )
    book.note(observed)


def _note_run(home: Home, instance: dg.DagsterInstance, book: AlertBook, run: dg.DagsterRun) -> None:
    """In one transaction: a run that is counted has told what it found."""
    if book.has_seen(run.run_id):
        return
    failed = run.status is dg.DagsterRunStatus.FAILURE and not is_held(run)
    subject = _subject(run)
    records = instance.get_records_for_run(run.run_id, of_type=_READ).records
    events = [record.event_log_entry.dagster_event for record in records]
    found = [event for event in events if event is not None]
    complaint = complaint_of(found)[0] if failed else ""
    judged = [
        seen
        for event in found
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
        for seen in _judged(home, event.asset_check_evaluation_data)
    ]
    with book.together():
        failures = book.note_run(run.run_id, subject, failed=failed)
        if failures is not None:
            is_bad = failures >= home.settings.alerts.failed_builds
            said = f"{failures} runs in a row failed; the last one: {complaint}" if failed else ""
            book.note([ConditionState(ConditionKind.BUILDS, subject, is_bad, said), *judged])


def _judged(home: Home, found: dg.AssetCheckEvaluation) -> list[ConditionState]:
    """Nothing of a check without threshold, or of one that had nothing to look at."""
    state = found.metadata.get(STATE)
    if found.check_name not in _CHECKS or not found.partition or (state and state.value in _UNJUDGED):
        return []
    counts = home.settings.alerts.severity == "WARN" or found.severity is dg.AssetCheckSeverity.ERROR
    is_bad = not found.passed and counts
    said = found.description or ""
    return [ConditionState(ConditionKind.CHECK, str(found.partition), is_bad, said, str(found.check_name))]


def _subject(run: dg.DagsterRun) -> str:
    """A repository where it was to be built, else the job and what it was about."""
    key = run.tags.get(PARTITION_TAG, "")
    if key and run.job_name in (JOB, "__ASSET_JOB"):
        return key
    return f"{run.job_name} of {key}" if key else run.job_name


def _innermost(error: "dg.SerializableErrorInfo") -> str:
    while error.cause is not None:
        error = error.cause
    return str(error.message).strip()
