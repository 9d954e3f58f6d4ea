"""Which changes of conditions are reported, in how many messages, and their words."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from codesum_pipeline.builds.alerts.alert_book import UNTOLD, AlertBook, Condition, ConditionKind, Message
from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.printable import one_line, some_of
from codesum_pipeline.foundation.settings.operation_settings import AlertSettings
from codesum_pipeline.notifications.delivery.posts import Post, PostKind
from codesum_pipeline.notifications.delivery.sending import OutboxSender

# How many of the simultaneous changes are named.
NAMED = 8
_DETAIL_CHARS = 600
_SHORT_CHARS = 160
# A day at most, however often something flaps.
_LONGEST = timedelta(days=1)


def announce_changes(book: AlertBook, settings: AlertSettings, sender: OutboxSender) -> int:
    """Put the messages that are due into the outbox; returns how many."""
    decide_messages(book, settings)
    messages = book.select(Message, "FROM messages ORDER BY created_at, id")
    channels = settings.channels or sender.settings.operator_channels
    for each in messages:
        subject = one_line(each.subject)[:150]
        sender.notify(channels, Post(PostId(each.id), PostKind.NOTICE, subject, each.text, each.created_at))
        # It is in the outbox now.
        with book.together():
            book.connection.execute("DELETE FROM messages WHERE id = ?", (each.id,))
    return len(messages)


def decide_messages(book: AlertBook, settings: AlertSettings) -> None:
    """Decide what is reported now, and store the messages."""
    with book.together():
        ripe = [each for each in book.conditions(UNTOLD) if _is_ripe(each, settings, book.now())]
        alone = _by_cause(book, ripe, settings)
        if len(alone) > settings.digest_above:
            _keep(book, *_digest(alone), of=alone)
        else:
            for each in alone:
                _keep(book, *_notice(each), of=[each])
        book.mark_reported(alone)


def _is_ripe(condition: Condition, settings: AlertSettings, now: datetime) -> bool:
    recent = condition.told_at is not None and datetime.fromisoformat(condition.told_at) > now - timedelta(days=1)
    doubled = 2 ** min(condition.tellings, 16) if recent else 1
    wait = min(timedelta(minutes=settings.settle_minutes) * doubled, _LONGEST)
    since = datetime.fromisoformat(condition.since)
    # A time in the future was recorded before the clock was set back.
    return since <= now - wait or since > now


def _by_cause(book: AlertBook, ripe: Sequence[Condition], settings: AlertSettings) -> list[Condition]:
    """Store messages for causes that many conditions share; returns the conditions that are reported one by one."""
    bad = Counter(each.cause for each in book.conditions("is_bad") if each.cause)
    reported = book.reported_causes()
    groups: dict[str, list[Condition]] = defaultdict(list)
    alone: list[Condition] = []
    for each in ripe:
        is_shared = each.cause and (each.cause in reported or bad[each.cause] > settings.digest_above)
        (groups[each.cause] if is_shared else alone).append(each)
    for cause, members in groups.items():
        if cause not in reported:
            _keep(book, *_cause_notice(cause, members, bad[cause]), of=members)
            book.mark_cause(cause, is_bad=True)
        book.mark_reported(members, counted=False)
    for cause in sorted(reported):
        if not bad[cause] and not any(each.cause == cause for each in book.conditions(UNTOLD)):
            _keep(book, f"Recovered: {cause}", f"{cause} can be read again, and all repositories on it.")
            book.mark_cause(cause, is_bad=False)
    return alone


def _notice(condition: Condition) -> tuple[str, str]:
    if not condition.is_bad:
        return f"Recovered: {condition.title}", f"{condition.title}: in order again since {_minute(condition.since)}."
    detail = one_line(condition.detail)[:_DETAIL_CHARS] or "no further word"
    return (
        f"Failing: {condition.title}",
        f"{condition.title}: {detail}\n\nFailing since {_minute(condition.since)}. {_WAYS_OUT[condition.kind]}",
    )


_WAYS_OUT = {
    ConditionKind.CHECK: "The asset's page in the Dagster UI shows the check over time.",
    ConditionKind.BUILDS: "The run's page in the Dagster UI says more; codesum doctor names what can be repaired.",
    ConditionKind.REMOTE: "Its published index stays as it is; the planner goes on trying.",
    ConditionKind.DAEMON: "Until it is repaired, new commits may be missed; codesum index still works.",
}
_ALL = "\nThe command codesum status lists all repositories; the Dagster UI shows each check and run."


def _minute(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def _cause_notice(cause: str, members: Sequence[Condition], bad: int) -> tuple[str, str]:
    named = ", ".join(each.subject for each in members[:NAMED])
    more = f" and {bad - min(len(members), NAMED):,} more" if bad > min(len(members), NAMED) else ""
    reason = one_line(members[0].detail)[:_DETAIL_CHARS]
    return (
        f"Failing: {cause}, {bad:,} repositories",
        f"{cause}: {bad:,} repositories cannot be read: {named}{more}.\n\nThe first of them: {reason}\n\n"
        f"{_WAYS_OUT[ConditionKind.REMOTE]}",
    )


def _digest(conditions: Sequence[Condition]) -> tuple[str, str]:
    """One line for each kind and direction."""
    groups: dict[tuple[bool, str], list[Condition]] = defaultdict(list)
    for each in conditions:
        groups[not each.is_bad, f"check {each.name}" if each.name else each.kind.value].append(each)
    lines = []
    for (is_good, what), members in sorted(groups.items()):
        named = some_of([each.subject for each in members], NAMED)
        lines.append(f"{'recovered' if is_good else 'failing'}: {what} ({len(members):,}): {named}")
        if not is_good and members[0].detail:
            lines.append(f"  the first of them: {one_line(members[0].detail)[:_SHORT_CHARS]}")
    lines.append(_ALL)
    bad = sum(each.is_bad for each in conditions)
    return f"{bad:,} failing, {len(conditions) - bad:,} recovered", "\n".join(lines)


def _keep(book: AlertBook, subject: str, text: str, *, of: Sequence[Condition] = ()) -> None:
    """Store a message. Its id is made of the moment, the words and the changes, so that the outbox has it once."""
    identity = "\0".join((subject, text, book.moment(), *(f"{each.title} {each.since}" for each in of)))
    id_ = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    book.insert("messages", Message(f"alert-{id_}", f"codesum: {subject}", text, book.moment()), or_else="OR IGNORE")
