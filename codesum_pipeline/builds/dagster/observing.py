"""The facts on which the planner decides, read from the repositories, the store and Dagster.

One tick examines ten thousand repositories, so each fact is either queried for all of them together or takes a few
system calls. In a bucket all heads are listed in a few requests, and a head is read only if its tag has changed.
"""

import io
import json
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path

import dagster as dg
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG, PUBLISHED_INDEX
from codesum_pipeline.builds.dagster.past_runs import with_attempts, with_lost_records
from codesum_pipeline.builds.dagster.planner import Observation, add_left_overs, next_in_turn
from codesum_pipeline.builds.dagster.private_names import SqliteEventLogStorage, SqlRunStorage
from codesum_pipeline.builds.dagster.resource import UNFINISHED
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.atomic import identify_file
from codesum_pipeline.foundation.store.layout import BucketPlace
from codesum_pipeline.foundation.store.object_storage.heads import head_infos, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.foundation.store.object_storage.state_files import read_files
from codesum_pipeline.foundation.store.object_storage.state_manifest import StateManifest, read_manifest
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.search.evaluation.evaluation_step import hold_again, standing_hold
from codesum_pipeline.source.repositories.poll_state import HostRest, PollState
from codesum_pipeline.source.repositories.polling import Poller

# Dagster gives a tick 60 s. A repository that hangs may be asked twice: for its ref, and for its other refs.
TICK_S = 50.0
ASKED_TWICE = 2
# Kinds of what is derived from a repository's state and kept until that changes.
_RECORDED, BEGUN, HEADS = "recorded", "begun", "head"
# A tick cannot wait for a bucket that is away as long as a build can; the next one asks again.
_RETRY_S = 10.0
_READERS = 16
ACTIVE = (dg.DagsterRunStatus.QUEUED, *UNFINISHED)


class Sight(Struct, frozen=True):
    """The repositories that there was time for, those that were asked for their head, and hosts that want rest."""

    observations: list[Observation]
    looked_at: frozenset[str]
    rests: tuple[HostRest, ...]


def observe_repositories(
    home: Home,
    instance: dg.DagsterInstance,
    state: PollState,
    entries: Sequence[RepositoryEntry],
    *,
    last: str = "",
    now_due: Collection[str] = (),
) -> Sight:
    """Look at repositories in turn, beginning after the key `last`, as far as a tick's time allows.

    None keeps the others waiting: what was begun ends before the tick has to.
    """
    began = time.monotonic()
    by_key = {entry.key: entry for entry in entries}
    in_turn = [by_key[key] for key in next_in_turn(list(by_key), last)]
    active = active_keys(instance)
    waiting = [entry for entry in in_turn if entry.key not in active]
    timeout_s = min(home.settings.planner.ls_remote_timeout_s, TICK_S / ASKED_TWICE)
    policy = home.settings.planner.model_copy(update={"ls_remote_timeout_s": timeout_s})
    looks = Poller(home.layout, policy, home.settings.offline).look_at_due(
        waiting, state, now_due=now_due, give_up_at=began + max(TICK_S - ASKED_TWICE * timeout_s, 1.0)
    )
    give_up_at = began + TICK_S
    heads = {key: poll.head for key, poll in looks.polls.items() if poll.head is not None and not poll.complaint}
    readable = [entry for entry in waiting if entry.key in heads]
    recorded = recorded_fingerprints(instance, state, heads.keys(), give_up_at=give_up_at)
    builds = standing_builds(home, state, readable, give_up_at=give_up_at)
    known = (entry for entry in readable if entry.key in recorded and entry.key in builds)
    seen = [
        _observation(home, entry, heads[entry.key] or "", recorded[entry.key], builds[entry.key])
        for entry in takewhile(lambda _: time.monotonic() < give_up_at, known)
    ]
    seen = add_left_overs(home, with_lost_records(instance, seen), readable)
    found = {each.key: each for each in seen if each.is_up_to_date and not each.left_over}
    behind = [each for each in seen if each.key not in found]
    counted = with_attempts(instance, state, behind, give_up_at=give_up_at, now=utc_now().timestamp())
    found.update((each.key, each) for each in counted)
    found.update(
        (key, Observation(key=key, wanted=None, complaint=poll.complaint))
        for key, poll in looks.polls.items()
        if key not in heads
    )
    found.update((key, Observation(key=key, wanted=None, is_active=True)) for key in active)
    return Sight([found[entry.key] for entry in in_turn if entry.key in found], looks.looked_at, looks.rests)


def _observation(
    home: Home, entry: RepositoryEntry, head: str, recorded: str | None, build: "StandingBuild"
) -> Observation:
    wanted, begun = home.fingerprint(entry, commit=head), None
    if build.begun_at:
        begun = wanted if build.begun_at == head else home.fingerprint(entry, commit=build.begun_at)
    seen = Observation(entry.key, wanted=wanted, begun=begun, published=build.published, recorded=recorded)
    return seen if seen.is_up_to_date else replace(seen, is_held=is_held(home, entry.key, build, fingerprint=wanted))


