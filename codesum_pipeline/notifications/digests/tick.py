"""One digest of one intent: the twelve steps, in their order.

1. What waits is sorted, newest first, what has no date last.
2. The intent's context; an empty text ends the tick.
3. The system template, rendered; one that is missing or broken ends the tick, and the operator hears of it.
4. The names of the sources; a failure is logged, and the tick goes on without them.
5. The instruction, rendered without articles, which measures it.
6. The budget; a negative one ends the tick with an error that names the settings.
7. The bodies, cut into the budget.
8. The instruction, rendered; as 3.
9. The model is asked; where it fails, nothing is sent.
10. The result, its citations in the order of `[N]`.
11. `pre_push` hooks.
12. The outbox, then `on_summary` hooks.

Without a model, or with one that may not be asked now, steps 3 and 5 to 9 are those of the plain digest, which has no
template. A tick raises nothing: what ends it early is its row.

After a build, the intents with a digest for each build are due; at other times, those with a scheduled time since their
last tick. The last scheduled time that had its tick is recorded, so no time is served twice, even if two processes
check at once or a clock is set back.
"""

import hashlib
import logging
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.errors import CodesumError, DigestGatedOff
from codesum_pipeline.foundation.data_model.guard import describe_error
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import Cadence, Intent
from codesum_pipeline.foundation.store.sqlite_tables import to_json
from codesum_pipeline.notifications.delivery.digest_hooks import ask_before_push
from codesum_pipeline.notifications.delivery.posts import web_url
from codesum_pipeline.notifications.digests.asking_again import AskAgain
from codesum_pipeline.notifications.digests.change_sources import RepositorySource
from codesum_pipeline.notifications.digests.desk import (
    DigestDesk,
    deliver_digests,
    finish_digest,
    one_at_a_time,
    reason_of,
    sorted_failure,
    tell_held,
)
from codesum_pipeline.notifications.digests.digest_by_model import check_gates, request_about, write_by_model
from codesum_pipeline.notifications.digests.digest_items import Item, items_of
from codesum_pipeline.notifications.digests.digest_rows import (
    DigestDraft,
    DigestKind,
    DigestRow,
    DigestState,
    DigestWriter,
    KeptMatch,
    TickFailure,
    TickOutcome,
    TickRow,
)
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.notifications.digests.plain_digest import PLAIN_LANGUAGE, write_plain
from codesum_pipeline.notifications.intents.due_moments import last_due
from codesum_pipeline.notifications.matching.grouping import group_matches
from codesum_pipeline.source.git.locations import slug_of
from codesum_pipeline.texts.llm.digest_templates import load_digest_template
from codesum_pipeline.texts.llm.templates import TemplateKind

_ID_CHARS = 16
_log = logging.getLogger(__name__)


def make_tick(
    desk: DigestDesk, store: DigestStore, intent: Intent, *, repository: str | None = None, due_at: str | None = None
) -> TickRow:
    """Make the digest of what waits for an intent, in one repository or in all; must be inside `one_at_a_time`."""
    begun = desk.moment()
    row = TickRow(uuid4().hex, intent.name, repository, due_at, begun, begun, TickOutcome.EMPTY)
    try:
        pending = _newest_first(store.pending(intent.name, repository))
        row = replace(row, matches=len(pending))
        row, digest = _take_steps(desk, store, intent, pending, row)
    except Exception as error:
        return _hold(desk, store, row, error)
    if digest is not None and digest.state is not DigestState.VETOED:
        try:
            finish_digest(store, desk.sender, digest)
        except Exception:
            _log.exception("digest %s of %s waits: the next tick or delivery brings it on", digest.id, intent.name)
    return row


class DigestPreview(Struct, frozen=True):
    """What the next digest of an intent would be. `model` wrote it, or would, for all calls at most at `most_usd`; None
    for nobody."""

    result: SummaryResult
    matches: int
    items: int
    model: str | None
    most_usd: float
    cost_usd: float = 0.0


def preview_digest(
    desk: DigestDesk, store: DigestStore, intent: Intent, *, repository: str | None = None, with_model: bool = False
) -> DigestPreview | None:
    """The digest that a tick would make now, or None if nothing waits; nothing is sent or handled.

    A model is asked `with_model` alone, and what it answers is not paid for again by the tick. Must be inside
    `one_at_a_time`; raises what would hold the tick.
    """
    pending = _newest_first(store.pending(intent.name, repository))
    if not pending:
        return None
    items = _items(desk, intent, pending, _registered(desk))
    is_for_model = _may_ask_model(desk, intent)
    is_paid = is_for_model and not desk.settings.llm.asks_nobody
    most = request_about(items, intent, desk.settings).worst_usd(desk.settings) if is_paid else 0.0
    draft = _draft(desk, intent, items, _id_of(intent, pending), is_for_model=is_for_model and with_model)
    model = draft.model or (desk.settings.llm.model if is_for_model and not with_model else None)
    return DigestPreview(draft.result, len(pending), len(items), model, most, draft.cost_usd)


