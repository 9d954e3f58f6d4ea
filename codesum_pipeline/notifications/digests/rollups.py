"""Roll-ups, the digests of a period in one: shown or sent by the same code.

A roll-up's id is made from its intent and its period. So it is paid for and sent once, even if a schedule fires twice,
a process is killed, or two machines share a home. The month that a schedule rolls up is the calendar month before, in
the intent's own time zone.
"""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace, DigestCitation, SummaryResult
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, DigestGatedOff
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.printable import count_noun, list_words, one_line
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, Intent
from codesum_pipeline.notifications.delivery.digest_hooks import ask_before_push
from codesum_pipeline.notifications.digests.asking_again import AskAgain, UnusableAnswers
from codesum_pipeline.notifications.digests.desk import (
    DigestDesk,
    deliver_digests,
    finish_digest,
    one_at_a_time,
    reason_of,
)
from codesum_pipeline.notifications.digests.digest_by_model import DigestTemplates, check_gates, find_held
from codesum_pipeline.notifications.digests.digest_rows import DigestDraft, DigestKind, DigestRow, DigestState
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.notifications.digests.rollup_by_model import (
    MergedCitations,
    aggregate_history,
    newest_first,
    request_for,
)
from codesum_pipeline.notifications.digests.tick import digest_row
from codesum_pipeline.texts.llm.budgets import CUT_MARK, cut_to_fit
from codesum_pipeline.texts.llm.ledger_readings import unusable_answers

_MOST_DOCUMENTS = 8
_MOST_FOLDERS = 5
_MOST_REPOSITORIES = 12
# A sentence or two.
_STATE_CHARS = 220


class _ReportedDocument(Struct, frozen=True):
    """A document that a digest reported; `change` is None where only its citation is left."""

    day: date
    repository: str
    document_id: str
    name: str
    folder: str
    citation: DigestCitation
    change: DocumentChange | None = None


def plain_rollup(
    intent_name: str, rows: Sequence[DigestRow], changes: Mapping[str, Sequence[DocumentChange]], *, timezone: str
) -> SummaryResult:
    """A plain summary of the digests; `changes` are those of each digest, by its id, if they are still known.

    Days are those of the time zone.
    """
    zone = ZoneInfo(timezone)
    reported = [
        each for row in reversed(newest_first(rows)) for each in _reported_documents(row, changes.get(row.id, ()), zone)
    ]
    merged = MergedCitations()
    documents = _documents(reported)
    parts = [_opening(rows, reported, len(documents), zone), _places(reported), _most_often(documents, merged)]
    return SummaryResult(intent_name, "\n\n".join(part for part in parts if part), tuple(merged.listed))


def days_between(first: date, last: date) -> str:
    """`on 3 October 2026`, `from 3 October 2026 to 29 October 2026`."""
    begin, end = (f"{day.day} {day:%B %Y}" for day in (first, last))
    return f"on {end}" if first == last else f"from {begin} to {end}"


def _reported_documents(
    row: DigestRow, changes: Sequence[DocumentChange], zone: ZoneInfo
) -> Iterable[_ReportedDocument]:
    day = datetime.fromisoformat(row.created_at).astimezone(zone).date()
    cited = {(each.repository, each.document_id): each for each in row.result.citations}
    for change in changes:
        state = change.state
        yield _ReportedDocument(
            day=day,
            repository=change.repository,
            document_id=change.document_id,
            name=state.name,
            folder=_folder(state.file_path, change.level),
            # It has no citation of its own if its digest reported it with another document.
            citation=cited.get((change.repository, change.document_id))
            or DigestCitation(
                change.document_id, state.name, state.place, change.repository, change.date, change.repository
            ),
            change=change,
        )
    for citation in () if changes else cited.values():
        place = CitedPlace.parse(citation.place)
        folder = _folder(place.path if place else citation.document_id, Level.FILE)
        yield _ReportedDocument(day, citation.repository, citation.document_id, citation.name, folder, citation)


def _documents(reported: Sequence[_ReportedDocument]) -> list[list[_ReportedDocument]]:
    """Every document, those that changed most often first, then those that changed last."""
    by_document: dict[tuple[str, str], list[_ReportedDocument]] = {}
    for each in reported:
        by_document.setdefault((each.repository, each.document_id), []).append(each)
    found = [times for _, times in sorted(by_document.items())]
    return sorted(found, key=lambda times: (len(times), times[-1].day), reverse=True)


