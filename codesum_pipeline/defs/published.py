"""Which build each repository's readers see, and which its tables hold: in a folder, or in a bucket.

In a bucket all heads are listed in a few requests; one is read where its tag
is another than the last time.
"""

import io
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

from msgspec import Struct

from codesum_pipeline.evaluation.gate import hold_again, standing_hold
from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.poll_state import PollState
from codesum_pipeline.source.polling import state_of
from codesum_pipeline.store.heads import StateFile, head_infos, part_name, read_head, read_manifest
from codesum_pipeline.store.layout import BucketPlace
from codesum_pipeline.store.objects import Objects
from codesum_pipeline.wiring import Home

BEGUN, HEADS = "begun", "head"
# A tick cannot wait for a bucket that is away as long as a build can; the next one asks again.
_RETRY_S = 10.0
_READERS = 16


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
    """By key; those that there was no time for are left out."""
    keys = [entry.key for entry in entries]
    if home.layout.bucket:
        return _in_bucket(home, state, keys, home.layout.bucket, give_up_at=give_up_at)
    seen = {key: state_of(home.tables.path("snapshot", key)) for key in keys}
    begun = state.derived(BEGUN, seen, lambda some: {key: _begun_at(home, key) for key in some}, give_up_at=give_up_at)
    in_time = takewhile(lambda _: time.monotonic() < give_up_at, (key for key in keys if key in begun))
    return {key: StandingBuild(_published(home, key), begun[key]) for key in in_time}


def is_held(home: Home, key: str, build: StandingBuild, *, fingerprint: str) -> bool:
    """Whether the gate judged a build of this fingerprint, and would judge it in the same way."""
    options = home.settings.evaluation
    if home.layout.bucket is None:
        return standing_hold(home.layout, key, options, fingerprint=fingerprint) is not None
    if build.hold is None:
        return False
    return hold_again(build.hold.encode(), options, published=build.digest, fingerprint=fingerprint) is not None


def _published(home: Home, key: str) -> str | None:
    """The fingerprint of the index that readers see; None where there is none, or none that is whole."""
    version = published_version(home.layout, key)
    return version.manifest["fingerprint"] if version else None


def _begun_at(home: Home, key: str) -> str | None:
    rows = home.tables.read_rows_or_empty("snapshot", key, Snapshot)
    return rows[0].commit if rows else None


def _in_bucket(
    home: Home, state: PollState, keys: Sequence[str], place: BucketPlace, *, give_up_at: float
) -> dict[str, StandingBuild]:
    objects = place.objects(most_retry_s=_RETRY_S)
    tags = {key: info.etag for key, info in head_infos(objects)}
    seen = {key: tags[key] for key in keys if key in tags}
    noted = state.derived(HEADS, seen, lambda some: _read_heads(home, objects, some), give_up_at=give_up_at)
    builds = {key: StandingBuild(*json.loads(value)) for key, value in noted.items() if value is not None}
    return {key: builds.get(key, StandingBuild()) for key in keys if key not in tags or key in noted}


def _read_heads(home: Home, objects: Objects, keys: Sequence[str]) -> Mapping[str, str | None]:
    with ThreadPoolExecutor(max_workers=_READERS, thread_name_prefix="heads") as pool:
        return dict(zip(keys, pool.map(lambda key: _read_head(home, objects, key), keys), strict=True))


def _read_head(home: Home, objects: Objects, key: str) -> str | None:
    """The standing build of a repository as JSON; None where the bucket holds none that can be read."""
    try:
        found = read_head(objects, key)
        head = found.head if found else None
        files = read_manifest(objects, head.state).files if head and head.state else {}
    except BrokenStore:
        # The build that is asked for says what is broken.
        return None
    layout, pointer = home.layout, head.published if head else None
    table = files.get(home.tables.path("snapshot", key).relative_to(layout.home).as_posix())
    hold = _content(objects, files.get(layout.hold(key).relative_to(layout.home).as_posix()))
    fingerprint, digest = (pointer.fingerprint, pointer.digest) if pointer else (None, "")
    return json.dumps([fingerprint, _commit_in(_content(objects, table)), digest, hold.decode() if hold else None])


def _content(objects: Objects, file: StateFile | None) -> bytes | None:
    found = objects.get(part_name(file.part)) if file else None
    return found.data if found else None


def _commit_in(table: bytes | None) -> str | None:
    """The commit of a snapshot's table."""
    if table is None:
        return None
    import pyarrow.parquet as pq

    rows = pq.read_table(io.BytesIO(table), columns=["commit"]).to_pylist()
    return rows[0]["commit"] if rows else None