def digest_row(desk: DigestDesk, intent: Intent, draft: DigestDraft, **fields: Any) -> DigestRow:
    """The row of a digest, which is sent unless its intent has no channel; `fields` are what only the caller knows."""
    return DigestRow(
        intent_name=intent.name,
        created_at=desk.moment(),
        language=intent.language if draft.model else PLAIN_LANGUAGE,
        result=draft.result,
        written_by=DigestWriter.MODEL if draft.model else DigestWriter.PLAIN,
        state=DigestState.WRITTEN if intent.channels else DigestState.UNSENT,
        channels=intent.channels,
        model=draft.model,
        cost_usd=draft.cost_usd,
        dropped_claims=draft.dropped_claims,
        **fields,
    )


def _take_steps(
    desk: DigestDesk, store: DigestStore, intent: Intent, pending: Sequence[KeptMatch], row: TickRow
) -> tuple[TickRow, DigestRow | None]:
    """All steps from the second up to the digest's row, which is written together with that of the tick."""
    digest = None
    if not intent.text.strip():
        row = replace(row, reason="the intent has no text")
    elif pending:
        is_for_model = _may_ask_model(desk, intent)
        registered = _registered(desk)
        items = _items(desk, intent, pending, registered)
        row = replace(row, items=len(items))
        id_ = _id_of(intent, pending)
        draft = _draft(desk, intent, items, id_, is_for_model=is_for_model)
        veto = ask_before_push(draft.result)
        digest = digest_row(
            desk,
            intent,
            draft,
            id=id_,
            kind=DigestKind.DIGEST,
            repositories=tuple(sorted({kept.change.repository for kept in pending})),
            from_at=min(kept.matched_at for kept in pending),
            to_at=max(kept.matched_at for kept in pending),
            links=_links(desk, draft.result, registered),
            matches=len(pending),
            items=len(items),
        )
        outcome = TickOutcome.QUEUED if intent.channels else TickOutcome.UNSENT
        if veto:
            digest, outcome = replace(digest, state=DigestState.VETOED), TickOutcome.VETOED
        row = replace(row, outcome=outcome, reason=veto, digest_id=digest.id)
    row = replace(row, ended_at=desk.moment())
    store.record(row, digest, handled=pending if digest else ())
    _log.info("tick of %s: %s, %d matches, %d items %s", *_shown(row))
    return row, digest


def _hold(desk: DigestDesk, store: DigestStore, row: TickRow, error: Exception) -> TickRow:
    """Record that the tick failed, and why; what waits stays for the next tick."""
    failure = sorted_failure(error)
    if failure is TickFailure.UNFORESEEN:
        _log.error("tick of %s", row.intent_name, exc_info=error)
    held = replace(row, ended_at=desk.moment(), outcome=TickOutcome.HELD, failure=failure, reason=reason_of(error))
    _log.error("tick of %s: %s, %d matches, %d items %s", *_shown(held))
    try:
        tell_held(desk.sender, store.ticks(row.intent_name, limit=3), held)
        store.record(held)
    except Exception:
        _log.exception("the tick of %s could not be written down", row.intent_name)
    return held


def _shown(row: TickRow) -> tuple[object, ...]:
    return row.intent_name, row.outcome.value, row.matches, row.items, row.reason


def _may_ask_model(desk: DigestDesk, intent: Intent) -> bool:
    """Whether a model writes. If so, the system template is rendered before anything else is read."""
    try:
        check_gates(desk.settings)
    except DigestGatedOff as shut:
        _log.info("the digest of %s is written without a model: %s", intent.name, shut)
        return False
    system = load_digest_template(desk.settings.prompts_dir, TemplateKind.DIGEST_SYSTEM, intent.system_template)
    system.for_digest(language=intent.language)
    return True


def _draft(desk: DigestDesk, intent: Intent, items: Sequence[Item], id_: str, *, is_for_model: bool) -> DigestDraft:
    """Steps 5 to 10. Where a cap is reached, the plain digest is written; where the model fails, none is."""
    if is_for_model:
        try:
            again = AskAgain("changes", f"codesum digest run --intent {shlex.quote(intent.name)} --again")
            return write_by_model(desk.job(intent, id_, again), items)
        except DigestGatedOff as shut:
            _log.warning("the digest of %s is written without a model: %s", intent.name, shut)
    return DigestDraft(write_plain(intent, items), shown=len(items))


