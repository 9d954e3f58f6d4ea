"""What the planner decides about, read from the repositories, the store and Dagster."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import dagster as dg
from dagster._core.storage.tags import RUN_KEY_TAG

from codesum_pipeline.defs.assets.publishing import published_index
from codesum_pipeline.defs.leftovers import left_over
from codesum_pipeline.defs.planner import Observation, next_in_turn
from codesum_pipeline.defs.resource import PARTITION_TAG
from codesum_pipeline.defs.steps import FINGERPRINT_TAG, recorded_fingerprint
from codesum_pipeline.evaluation.gate import standing_hold
from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.wiring import Home

# Dagster gives a tick 60 s. A repository that hangs may be asked twice: for its ref, and for its other refs.
TICK_S = 50.0
ASKED_TWICE = 2
# Waiting for other machines, not computing.
READERS = 16
# Runs of one repository that are looked at for failed attempts.
RUNS_REMEMBERED = 25

ACTIVE = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that a build would stand for, or why that cannot be said."""

    commit: str | None
    complaint: str = ""


def observe(
    home: Home, instance: dg.DagsterInstance, entries: Sequence[RepositoryEntry], *, last: str = ""
) -> list[Observation]:
    """Look at repositories in turn, beginning after the key `last`, as far as a tick's time allows."""
    by_key = {entry.key: entry for entry in entries}
    in_turn = [by_key[key] for key in next_in_turn(list(by_key), last)]
    active = {run.tags.get(PARTITION_TAG) for run in instance.get_runs(filters=dg.RunsFilter(statuses=list(ACTIVE)))}
    heads = _read_heads(home, [entry for entry in in_turn if entry.key not in active])
    return [
        Observation(key=entry.key, wanted=None, is_active=True)
        if entry.key in active
        else _observe_one(home, instance, entry, heads[entry.key])
        for entry in in_turn
        if entry.key in active or entry.key in heads
    ]


def _read_heads(home: Home, entries: Sequence[RepositoryEntry]) -> dict[str, Head]:
    """The heads of as many entries, in order, as can be begun in time; none keeps the others waiting."""
    timeout_s = min(home.settings.planner.ls_remote_timeout_s, TICK_S / ASKED_TWICE)
    deadline = time.monotonic() + max(TICK_S - ASKED_TWICE * timeout_s, 1.0)
    with ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="head") as pool:
        heads = pool.map(lambda entry: _read_head(home, entry, timeout_s, deadline), entries)
        return {entry.key: head for entry, head in zip(entries, heads, strict=True) if head is not None}


def _read_head(home: Home, entry: RepositoryEntry, timeout_s: float, deadline: float) -> Head | None:
    if time.monotonic() > deadline:
        return None
    mirror = Mirror(home.layout.mirror(entry.key), timeout_s=timeout_s)
    try:
        return Head(mirror.head_commit(entry, offline=home.settings.offline))
    except (CodesumError, OSError) as error:
        return Head(None, str(error))


def _observe_one(home: Home, instance: dg.DagsterInstance, entry: RepositoryEntry, head: Head) -> Observation:
    if head.commit is None:
        return Observation(key=entry.key, wanted=None, complaint=head.complaint)
    wanted = home.fingerprint(entry, commit=head.commit)
    seen = Observation(
        key=entry.key,
        wanted=wanted,
        recorded=recorded_fingerprint(instance, entry.key, published_index.key),
        published=_published_fingerprint(home, entry.key),
        begun=_begun_fingerprint(home, entry),
        is_held=_is_held(home, entry.key, wanted),
    )
    if not seen.is_up_to_date:
        return _with_attempts(seen, instance)
    waiting = left_over(home, entry.key, wanted)
    return _with_attempts(replace(seen, left_over=waiting), instance) if waiting else seen


def _published_fingerprint(home: Home, key: str) -> str | None:
    """The fingerprint of the index that readers see; None where there is none, or none that is whole."""
    version = published_version(home.layout.published(key), home.layout.versions(key))
    return version.manifest["fingerprint"] if version else None


def _is_held(home: Home, key: str, wanted: str) -> bool:
    """Whether the gate judged this very build, and would judge it in the same way."""
    return standing_hold(home.layout, key, home.settings.options.evaluation, fingerprint=wanted) is not None


def _begun_fingerprint(home: Home, entry: RepositoryEntry) -> str | None:
    """The fingerprint of the snapshot that the tables hold: that of the last build that began, whole or not."""
    rows = home.tables.read_rows_or_empty("snapshot", entry.key, Snapshot)
    return home.fingerprint(entry, commit=rows[0].commit) if rows else None


def _with_attempts(seen: Observation, instance: dg.DagsterInstance) -> Observation:
    of_repository = {PARTITION_TAG: seen.key}
    runs = instance.get_runs(filters=dg.RunsFilter(tags=of_repository), limit=RUNS_REMEMBERED)
    same = dg.RunsFilter(tags={**of_repository, FINGERPRINT_TAG: seen.left_over or seen.wanted or ""})
    return replace(
        seen,
        tried=tuple(run.tags.get(FINGERPRINT_TAG) for run in runs),
        launches=_last_launch(instance.get_runs(filters=same, limit=1)),
    )


def _last_launch(newest: Sequence[dg.DagsterRun]) -> int:
    """The number in the newest `run_key`: how many runs are still there says less, since old ones are pruned."""
    number = newest[0].tags.get(RUN_KEY_TAG, "").rpartition(":")[2] if newest else ""
    return int(number) if number.isdecimal() else 0
