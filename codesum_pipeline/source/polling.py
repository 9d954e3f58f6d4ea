"""Looks at many repositories at once: those that are due, in parallel, and never too many at one host.

A look waits for its host's turn; a host that asks for fewer requests is left
alone, with everything that it has. What there is no time for is due the next
time, too.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.operation import PlannerSettings
from codesum_pipeline.source.locations import host_of, is_url
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.source.poll_state import HostRest, Poll, PollState
from codesum_pipeline.source.poll_times import (
    UNCHANGED_S,
    after_failure,
    after_refusal,
    after_success,
    asks_for_less,
    is_due,
    is_resting,
)
from codesum_pipeline.source.traces import trace_of
from codesum_pipeline.store.layout import HomeLayout

# Local repositories, which no server waits for.
_HERE = ""


class Looks(Struct, frozen=True):
    """Every repository of which a head, or why there is none, is known; and what this round of looks added."""

    polls: Mapping[str, Poll]
    looked_at: frozenset[str]
    rests: tuple[HostRest, ...]


class Poller(Struct, frozen=True):
    """Looks at the repositories of one home; `clock` is the time of day."""

    layout: HomeLayout
    policy: PlannerSettings
    offline: bool = False
    clock: Callable[[], float] = time.time

    def look(
        self,
        entries: Sequence[RepositoryEntry],
        state: PollState,
        *,
        now_due: Collection[str] = (),
        give_up_at: float,
    ) -> Looks:
        """Look at those of `entries` that are due, as many as can be begun until `give_up_at` (`time.monotonic`).

        `now_due` are due whenever they were looked at last. What was found is kept in `state`.
        """
        before, now = state.polls(), self.clock()
        due = [entry for entry in map(self._seen_from_outside(before, now, now_due), entries) if entry is not None]
        round_ = _Round(self, before, state.hosts(), give_up_at)
        round_.carry_out(self._limited(due, before))
        state.keep_polls(round_.found.values())
        state.keep_hosts(round_.rests.values())
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

    def _seen_from_outside(
        self, before: Mapping[str, Poll], now: float, now_due: Collection[str]
    ) -> Callable[[RepositoryEntry], "_DuePoll | None"]:
        def look(entry: RepositoryEntry) -> _DuePoll | None:
            poll, source, host = before.get(entry.key), source_of(entry, offline=self.offline), self.host(entry)
            trace = self.trace(entry) if host == _HERE else None
            is_asked_for = entry.key in now_due or is_due(poll, source, now=now)
            if host == _HERE and poll is not None and poll.trace != (trace or ""):
                is_asked_for = True
            if host == _HERE and trace is None and (poll is None or not poll.failures):
                is_asked_for = True
            if not is_asked_for:
                return None
            rank = 0.0 if entry.key in now_due else poll.due_at if poll and poll.source == source else 1.0
            known = poll if poll and poll.source == source else Poll(entry.key, source, 0.0, 0.0)
            return _DuePoll(entry, host, replace(known, trace=trace or ""), rank)

        return look

    def _limited(self, due: list["_DuePoll"], before: Mapping[str, Poll]) -> list["_DuePoll"]:
        """Those that have waited longest first, and of remotes no more than a tick may ask for."""
        ordered = sorted(due, key=lambda each: each.rank)
        remote = [each for each in ordered if each.host != _HERE][: self.policy.polls_per_tick]
        return [each for each in ordered if each.host == _HERE] + remote


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
    before: Mapping[str, Poll]
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
            self._go_on(pool, running)

    def _go_on(self, pool: ThreadPoolExecutor, running: list["Future[str | None]"]) -> None:
        """Let each lane that has done one look begin the next, behind the others."""
        pending = set(running)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            hosts = [host for lane in done if (host := lane.result()) is not None]
            pending.update(pool.submit(self._next, host) for host in hosts)

    def _next(self, host: str) -> str | None:
        """Look at the host's next repository; the host, or None where there is nothing more to do."""
        with self._lock:
            wait_s = self._turn(host)
            due = self._waiting[host].popleft() if wait_s is not None and self._waiting[host] else None
        if due is None or wait_s is None:
            return None
        time.sleep(wait_s)
        self._look_at(due)
        return host

    def _turn(self, host: str) -> float | None:
        """How long to wait for the host's next turn; None where there is none in this round."""
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
        poller, interval_s = self.poller, self.poller.policy.poll_interval_s
        try:
            head = poller.head(due.entry)
        except (CodesumError, OSError) as error:
            self._note_failure(due, str(error))
            return
        wait_s = max(UNCHANGED_S, interval_s) if due.poll.trace else interval_s
        self.found[due.entry.key] = after_success(due.poll, head, now=poller.clock(), wait_s=wait_s)
        self._note_answer(due.host)

    def _note_failure(self, due: _DuePoll, complaint: str) -> None:
        now, interval_s = self.poller.clock(), self.poller.policy.poll_interval_s
        if due.host == _HERE or not asks_for_less(complaint):
            self.found[due.entry.key] = after_failure(due.poll, complaint, now=now, interval_s=interval_s)
            return
        with self._lock:
            # Lanes that were on their way when the host first said so do not make it rest for longer.
            if due.host not in self.rests:
                self.rests[due.host] = after_refusal(due.host, self.hosts.get(due.host), now=now)

    def _note_answer(self, host: str) -> None:
        with self._lock:
            if host in self.hosts and host not in self.rests:
                self.rests[host] = HostRest(host, 0, self.poller.clock(), 0.0)
