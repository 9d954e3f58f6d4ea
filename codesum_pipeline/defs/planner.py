"""Which repositories to build now: decided by comparing what is with what should be.

Nothing here remembers an event. A repository is built because the fingerprint
that it would have now is not the one that is published, so a lost cursor, a
failed run or a commit that arrived during a build heals by itself.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.building.freshness import Fingerprints

# A tick's line is read in a small box; the first names tell whether one repository is broken or a whole server is away.
NAMED = 5
MAX_REASON_CHARACTERS = 200


class BuildDecision(StrEnum):
    """What the planner says about one repository."""

    BUILD = "to build"
    DEFERRED = "left for the next tick"
    GO_ON = "to go on with"
    LEFT_OVER = "with texts left over"
    UP_TO_DATE = "up to date"
    HELD = "held back by the gate"
    ACTIVE = "being built"
    EXHAUSTED = "failed too often"
    UNREADABLE = "unreadable"


class Observation(Fingerprints, frozen=True):
    """One repository as it stands; without `wanted` it cannot be read.

    `tried` lists the fingerprints that the last runs were requested for, newest first; None for
    runs that somebody else started. `launches` is the number of the last run
    that was requested for `wanted`. `left_over` names what a build that goes on with a model's texts
    would begin with; where there is something, `tried` and `launches` are about it.
    """

    key: str
    complaint: str = ""
    is_active: bool = False
    tried: tuple[str | None, ...] = ()
    launches: int = 0
    left_over: str | None = None

    @property
    def attempts(self) -> int:
        """How often in a row the wanted state was tried; anything else in between starts the count anew."""
        count = 0
        for fingerprint in self.tried:
            if fingerprint != (self.left_over or self.wanted):
                break
            count += 1
        return count


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

    def summary(self) -> str:
        """One line for the tick."""
        counts = Counter(self.verdicts.values())
        line = ", ".join(f"{counts[verdict]} {verdict}" for verdict in BuildDecision if counts[verdict])
        unreadable = self.unreadable()
        return (
            f"{line}: {unreadable}" if unreadable else line or "no repository is registered: add one with `codesum add`"
        )

    def unreadable(self, among: Container[str] | None = None) -> str:
        """The first repositories that cannot be read, each with its reason, and how many more there are."""
        keys = (key for key, verdict in self.verdicts.items() if verdict is BuildDecision.UNREADABLE)
        found = sorted(key for key in keys if among is None or key in among)
        return named([_with_key(key, self.complaints.get(key, "")) for key in found], mark="; ")

    def without(self, keys: Collection[str]) -> "Plan":
        """The same plan, but that others look after these repositories."""
        verdicts = {**self.verdicts, **dict.fromkeys(keys, BuildDecision.ACTIVE)}
        requests = tuple(request for request in self.requests if request.key not in keys)
        return Plan(requests, verdicts, self.complaints)


def named(names: Sequence[str], *, mark: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = [f"and {len(names) - NAMED:,} more"] if len(names) > NAMED else []
    return mark.join([*names[:NAMED], *more])


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
        verdict = _judge(seen, max_attempts)
        if verdict in (BuildDecision.BUILD, BuildDecision.GO_ON) and len(requests) >= max_requests:
            verdict = BuildDecision.DEFERRED
        if verdict is BuildDecision.GO_ON and (usd_left <= 0 or goes_on):
            verdict = BuildDecision.LEFT_OVER
        if verdict is BuildDecision.GO_ON and seen.left_over is not None:
            goes_on = True
            requests.append(Request(seen.key, seen.left_over, seen.launches + 1, usd_left))
        if verdict is BuildDecision.BUILD and seen.wanted is not None:
            requests.append(Request(seen.key, seen.wanted, seen.launches + 1))
        verdicts[seen.key] = verdict
    complaints = {seen.key: seen.complaint for seen in ordered if seen.wanted is None}
    return Plan(tuple(requests), verdicts, complaints)


def next_in_turn(keys: Sequence[str], last: str) -> list[str]:
    """All keys, sorted, beginning after `last`: whoever was left out of one tick is first in the next."""
    ordered = sorted(keys)
    return [key for key in ordered if key > last] + [key for key in ordered if key <= last]


def _with_key(key: str, reason: str) -> str:
    """The key and the reason on one line; most reasons name the key themselves."""
    said = " ".join(reason.split())
    if len(said) > MAX_REASON_CHARACTERS:
        said = f"{said[: MAX_REASON_CHARACTERS - 1]}…"
    return said if repr(key) in said else f"{key}: {said}" if said else key


def _judge(seen: Observation, max_attempts: int) -> BuildDecision:
    if seen.is_active:
        return BuildDecision.ACTIVE
    if seen.wanted is None:
        return BuildDecision.UNREADABLE
    if seen.is_up_to_date:
        return _judge_left_over(seen, max_attempts) if seen.left_over else BuildDecision.UP_TO_DATE
    if seen.is_held_back:
        return BuildDecision.HELD
    return BuildDecision.EXHAUSTED if seen.attempts >= max_attempts else BuildDecision.BUILD


def _judge_left_over(seen: Observation, max_attempts: int) -> BuildDecision:
    """What a model gives nothing for is not asked for all day long."""
    return BuildDecision.LEFT_OVER if seen.attempts >= max_attempts else BuildDecision.GO_ON
