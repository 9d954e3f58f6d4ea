"""Since when each index is behind its repository, as the planner's ticks see it: written down only where it changes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from codesum_pipeline.alerts.book import open_book
from codesum_pipeline.alerts.conditions import ConditionKind, ConditionState
from codesum_pipeline.defs.planner import BuildDecision, Plan
from codesum_pipeline.defs.steps import PUBLISHED_INDEX, report_check, severity_of
from codesum_pipeline.delivery.web_links import host_of
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.operation import CheckName

if TYPE_CHECKING:
    from codesum_pipeline.alerts.book import AlertBook
    from codesum_pipeline.wiring import Home

_BEHIND = (BuildDecision.BUILD, BuildDecision.DEFERRED, BuildDecision.HELD, BuildDecision.EXHAUSTED)
_AT_HEAD = (BuildDecision.UP_TO_DATE, BuildDecision.LEFT_OVER, BuildDecision.GO_ON)


def note_plan(home: "Home", instance: dg.DagsterInstance, plan: Plan, entries: Sequence[RepositoryEntry]) -> None:
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


def evaluation_of(home: "Home", key: str, *, passed: bool, said: str) -> dg.AssetCheckEvaluation:
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


def _noted(home: "Home", book: "AlertBook", plan: Plan) -> tuple[dict[str, str], list[str]]:
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


def _note_late(home: "Home", book: "AlertBook", late: Mapping[str, str], in_time: Sequence[str]) -> None:
    alarms = home.settings.alerts.severity == "WARN" or CheckName.FRESH in home.settings.checks.errors
    name = CheckName.FRESH.value
    if alarms:
        book.note(ConditionState(ConditionKind.CHECK, key, True, said, name) for key, said in late.items())
    book.note(ConditionState(ConditionKind.CHECK, key, False, name=name) for key in in_time)
