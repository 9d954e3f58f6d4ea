"""The state of the fleet, put together from the parts that can be reached; the others are named."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.planner_record import PlannerRecord
from codesum_pipeline.builds.steps.fleet_states import (
    FleetState,
    RepositoryState,
    RunUnderWay,
    judge_fleet,
    read_record,
)
from codesum_pipeline.builds.steps.freshness import allowed_lag
from codesum_pipeline.foundation.data_model.errors import BrokenStore, CannotWrite, ConfigurationError, RetryLater
from codesum_pipeline.foundation.data_model.moments import age_in_words, moment_at, utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import CheckSettings


def read_fleet(home: Home, entries: Sequence[RepositoryEntry], *, ask_remotes: bool = False) -> FleetState:
    """The state of each entry, in order."""
    record, problem = read_record(home)
    unreachable = {"bucket": problem} if problem else {}
    runs: Mapping[str, RunUnderWay] = {}
    parts = {"bucket": home.layout.bucket is not None, "queue": home.settings.engine.launcher == "celery"}
    if parts.setdefault("database", _has_runs(home, record) and can_read_records(home, record)):
        runs, more = _runs(home)
        unreachable |= more
    return FleetState(
        repositories=judge_fleet(home, entries, runs=runs, record=record, ask_remotes=ask_remotes),
        parts=tuple(part for part, is_there in parts.items() if is_there),
        unreachable=unreachable,
        lateness=_lateness(record),
        record=record,
    )


def can_read_records(home: Home, record: PlannerRecord | None) -> bool:
    """Whether this machine can read Dagster's records: a daemon's own SQLite files are on its machine alone."""
    layout = home.layout
    is_here = layout.bucket is None or layout.queued.exists() or (record is not None and record.is_of_this_machine)
    return home.settings.engine.storage == "postgres" or (is_here and layout.dagster_home.is_dir())


def _has_runs(home: Home, record: PlannerRecord | None) -> bool:
    """Whether runs may wait or go on: a home that no daemon has looked at does not import Dagster to see that none
    does."""
    is_shared = home.settings.engine.storage == "postgres"
    return is_shared or record is not None or home.layout.queued.exists()


def state_json(found: RepositoryState) -> dict[str, Any]:
    """One repository for programs; what is not known is null."""
    run = found.run
    return {
        "repo": found.key,
        "state": found.state,
        "commit": found.commit,
        "published_at": _moment(found.published_at),
        "head": found.head,
        "head_seen_at": _moment(found.head_at),
        "behind_since": found.behind_since,
        "run": run
        and {
            "id": run.run_id,
            "is_queued": run.is_queued,
            "since": _moment(run.since),
            "host": run.host or None,
            "pid": run.pid,
            "started_by": run.started_by,
        },
        "failed_runs": found.failures,
        "failure": found.failure or None,
        "last_failed_run": found.failed_run,
        "failed_at": _moment(found.failed_at),
        "next_try": found.next_try or None,
        "held_by": found.held_by or None,
        "lease": str(found.holder) if found.holder else None,
        "why": found.why or None,
    }


def remark_of(found: RepositoryState) -> str:
    """What a person wants to know besides the state, in one line."""
    parts = [str(found.run) if found.run else ""]
    if found.holder and not found.run:
        parts.append("its last build was killed" if found.holder.is_gone() else f"by {found.holder}")
    if found.failures:
        when = f" {age_in_words(found.failed_at)} ago" if found.failed_at else ""
        times = "once" if found.failures == 1 else f"{found.failures:,} times"
        parts.append(f"failed {times}, last{when}: {found.failure}" if found.failure else f"failed {times}")
    parts += [found.why, f"held by {found.held_by}" if found.held_by else ""]
    parts.append(f"next try: {found.next_try}" if found.next_try else "")
    return "; ".join(filter(None, parts))


def behind_for(found: RepositoryState) -> str | None:
    """How long the index has been behind, as far as the planner has seen it."""
    if found.behind_since is None:
        return None
    return age_in_words(datetime.fromisoformat(found.behind_since).timestamp())


def is_late(found: RepositoryState, checks: CheckSettings) -> bool:
    """Whether the index has been behind for longer than its target allows."""
    if found.behind_since is None:
        return False
    return datetime.fromisoformat(found.behind_since) <= utc_now() - allowed_lag(checks, found.entry)


def _runs(home: Home) -> tuple[Mapping[str, RunUnderWay], dict[str, str]]:
    """The runs that wait or go on, and why a part cannot be reached. Without a daemon, leases show what is built, and
    what a person put into the queue waits."""
    # It imports Dagster, which takes a second.
    from codesum_pipeline.builds.dagster.control import check_broker, runs_under_way

    unreachable = {}
    try:
        check_broker(home)
    except (RetryLater, ConfigurationError) as error:
        unreachable["queue"] = str(error)
    try:
        return runs_under_way(home), unreachable
    except (RetryLater, ConfigurationError, CannotWrite, BrokenStore) as error:
        return {}, {**unreachable, "database": f"which runs wait or go on is not known: {error}"}


def _lateness(record: PlannerRecord | None) -> str:
    if record is None or not record.is_late:
        return ""
    return (
        f"the daemon on {record.host} has not ticked for {age_in_words(record.at)}: what follows may have changed "
        "since; see that `codesum dev` runs there"
    )


def _moment(seconds: float | None) -> str | None:
    return moment_at(seconds) if seconds is not None else None