def _opening(rows: Sequence[DigestRow], reported: Sequence[_ReportedDocument], documents: int, zone: ZoneInfo) -> str:
    days = [datetime.fromisoformat(row.created_at).astimezone(zone).date() for row in rows]
    repositories = len({each.repository for each in reported})
    about = f" told of {count_noun(len(reported), 'change')} of {count_noun(documents, 'document')}"
    where = f" in {count_noun(repositories, 'repository', 'repositories')}"
    return f"**{count_noun(len(rows), 'digest')}** {days_between(min(days), max(days))}{about}{where}."


def _places(reported: Sequence[_ReportedDocument]) -> str:
    """A line for each repository with its folders, those with the most changes first."""
    by_repository = Counter(each.repository for each in reported)
    ordered = sorted(by_repository, key=lambda key: (-by_repository[key], key))
    lines = ["### Where"]
    for repository in ordered[:_MOST_REPOSITORIES]:
        folders = Counter(each.folder for each in reported if each.repository == repository)
        most = sorted(folders, key=lambda folder: (-folders[folder], folder))
        shown = [f"{code_span(folder)} ({folders[folder]:,})" for folder in most[:_MOST_FOLDERS]]
        if rest := most[_MOST_FOLDERS:]:
            shown.append(f"{count_noun(len(rest), 'other folder')} ({sum(folders[folder] for folder in rest):,})")
        lines.append(
            f"- {escape_prose(repository)}: {count_noun(by_repository[repository], 'change')}, in {list_words(shown)}"
        )
    if rest := ordered[_MOST_REPOSITORIES:]:
        changes = count_noun(sum(by_repository[key] for key in rest), "change")
        lines.append(f"- {count_noun(len(rest), 'other repository', 'other repositories')}: {changes}")
    return "\n".join(lines)


def _most_often(documents: Sequence[Sequence[_ReportedDocument]], merged: MergedCitations) -> str:
    often = [times for times in documents if len(times) > 1][:_MOST_DOCUMENTS]
    heading = "### What changed most often" if often else "### What changed last"
    lines = [line for each in often or documents[:_MOST_DOCUMENTS] for line in _document(each, merged)]
    return "\n".join([heading, *lines])


def _document(times_reported: Sequence[_ReportedDocument], merged: MergedCitations) -> list[str]:
    """The line of a document with each time that a digest reported it, oldest first, and lines of what it says."""
    first, last, times = times_reported[0], times_reported[-1], len(times_reported)
    happened = "twice" if times == 2 else f"{times} times"
    when = days_between(first.day, last.day)
    number = merged.number(last.citation)
    how_often = "" if times == 1 else f"{happened}, "
    head = f"- {code_span(last.name)} in {escape_prose(last.repository)}: {how_often}{when} [{number}]"
    return [head, *(f"  - {line}" for line in _states(first.change, last.change))]


def _states(first: DocumentChange | None, last: DocumentChange | None) -> list[str]:
    """The document's text before the first change and after the last one."""
    if first is None or last is None:
        return []
    before, after = _short_summary(first.before), _short_summary(last.after)
    if before and before == after:
        return [f"Before and after: {before}"]
    lines = (
        f"Before: {before}" if before else "New" if first.before is None else "",
        f"Now: {after}" if after else "Removed" if last.after is None else "",
    )
    return [line for line in lines if line]


def _short_summary(state: DocumentState | None) -> str:
    text = one_line(state.summary) if state else ""
    short = cut_to_fit(text, _STATE_CHARS).removesuffix(CUT_MARK).rstrip()
    return escape_prose(f"{short} …" if len(short) < len(text) else short, limit=_STATE_CHARS + 2)


def _folder(path: str, level: Level) -> str:
    return path if level is Level.MODULE else str(PurePosixPath(path).parent)


# A single digest has nothing to sum up: a schedule skips it.
LEAST_MONTHLY = 2
_RUN_NOW = "codesum digest run"
_SCHEDULED = AskAgain("digests", f"{_RUN_NOW} --again")
_ID_DOMAIN = "codesum.rollup/1"
_ID_CHARS = 16
_log = logging.getLogger(__name__)


