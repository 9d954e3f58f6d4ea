"""What can become wrong while nothing is built: whether an index is late, and whether it is still what was written.

The planner's ticks and the schedule `verification` see to them; a build does not run them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import dagster as dg

from codesum_pipeline.alerts.book import AlertBook, ConditionKind, ConditionState, open_book
from codesum_pipeline.defs.building.values import NO_DATA, OK, OUT_OF_BAND, STATE
from codesum_pipeline.defs.partitions import add_partitions, codesum_repos
from codesum_pipeline.defs.planner import BuildDecision, Plan
from codesum_pipeline.defs.resource import VERIFY_JOB, CodesumResource
from codesum_pipeline.defs.steps import OWNER, PUBLISHED_INDEX, report_check, schedule_of, severity_of, stage_failures
from codesum_pipeline.delivery.web_links import host_of
from codesum_pipeline.indexes.verify import IndexFault, verify_index
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.moments import iso_moment, utc_now
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.operation import CheckName
from codesum_pipeline.store.heads import broken_parts
from codesum_pipeline.store.layout import BucketPlace, HomeLayout
from codesum_pipeline.store.lease import hold_unless_held
from codesum_pipeline.wiring import Home

VERIFICATION_CRON = "17 * * * *"
_MARK = "verified:"
# Findings that are named; the rest is counted.
_NAMED = 5


def _check(
    name: CheckName, description: str, look: Callable[[Home, str, str], dg.AssetCheckEvaluation]
) -> dg.AssetChecksDefinition:
    """A check of the published index that a person can also have carried out."""

    @dg.asset_check(asset=PUBLISHED_INDEX, name=name.value, partitions_def=codesum_repos, description=description)
    def check(context: dg.AssetCheckExecutionContext, codesum: CodesumResource) -> dg.AssetCheckResult:
        found = look(codesum.open_home(), context.partition_key, context.run.run_id)
        return dg.AssetCheckResult(
            passed=found.passed, severity=found.severity, description=found.description, metadata=found.metadata
        )

    return check


def _lateness(home: Home, key: str, _run_id: str) -> dg.AssetCheckEvaluation:
    """What the planner's last ticks saw."""
    with open_book(home.settings.home, now=utc_now) as book:
        since = book.behind_since(key)
    allowed = timedelta(hours=home.settings.checks.behind_hours)
    is_late = since is not None and datetime.fromisoformat(since) <= utc_now() - allowed
    said = f"behind its repository since {since}" if since else "at the newest commit that a tick has seen"
    return evaluation_of(home, key, passed=not is_late, said=said)


def _verify(home: Home, key: str, run_id: str) -> dg.AssetCheckEvaluation:
    """What `codesum doctor` finds about the index."""
    with stage_failures():
        is_published, findings = _findings(home, key, run_id)
    named = "; ".join(f"{each.check}: {each.subject}: {each.detail}" for each in findings[:_NAMED])
    more = f"; and {len(findings) - _NAMED:,} more" if len(findings) > _NAMED else ""
    said = f"{named}{more} (`codesum index {key} --force` writes it anew)" if findings else "no fault"
    return dg.AssetCheckEvaluation(
        asset_key=PUBLISHED_INDEX,
        check_name=CheckName.VERIFIED.value,
        passed=is_published and not findings,
        severity=severity_of(home, CheckName.VERIFIED) if is_published else dg.AssetCheckSeverity.WARN,
        description=said if is_published else f"{NO_DATA}: nothing is published",
        metadata={"wrong": len(findings), STATE: OUT_OF_BAND if findings else OK if is_published else NO_DATA},
        partition=key,
    )


STANDING_CHECKS = (
    _check(
        CheckName.FRESH,
        "The index is behind its repository for no longer than `checks.behind_hours`. Set by the planner's ticks where "
        "it changes, also while nothing is built.",
        _lateness,
    ),
    _check(
        CheckName.VERIFIED,
        "Every byte of the published index is what its manifest says, and its documents are those of the tables. "
        "Looked at once in `checks.verify_days`.",
        _verify,
    ),
)


@dg.op(tags={"dagster/kind": "numpy"})
def verify_published_index(context: dg.OpExecutionContext, codesum: CodesumResource) -> None:
    """The same, by itself: Dagster gives no partition to a job that has nothing but checks."""
    # It takes these, too; only its annotation does not say so.
    context.log_event(_verify(codesum.open_home(), context.partition_key, context.run_id))  # type: ignore[arg-type]


@dg.job(
    name=VERIFY_JOB,
    description="Compare the published index of one repository with its manifest and its tables, byte by byte.",
    partitions_def=codesum_repos,
    executor_def=dg.in_process_executor,
    owners=[OWNER],
)
def verify_indexes() -> None:
    """One run for each repository, which holds its lease meanwhile."""
    verify_published_index()


