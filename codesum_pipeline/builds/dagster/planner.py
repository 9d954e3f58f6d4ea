"""Which repositories to build now: decided by comparing the present state with the wanted one.

Nothing here remembers an event. A repository is built because the fingerprint that it would have now is not the one
that is published, so a lost cursor, a failed run or a commit that arrived during a build heals by itself.

A build for texts that the caps left over starts from the present texts and the day. If it writes something, the next
one starts from other texts and its attempts are counted anew. If it cannot, as without credentials, it is tried only a
fixed number of times a day.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from itertools import takewhile

import dagster as dg
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.freshness import Fingerprints, has_left_over
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import shorten_text, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.object_storage.bucket_record import spending_of_all
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.texts.llm.ledger_readings import spent_today
from codesum_pipeline.texts.summaries.by_model.outages import outages_of_build

# A tick's line is read in a small box; the first names show if one repository or a whole server fails.
NAMED = 5
MAX_REASON_CHARACTERS = 200
GOES_ON_TAG = "codesum/goes_on"
# How much of a tick is spent on looking for something that is left over.
LOOK_S = 5.0


class BuildDecision(StrEnum):
    """The planner's decision about one repository."""

    BUILD = "to build"
    DEFERRED = "left for the next tick"
    GO_ON = "to go on with"
    LEFT_OVER = "with texts left over"
    UP_TO_DATE = "up to date"
    HELD = "held back by the gate"
    ACTIVE = "being built"
    EXHAUSTED = "failed too often"
    STOPPED = "stopped by hand"
    WAITING = "waiting after a fault that is not theirs"
    UNREADABLE = "unreadable"


_WAYS_OUT = {
    BuildDecision.EXHAUSTED: "failed too often in this state; a change or `codesum retry KEY` tries again",
    BuildDecision.STOPPED: "stopped by hand: a new commit or `codesum retry KEY` starts it again",
}


class Wait(Struct, frozen=True):
    """A fault of a machine or of a shared part that ended the last run, and when the next one is asked for."""

    fault: str
    until: datetime

    def __str__(self) -> str:
        return f"{self.fault}, next try {self.until:%H:%M:%S} UTC"


class Observation(Fingerprints, frozen=True):
    """The present state of one repository; without `wanted` it cannot be read.

    `tried` lists the fingerprints that the last runs were requested for, newest first; None for runs that somebody else
    started. Runs that a person cancelled, or that failed by a fault of a machine or of a shared part, are not in it.
    `launches` is the number of the last run that was requested for the target. `left_over` names what a build
    that goes on with a model's texts would begin with; where there is something, it is the target. `is_stopped` says
    that a person cancelled the last run of this state.
    """

    key: str
    complaint: str = ""
    is_active: bool = False
    tried: tuple[str | None, ...] = ()
    launches: int = 0
    left_over: str | None = None
    is_stopped: bool = False
    waits: Wait | None = None

    @property
    def is_unrecorded(self) -> bool:
        """Whether the home has what a build would make, and Dagster does not know of it."""
        return self.wanted is not None and self.wanted == self.begun == self.published != self.recorded

    @property
    def target(self) -> str:
        """The state that the next run would be requested for."""
        return self.left_over or self.wanted or ""

    @property
    def attempts(self) -> int:
        """How often in a row the target was tried; anything else in between starts the count anew."""
        return len(list(takewhile(lambda fingerprint: fingerprint == self.target, self.tried)))

    def decision(self, max_attempts: int) -> BuildDecision:
        """What to do about it, were there no other. What a model gives nothing for is not asked for all day long."""
        if self.is_active:
            return BuildDecision.ACTIVE
        if self.wanted is None:
            return BuildDecision.UNREADABLE
        is_exhausted = self.attempts >= max_attempts
        if self.is_up_to_date:
            if not self.left_over:
                return BuildDecision.UP_TO_DATE
            is_put_off = is_exhausted or self.is_stopped or self.waits
            return BuildDecision.LEFT_OVER if is_put_off else BuildDecision.GO_ON
        if self.is_held_back:
            return BuildDecision.HELD
        if self.is_stopped:
            return BuildDecision.STOPPED
        if is_exhausted:
            return BuildDecision.EXHAUSTED
        return BuildDecision.WAITING if self.waits else BuildDecision.BUILD


