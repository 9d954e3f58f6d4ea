"""The state of every repository, from any machine: what is published, what Dagster runs, what the planner knows.

The planner's record counts where the daemon's last tick is not old, since it compared everything; where it is old, or
something was published since, this machine compares by itself what it has at hand. Of ten thousand repositories nothing
is opened one by one but what tells which version is published.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, PlannerRecord, read_planned
from codesum_pipeline.builds.steps.freshness import IndexState, judge_freshness
from codesum_pipeline.foundation.data_model.errors import BrokenStore, BucketUnavailable, CodesumError
from codesum_pipeline.foundation.data_model.hashing import identify_algorithms
from codesum_pipeline.foundation.data_model.moments import age_in_words
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import LeaseHolder
from codesum_pipeline.foundation.store.workspace import hashes_of_entry, hashes_of_settings
from codesum_pipeline.indexes.file_formats.version_folder import PublishedBrief, read_brief
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import Mirror

# Waiting for git and for other machines, not computing.
_READERS = 16
# What the planner says of repositories that need no build.
_CURRENT = frozenset({"up to date", "with texts left over", "to go on with"})
# What its other words mean for the index; a word that is not here is shown as it is.
_BY_DECISION = {
    "held back by the gate": IndexState.HELD,
    "failed too often": IndexState.FAILED,
    "stopped by hand": IndexState.STOPPED,
    "waiting after a fault that is not theirs": IndexState.WAITING,
    "unreadable": IndexState.UNREADABLE,
}
_HELD_BY: Mapping[str, str] = {
    IndexState.HELD: "the promotion gate",
    IndexState.STOPPED: "a person, who cancelled its run",
}
# What starts the next build, by what the planner says.
_STARTED_BY = {
    "failed too often": "after a new commit or a changed setting, or by `codesum retry {}`",
    "held back by the gate": "after a new commit or a changed setting",
    "stopped by hand": "after a new commit, or by `codesum retry {}`",
}
# What is known of a repository that is not up to date.
_OF_PLANNED = ("behind_since", "failures", "failure", "failed_run", "failed_at")
_TO_BUILD = frozenset({"to build", "left for the next tick", "being built"})


class RunUnderWay(Struct, frozen=True, kw_only=True):
    """A run of a repository that waits or goes on. `since` (Unix seconds) is when it was queued, or when it started."""

    run_id: str
    is_queued: bool
    since: float | None
    host: str = ""
    pid: int | None = None
    started_by: str = "Dagster"

    def __str__(self) -> str:
        age = f" for {age_in_words(self.since)}" if self.since else ""
        where = f" on {self.host}" if self.host else ""
        return f"run {self.run_id[:8]} {'waits' if self.is_queued else 'goes on'}{where}{age}"


class RepositoryState(Struct, frozen=True, kw_only=True):
    """All that is known of one repository; times are Unix seconds.

    `commit` is the indexed one, `head` that which a build would be of, seen at `head_at`. `failures` counts failed runs
    in a row. `next_try` says what starts the next build, `held_by` who or what keeps the repository from being built.
    """

    entry: RepositoryEntry
    state: str
    commit: str | None = None
    published_at: float | None = None
    head: str | None = None
    head_at: float | None = None
    behind_since: str | None = None
    run: RunUnderWay | None = None
    failures: int = 0
    failure: str = ""
    failed_run: str | None = None
    failed_at: float | None = None
    next_try: str = ""
    held_by: str = ""
    holder: LeaseHolder | None = None
    why: str = ""

    @property
    def key(self) -> str:
        return self.entry.key


class FleetState(Struct, frozen=True, kw_only=True):
    """Every repository that was asked for, in order. Of the `parts` that machines share here, `unreachable` says why
    one cannot be reached; `lateness` says that the daemon ticks no more."""

    repositories: list[RepositoryState]
    parts: tuple[str, ...] = ()
    unreachable: Mapping[str, str] = {}
    lateness: str = ""
    record: PlannerRecord | None = None

    @property
    def troubles(self) -> tuple[str, ...]:
        """Each in a sentence."""
        return tuple(filter(None, (*self.unreachable.values(), self.lateness)))


def judge_fleet(
    home: Home,
    entries: Sequence[RepositoryEntry],
    *,
    runs: Mapping[str, RunUnderWay],
    record: PlannerRecord | None,
    ask_remotes: bool = False,
) -> list[RepositoryState]:
    """The state of each entry, in order. Servers are asked for their heads only with `ask_remotes`."""
    algorithms, settings = identify_algorithms(home.versions), hashes_of_settings(home.settings)
    judge = _Judge(home, runs, record, ask_remotes, algorithms, settings)
    found = [judge.by_record(entry) for entry in entries]
    rest = [entry for entry, state in zip(entries, found, strict=True) if state is None]
    with ThreadPoolExecutor(_READERS) as pool:
        looked = iter(list(pool.map(judge.by_looking, rest)))
    return [state or next(looked) for state in found]


class _Judge(Struct, frozen=True):
    home: Home
    runs: Mapping[str, RunUnderWay]
    record: PlannerRecord | None
    ask_remotes: bool
    algorithms: str
    settings: Mapping[str, str]

    def by_record(self, entry: RepositoryEntry) -> RepositoryState | None:
        """The state that follows from the planner's record; None if this machine has to look by itself."""
        planned = self.record.builds.get(entry.key) if self.record else None
        if planned is None or not entry.enabled or self.ask_remotes:
            return None
        is_bucket = self.home.layout.bucket is not None
        if self.record and self.record.is_late and not is_bucket:
            return None
        try:
            brief = read_brief(self.home.layout, entry.key)
        except BrokenStore as error:
            return self._with_run(RepositoryState(entry=entry, state=IndexState.BROKEN, why=str(error)))
        state = self._state(planned, brief)
        if state is None and not is_bucket:
            return None
        found = RepositoryState(
            entry=entry,
            state=state or IndexState.UNKNOWN,
            commit=brief.commit if brief else None,
            published_at=brief.published_at if brief else None,
            head=planned.head,
            head_at=planned.head_at,
        )
        if state != IndexState.FRESH:
            found = replace(
                found,
                **{name: getattr(planned, name) for name in _OF_PLANNED},
                why=planned.complaint or planned.waits_for or self._changed(entry, brief, state),
                next_try=self._next_try(entry.key, planned),
                held_by=_HELD_BY.get(state or "", ""),
            )
        return self._with_run(found)

    def _state(self, planned: PlannedBuild, brief: PublishedBrief | None) -> str | None:
        is_wanted = brief is not None and brief.fingerprint == planned.wanted
        if planned.decision in _CURRENT:
            # Something else was published after the tick: by a build that was started by hand.
            return IndexState.FRESH if is_wanted else None
        if planned.decision not in _TO_BUILD:
            return _BY_DECISION.get(planned.decision, planned.decision)
        if is_wanted or (brief and planned.wanted is None and brief.commit == planned.head):
            return IndexState.FRESH
        if brief is None:
            return IndexState.NEW
        if planned.head and planned.head != brief.commit:
            return IndexState.BEHIND
        return IndexState.CHANGED if brief.is_made_by(self.algorithms) else IndexState.UPGRADED

    def _changed(self, entry: RepositoryEntry, brief: PublishedBrief | None, state: str | None) -> str:
        """Which settings are not those that the published index was made with; nothing where it does not say."""
        if state != IndexState.CHANGED or brief is None:
            return ""
        now = {**self.settings, **hashes_of_entry(entry)}
        names = [name for name, made in brief.settings.items() if name in now and now[name] != made]
        # Of templates the versions tell.
        names = names or [name for name, made in brief.versions.items() if self.home.versions.get(name) != made]
        return f"changed: {', '.join(names)}" if names else ""

    def _next_try(self, key: str, planned: PlannedBuild) -> str:
        if words := _STARTED_BY.get(planned.decision):
            return words.format(key)
        if planned.next_try_at:
            return f"at {_clock(planned.next_try_at)}"
        if planned.decision == "unreadable":
            return f"the next look is at {_clock(planned.next_poll_at)}" if planned.next_poll_at else ""
        if planned.decision in _TO_BUILD and self.record:
            return "the daemon ticks no more" if self.record.is_late else "with the next tick"
        return ""

    def _with_run(self, found: RepositoryState) -> RepositoryState:
        run = self.runs.get(found.key)
        if run is None:
            return found
        state = IndexState.QUEUED if run.is_queued else IndexState.BUILDING
        next_try = "when a worker is free" if run.is_queued else ""
        return replace(found, state=state, run=run, next_try=next_try, held_by="")

    def by_looking(self, entry: RepositoryEntry) -> RepositoryState:
        """The state as this machine sees it. An index that cannot be read is a state of its own, so that the other
        repositories are shown all the same."""
        home = self.home
        head, why = self._head(entry)
        try:
            brief = read_brief(home.layout, entry.key)
            if home.layout.files.is_copy:
                state, holder, more = self._in_bucket(entry, brief, head), None, ""
            else:
                state, more, holder = judge_freshness(home.workspace(entry, run_id="look"), head=head)
        except BucketUnavailable as error:
            return RepositoryState(entry=entry, state=IndexState.UNKNOWN, why=str(error))
        except BrokenStore as error:
            return RepositoryState(entry=entry, state=IndexState.BROKEN, why=str(error))
        found = RepositoryState(
            entry=entry,
            state=state,
            commit=brief.commit if brief else None,
            published_at=brief.published_at if brief else None,
            head=head,
            holder=holder,
            why=more or why or self._changed(entry, brief, state),
        )
        return self._with_run(found)

    def _head(self, entry: RepositoryEntry) -> tuple[str | None, str]:
        """The commit that a build would be of, and why it is not known."""
        home = self.home
        if not entry.enabled:
            return None, ""
        may_ask = self.ask_remotes and not home.settings.offline
        planned = self.record.builds.get(entry.key) if self.record else None
        if home.layout.files.is_copy and not may_ask and planned and planned.head:
            return planned.head, ""
        if home.layout.files.is_copy and not may_ask and is_url(entry.location):
            return None, "no daemon has looked at it; `codesum status --remote` asks its server"
        mirror = Mirror(home.layout.mirror(entry.key), timeout_s=home.settings.planner.ls_remote_timeout_s)
        try:
            return mirror.head_commit(entry, offline=not may_ask and is_url(entry.location)), ""
        except CodesumError as error:
            return None, str(error)

    def _in_bucket(self, entry: RepositoryEntry, brief: PublishedBrief | None, head: str | None) -> IndexState:
        if not entry.enabled:
            return IndexState.RETIRED if entry.retired else IndexState.DISABLED
        if brief is None:
            return IndexState.NEW
        if head is None:
            return IndexState.UNKNOWN
        if head != brief.commit:
            return IndexState.BEHIND
        if brief.fingerprint == self.home.fingerprint(entry, commit=head):
            return IndexState.FRESH
        return IndexState.CHANGED if brief.is_made_by(self.algorithms) else IndexState.UPGRADED


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def read_record(home: Home) -> tuple[PlannerRecord | None, str]:
    """The planner's record, and why it is perhaps not the newest."""
    return read_planned(home.layout, is_offline=home.settings.offline)
