"""Scheduled digests: the daily and weekly ones that are due, retries of held ones, and roll-ups."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.build_values import PREVIEW, StepOutcome
from codesum_pipeline.builds.steps.digest_steps import DIGESTS_SHOWN, StepNotes, show_digests
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.standing_question import Cadence, Intent
from codesum_pipeline.notifications.delivery.outbox import OUTBOX_FILE, open_outbox
from codesum_pipeline.notifications.delivery.sending import open_channel
from codesum_pipeline.notifications.digests.desk import DigestDesk, deliver_digests
from codesum_pipeline.notifications.digests.digest_rows import DigestKind
from codesum_pipeline.notifications.digests.digest_store import DigestStore, kept_digests
from codesum_pipeline.notifications.digests.rollups import LEAST_MONTHLY, find_held_rollups, plan_monthly, run_monthly
from codesum_pipeline.notifications.digests.tick import is_due, run_after_build, run_due

_log = logging.getLogger(__name__)
# A build tries at once; a model or a hook that failed then is not asked every few minutes.
HELD_AGAIN_AFTER = timedelta(hours=1)


def explain_due_digests(home: Home, *, now: Callable[[], datetime] = utc_now) -> str:
    """Why a run would do something now; empty if it would not. Looks at two small files at most."""
    return "; ".join(_reasons(home, home.digest_desk(now=now)))


def tell_due_digests(home: Home, *, now: Callable[[], datetime] = utc_now) -> StepOutcome:
    """One digest of each question that is due, over all its repositories, and of each that a build held; then what
    the outbox has is sent."""
    telling, desk = StepNotes(), home.digest_desk(now=now)
    with telling.guarded(desk.intents.file.name):
        telling.note_problems(desk.intents.survey())
        ticks = []
        if desk.layout.digests.exists():
            ticks = run_due(desk)
            with kept_digests(desk.layout.digests, now=now) as store:
                held = _held(desk, store) if store else []
            for repository in held:
                ticks += run_after_build(desk, repository)
        if (home.settings.home / OUTBOX_FILE).exists():
            deliver_digests(desk)
        telling.note_ticks(desk, ticks)
    return _with_preview(telling, desk)


def explain_no_rollups(home: Home, *, now: Callable[[], datetime] = utc_now) -> str:
    """Why no roll-up is to be made now: those of the previous month exist, there is too little, or its kept answers
    cannot be used. Empty where one is to be made."""
    desk = home.digest_desk(now=now)
    with kept_digests(desk.layout.digests, now=now) as store:
        asking = _enabled(desk) if store else []
        if store and any(_is_to_be_rolled_up(desk, store, each) for each in asking):
            return ""
        held = [*find_held_rollups(desk, store, asking)] if store else []
    reasons = [f"no roll-up of {each.intent_name} for {each.month}: {each.problem}" for each in held]
    return "; ".join(reasons) or "the month before is rolled up, or has too few digests"


def write_rollups(home: Home, *, now: Callable[[], datetime] = utc_now) -> StepOutcome:
    """The digests of the month before in one, of each question that had at least two and no roll-up yet."""
    telling, desk = StepNotes(), home.digest_desk(now=now)
    with telling.guarded(desk.intents.file.name):
        telling.note_problems(desk.intents.survey())
        done = run_monthly(desk) if desk.layout.digests.exists() else []
        telling.failures += [Failure(each.intent_name, each.problem) for each in done if each.digest_id is None]
        telling.values["rollups"] = sum(each.digest_id is not None for each in done)
        telling.did_something = bool(done)
        telling.note_ticks(desk, [])
    return _with_preview(telling, desk)


def _is_to_be_rolled_up(desk: DigestDesk, store: DigestStore, intent: Intent) -> bool:
    try:
        plan = plan_monthly(desk, store, intent)
    except CodesumError:
        # The run says what is wrong.
        return True
    known = {row.id for row in store.digests(intent.name, kind=DigestKind.ROLLUP)}
    return len(plan.rows) >= LEAST_MONTHLY and plan.id not in known and not plan.held


def _reasons(home: Home, desk: DigestDesk) -> Iterator[str]:
    now = desk.sender.now
    with kept_digests(desk.layout.digests, now=now) as store:
        if store:
            if due := [intent.name for intent in _enabled(desk) if is_due(store, intent, now())]:
                yield f"due: {', '.join(due)}"
            if left := store.unfinished():
                yield f"written and not in the outbox: {', '.join(digest.id for digest in left)}"
            if held := _held(desk, store):
                yield f"to be tried again: {', '.join(held)}"
    if not home.settings.offline and (home.settings.home / OUTBOX_FILE).exists():
        with open_outbox(home.settings.home, now=now) as outbox:
            channels = [name for name in outbox.due_channels() if _is_usable(desk, name)]
        if channels:
            yield f"to be sent on {', '.join(channels)}"


def _is_usable(desk: DigestDesk, channel: str) -> bool:
    """Whether it could be sent on; why not, the outbox says since the first time."""
    try:
        open_channel(channel, desk.sender.settings, home=desk.sender.home, environ=desk.sender.environ)
    except ConfigurationError:
        return False
    return True


def _held(desk: DigestDesk, store: DigestStore) -> list[str]:
    """The repositories whose builds should have sent a digest and did not for a while."""
    asking = [each.name for each in _enabled(desk) if each.schedule.cadence is Cadence.BUILD]
    long_ago, held = desk.sender.now() - HELD_AGAIN_AFTER, []
    for entry in desk.registry.survey().entries if asking else ():
        waiting = store.count_pending(entry.key)
        last = [
            next((tick for tick in store.ticks(name) if tick.repository == entry.key), None)
            for name in asking
            if name in waiting
        ]
        if last and all(tick is None or datetime.fromisoformat(tick.ended_at) <= long_ago for tick in last):
            held.append(entry.key)
    return held


def _enabled(desk: DigestDesk) -> list[Intent]:
    """None if the file cannot be read, which each build says."""
    try:
        return [intent for intent in desk.intents.survey().intents if intent.enabled]
    except ConfigurationError as error:
        _log.error("%s", error)
        return []


def _with_preview(telling: StepNotes, desk: DigestDesk) -> StepOutcome:
    """The outcome of this run, with the last digests of all repositories."""
    with telling.guarded("the digests so far"), kept_digests(desk.layout.digests, now=desk.sender.now) as store:
        if store:
            newest = store.newest(limit=DIGESTS_SHOWN)
            telling.rows = store.count()
            telling.values[PREVIEW] = show_digests(newest)
            telling.table_hash = hash_of([telling.rows, *(digest.id for digest in newest)])
    return telling.outcome()