def _findings(home: Home, key: str, run_id: str) -> tuple[bool, Sequence[IndexFault]]:
    """Whether anything is published, and what is wrong with it.

    Of a bucket its objects come first: this worker's copy may be whole where they are not, and cannot be made of broken
    ones.
    """
    layout = home.layout
    if layout.bucket is not None and (broken := _broken_objects(layout, layout.bucket, key)):
        return True, broken
    with hold_unless_held(layout, key, run_id=run_id, wait_s=home.settings.lease_wait_s):
        is_published = layout.published(key).is_symlink()
        return is_published, verify_index(layout, key, tables=home.tables) if is_published else []


def _broken_objects(layout: HomeLayout, bucket: BucketPlace, key: str) -> list[IndexFault]:
    try:
        parts = broken_parts(bucket, key, near=layout.home)
    except BrokenStore as error:
        return [IndexFault("bucket", key, str(error))]
    return [
        IndexFault("bucket", part.name, f"{part.file} is {'missing' if part.is_missing else 'not what its name says'}")
        for part in parts
    ]


def _look_for_due(context: dg.ScheduleEvaluationContext, home: Home) -> list[dg.RunRequest] | str:
    """Those that were looked at longest ago, or never; an hour's share of all."""
    keys = take_due(home, home.registry.survey().entries)
    add_partitions(context.instance, keys)
    return [dg.RunRequest(partition_key=key) for key in keys] or "no index is due"


verification = schedule_of(
    "verification",
    verify_indexes,
    VERIFICATION_CRON,
    "Once in `checks.verify_days`, spread over that time, has each published index compared with its tables.",
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


_BEHIND = (BuildDecision.BUILD, BuildDecision.DEFERRED, BuildDecision.HELD, BuildDecision.EXHAUSTED)
_AT_HEAD = (BuildDecision.UP_TO_DATE, BuildDecision.LEFT_OVER, BuildDecision.GO_ON)


def note_plan(home: Home, instance: dg.DagsterInstance, plan: Plan, entries: Sequence[RepositoryEntry]) -> None:
    """Note who is behind, late, or cannot be read; an event is written for those alone that become late, or in time.

    Of repositories that are not in the plan nothing changes.
    """
    hosts = {entry.key: host_of(entry.location) for entry in entries}
    with open_book(home.settings.home, now=utc_now) as book:
        book.note(_observed_sources(plan, hosts))
        late, in_time = _noted(home, book, plan)
    changed = [*late.items(), *((key, "at the repository's newest commit again") for key in in_time)]
    for key, said in changed:
        report_check(instance, evaluation_of(home, key, passed=key not in late, said=said))


def evaluation_of(home: Home, key: str, *, passed: bool, said: str) -> dg.AssetCheckEvaluation:
    """What the check `index_is_fresh` says of one repository."""
    return dg.AssetCheckEvaluation(
        asset_key=PUBLISHED_INDEX,
        check_name=CheckName.FRESH.value,
        passed=passed,
        severity=severity_of(home, CheckName.FRESH),
        description=said,
        metadata={"allowed_hours": home.settings.checks.behind_hours},
        partition=key,
    )


def _observed_sources(plan: Plan, hosts: Mapping[str, str]) -> Sequence[ConditionState]:
    """Of a repository that is being built nothing is known."""
    return [
        ConditionState(
            ConditionKind.REMOTE,
            key,
            is_bad=verdict is BuildDecision.UNREADABLE,
            detail=plan.complaints.get(key, ""),
            cause=hosts.get(key, ""),
        )
        for key, verdict in plan.verdicts.items()
        if verdict is not BuildDecision.ACTIVE
    ]


def _noted(home: Home, book: AlertBook, plan: Plan) -> tuple[dict[str, str], list[str]]:
    """Who is late from now on, with what is said of it, and who is so no more. In one transaction: lateness that is
    remembered has been told of."""
    with book.together():
        found = book.note_behind(
            [key for key, verdict in plan.verdicts.items() if verdict in _BEHIND],
            [key for key, verdict in plan.verdicts.items() if verdict in _AT_HEAD],
            late_after=timedelta(hours=home.settings.checks.behind_hours),
        )
        late = {
            key: f"behind its repository since {datetime.fromisoformat(since):%Y-%m-%d %H:%M} UTC"
            for key, since in found.late.items()
        }
        _note_late(home, book, late, found.in_time)
    return late, found.in_time


def _note_late(home: Home, book: AlertBook, late: Mapping[str, str], in_time: Sequence[str]) -> None:
    alarms = home.settings.alerts.severity == "WARN" or CheckName.FRESH in home.settings.checks.errors
    name = CheckName.FRESH.value
    if alarms:
        book.note(ConditionState(ConditionKind.CHECK, key, True, said, name) for key, said in late.items())
    book.note(ConditionState(ConditionKind.CHECK, key, False, name=name) for key in in_time)
