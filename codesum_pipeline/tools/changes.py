"""`watch_changes`: which documents of a published index came, were rewritten, or went, since a cursor or a commit.

The history of texts says when each was written. A build in progress may have
written more than is published: that is left for later, and the cursor stays
before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from codesum_pipeline.model.documents import Cause, HistoryEvent
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.answers import Name, Page, PagedArguments, Row, row_of
from codesum_pipeline.tools.as_of import SHORT_COMMIT
from codesum_pipeline.tools.call import Call
from codesum_pipeline.tools.facts import one_index
from codesum_pipeline.tools.finding import shortened
from codesum_pipeline.tools.paging import Cursor, fitting
from codesum_pipeline.tools.text import row_line, with_frame

_TOOL = "watch_changes"
_COLUMNS = ["sequence", "id", "level", "event", "cause", "text_hash", "commit", "run_id", "written_at"]
_COMMITS_TOLD = 5


class ChangeKind(StrEnum):
    """What became of a document."""

    NEW = "new"
    REWRITTEN = "rewritten"
    REMOVED = "removed"


class ChangeArguments(PagedArguments):
    """Of which repository, and since when."""

    repo: Name = ""
    since: Annotated[Name, Field(description="A commit; default: before the last build that changed texts")] = ""
    limit: int = Field(20, ge=1, le=200)
    cursor: Annotated[str, Field(description="`next` of the last answer: what changed since")] = ""


class Change(Row):
    """One document: what became of it, why, and when its text was written."""

    change: ChangeKind
    cause: str = ""
    commit: str
    written_at: str


class ChangePage(Page):
    """Changes in the order in which they were made; `next` is there to be asked with later, too."""

    changes: list[Change] = []


@dataclass(frozen=True, slots=True)
class Changes:
    """The last change of each document in order, and up to which row of the history everything is published."""

    rows: Sequence[tuple[int, Change]]
    until: int


def watch_changes(call: Call, asked: ChangeArguments) -> ChangePage:
    """Also where nothing changed there is a cursor to ask with later."""
    index = one_index(call, asked.repo)
    history = read_history(call, index.repo)
    after = _begin(asked, index, history)
    changes = changes_after(index, history, after)
    written = ((each, change_line(each[1])) for each in changes.rows)
    kept = fitting(written, limit=asked.limit, tokens=asked.tokens)
    last = kept[-1][0] if len(kept) < len(changes.rows) else max(after, changes.until)
    cursor = Cursor.after(_TOOL, {"repo": index.repo}, (last,), call.versions([index]))
    return ChangePage(
        as_of=call.as_of([index.repo]),
        notes=call.notes,
        shown=len(kept),
        total=len(changes.rows),
        next=str(cursor),
        changes=[change for _, change in kept],
    )


def changes_text(page: ChangePage) -> str:
    return with_frame(page, [*map(change_line, page.changes)] or ["nothing changed since"], what="changes")


def change_line(change: Change) -> str:
    because = f" because of {change.cause}" if change.cause else ""
    return f"{change.change}{because} @ {change.commit[:SHORT_COMMIT]}: {row_line(change)}"


def read_history(call: Call, repo: str) -> list[dict[str, Any]]:
    """The history of a repository's texts, oldest first."""
    # A third of a second, which no other tool waits for.
    from codesum_pipeline.store.tables import TableStore

    tables = TableStore(call.catalogue.layout.warehouse)
    rows: list[dict[str, Any]] = tables.read_or_empty("document_history", repo, columns=_COLUMNS).to_pylist()
    return rows


def before_last_run(history: Sequence[Mapping[str, Any]]) -> int:
    """The last row before the newest run that changed a text."""
    changing = [row for row in history if row["event"] != HistoryEvent.SAME_TEXT]
    if not changing:
        return 0
    last_run = changing[-1]["run_id"]
    return min(int(row["sequence"]) for row in changing if row["run_id"] == last_run) - 1


def changes_after(index: PublishedIndex, history: Sequence[Mapping[str, Any]], after: int) -> Changes:
    """What of the history is in the published version."""
    known = {row["id"] for row in history if row["sequence"] <= after and row["event"] != HistoryEvent.REMOVED}
    known -= {row["id"] for row in _last_of_each(history, until=after) if row["event"] == HistoryEvent.REMOVED}
    found: list[tuple[int, Change]] = []
    until = max((int(row["sequence"]) for row in history), default=0)
    for row in _last_of_each(history, after=after):
        if not _is_published(index, row):
            until = min(until, int(row["sequence"]) - 1)
        elif row["event"] == HistoryEvent.WRITTEN or (row["id"] in known and row["event"] == HistoryEvent.REMOVED):
            found.append((int(row["sequence"]), _change(index, row, is_new=row["id"] not in known)))
    found.sort(key=lambda each: each[0])
    return Changes([each for each in found if each[0] <= until], until)


def _begin(asked: ChangeArguments, index: PublishedIndex, history: Sequence[Mapping[str, Any]]) -> int:
    if asked.cursor:
        return Cursor.read(asked.cursor, _TOOL, {"repo": index.repo}).at[0]
    if not asked.since:
        return before_last_run(history)
    of_commit = [int(row["sequence"]) for row in history if row["commit"].startswith(asked.since.lower())]
    if of_commit:
        return max(of_commit)
    commits = list(dict.fromkeys(row["commit"][:SHORT_COMMIT] for row in reversed(history)))[:_COMMITS_TOLD]
    raise ConfigurationError(
        f"since {shortened(asked.since)!r}: no text of {index.repo} was written at such a commit; "
        f"the last ones are: {', '.join(commits)}"
    )


def _last_of_each(
    history: Sequence[Mapping[str, Any]], *, after: int = 0, until: int | None = None
) -> list[Mapping[str, Any]]:
    """The last row of each document in a part of the history; that a text came out the same is no change."""
    last: dict[str, Mapping[str, Any]] = {}
    for row in history:
        is_inside = row["sequence"] > after and (until is None or row["sequence"] <= until)
        if is_inside and row["event"] != HistoryEvent.SAME_TEXT:
            last[row["id"]] = row
    return list(last.values())


def _is_published(index: PublishedIndex, row: Mapping[str, Any]) -> bool:
    place = index.row(row["id"])
    if row["event"] == HistoryEvent.REMOVED:
        return place is None
    return place is not None and index.document(place)["text_hash"] == row["text_hash"]


def _change(index: PublishedIndex, row: Mapping[str, Any], *, is_new: bool) -> Change:
    place = index.row(row["id"])
    if place is None:
        shown = Row(repo=index.repo, id=row["id"], kind=row["level"], path=row["id"].partition(SEPARATOR)[0])
        kind = ChangeKind.REMOVED
    else:
        shown, kind = row_of(index, place), ChangeKind.NEW if is_new else ChangeKind.REWRITTEN
    cause = "" if row["cause"] in (None, Cause.NEW) else str(row["cause"])
    written = {"cause": cause, "commit": row["commit"], "written_at": row["written_at"]}
    return Change(**shown.model_dump(), change=kind, **written)
