"""Looks at many repositories at once: those that are due, in parallel, and never too many at one host.

A look waits for its host's turn; a host that asks for fewer requests is left alone, with all of its repositories. What
there is no time for stays due. Times are spread at random, so that ten thousand repositories that were registered in
one minute are not asked for in one minute for ever. A moment that lies in the future was noted before the clock was set
back, and counts for nothing.

Asking git about a repository on this machine takes milliseconds of processor time; its *trace*, what its refs look like
from outside, takes microseconds. Equal traces mean equal heads: a trace only ever says whether git has to be asked.
"""

import random
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.operation_settings import PlannerSettings
from codesum_pipeline.foundation.store.atomic import identify_file
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.git.locations import host_of, is_url
from codesum_pipeline.source.git.mirror import Mirror, our_ref
from codesum_pipeline.source.git.remote import git_dirs, is_commit_id, is_git_repository, source_git_dir
from codesum_pipeline.source.repositories.poll_state import HostRest, Poll, PollState, open_poll_state

DAY_S = 86_400.0
# The first rest of a host that asked for fewer requests: GitHub's advice where it names no time.
FIRST_REST_S = 60.0
# A repository on this machine whose refs look as before is asked again all the same, in case they cannot be trusted.
UNCHANGED_S = 3_600.0
# How far a waiting time is moved either way.
JITTER = 0.1

_ASKS_FOR_LESS = re.compile(
    r"\b429\b|too many requests|rate.?limit|\babuse\b.{0,40}\bdetect|try again later|connection limit", re.IGNORECASE
)

Spread = Callable[[], float]


def is_due(poll: Poll | None, source: str, *, now: float) -> bool:
    """Whether a repository is to be looked at: never looked at, another place or ref now, its time has come."""
    return poll is None or poll.source != source or poll.due_at <= now or poll.polled_at > now


def is_resting(rest: HostRest | None, *, now: float) -> bool:
    """Whether nothing is asked of a host now."""
    return rest is not None and rest.noted_at <= now < rest.rests_until


def after_success(poll: Poll, head: str, *, now: float, wait_s: float, spread: Spread = random.random) -> Poll:
    """The state of a repository after a look that succeeded."""
    due_at = now + _moved(wait_s, spread)
    return replace(poll, polled_at=now, due_at=due_at, failures=0, head=head, complaint="")


def after_failure(poll: Poll, complaint: str, *, now: float, interval_s: float, spread: Spread = random.random) -> Poll:
    """The state of a repository after a look that failed: each time it rests for twice as long, a day at most."""
    failures = poll.failures + 1
    due_at = now + _doubled(interval_s, failures, spread)
    return replace(poll, polled_at=now, due_at=due_at, failures=failures, complaint=complaint)


def after_refusal(host: str, rest: HostRest | None, *, now: float, spread: Spread = random.random) -> HostRest:
    """The state of a host that asked for fewer requests: each time it rests for twice as long, a day at most."""
    failures = (rest.failures if rest else 0) + 1
    return HostRest(host, failures, now, now + _doubled(FIRST_REST_S, failures - 1, spread))


def asks_for_less(complaint: str) -> bool:
    """Whether git's complaint is a host's wish for fewer requests."""
    return bool(_ASKS_FOR_LESS.search(complaint))


def _doubled(first_s: float, times: int, spread: Spread) -> float:
    # Beyond the twentieth doubling of a second lies a day; two to a thousand is no float.
    return min(_moved(first_s * 2.0 ** min(times, 20), spread), DAY_S)


def _moved(wait_s: float, spread: Spread) -> float:
    return wait_s * (1 - JITTER + 2 * JITTER * spread())


_SYMBOLIC = "ref: "
_LONGEST = 4096


def trace_of(entry: RepositoryEntry, *, mirror: Path, offline: bool) -> str | None:
    """The trace of what the entry's head depends on; None if only a poll can show it: a folder's files, another host.

    With `offline`, the head of a repository elsewhere is what its mirror holds.
    """
    if is_url(entry.location):
        return _trace(mirror, mirror, [our_ref(entry)]) if offline else None
    folder = Path(entry.location)
    if not folder.is_dir():
        return "no folder"
    if entry.worktree or not is_git_repository(folder):
        return None
    try:
        git_dir, common = git_dirs(source_git_dir(folder))
        ref, head = entry.ref or "HEAD", _content(git_dir / "HEAD")
        if ref == "HEAD":
            names = [head.removeprefix(_SYMBOLIC).strip()] if head.startswith(_SYMBOLIC) else []
        elif is_commit_id(ref, full=True):
            names = []
        else:
            names = [ref] if ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}"]
        return _trace(git_dir, common, names)
    except (OSError, ValueError):
        return None


