"""How fresh each repository's index is: what is published, against what a build would give now."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from codesum_pipeline.evaluation.gate import Hold, standing_hold
from codesum_pipeline.model.errors import BrokenStore, CodesumError
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.store.lease import Holder, current_holder
from codesum_pipeline.tools.published_state import PublishedState, read_published
from codesum_pipeline.wiring import Home

# Waiting for git and for other machines, not computing.
_READERS = 16


class State(StrEnum):
    """What can be said of a repository's index in two words."""

    DISABLED = "disabled"
    RETIRED = "retired"
    BUILDING = "being built"
    NEW = "never indexed"
    BROKEN = "broken"
    UNKNOWN = "cannot tell"
    UNFINISHED = "build unfinished"
    BEHIND = "behind"
    CHANGED = "settings changed"
    OTHER_INDEXES = "compilers' indexes changed"
    HELD = "held back"
    FRESH = "up to date"


@dataclass(frozen=True, slots=True)
class Freshness:
    """One repository; `head` is the commit that a build would stand for, `why` what keeps us from telling more."""

    entry: RepositoryEntry
    state: State
    published: PublishedState | None
    head: str | None
    holder: Holder | None
    why: str = ""


def look_at(home: Home, entries: Sequence[RepositoryEntry], *, ask_remotes: bool) -> list[Freshness]:
    """In the order of `entries`. Servers are asked with `ask_remotes` alone; folders always are."""
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda entry: _look_at(home, entry, ask_remotes=ask_remotes), entries))


def _look_at(home: Home, entry: RepositoryEntry, *, ask_remotes: bool) -> Freshness:
    """One that cannot be read is told, and does not silence the others."""
    try:
        return _compared(home, entry, ask_remotes=ask_remotes)
    except BrokenStore as error:
        return Freshness(entry, State.BROKEN, read_published(home.layout, entry.key), None, None, str(error))


def _compared(home: Home, entry: RepositoryEntry, *, ask_remotes: bool) -> Freshness:
    published = read_published(home.layout, entry.key)
    holder = current_holder(home.layout.state(entry.key))
    head, why = _head(home, entry, ask_remotes=ask_remotes) if entry.enabled else (None, "")
    state = _judge(home, entry, published, holder, head)
    if published and published.problem:
        why = published.problem
    elif state not in (State.DISABLED, State.BUILDING) and (hold := _hold(home, entry, head)):
        state, why = State.HELD, hold.because
    elif entry.retired and not entry.enabled:
        state, why = State.RETIRED, f"{entry.retired.why}, since {entry.retired.at}"
    return Freshness(entry, state, published, head, holder, why)


def _hold(home: Home, entry: RepositoryEntry, head: str | None) -> Hold | None:
    """Why the gate keeps the last build from being published, where that is what a build would give now."""
    snapshot = _snapshot(home, entry)
    if snapshot is None or head not in (None, snapshot.commit):
        return None
    fingerprint = home.fingerprint(entry, commit=snapshot.commit)
    return standing_hold(home.layout, entry.key, home.settings.options.evaluation, fingerprint=fingerprint)


def _judge(
    home: Home, entry: RepositoryEntry, published: PublishedState | None, holder: Holder | None, head: str | None
) -> State:
    if not entry.enabled:
        return State.DISABLED
    if holder and not holder.is_gone():
        return State.BUILDING
    if published is None:
        return State.UNFINISHED if _snapshot(home, entry) else State.NEW
    if published.problem:
        return State.BROKEN
    snapshot = _snapshot(home, entry)
    if snapshot and snapshot.commit != published.commit:
        return State.UNFINISHED
    if head is None:
        return State.UNKNOWN
    if head != published.commit:
        return State.BEHIND
    if published.fingerprint == home.fingerprint(entry, commit=head):
        return State.FRESH
    has_others = snapshot and (snapshot.index_state or "") != home.index_state(entry)
    return State.OTHER_INDEXES if has_others else State.CHANGED


def _head(home: Home, entry: RepositoryEntry, *, ask_remotes: bool) -> tuple[str | None, str]:
    """The commit that a build would stand for, or why that cannot be said."""
    mirror = Mirror(home.layout.mirror(entry.key), timeout_s=home.settings.planner.ls_remote_timeout_s)
    try:
        offline = home.settings.offline or not ask_remotes
        return mirror.head_commit(entry, offline=offline and is_url(entry.location)), ""
    except CodesumError as error:
        return None, str(error)


def _snapshot(home: Home, entry: RepositoryEntry) -> Snapshot | None:
    """What the last build began with."""
    rows = home.tables.read_rows_or_empty("snapshot", entry.key, Snapshot)
    return rows[0] if rows else None