def recorded_fingerprints(
    instance: dg.DagsterInstance, state: PollState, keys: Collection[str], *, give_up_at: float
) -> dict[str, str | None]:
    """The fingerprint that the last published index of each repository is tagged with; None if there is none.

    Keys that there was no time for are left out.
    """
    newest = instance.event_log_storage.get_latest_storage_id_by_partition(
        PUBLISHED_INDEX, dg.DagsterEventType.ASSET_MATERIALIZATION
    )

    def tags(some: Sequence[str]) -> dict[str, str | None]:
        wanted = dg.AssetRecordsFilter(asset_key=PUBLISHED_INDEX, storage_ids=[newest[key] for key in some])
        records = instance.fetch_materializations(wanted, limit=len(some)).records
        last = [each.asset_materialization for each in records if each.asset_materialization]
        return {str(each.partition): (each.tags or {}).get(FINGERPRINT_TAG) for each in last}

    # Distinguishes these records from others with the same numbers, as after the file of events was made anew.
    events, runs = instance.event_log_storage, instance.run_storage
    file = Path(events.path_for_shard("index")) if isinstance(events, SqliteEventLogStorage) else None
    inode = file.stat().st_ino if file and file.exists() else 0
    records_id = f"{runs.get_run_storage_id() if isinstance(runs, SqlRunStorage) else ''}/{inode}"
    seen = {key: f"{records_id}/{newest[key]}" for key in keys if key in newest}
    found = state.derived(_RECORDED, seen, tags, give_up_at=give_up_at)
    return {key: found.get(key) for key in keys if key not in newest or key in found}


def active_keys(instance: dg.DagsterInstance) -> set[str]:
    """The repositories with a run that goes on or waits."""
    active = instance.run_storage.get_run_partition_data(dg.RunsFilter(statuses=list(ACTIVE)))
    return {run.partition for run in active}


class StandingBuild(Struct, frozen=True):
    """What was made of a repository: the fingerprint of the published index, and the commit of the snapshot that the
    tables hold, which is ahead where a build did not end.

    In a bucket also the name of the published version, and what the gate noted when it held one back.
    """

    published: str | None = None
    begun_at: str | None = None
    digest: str = ""
    hold: str | None = None


def standing_builds(
    home: Home, state: PollState, entries: Sequence[RepositoryEntry], *, give_up_at: float
) -> dict[str, StandingBuild]:
    """The current builds by key; repositories not reached in time are left out."""
    keys = [entry.key for entry in entries]
    if home.layout.bucket:
        return _in_bucket(home, state, keys, home.layout.bucket, give_up_at=give_up_at)

    def begun_at(key: str) -> str | None:
        rows = home.tables.read_rows_or_empty("snapshot", key, Snapshot)
        return rows[0].commit if rows else None

    seen = {key: identify_file(home.tables.path("snapshot", key)) for key in keys}
    begun = state.derived(BEGUN, seen, lambda some: {key: begun_at(key) for key in some}, give_up_at=give_up_at)
    builds = {}
    for key in takewhile(lambda _: time.monotonic() < give_up_at, filter(begun.__contains__, keys)):
        version = published_version(home.layout, key)
        builds[key] = StandingBuild(version.manifest["fingerprint"] if version else None, begun[key])
    return builds


def is_held(home: Home, key: str, build: StandingBuild, *, fingerprint: str) -> bool:
    """Whether the gate judged a build of this fingerprint, and would judge it in the same way."""
    options = home.settings.evaluation
    if home.layout.bucket is None:
        return standing_hold(home.layout, key, options, fingerprint=fingerprint) is not None
    if build.hold is None:
        return False
    return hold_again(build.hold.encode(), options, published=build.digest, fingerprint=fingerprint) is not None


def _in_bucket(
    home: Home, state: PollState, keys: Sequence[str], place: BucketPlace, *, give_up_at: float
) -> dict[str, StandingBuild]:
    objects = OPENED_HOMES.objects(place, most_retry_s=_RETRY_S)
    tags = {key: info.etag for key, info in head_infos(objects)}

    def read_heads(some: Sequence[str]) -> Mapping[str, str | None]:
        with ThreadPoolExecutor(max_workers=_READERS, thread_name_prefix="heads") as pool:
            return dict(zip(some, pool.map(lambda key: _read_head(home, objects, key), some), strict=True))

    noted = state.derived(HEADS, {key: tags[key] for key in keys if key in tags}, read_heads, give_up_at=give_up_at)
    builds = {key: StandingBuild(*json.loads(value)) for key, value in noted.items() if value is not None}
    return {key: builds.get(key, StandingBuild()) for key in keys if key not in tags or key in noted}


def _read_head(home: Home, objects: Objects, key: str) -> str | None:
    """The current build of a repository as JSON; None if the bucket has no readable one."""
    table_path, hold_path = (
        path.relative_to(home.layout.home).as_posix()
        for path in (home.tables.path("snapshot", key), home.layout.hold(key))
    )
    try:
        found = read_head(objects, key)
        head = found.head if found else None
        manifest = read_manifest(objects, head.state) if head and head.state else StateManifest()
        contents = read_files(objects, manifest, [table_path, hold_path])
    except BrokenStore:
        # The build that is asked for says what is broken.
        return None
    commit, table, hold = None, contents.get(table_path), contents.get(hold_path)
    if table is not None:
        import pyarrow.parquet as pq

        commit = next(iter(pq.read_table(io.BytesIO(table), columns=["commit"])["commit"].to_pylist()), None)
    pointer = head.published if head else None
    fingerprint, digest = (pointer.fingerprint, pointer.digest) if pointer else (None, "")
    return json.dumps([fingerprint, commit, digest, hold.decode() if hold else None])
