"""`watch_changes`: which documents of a published index came, were rewritten, or went, since a cursor or a commit.

The history of texts says when each was written. A build in progress may have
written more than is published: that is left for later, and the cursor stays
before it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
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
# Rows of a run whose texts are compared with the published ones.
_LOOKED_AT = 50


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


def watch_changes(call: Call, asked: ChangeArguments) -> ChangePage:
    """Also where nothing changed there is a cursor to ask with later."""
    index = one_index(call, asked.repo)
    history = read_history(call, index)
    after = _begin(asked, index, history)
    changes = history.changes(after)
    written = ((place, change_line(history.change(place, after))) for place in changes.places)
    kept = fitting(written, limit=asked.limit, tokens=asked.tokens)
    last = history.sequences[kept[-1]] if len(kept) < len(changes.places) else max(after, changes.until)
    cursor = Cursor.after(_TOOL, {"repo": index.repo}, (last,), call.versions([index]))
    return ChangePage(
        as_of=call.as_of([index.repo]),
        notes=call.notes,
        shown=len(kept),
        total=len(changes.places),
        next=str(cursor),
        changes=[history.change(place, after) for place in kept],
    )


def changes_text(page: ChangePage) -> str:
    return with_frame(page, [*map(change_line, page.changes)] or ["nothing changed since"], what="changes")


def change_line(change: Change) -> str:
    because = f" because of {change.cause}" if change.cause else ""
    return f"{change.change}{because} @ {change.commit[:SHORT_COMMIT]}: {row_line(change)}"


def read_history(call: Call, index: PublishedIndex) -> "History":
    """The history of a repository's texts, as an index knows them."""
    # A third of a second, which no other tool waits for.
    from codesum_pipeline.store.tables import TableStore
    from codesum_pipeline.summaries.history import without_compactions

    columns = TableStore(call.catalogue.layout.warehouse).read_or_empty(
        "document_history", index.repo, columns=_COLUMNS
    )
    return History(index, without_compactions(columns))


@dataclass(frozen=True, slots=True)
class Changes:
    """Where in the history the last change of each document stands, and up to which row everything is published."""

    places: Sequence[int]
    until: int


@dataclass(frozen=True)
class History:
    """Rows in the order in which they were written; a hundred thousand are looked at as columns."""

    index: PublishedIndex
    table: Any

    @cached_property
    def sequences(self) -> list[int]:
        return self._column("sequence")

    @cached_property
    def ids(self) -> list[str]:
        return self._column("id")

    @cached_property
    def runs(self) -> list[str]:
        return self._column("run_id")

    @cached_property
    def events(self) -> list[str]:
        return self._column("event")

    @cached_property
    def commits(self) -> list[str]:
        return self._column("commit")

    def before_last_run(self) -> int:
        """The last row before the newest run that changed a text."""
        changing = [place for place, event in enumerate(self.events) if event != HistoryEvent.SAME_TEXT]
        last_run = self.runs[changing[-1]] if changing else None
        first = next((place for place in changing if self.runs[place] == last_run), None)
        return 0 if first is None else self.sequences[first] - 1

    def changes(self, after: int) -> Changes:
        """The changes after a row that are in the published version, oldest first."""
        begin = bisect_right(self.sequences, after)
        later = [place for place in range(begin, len(self.ids)) if self.events[place] != HistoryEvent.SAME_TEXT]
        end = self._published_until(later)
        last = {self.ids[place]: place for place in later if place < end}
        known = self._known(begin)
        places = [place for id_, place in last.items() if self.events[place] == HistoryEvent.WRITTEN or id_ in known]
        return Changes(sorted(places), self.sequences[end - 1] if end else 0)

    def change(self, place: int, after: int) -> Change:
        """One row of the history, as what became of its document."""
        id_, index = self.ids[place], self.index
        cause = self._value("cause", place)
        row = index.row(id_)
        if row is None or self.events[place] == HistoryEvent.REMOVED:
            shown = Row(repo=index.repo, id=id_, kind=self._value("level", place), path=id_.partition(SEPARATOR)[0])
            kind = ChangeKind.REMOVED
        else:
            is_known = id_ in self._known(bisect_right(self.sequences, after))
            shown, kind = row_of(index, row), ChangeKind.REWRITTEN if is_known else ChangeKind.NEW
        return Change(
            **shown.model_dump(),
            change=kind,
            cause="" if cause in (None, Cause.NEW) else str(cause),
            commit=self.commits[place],
            written_at=self._value("written_at", place),
        )

    def _known(self, end: int) -> frozenset[str]:
        """The documents that there were before a place."""
        if end not in self._known_before:
            there: dict[str, bool] = {}
            for place in range(end):
                there[self.ids[place]] = self.events[place] != HistoryEvent.REMOVED
            self._known_before[end] = frozenset(id_ for id_, is_there in there.items() if is_there)
        return self._known_before[end]

    @cached_property
    def _known_before(self) -> dict[int, frozenset[str]]:
        return {}

    def _published_until(self, places: Sequence[int]) -> int:
        """Where the rows of the first run begin that is not published: a run is published whole or not at all."""
        last = {self.ids[place]: place for place in places}
        by_run: dict[str, list[int]] = {}
        for place in last.values():
            by_run.setdefault(self.runs[place], []).append(place)
        unpublished = {run for run, rows in by_run.items() if not all(map(self._is_published, rows[-_LOOKED_AT:]))}
        return next((place for place in places if self.runs[place] in unpublished), len(self.ids))

    def _is_published(self, place: int) -> bool:
        row = self.index.row(self.ids[place])
        if self.events[place] == HistoryEvent.REMOVED:
            return row is None
        return row is not None and bool(self.index.document(row)["text_hash"] == self._value("text_hash", place))

    def _column(self, name: str) -> list[Any]:
        values: list[Any] = self.table.column(name).to_pylist()
        return values

    def _value(self, name: str, place: int) -> Any:
        return self.table.column(name)[place].as_py()


def _begin(asked: ChangeArguments, index: PublishedIndex, history: History) -> int:
    if asked.cursor:
        return Cursor.read(asked.cursor, _TOOL, {"repo": index.repo}).at[0]
    if not asked.since:
        return history.before_last_run()
    since = asked.since.lower()
    last = next((k for k in range(len(history.ids) - 1, -1, -1) if history.commits[k].startswith(since)), None)
    if last is not None:
        return history.sequences[last]
    commits = list(dict.fromkeys(commit[:SHORT_COMMIT] for commit in reversed(history.commits)))[:_COMMITS_TOLD]
    raise ConfigurationError(
        f"since {shortened(asked.since)!r}: no text of {index.repo} was written at such a commit; "
        f"the last ones are: {', '.join(commits)}"
    )
