"""A repository is held for the time of a build, wherever its home is.

In a folder that is its lease. In a bucket it is also the lease of its head:
this worker's folder is made what the bucket holds, and what the build has come
to goes back at each commit and at the end, also of a build that failed.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from codesum_pipeline.model.errors import BucketUnavailable, LeaseLost
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import Holder, current_holder, hold_lease, this_process

if TYPE_CHECKING:
    from codesum_pipeline.store.bucket_record import BucketRecord

_log = logging.getLogger(__name__)
# What this process holds of homes in buckets, by the files of in-flight state.
_held_here: dict[Path, "BucketRecord"] = {}


@contextmanager
def hold_repository(
    layout: HomeLayout, key: str, *, run_id: str, wait_s: float = 0.0, called: str | None = None
) -> Iterator[Holder]:
    """Hold a repository for the duration of the block; raises `LeaseHeld`, and `LeaseLost` at the end of a block whose
    work another worker has made void."""
    state = layout.state(key)
    way_out = f"run `codesum doctor {key} --release-lease`" if called else None
    with hold_lease(state, key=called or key, run_id=run_id, wait_s=wait_s, way_out=way_out) as holder:
        if layout.bucket is None:
            yield holder
            return
        with _hold_record(layout, key, run_id=run_id, wait_s=wait_s):
            yield holder


@contextmanager
def hold_unless_held(layout: HomeLayout, key: str, *, run_id: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold a repository for the duration of the block, unless this run holds it already; raises `LeaseHeld`."""
    holder = current_holder(layout.state(key))
    if holder and holder.run_id == run_id and holder.is_process_of(this_process(run_id)):
        yield
        return
    with hold_repository(layout, key, run_id=run_id, wait_s=wait_s):
        yield


def check_is_held(layout: HomeLayout, key: str) -> None:
    """Raises `LeaseLost` where another worker took the repository over from this process."""
    if record := _held_here.get(layout.state(key)):
        record.check()


def commit_held(layout: HomeLayout, key: str) -> None:
    """Bring the record of a repository that this process holds up to date; a home in a folder is its own record.

    Raises `LeaseLost` and `BucketUnavailable`.
    """
    if record := _held_here.get(layout.state(key)):
        record.commit()


def record_of(state: Path) -> "BucketRecord | None":
    """The record that this process holds of the repository with this file of in-flight state."""
    return _held_here.get(state)


@contextmanager
def _hold_record(layout: HomeLayout, key: str, *, run_id: str, wait_s: float) -> Iterator[None]:
    # A home in a folder needs none of it.
    from codesum_pipeline.store.bucket_record import open_record

    record = open_record(layout, key, run_id=run_id, wait_s=wait_s)
    _held_here[layout.state(key)] = record
    try:
        yield
    except BaseException:
        try:
            record.commit()
        except (BucketUnavailable, LeaseLost) as error:
            _log.warning("%s: what the build came to before it failed is not kept in the bucket: %s", key, error)
        raise
    else:
        record.commit()
    finally:
        del _held_here[layout.state(key)]
        record.close()