class Request(Struct, frozen=True):
    """A build to ask for. A `run_key` that was ever launched is never launched again, hence the number in it.

    With `usd_left` it goes on with what is left over, and may spend so much.
    """

    key: str
    fingerprint: str
    number: int
    usd_left: float | None = None

    @property
    def run_key(self) -> str:
        return f"{self.key}:{self.fingerprint}:{self.number}"


class Plan(Struct, frozen=True):
    """What one tick does, and what it says about every repository it looked at."""

    requests: tuple[Request, ...]
    verdicts: dict[str, BuildDecision]
    complaints: dict[str, str]
    waits: dict[str, Wait] = {}

    def summary(self) -> str:
        """One line for the tick."""
        counts = Counter(self.verdicts.values())
        line = ", ".join(f"{counts[verdict]} {verdict}" for verdict in BuildDecision if counts[verdict])
        if not line:
            return "no repository is registered: add one with `codesum add`"
        details = self.reasons()
        return f"{line}: {details}" if details else line

    def reason(self, key: str, *, is_timed: bool = False) -> str:
        """Why nothing is built of a repository, for a person; empty where that is as it should be."""
        match self.verdicts[key]:
            case BuildDecision.UNREADABLE:
                return (
                    shorten_text(" ".join(self.complaints.get(key, "").split()), MAX_REASON_CHARACTERS) or "no reason"
                )
            case BuildDecision.WAITING:
                wait = self.waits[key]
                return str(wait) if is_timed else f"failed by no fault of their own ({wait.fault}); tried again"
            case verdict:
                return _WAYS_OUT.get(verdict, "")

    def reasons(self, among: Collection[str] | None = None, *, is_timed: bool = True) -> str:
        """The first reasons of each verdict, each with the first repositories that it is said of."""
        said: dict[BuildDecision, dict[str, list[str]]] = {verdict: defaultdict(list) for verdict in BuildDecision}
        for key in sorted(self.verdicts if among is None else among):
            if reason := self.reason(key, is_timed=is_timed):
                said[self.verdicts[key]][reason].append(key)
        lines = [
            # Most reasons name the one key themselves.
            [
                reason if repr(some[0]) in reason else f"{some_of(some, NAMED)}: {reason}"
                for reason, some in keys.items()
            ]
            for keys in said.values()
        ]
        return "; ".join(some_of(of_verdict, NAMED, mark="; ") for of_verdict in lines if of_verdict)

    def without(self, keys: Collection[str]) -> "Plan":
        """The same plan, but that others look after these repositories."""
        verdicts = {**self.verdicts, **dict.fromkeys(keys, BuildDecision.ACTIVE)}
        requests = tuple(request for request in self.requests if request.key not in keys)
        return Plan(requests, verdicts, self.complaints, self.waits)


def plan_builds(
    observations: Iterable[Observation], *, max_attempts: int, max_requests: int, usd_left: float = 0.0
) -> Plan:
    """Decide about every repository; those tried least go first, ties break by key.

    At most one build goes on with what is left over, so that all of `usd_left` is its own.
    """
    ordered = sorted(observations, key=lambda seen: (seen.attempts, seen.key))
    requests: list[Request] = []
    verdicts: dict[str, BuildDecision] = {}
    goes_on = False
    for seen in ordered:
        verdict = seen.decision(max_attempts)
        if verdict in (BuildDecision.BUILD, BuildDecision.GO_ON) and len(requests) >= max_requests:
            verdict = BuildDecision.DEFERRED
        elif verdict is BuildDecision.GO_ON and (usd_left <= 0 or goes_on):
            verdict = BuildDecision.LEFT_OVER
        elif verdict is BuildDecision.GO_ON:
            goes_on = True
            requests.append(Request(seen.key, seen.target, seen.launches + 1, usd_left))
        elif verdict is BuildDecision.BUILD:
            requests.append(Request(seen.key, seen.wanted or "", seen.launches + 1))
        verdicts[seen.key] = verdict
    complaints = {seen.key: seen.complaint for seen in ordered if seen.wanted is None}
    return Plan(tuple(requests), verdicts, complaints, {seen.key: seen.waits for seen in ordered if seen.waits})