class Window(Struct, frozen=True):
    """From a moment on and before another (ISO 8601, UTC); None if there is no bound."""

    since: str | None = None
    until: str | None = None


class RollupPlan(Struct, frozen=True):
    """The material of a roll-up.

    `model` would be asked, for all calls at most at `cost_usd`, and be shown `rows_shown` of the digests; None if none
    may be, for the reason in `without_model`. With a `problem` there can be no roll-up.
    """

    id: str
    rows: tuple[DigestRow, ...]
    window: Window
    rows_shown: int
    again: AskAgain
    model: str | None = None
    cost_usd: float | None = None
    without_model: str = ""
    problem: str = ""
    held: str = ""


class MonthlyRollup(Struct, frozen=True):
    """The result for one intent's month: its roll-up, or why there is none."""

    intent_name: str
    month: str
    digest_id: str | None
    problem: str = ""


def plan_rollup(
    desk: DigestDesk, store: DigestStore, intent: Intent, window: Window, again: AskAgain = _SCHEDULED
) -> RollupPlan:
    """What would be rolled up, and what it may cost; no model is asked.

    What a hook vetoed is in no roll-up. Raises what is wrong with templates and settings.
    """
    found = store.digests(intent.name, window.since, window.until, kind=DigestKind.DIGEST)
    rows = tuple(row for row in found if row.state is not DigestState.VETOED)
    plan = RollupPlan(_id_of(intent, window, rows), rows, window, len(rows), again)
    if not rows:
        return replace(plan, problem=f"there are no digests of {intent.name!r} in that time to roll up")
    try:
        check_gates(desk.settings)
    except DigestGatedOff as shut:
        return replace(plan, without_model=str(shut).removeprefix(f"{shut.discriminator}: "))
    templates = DigestTemplates.of(intent, desk.settings.prompts_dir, is_rollup=True)
    plan = replace(plan, model=desk.settings.llm.model)
    if templates.rollup_problem:
        return replace(plan, rows_shown=0, problem=templates.rollup_problem)
    request, _ = request_for(rows, intent, templates, desk.settings)
    held = find_held(desk.job(intent, plan.id, again), request)
    return replace(
        plan,
        cost_usd=request.worst_usd(desk.settings),
        rows_shown=request.shown,
        held="" if held is None else reason_of(held),
    )


def write_rollup(desk: DigestDesk, store: DigestStore, intent: Intent, plan: RollupPlan) -> DigestRow:
    """The roll-up as it would be sent, by a model, or in plain words where none may be asked; it is not recorded.

    Raises `ConfigurationError` with the plan's problem, and what `aggregate_history` does.
    """
    if plan.problem:
        raise ConfigurationError(plan.problem)
    rows = plan.rows
    draft = None
    if plan.model is not None:
        try:
            templates = DigestTemplates.of(intent, desk.settings.prompts_dir, is_rollup=True)
            draft = aggregate_history(desk.job(intent, plan.id, plan.again), rows, templates)
        except DigestGatedOff as shut:
            _log.warning("the roll-up of %s is written without a model: %s", intent.name, shut)
    if draft is None:
        changes = {row.id: [each.change for each in store.matches_of(row.id)] for row in rows}
        result = plain_rollup(intent.name, rows, changes, timezone=intent.schedule.timezone)
        draft = DigestDraft(result, shown=len(rows))
    # Where each source is shown on the web, as its digest had it.
    links = {cited.key: link for row in rows for cited, link in zip(row.result.citations, row.links, strict=False)}
    return digest_row(
        desk,
        intent,
        draft,
        id=plan.id,
        kind=DigestKind.ROLLUP,
        repositories=tuple(sorted({key for row in rows for key in row.repositories})),
        from_at=plan.window.since or rows[0].created_at,
        to_at=plan.window.until or rows[-1].created_at,
        links=tuple(links.get(cited.key) for cited in draft.result.citations),
        matches=len(rows),
        items=draft.shown,
    )


def send_rollup(desk: DigestDesk, store: DigestStore, intent: Intent, plan: RollupPlan) -> tuple[DigestRow, bool]:
    """Send the roll-up to the intent's channels; returns its row, and whether it is new.

    An existing one is neither paid for nor sent again; one that a process left half way is sent on. Raises what
    `write_rollup` does, and `HookFailed`: then nothing is sent.
    """
    with one_at_a_time(store, intent.name):
        known = next((row for row in store.digests(intent.name, kind=DigestKind.ROLLUP) if row.id == plan.id), None)
        digest = known or write_rollup(desk, store, intent, plan)
        if known is None:
            if ask_before_push(digest.result):
                digest = replace(digest, state=DigestState.VETOED)
            store.record(None, digest)
        if digest.state is not DigestState.VETOED and (known is None or digest.told_at is None):
            finish_digest(store, desk.sender, digest)
    return digest, known is None


