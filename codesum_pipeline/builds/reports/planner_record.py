"""What the planner last knew of every repository, for whoever asks on any machine.

The daemon writes it with each tick: a file of the home, and an object where the home is in a bucket. Nothing is decided
by it. A lost one is written again by the next tick; one that is old says so by its time.
"""

import logging
import socket
import time
import zlib
from collections.abc import Collection, Mapping

from msgspec import DecodeError, Struct, json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively

_log = logging.getLogger(__name__)
_OBJECT = "fleet/planned.json.z"
# Ten thousand repositories take some 5 MB, and a fifth of that in a bucket. A larger record is not read.
_MOST_BYTES = 64 << 20
_MOST_SENT_BYTES = 16 << 20
# A person waits.
_RETRY_S = 5.0
# Of a reason that comes from git or a build.
MOST_REASON_CHARACTERS = 400


class PlannedBuild(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was known of one repository at the time `at` (Unix seconds), and the planner's `decision`.

    `head` is the last commit that a poll has seen, at `head_at`; `complaint` says why the last poll failed. `wanted`
    and `published` are the fingerprints that were compared. `failures` counts failed runs for `wanted` in a row, of
    which `failed_run` is the last; `failure` says why it failed. `waits_for` is the fault of a machine or of a shared
    part that ended the last run, and the next one is asked for at `next_try_at`.
    """

    decision: str
    at: float
    head: str | None = None
    head_at: float | None = None
    next_poll_at: float | None = None
    behind_since: str | None = None
    wanted: str | None = None
    published: str | None = None
    complaint: str = ""
    failures: int = 0
    failed_run: str | None = None
    failed_at: float | None = None
    failure: str = ""
    waits_for: str = ""
    next_try_at: float | None = None


class PlannerRecord(Struct, frozen=True):
    """The last knowledge of all repositories: of a daemon on `host` with this `version`, which ticks each `every_s`."""

    at: float
    every_s: float
    host: str
    version: str
    builds: Mapping[str, PlannedBuild]

    @property
    def is_late(self) -> bool:
        """Whether the daemon has missed several ticks; a time in the future was noted before the clock was set back."""
        return not 0 <= time.time() - self.at <= max(3 * self.every_s, 300.0)

    @property
    def is_of_this_machine(self) -> bool:
        return self.host == socket.gethostname()


def keep_planned(
    layout: HomeLayout, builds: Mapping[str, PlannedBuild], *, registered: Collection[str], every_s: float, version: str
) -> None:
    """Replace what is known of some repositories; those that are registered no more are forgotten."""
    with lock_exclusively(layout.planned.with_suffix(".lock")):
        before = _read(layout)
        known = {**(before.builds if before else {}), **builds}
        kept = {key: known[key] for key in sorted(known) if key in registered}
        record = PlannerRecord(time.time(), every_s, socket.gethostname(), version, kept)
        data = json.encode(record)
        write_bytes_atomically(layout.planned, data)
    if layout.bucket:
        from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

        try:
            OPENED_HOMES.objects(layout.bucket, most_retry_s=_RETRY_S).put(_OBJECT, zlib.compress(data, 1))
        except BucketUnavailable as error:
            _log.warning("other machines do not learn of this tick: %s", error)


def read_planned(layout: HomeLayout, *, is_offline: bool = False) -> tuple[PlannerRecord | None, str]:
    """The record, None if no daemon has ticked; and why it is perhaps not the newest one, if so."""
    problem = ""
    if layout.bucket and not is_offline:
        from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

        try:
            objects = OPENED_HOMES.objects(layout.bucket, most_retry_s=_RETRY_S)
            sent = objects.read(_OBJECT, 0, _MOST_SENT_BYTES)
            data = _unpacked(sent) if sent else None
            if data is not None:
                write_bytes_atomically(layout.planned, data)
        except (BucketUnavailable, ConfigurationError) as error:
            problem = str(error)
    return _read(layout), problem


def shortened(reason: str) -> str:
    """A reason in one line of bounded length."""
    return shorten_text(" ".join(reason.split()), MOST_REASON_CHARACTERS)


def _unpacked(sent: bytes) -> bytes | None:
    """None for what is no record, or too large for one."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(sent, _MOST_BYTES)
    except zlib.error:
        return None
    return data if unpacking.eof else None


def _read(layout: HomeLayout) -> PlannerRecord | None:
    try:
        if layout.planned.stat().st_size > _MOST_BYTES:
            return None
        return decode(layout.planned.read_bytes(), PlannerRecord)
    except (OSError, DecodeError):
        # The next tick writes it anew.
        return None