def _trace(git_dir: Path, common: Path, names: Sequence[str]) -> str | None:
    contents = [_content(common / name) for name in names]
    if any(content.startswith(_SYMBOLIC) for content in contents):
        return None
    files = [identify_file(common / "packed-refs"), identify_file(common / "reftable" / "tables.list")]
    return "|".join([_content(git_dir / "HEAD"), *names, *contents, *files])


def _content(path: Path) -> str:
    """The first of a small file; empty if there is none."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""


# Local repositories, which no server waits for.
_HERE = ""


class Looks(Struct, frozen=True):
    """Every repository whose head, or the reason for having none, is known; and what this poll added."""

    polls: Mapping[str, Poll]
    looked_at: frozenset[str]
    rests: tuple[HostRest, ...]


class Poller(Struct, frozen=True):
    """Looks at the repositories of one home; `clock` is the time of day."""

    layout: HomeLayout
    policy: PlannerSettings
    offline: bool = False
    clock: Callable[[], float] = time.time

    def look_at_due(
        self, entries: Sequence[RepositoryEntry], state: PollState, *, now_due: Collection[str] = (), give_up_at: float
    ) -> Looks:
        """Look at those of `entries` that are due, as many as can be begun until `give_up_at` (`time.monotonic`).

        `now_due` are due whenever they were looked at last. What was found is kept in `state`.
        """
        before, now = state.polls(), self.clock()
        due = [found for entry in entries if (found := self._due(entry, before.get(entry.key), now, now_due))]
        # Those that have waited longest first, and of remotes no more than a tick may ask for.
        due.sort(key=lambda each: each.rank)
        remote = [each for each in due if each.host != _HERE][: self.policy.polls_per_tick]
        round_ = _Round(self, state.hosts(), give_up_at)
        round_.carry_out([*(each for each in due if each.host == _HERE), *remote])
        state.keep_polls(round_.found.values())
        state.keep_hosts([*round_.rests.values()])
        sources = {entry.key: source_of(entry, offline=self.offline) for entry in entries}
        known = {
            key: poll
            for key, poll in {**before, **round_.found}.items()
            if key in sources and poll.source == sources[key]
        }
        return Looks(known, frozenset(round_.found), tuple(round_.rests.values()))

    def trace(self, entry: RepositoryEntry) -> str | None:
        """What the entry's head depends on, as far as it can be seen without asking git."""
        return trace_of(entry, mirror=self.layout.mirror(entry.key), offline=self.offline)

    def head(self, entry: RepositoryEntry) -> str:
        """The commit that a build would arrive at; raises as `Mirror.head_commit` does."""
        mirror = Mirror(self.layout.mirror(entry.key), timeout_s=self.policy.ls_remote_timeout_s)
        return mirror.head_commit(entry, offline=self.offline)

    def host(self, entry: RepositoryEntry) -> str:
        """Who is asked; nobody for what this machine has."""
        return host_of(entry.location) if is_url(entry.location) and not self.offline else _HERE

    def _due(
        self, entry: RepositoryEntry, poll: Poll | None, now: float, now_due: Collection[str]
    ) -> "_DuePoll | None":
        source, host = source_of(entry, offline=self.offline), self.host(entry)
        trace = self.trace(entry) if host == _HERE else None
        is_same = poll is not None and poll.source == source
        is_asked_for = entry.key in now_due or is_due(poll, source, now=now)
        if host == _HERE:
            has_changed = poll is not None and poll.trace != (trace or "")
            is_asked_for |= has_changed or (trace is None and (poll is None or not poll.failures))
        if not is_asked_for:
            return None
        known = poll if poll and is_same else Poll(entry.key, source, 0.0, 0.0)
        rank = 0.0 if entry.key in now_due else known.due_at if is_same else 1.0
        return _DuePoll(entry, host, replace(known, trace=trace or ""), rank)


def source_of(entry: RepositoryEntry, *, offline: bool) -> str:
    """Which place and ref an entry is about; a password in it cannot be read off."""
    return hash_of([entry.location, entry.ref, entry.worktree, offline and is_url(entry.location)])


class _DuePoll(Struct, frozen=True):
    """A repository that is to be looked at, and the last look at it."""

    entry: RepositoryEntry
    host: str
    poll: Poll
    rank: float