def run_monthly(desk: DigestDesk) -> list[MonthlyRollup]:
    """Roll up the month before of each enabled intent that had two digests in it and has no roll-up of it yet.

    It may be called at any time, again and again: a month is rolled up once, and one whose roll-up failed is tried
    again. Raises `ConfigurationError` if the intents cannot be read at all.
    """
    moment = desk.sender.now()
    done: list[MonthlyRollup] = []
    intents = [each for each in desk.intents.survey().intents if each.enabled]
    with open_digests(desk.layout.digests, now=desk.sender.now) as store:
        for intent in intents:
            try:
                month = month_before(intent, moment)[1]
                plan = plan_monthly(desk, store, intent)
                if len(plan.rows) >= LEAST_MONTHLY:
                    digest, is_new = send_rollup(desk, store, intent, plan)
                    done += [MonthlyRollup(intent.name, month, digest.id)] if is_new else []
            except Exception as error:
                # The one guard of an intent: the others go on, and a later call tries again.
                _log.exception("the roll-up of %s", intent.name)
                reason = reason_of(error)
                done.append(MonthlyRollup(intent.name, month_before(intent, moment)[1], None, reason))
                way_out = "Nothing was sent."
                if not isinstance(error, UnusableAnswers):
                    over = month_over(intent, moment)[:10]
                    way_out += f" It is tried again each day until {over}; `{_RUN_NOW}` tries now."
                desk.tell_operator(f"No roll-up of {intent.name}", f"{reason}\n\n{way_out}")
    deliver_digests(desk)
    return done


def plan_monthly(desk: DigestDesk, store: DigestStore, intent: Intent) -> RollupPlan:
    """As `plan_rollup`, of the calendar month before."""
    now = desk.sender.now()
    again = replace(_SCHEDULED, ends_at=month_over(intent, now))
    return plan_rollup(desk, store, intent, month_before(intent, now)[0], again)


def find_held_rollups(desk: DigestDesk, store: DigestStore, intents: Iterable[Intent]) -> Iterator[MonthlyRollup]:
    """The roll-ups of the month before whose answers cannot be used, and when each is asked for again."""
    unusable = {each.about for each in unusable_answers(store.path, now=desk.sender.now()).values()}
    for intent in intents:
        # Most homes have none, and need no prices and templates to know it.
        if intent.name in unusable:
            plan = plan_monthly(desk, store, intent)
            known = {row.id for row in store.digests(intent.name, kind=DigestKind.ROLLUP)}
            if plan.held and plan.id not in known and len(plan.rows) >= LEAST_MONTHLY:
                yield MonthlyRollup(intent.name, month_before(intent, desk.sender.now())[1], None, plan.held)


def month_over(intent: Intent, now: datetime) -> str:
    """When the month is over in an intent's time zone, and the one before it is rolled up no more."""
    first = now.astimezone(ZoneInfo(intent.schedule.timezone)).replace(day=1, hour=12)
    return month_before(intent, first + timedelta(days=32))[0].until or ""


def month_before(intent: Intent, now: datetime) -> tuple[Window, str]:
    """The calendar month before, in the intent's time zone, and its name: `2026-10`."""
    zone = ZoneInfo(intent.schedule.timezone)
    first = now.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    before = (first - timedelta(days=1)).replace(day=1)
    since, until = (iso_moment(each.astimezone(UTC)) for each in (before, first))
    return Window(since, until), f"{before:%Y-%m}"


def _id_of(intent: Intent, window: Window, rows: Sequence[DigestRow]) -> str:
    """The bounds of an open window are its first and last digest: with a new digest it is another roll-up."""
    since = window.since or (rows[0].created_at if rows else "")
    until = window.until or (f"with {rows[-1].id}" if rows else "")
    identity = "\0".join((_ID_DOMAIN, intent.name, since, until))
    return f"rollup-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:_ID_CHARS]}"