def _items(
    desk: DigestDesk, intent: Intent, pending: Sequence[KeptMatch], registered: Mapping[str, RepositoryEntry]
) -> list[Item]:
    """One for each thing that changed, newest first; near-duplicates are one where that is asked for.

    Of builds that each had their `top_k` best matches, the best of all are taken.
    """
    best = {kept.id for kept in sorted(pending, key=lambda kept: kept.match.rank)[: intent.top_k]}
    matches = [kept.match for kept in pending if kept.id in best]
    is_grouped = intent.schedule.cadence is Cadence.BUILD or desk.settings.digests.grouped
    groups = group_matches(matches) if is_grouped else [[match] for match in matches]
    names = {key: slug_of(entry.location) or key for key, entry in registered.items()}
    sources = {
        key: RepositorySource(names.get(key), desk.layout.mirror(key))
        for key in {match.change.repository for match in matches}
    }
    return sorted(items_of(groups, sources), key=lambda item: _newness(item.citation.date))


def _registered(desk: DigestDesk) -> dict[str, RepositoryEntry]:
    """The registered repositories by key; none if the registry cannot be read."""
    try:
        return {entry.key: entry for entry in desk.registry.survey().entries}
    except Exception as error:
        _log.error("sources have no names in digests: %s", describe_error(error))
        return {}


def _links(
    desk: DigestDesk, result: SummaryResult, registered: Mapping[str, RepositoryEntry]
) -> tuple[str | None, ...]:
    hosts = desk.sender.settings.web_hosts
    return tuple(
        web_url(entry.location, cited.place, own_hosts=hosts) if (entry := registered.get(cited.repository)) else None
        for cited in result.citations
    )


def _newest_first(pending: Sequence[KeptMatch]) -> list[KeptMatch]:
    """The newest first; of one date the best first; ties break by repository and document."""
    return sorted(pending, key=lambda kept: (_newness(kept.change.date), *kept.match.rank))


def _newness(date: str | None) -> float:
    """Less for what is newer; what has no date comes last."""
    try:
        found = datetime.fromisoformat(date) if date else None
    except ValueError:
        found = None
    if found is None:
        return float("inf")
    return -(found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _id_of(intent: Intent, pending: Sequence[KeptMatch]) -> str:
    """An id that is the same for the same matches: by it, answers that a killed process paid for are found."""
    hashed = hashlib.sha256(intent.name.encode("utf-8", "surrogatepass"))
    for kept in pending:
        hashed.update(f"\0{kept.id} {kept.matched_at} {to_json(kept.change)}".encode())
    return hashed.hexdigest()[:_ID_CHARS]


# Longer than any schedule's period: a moment so far ahead was stored by a wrong clock.
_WRONG_CLOCK = timedelta(days=8)
# Whether an intent is due: for which moment of its schedule, empty for none; None if it is not.
_FindDue = Callable[[DigestStore, Intent], str | None]


def run_after_build(desk: DigestDesk, repository: str) -> list[TickRow]:
    """The ticks of the intents that have a digest with each build, about this repository.

    Raises `ConfigurationError` if the file of intents cannot be read at all, as the others do.
    """

    def due(store: DigestStore, intent: Intent) -> str | None:
        is_due = intent.schedule.cadence is Cadence.BUILD and intent.name in store.count_pending(repository)
        return "" if is_due else None

    return _run(desk, due, repository)


def run_now(desk: DigestDesk, names: Collection[str] = ()) -> list[TickRow]:
    """A tick of each intent with pending matches, or of those named, whatever its schedule says."""

    def due(store: DigestStore, intent: Intent) -> str | None:
        return "" if (not names or intent.name in names) and intent.name in store.count_pending() else None

    return _run(desk, due)


def run_due(desk: DigestDesk) -> list[TickRow]:
    """The ticks of the intents whose schedule had a moment since the last one that had its tick.

    A new intent begins with the first moment from now on.
    """

    def due(store: DigestStore, intent: Intent) -> str | None:
        now, moment, served = (
            desk.sender.now(),
            last_due(intent.schedule, desk.sender.now()),
            store.served_at(intent.name),
        )
        if moment is None:
            return None
        if served is None or _is_of_wrong_clock(served, now):
            if served is not None:
                _log.warning(
                    "intent %s had its last digest at %s, long after now: its schedule begins anew", intent.name, served
                )
            store.mark_served(intent.name, iso_moment(now))
            return None
        return iso_moment(moment) if moment > datetime.fromisoformat(served) else None

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


def _run(desk: DigestDesk, find_due: _FindDue, repository: str | None = None) -> list[TickRow]:
    rows: list[TickRow] = []
    intents = _usable(desk)
    with open_digests(desk.layout.digests, now=desk.sender.now) as store:
        for intent in intents:
            try:
                if find_due(store, intent) is not None:
                    with one_at_a_time(store, intent.name):
                        # Another process may have written it meanwhile.
                        if (due := find_due(store, intent)) is not None:
                            rows.append(make_tick(desk, store, intent, repository=repository, due_at=due or None))
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
