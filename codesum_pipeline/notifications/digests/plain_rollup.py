"""Many digests in one, without a model: how many over which time, where, and what changed most often."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from msgspec import Struct

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace, DigestCitation, SummaryResult
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.foundation.data_model.printable import count_noun, list_words, one_line
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState
from codesum_pipeline.notifications.digests.digest_rows import DigestRow
from codesum_pipeline.notifications.digests.rollup_by_model import MergedCitations, newest_first
from codesum_pipeline.texts.llm.budgets import CUT_MARK, cut_to_fit

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
    """`on 3 October 2026`, `from 3 to 29 October 2026`, `from 30 September to 29 October 2026`."""
    end = f"{last.day} {last:%B %Y}"
    if first == last:
        return f"on {end}"
    month, year = first.month != last.month or first.year != last.year, first.year != last.year
    return f"from {first.day}{f' {first:%B}' if month else ''}{f' {first:%Y}' if year else ''} to {end}"


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
