"""`watch_changes`: what came, changed or went since a cursor or a commit, in the published index and in the work tree.

The history of texts says when each was written. A build in progress may have
written more than is published: that is left for later, and the cursor stays
before it. What the work tree has otherwise than the index is compared with what
the owner of the cursor knows of it (`tree_changes`).
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from codesum_pipeline.model.documents import Cause, HistoryEvent
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.answers import AnswerPage, DocumentRow, Name, PagedArguments, shortened
from codesum_pipeline.tools.as_of import SHORT_COMMIT
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.documents import JoinedDocuments
from codesum_pipeline.tools.paging import Cursor, fitting
from codesum_pipeline.tools.tree_changes import (
    AS_PUBLISHED,
    View,
    keep_view,
    kept_view,
    level_of_value,
    path_of,
    value_in,
    view_of,
)

_TOOL = "watch_changes"
_COLUMNS = ["sequence", "id", "level", "event", "cause", "text_hash", "commit", "run_id", "written_at"]
_COMMITS_TOLD = 5
# Rows of a run whose texts are compared with the published ones.
_LOOKED_AT = 50


class TextChangeKind(StrEnum):
    """What became of a document: its text was rewritten, or its code changed in the work tree."""

    NEW = "new"
    REWRITTEN = "rewritten"
    CHANGED = "changed"
    REMOVED = "removed"


class ChangeArguments(PagedArguments):
    """A repository, and since when."""

    repo: Name = ""
    since: Annotated[Name, Field(description="A commit; default: before the last build that changed texts")] = ""
    limit: int = Field(20, ge=1, le=200)
    cursor: Annotated[str, Field(description="`next` of the last answer: what changed since")] = ""


class ChangedDocument(DocumentRow):
    """One document: what became of it, why, and when its text was written; of the work tree without these two."""

    change: TextChangeKind
    cause: str = ""
    commit: str = ""
    written_at: str = ""

    @property
    def is_of_tree(self) -> bool:
        return not self.commit

    def line(self, *, with_repo: bool = False) -> str:
        because = f" because of {self.cause}" if self.cause else ""
        where = "in the work tree" if self.is_of_tree else f"@ {self.commit[:SHORT_COMMIT]}"
        return f"{self.change}{because} {where}: {super().line(with_repo=with_repo)}"


class ChangePage(AnswerPage):
    """Changes in the order in which they were made; `next` is there to be asked with later, too."""

    changes: list[ChangedDocument] = []


def watch_changes(call: ToolContext, asked: ChangeArguments) -> ChangePage:
    """Also where nothing changed there is a cursor to ask with later."""
    index = call.one_index(asked.repo)
    history = read_history(call, index)
    after, number = _begin(asked, index, history)
    edits = tree_edits(call, index, number)
    changes = history.changes(after)
    places = [place for place in changes.places if history.ids[place] not in edits.told]
    every: list[int | str] = [*places, *edits.ids]
    kept = fitting(
        every, lambda each: _change(each, history, after, edits).line(), limit=asked.limit, tokens=asked.tokens
    )
    last = history.sequences[places[len(kept) - 1]] if len(kept) < len(places) else max(after, changes.until)
    known = edits.known_after([each for each in kept if isinstance(each, str)])
    at = (last, keep_view(call.catalogue.layout.tree_views(index.repo), known))
    return ChangePage(
        as_of=call.as_of([index.repo]),
        shown=len(kept),
        total=len(every),
        next=str(Cursor.after(_TOOL, {"repo": index.repo}, at, call.versions([index]))),
        changes=[_change(each, history, after, edits) for each in kept],
    )


def _change(each: "int | str", history: "ChangeHistory", after: int, edits: "TreeEdits") -> ChangedDocument:
    return history.change(each, after) if isinstance(each, int) else edits.change(each)


@dataclass(frozen=True)
class TreeEdits:
    """What a work tree has otherwise than somebody knows: `now` is what it has otherwise than `index`."""

    index: PublishedIndex
    documents: JoinedDocuments
    before: View
    now: View

    @cached_property
    def told(self) -> frozenset[str]:
        """The documents of which the tree, and not the history of the index, says what became of them."""
        return frozenset(self.before.keys() | self.now.keys())

    @cached_property
    def ids(self) -> list[str]:
        """Those that differ, sorted."""
        return sorted(id_ for id_ in self.told if self._then(id_) != self._value(id_))

    def change(self, id_: str) -> ChangedDocument:
        then, value = self._then(id_), self._value(id_)
        kind = (
            TextChangeKind.NEW if then is None else TextChangeKind.REMOVED if value is None else TextChangeKind.CHANGED
        )
        number = None if value is None else self.documents.number(id_)
        if number is not None:
            return ChangedDocument.of(*self.documents.locate(number), change=kind)
        level, path = level_of_value(value or then), path_of(id_)
        return ChangedDocument(repo=self.index.repo, id=id_, kind=level, path=path, change=kind)

    def known_after(self, told: Sequence[str]) -> View:
        """What somebody knows who was told of some of them."""
        untold = set(self.ids) - set(told)
        return {
            id_: self._then(id_) if id_ in untold else self._value(id_)
            for id_ in self.told
            if self._is_kept(id_, untold)
        }

    def _is_kept(self, id_: str, untold: Collection[str]) -> bool:
        return id_ in (self.before if id_ in untold else self.now)

    def _then(self, id_: str) -> str | None:
        return self.before[id_] if id_ in self.before else value_in(self.index, id_)

    def _value(self, id_: str) -> str | None:
        return self.now[id_] if id_ in self.now else value_in(self.index, id_)


def tree_edits(call: ToolContext, index: PublishedIndex, number: int = 0) -> TreeEdits:
    """What the caller's work tree has otherwise than the view with a number; what cannot be told has a note."""
    before = kept_view(call.catalogue.layout.tree_views(index.repo), number)
    if before is None:
        call.tell(
            "what the cursor knew of the work tree is not kept any more: all that differs from the index is listed"
        )
        before = AS_PUBLISHED
    now = view_of(call.trees.tree(index), index)
    return TreeEdits(index, call.documents(index.repo), before, before if now is None else now)