def next_in_turn(keys: Sequence[str], last: str) -> list[str]:
    """All keys, sorted, beginning after `last`: the first one that a tick left out is first in the next."""
    return sorted(keys, key=lambda key: (key <= last, key))


def add_left_overs(home: Home, seen: Sequence[Observation], entries: Sequence[RepositoryEntry]) -> list[Observation]:
    """The observations, with what a model has left to write of repositories that are up to date.

    Of a home in a bucket only a worker that built a repository knows it, from its own copy. Where there is no time
    for all of them, it is a matter of chance where the look begins: each has its turn.
    """
    if not _may_go_on(home):
        return list(seen)
    by_key = {entry.key: entry for entry in entries}
    start, give_up_at = random.randrange(len(seen) or 1), time.monotonic() + LOOK_S
    found = {}
    for each in takewhile(lambda _: time.monotonic() <= give_up_at, (*seen[start:], *seen[:start])):
        is_at_hand = home.layout.bucket is None or home.layout.published(each.key).is_symlink()
        if each.is_up_to_date and each.wanted is not None and is_at_hand:
            found[each.key] = name_left_over(home, by_key[each.key], each.wanted)
    return [replace(each, left_over=found.get(each.key)) for each in seen]


def name_left_over(home: Home, entry: RepositoryEntry, fingerprint: str) -> str | None:
    """A name of what a build would go on from; None if nothing is left over, or nothing may be spent on it."""
    if not _may_go_on(home) or not has_left_over(home.workspace(entry, run_id="look")):
        return None
    if outages_of_build(home.layout, entry.key, fingerprint=fingerprint):
        # A whole level failed: somebody has to look before that is paid for again.
        return None
    llm = home.settings.llm
    texts = [home.tables.content_hash(texts_table(level), entry.key) for level in Level]
    caps = [llm.max_summaries_per_run, llm.max_cost_usd_per_run]
    return hash_of([fingerprint, utc_now().date().isoformat(), texts, caps])


def usd_left_today(home: Home, instance: dg.DagsterInstance, *, statuses: list[dg.DagsterRunStatus]) -> float:
    """What may be spent now, by all repositories, whoever started their builds; nothing while another build goes on,
    whose price is not known yet."""
    of_others = dg.RunsFilter(tags={GOES_ON_TAG: "true"}, statuses=statuses)
    if not _may_go_on(home) or instance.get_runs_count(of_others):
        return 0.0
    now, most = utc_now(), home.settings.llm.max_cost_usd_per_day
    if bucket := home.layout.bucket:
        return most - spending_of_all(OPENED_HOMES.objects(bucket), day=now.date())
    midnight, spent = now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp(), 0.0
    for entry in home.registry.survey().entries:
        ledger = home.layout.state(entry.key)
        # A ledger that was not written to today, neither it nor SQLite's log beside it, is not opened.
        written = 0.0
        for path in (ledger, ledger.with_name(f"{ledger.name}-wal")):
            with suppress(OSError):
                written = max(written, path.stat().st_mtime)
        spent += spent_today(ledger, now=now) if written >= midnight else 0.0
    return most - spent


def _may_go_on(home: Home) -> bool:
    llm = home.settings.llm
    is_paid = llm.enabled and not llm.asks_nobody and not home.settings.offline
    return is_paid and llm.max_summaries_per_run > 0 and llm.max_cost_usd_per_day > 0
