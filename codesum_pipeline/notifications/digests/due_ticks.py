"""Which intents are due, and their ticks.

After a build, the intents with a digest for each build are due; at other times, those with a scheduled time since their
last tick. The last scheduled time that had its tick is recorded, so no time is served twice, even if two processes
check at once or a clock is set back.
"""

import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.standing_question import Cadence, Intent
from codesum_pipeline.notifications.digests.desk import DigestDesk, deliver_digests, one_at_a_time
from codesum_pipeline.notifications.digests.digest_rows import TickRow
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.notifications.digests.tick import make_tick
from codesum_pipeline.notifications.intents.due_moments import last_due

# Longer than any schedule's period: a moment so far ahead was stored by a wrong clock.
_WRONG_CLOCK = timedelta(days=8)
_log = logging.getLogger(__name__)


class _DueTick(Struct, frozen=True):
    """A tick that is due: for one repository or for all, and for which moment of a schedule."""

    repository: str | None = None
    at: str | None = None


_FindDue = Callable[[DigestStore, Intent], _DueTick | None]


def run_after_build(desk: DigestDesk, repository: str) -> list[TickRow]:
    """The ticks of the intents that have a digest with each build, about this repository.

    Raises `ConfigurationError` if the file of intents cannot be read at all, as the others do.
    """

    def due(store: DigestStore, intent: Intent) -> _DueTick | None:
        is_due = intent.schedule.cadence is Cadence.BUILD and intent.name in store.count_pending(repository)
        return _DueTick(repository) if is_due else None

    return _run(desk, due)


def run_now(desk: DigestDesk, names: Collection[str] = ()) -> list[TickRow]:
    """A tick of each intent with pending matches, or of those named, whatever its schedule says."""

    def due(store: DigestStore, intent: Intent) -> _DueTick | None:
        is_due = (not names or intent.name in names) and intent.name in store.count_pending()
        return _DueTick() if is_due else None

    return _run(desk, due)


def run_due(desk: DigestDesk) -> list[TickRow]:
    """The ticks of the intents whose schedule had a moment since the last one that had its tick.

    A new intent begins with the first moment from now on.
    """

    def due(store: DigestStore, intent: Intent) -> _DueTick | None:
        now, served = desk.sender.now(), store.served_at(intent.name)
        if intent.schedule.cadence is Cadence.BUILD:
            return None
        if served is None or _is_of_wrong_clock(served, now):
            if served is not None:
                _log.warning(
                    "intent %s had its last digest at %s, long after now: its schedule begins anew", intent.name, served
                )
            store.mark_served(intent.name, iso_moment(now))
            return None
        moment = last_due(intent.schedule, now)
        return _DueTick(at=iso_moment(moment)) if moment and moment > datetime.fromisoformat(served) else None

    return _run(desk, due)


def is_due(store: DigestStore, intent: Intent, now: datetime) -> bool:
    """Whether `run_due` has something to do for an intent: a moment of its schedule had no tick, or a wrong clock left
    one that is far ahead. Nothing is written."""
    moment, served = last_due(intent.schedule, now), store.served_at(intent.name)
    if moment is None or served is None:
        return False
    return _is_of_wrong_clock(served, now) or moment > datetime.fromisoformat(served)


def _is_of_wrong_clock(served: str, now: datetime) -> bool:
    return datetime.fromisoformat(served) > now + _WRONG_CLOCK


def _run(desk: DigestDesk, find_due: _FindDue) -> list[TickRow]:
    rows: list[TickRow] = []
    intents = _usable(desk)
    with open_digests(desk.layout.digests, now=desk.sender.now) as store:
        for intent in intents:
            try:
                if find_due(store, intent):
                    with one_at_a_time(store, intent.name):
                        # Another process may have written it meanwhile.
                        if due := find_due(store, intent):
                            rows.append(make_tick(desk, store, intent, repository=due.repository, due_at=due.at))
            except Exception:
                # The one guard of an intent: the others go on.
                _log.exception("intent %s: whether it is due could not be found out", intent.name)
    try:
        deliver_digests(desk)
    except Exception:
        _log.exception("what is due could not be sent: it waits in the outbox")
    return rows


def _usable(desk: DigestDesk) -> list[Intent]:
    """The enabled intents; the operator is notified of unusable ones once a day."""
    try:
        survey = desk.intents.survey()
    except CodesumError as error:
        desk.tell_operator("No digests: the standing questions cannot be read", str(error))
        raise
    for name, problem in survey.problems.items():
        desk.tell_operator(f"No digest of {name}: the intent cannot be used", str(problem))
    return [intent for intent in survey.intents if intent.enabled]