def changes_text(page: ChangePage) -> str:
    return page.framed([*map(ChangedDocument.line, page.changes)] or ["nothing changed since"], what="changes")


def read_history(call: ToolContext, index: PublishedIndex) -> "ChangeHistory":
    """The history of a repository's texts, as an index knows them."""
    # A third of a second, which no other tool waits for.
    from codesum_pipeline.store.tables import TableStore
    from codesum_pipeline.summaries.history import without_compactions

    columns = TableStore(call.catalogue.layout.warehouse).read_or_empty(
        "document_history", index.repo, columns=_COLUMNS
    )
    return ChangeHistory(index, without_compactions(columns))


@dataclass(frozen=True, slots=True)
class LastChanges:
    """Where in the history the last change of each document stands, and up to which row everything is published."""

    places: Sequence[int]
    until: int


@dataclass(frozen=True)
class ChangeHistory:
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

    def changes(self, after: int) -> LastChanges:
        """The changes after a row that are in the published version, oldest first."""
        begin = bisect_right(self.sequences, after)
        later = [place for place in range(begin, len(self.ids)) if self.events[place] != HistoryEvent.SAME_TEXT]
        end = self._published_until(later)
        last = {self.ids[place]: place for place in later if place < end}
        known = self._known(begin)
        places = [place for id_, place in last.items() if self.events[place] == HistoryEvent.WRITTEN or id_ in known]
        return LastChanges(sorted(places), self.sequences[end - 1] if end else 0)

    def change(self, place: int, after: int) -> ChangedDocument:
        """One row of the history, as what became of its document."""
        id_, index = self.ids[place], self.index
        row, cause = index.row(id_), self._value("cause", place)
        facts: dict[str, Any] = {
            "cause": "" if cause in (None, Cause.NEW) else str(cause),
            "commit": self.commits[place],
            "written_at": self._value("written_at", place),
        }
        if row is None or self.events[place] == HistoryEvent.REMOVED:
            level, kind = self._value("level", place), TextChangeKind.REMOVED
            return ChangedDocument(repo=index.repo, id=id_, kind=level, path=path_of(id_), change=kind, **facts)
        is_known = id_ in self._known(bisect_right(self.sequences, after))
        return ChangedDocument.of(
            index, row, change=TextChangeKind.REWRITTEN if is_known else TextChangeKind.NEW, **facts
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


def _begin(asked: ChangeArguments, index: PublishedIndex, history: ChangeHistory) -> tuple[int, int]:
    """The row of the history, and the number of the view of the work tree, after which it goes on."""
    if asked.cursor:
        sequence, number = (*Cursor.read(asked.cursor, _TOOL, {"repo": index.repo}).at, 0)[:2]
        return sequence, number
    if not asked.since:
        return history.before_last_run(), 0
    since = asked.since.lower()
    last = next((k for k in range(len(history.ids) - 1, -1, -1) if history.commits[k].startswith(since)), None)
    if last is not None:
        return history.sequences[last], 0
    commits = list(dict.fromkeys(commit[:SHORT_COMMIT] for commit in reversed(history.commits)))[:_COMMITS_TOLD]
    raise ConfigurationError(
        f"since {shortened(asked.since)!r}: no text of {index.repo} was written at such a commit; "
        f"the last ones are: {', '.join(commits)}"
    )