class _Round(Struct):
    """One round of looks. Each host has lanes; a lane takes one repository at a time, and then lets others go on."""

    poller: Poller
    hosts: Mapping[str, HostRest]
    give_up_at: float
    found: dict[str, Poll] = field(default_factory=dict)
    rests: dict[str, HostRest] = field(default_factory=dict)
    _waiting: dict[str, deque[_DuePoll]] = field(default_factory=lambda: defaultdict(deque))
    _next_at: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry_out(self, due: Iterable[_DuePoll]) -> None:
        for each in due:
            self._waiting[each.host].append(each)
        policy = self.poller.policy
        with ThreadPoolExecutor(max_workers=policy.poll_parallel, thread_name_prefix="head") as pool:
            lanes = {
                host: min(len(waiting), policy.poll_parallel if host == _HERE else policy.host_parallel)
                for host, waiting in self._waiting.items()
            }
            running = [
                pool.submit(self._next, host)
                for number in range(policy.poll_parallel)
                for host, count in lanes.items()
                if number < count
            ]
            # Each lane that has done one look begins the next, behind the others.
            pending = set(running)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                hosts = [host for lane in done if (host := lane.result()) is not None]
                pending.update(pool.submit(self._next, host) for host in hosts)

    def _next(self, host: str) -> str | None:
        """Look at the host's next repository; the host, or None if there is nothing more to do."""
        with self._lock:
            wait_s = self._turn(host)
            due = self._waiting[host].popleft() if wait_s is not None and self._waiting[host] else None
        if due is None or wait_s is None:
            return None
        time.sleep(wait_s)
        self._look_at(due)
        return host

    def _turn(self, host: str) -> float | None:
        """How long to wait for the host's next turn; None if there is none in this round."""
        policy, now = self.poller.policy, time.monotonic()
        rest = self.rests.get(host, self.hosts.get(host))
        if host == _HERE:
            return 0.0 if now < self.give_up_at else None
        begins = max(self._next_at[host], now)
        if begins >= self.give_up_at or is_resting(rest, now=self.poller.clock()):
            return None
        self._next_at[host] = begins + policy.host_spacing_s
        return begins - now

    def _look_at(self, due: _DuePoll) -> None:
        poller, key, interval_s = self.poller, due.entry.key, self.poller.policy.poll_interval_s
        try:
            head = poller.head(due.entry)
        except (CodesumError, OSError) as error:
            now = poller.clock()
            if due.host == _HERE or not asks_for_less(str(error)):
                self.found[key] = after_failure(due.poll, str(error), now=now, interval_s=interval_s)
                return
            with self._lock:
                # Lanes that were on their way when the host first said so do not make it rest for longer.
                if due.host not in self.rests:
                    self.rests[due.host] = after_refusal(due.host, self.hosts.get(due.host), now=now)
            return
        wait_s = max(UNCHANGED_S, interval_s) if due.poll.trace else interval_s
        self.found[key] = after_success(due.poll, head, now=poller.clock(), wait_s=wait_s)
        with self._lock:
            if due.host in self.hosts and due.host not in self.rests:
                self.rests[due.host] = HostRest(due.host, 0, poller.clock(), 0.0)


# A person waits: no look begins later, and one asks git twice at most.
_BEGIN_WITHIN_S = 25.0
_ONE_S = 10.0


def look_at_remotes(
    entries: Sequence[RepositoryEntry], layout: HomeLayout, settings: Settings
) -> tuple[dict[str, str], list[str]]:
    """Why repositories on servers cannot be read, by key, and the keys of those for which there was no time.

    What was seen counts for the sensor of this machine, too. With `offline` nothing is looked at.
    """
    remote = [entry for entry in entries if is_url(entry.location) and entry.enabled]
    if settings.offline or not remote:
        return {}, []
    policy = settings.planner.model_copy(
        update={
            "polls_per_tick": len(remote),
            "ls_remote_timeout_s": min(settings.planner.ls_remote_timeout_s, _ONE_S),
        }
    )
    keys = [entry.key for entry in remote]
    with open_poll_state(layout) as state:
        looks = Poller(layout, policy).look_at_due(
            remote, state, now_due=keys, give_up_at=time.monotonic() + _BEGIN_WITHIN_S
        )
    complaints = {key: poll.complaint for key in looks.looked_at if (poll := looks.polls.get(key)) and poll.complaint}
    return complaints, [key for key in keys if key not in looks.looked_at]
