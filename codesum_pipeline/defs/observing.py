"""What the planner decides about, read from the repositories, the store and Dagster.

Ten thousand repositories are looked at in one tick, so whatever is asked of
each is asked of all together, or is a few system calls.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

import dagster as dg
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.defs.leftovers import with_left_overs
from codesum_pipeline.defs.planner import Observation, next_in_turn
from codesum_pipeline.defs.published import StandingBuild, is_held, standing_builds
from codesum_pipeline.defs.records import active_keys, recorded_fingerprints, with_attempts
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.poll_state import HostRest, PollState
from codesum_pipeline.source.polling import Looks, Poller
from codesum_pipeline.wiring import Home

# Dagster gives a tick 60 s. A repository that hangs may be asked twice: for its ref, and for its other refs.
TICK_S = 50.0
ASKED_TWICE = 2
# Whatever the looks took, what comes after them begins nothing more then.
DECIDED_S = 50.0


class Sight(Struct, frozen=True):
    """The repositories that there was time for, those that were asked for their head, and hosts that want rest."""

    observations: list[Observation]
    looked_at: frozenset[str]
    rests: tuple[HostRest, ...]


def observe(
    home: Home,
    instance: dg.DagsterInstance,
    state: PollState,
    entries: Sequence[RepositoryEntry],
    *,
    last: str = "",
    now_due: Collection[str] = (),
) -> Sight:
    """Look at repositories in turn, beginning after the key `last`, as far as a tick's time allows."""
    began = time.monotonic()
    by_key = {entry.key: entry for entry in entries}
    in_turn = [by_key[key] for key in next_in_turn(list(by_key), last)]
    active = active_keys(instance)
    waiting = [entry for entry in in_turn if entry.key not in active]
    looks = _look(home, state, waiting, now_due=now_due, began=began)
    seen = _seen(home, instance, state, waiting, looks, give_up_at=began + DECIDED_S)
    behind = [each for each in seen if each.wanted is not None and (each.left_over or not each.is_up_to_date)]
    found = {each.key: each for each in seen if each.wanted is None or (not each.left_over and each.is_up_to_date)}
    found.update((each.key, each) for each in with_attempts(instance, behind, give_up_at=began + DECIDED_S))
    found.update((key, Observation(key=key, wanted=None, is_active=True)) for key in active)
    observations = [found[entry.key] for entry in in_turn if entry.key in found]
    return Sight(observations, looks.looked_at, looks.rests)


def _look(
    home: Home, state: PollState, entries: Sequence[RepositoryEntry], *, now_due: Collection[str], began: float
) -> Looks:
    """None keeps the others waiting: what was begun ends before the tick has to."""
    planner = home.settings.planner
    timeout_s = min(planner.ls_remote_timeout_s, TICK_S / ASKED_TWICE)
    give_up_at = began + max(TICK_S - ASKED_TWICE * timeout_s, 1.0)
    policy = planner.model_copy(update={"ls_remote_timeout_s": timeout_s})
    poller = Poller(home.layout, policy, home.settings.offline)
    return poller.look(entries, state, now_due=now_due, give_up_at=give_up_at)


def _seen(
    home: Home,
    instance: dg.DagsterInstance,
    state: PollState,
    entries: Sequence[RepositoryEntry],
    looks: Looks,
    *,
    give_up_at: float,
) -> list[Observation]:
    """What is known of each repository that was ever looked at, but for the attempts to build it."""
    heads = {key: poll.head for key, poll in looks.polls.items() if poll.head is not None and not poll.complaint}
    readable = [entry for entry in entries if entry.key in heads]
    recorded = recorded_fingerprints(instance, state, heads.keys(), give_up_at=give_up_at)
    builds = standing_builds(home, state, readable, give_up_at=give_up_at)
    unreadable = [
        Observation(key=entry.key, wanted=None, complaint=looks.polls[entry.key].complaint)
        for entry in entries
        if entry.key in looks.polls and entry.key not in heads
    ]
    known = [entry for entry in readable if entry.key in recorded and entry.key in builds]
    in_time = takewhile(lambda _: time.monotonic() < give_up_at, known)
    seen = [_observation(home, entry, heads, recorded[entry.key], builds[entry.key]) for entry in in_time]
    return [*with_left_overs(home, seen, readable), *unreadable]


def _observation(
    home: Home,
    entry: RepositoryEntry,
    heads: Mapping[str, str | None],
    recorded: str | None,
    build: StandingBuild,
) -> Observation:
    head = heads[entry.key] or ""
    begun_at = build.begun_at
    wanted = home.fingerprint(entry, commit=head)
    begun = wanted if begun_at == head else home.fingerprint(entry, commit=begun_at) if begun_at else None
    seen = Observation(entry.key, wanted=wanted, begun=begun, published=build.published, recorded=recorded)
    return seen if seen.is_up_to_date else replace(seen, is_held=is_held(home, entry.key, build, fingerprint=wanted))
