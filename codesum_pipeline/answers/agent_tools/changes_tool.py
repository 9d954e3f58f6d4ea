"""`watch_changes`: new, changed and removed documents since a cursor or a commit, in the index and the work tree.

The history of texts has the time of each. A build in progress may have written more than is published: such rows are
left for later, and the cursor stays before them.

A *view* has the code of each document in which a work tree differs from the published index: None for one that the tree
lacks. A cursor has the number of the view that its owner knows, and the home keeps views by their numbers; what differs
between two views of a tree changed in between.
"""

import json
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Struct
from pydantic import Field

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import SHORT_COMMIT
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import qualified_parts
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    Cursor,
    DocumentRow,
    Name,
    PagedArguments,
    take_fitting,
)
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex
from codesum_pipeline.foundation.data_model.document import Cause, HistoryEvent, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha256_hex
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.source.files.origins import is_below

# The level and the code's hash of each document; None for a document that the tree lacks.
View = Mapping[str, str | None]

# A cursor has numbers of so many hexadecimal digits.
_DIGITS = 12
_HASH_CHARACTERS = 12
_MOST_KEPT = 100
AS_PUBLISHED: View = {}


def view_of(tree: TreeIndex, base: PublishedIndex) -> View | None:
    """The differing documents, or the differing files where these are not indexed; None if nothing was compared."""
    if tree.root is None:
        return AS_PUBLISHED
    if tree.found is None:
        return None
    if tree.stale:
        scanned = {path.decode(): file.blob for path, file in tree.found.scan.files.items()}
        return {path: _value(Level.FILE, scanned[path]) if path in scanned else None for path in tree.stale}
    differ = tree.found.changed | tree.found.gone
    before = _documents_in(base, differ)
    now: dict[str, str] = {}
    for index in tree.parts:
        now |= _documents_in(index, differ)
    return {id_: now.get(id_) for id_ in before.keys() | now.keys() if now.get(id_) != before.get(id_)}


def keep_view(folder: Path, view: View) -> int:
    """Keep a view, and return its number, 0 for that of the published index. A read-only home keeps none."""
    if not view:
        return 0
    written = canonical_json(dict(view))
    digits = sha256_hex(written.encode())[:_DIGITS]
    path = folder / f"{digits}.json"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.touch()
        else:
            write_text_atomically(path, written)
            kept = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
            for old in kept[_MOST_KEPT:]:
                old.unlink(missing_ok=True)
    return int(digits, 16)


def read_view(folder: Path, number: int) -> View | None:
    """The view with a number; None if it was deleted."""
    if number == 0:
        return AS_PUBLISHED
    try:
        view: View = json.loads((folder / f"{number:0{_DIGITS}x}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return view


def _documents_in(index: PublishedIndex, paths: Collection[str]) -> dict[str, str]:
    files = [row for path in paths if (row := index.row(path)) is not None]
    rows = filter(index.shows, np.flatnonzero(np.isin(index.arrays["file_row"], files)).tolist())
    return {index.ids[row]: _value(index.level_of(row), index.document(row)["content_hash"]) for row in rows}


def _value(level: Level, code: str) -> str:
    return f"{level.value}:{code[:_HASH_CHARACTERS]}"


def path_of(id_: str) -> str:
    return id_.partition(SEPARATOR)[0]


_TOOL = "watch_changes"
_COLUMNS = ["sequence", "id", "level", "event", "cause", "text_hash", "commit", "run_id", "written_at"]
_COMMITS_NAMED = 5
# How many rows of a run are compared with the published texts.
_ROWS_COMPARED = 50


class TextChangeKind(StrEnum):
    """The kinds of changes: `rewritten` is of the text, `changed` of the code in the work tree."""

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
    """One document: its change, and, for a change of the index, its cause and the time of its text."""

    change: TextChangeKind
    cause: str = ""
    commit: str = ""
    written_at: str = ""

    @classmethod
    def gone(cls, repo: str, id_: str, level: str, **more: Any) -> Self:
        """The row of a document of which only the id is known."""
        name = one_line(".".join(qualified_parts(id_)))
        return cls(repo=repo, id=id_, kind=level, path=path_of(id_), text=name, **more)

    @property
    def is_of_tree(self) -> bool:
        return not self.commit

    def line(self, *, with_repo: bool = False) -> str:
        because = f" because of {self.cause}" if self.cause else ""
        where = "in the work tree" if self.is_of_tree else f"@ {self.commit[:SHORT_COMMIT]}"
        return f"{self.change}{because} {where}: {super().line(with_repo=with_repo)}"


class ChangePage(AnswerPage):
    """Changes in their order; `next` is always set, for later calls."""

    changes: list[ChangedDocument] = []

    def text(self) -> str:
        return self.framed([*map(ChangedDocument.line, self.changes)] or ["nothing changed since"], what="changes")


def watch_changes(call: ToolContext, arguments: ChangeArguments) -> ChangePage:
    """The changes since a cursor or commit; the answer has a cursor also where nothing changed."""
    index = call.one_index(arguments.repo)
    history = read_history(call, index)
    after, number = _begin(arguments, index, history)
    edits = tree_edits(call, index, number)
    texts = history.changes(after)
    places = [place for place in texts.places if history.ids[place] not in edits.ids]
    rows = chain(map(texts.change, places), map(edits.change, edits.differing))
    kept = take_fitting(rows, ChangedDocument.line, limit=arguments.limit, tokens=arguments.tokens)
    last = history.sequences[places[len(kept) - 1]] if len(kept) < len(places) else max(after, texts.until)
    known = edits.known_after([row.id for row in kept if row.is_of_tree])
    at = (last, keep_view(call.catalogue.layout.tree_views(index.repo), known))
    return ChangePage(
        as_of=call.as_of([index.repo]),
        shown=len(kept),
        total=len(places) + len(edits.differing),
        next=str(Cursor.after(_TOOL, {"repo": index.repo}, at, call.versions([index]))),
        changes=kept,
    )


class TreeEdits(Struct, eq=False, dict=True):
    """The documents in which a work tree differs from the `before` that a caller knows; `now` is how it differs from
    `index`. Their lists are made when they are first asked for, and kept."""

    index: PublishedIndex
    documents: JoinedDocuments
    before: View
    now: View

    @cached_property
    def ids(self) -> frozenset[str]:
        """The documents whose changes are read from the tree, and not from the history of the index."""
        return frozenset(self.before.keys() | self.now.keys())

    @cached_property
    def differing(self) -> list[str]:
        return sorted(id_ for id_ in self.ids if self._value(self.before, id_) != self._value(self.now, id_))

    def change(self, id_: str) -> ChangedDocument:
        before, now = self._value(self.before, id_), self._value(self.now, id_)
        kind = TextChangeKind.CHANGED
        if before is None or now is None:
            kind = TextChangeKind.NEW if before is None else TextChangeKind.REMOVED
        number = None if now is None else self.documents.number(id_)
        if number is not None:
            return ChangedDocument.of(self.documents[number], change=kind)
        level = (now or before or Level.FILE.value).partition(":")[0]
        return ChangedDocument.gone(self.index.repo, id_, level, change=kind)

    def known_after(self, shown: Sequence[str]) -> View:
        """The view of a caller who was shown some of the differing documents."""
        unshown = {*self.differing}.difference(shown)
        views = ((id_, self.before if id_ in unshown else self.now) for id_ in self.ids)
        return {id_: view[id_] for id_, view in views if id_ in view}

    def _value(self, view: View, id_: str) -> str | None:
        if id_ in view:
            return view[id_]
        row = self.index.row(id_)
        return None if row is None else _value(self.index.level_of(row), self.index.document(row)["content_hash"])


def tree_edits(call: ToolContext, index: PublishedIndex, number: int = 0) -> TreeEdits:
    """How the caller's work tree differs from the view with a number."""
    before = read_view(call.catalogue.layout.tree_views(index.repo), number)
    if before is None:
        call.tell(
            "what the cursor knew of the work tree is not kept any more: all that differs from the index is listed"
        )
        before = AS_PUBLISHED
    now = view_of(call.trees.tree(index), index)
    return TreeEdits(index, call.documents(index.repo), before, before if now is None else now)


def read_history(call: ToolContext, index: PublishedIndex) -> "ChangeHistory":
    # Importing takes a third of a second, for which no other tool waits.
    from codesum_pipeline.foundation.store.tables import tables_of
    from codesum_pipeline.texts.summaries.text_history import without_compactions

    rows = tables_of(call.catalogue.layout).read_or_empty("document_history", index.repo, columns=_COLUMNS)
    table = without_compactions(rows)
    if hidden := call.catalogue.hidden_folders(index.repo, with_left_out=True):
        ids = table.column("id").to_pylist()
        table = table.filter([not is_below(f"{id_}/", hidden) for id_ in ids])
    lists = {name: table.column(name).to_pylist() for name in ("sequence", "id", "run_id", "event", "commit")}
    return ChangeHistory(index, table, *lists.values())


class ChangeHistory(Struct, frozen=True):
    """Rows in the order of their writing; of a hundred thousand, only columns that are read whole become lists."""

    index: PublishedIndex
    table: Any
    sequences: Sequence[int]
    ids: Sequence[str]
    runs: Sequence[str]
    events: Sequence[str]
    commits: Sequence[str]

    def before_last_run(self) -> int:
        """The last row before the newest run that changed a text."""
        changing = [place for place, event in enumerate(self.events) if event != HistoryEvent.SAME_TEXT]
        first = next((place for place in changing if self.runs[place] == self.runs[changing[-1]]), None)
        return 0 if first is None else self.sequences[first] - 1

    def changes(self, after: int) -> "TextChanges":
        """The changes after a row that are in the published version."""
        begin = bisect_right(self.sequences, after)
        exists: dict[str, bool] = {}
        for place in range(begin):
            exists[self.ids[place]] = self.events[place] != HistoryEvent.REMOVED
        known = frozenset(id_ for id_, is_there in exists.items() if is_there)
        later = [place for place in range(begin, len(self.ids)) if self.events[place] != HistoryEvent.SAME_TEXT]
        end = self._published_until(later)
        last = {self.ids[place]: place for place in later if place < end}
        places = [place for id_, place in last.items() if self.events[place] == HistoryEvent.WRITTEN or id_ in known]
        return TextChanges(self, known, sorted(places), self.sequences[end - 1] if end else 0)

    def value(self, name: str, place: int) -> Any:
        return self.table.column(name)[place].as_py()

    def _published_until(self, places: Sequence[int]) -> int:
        """The place of the first row of an unpublished run: a run is published as a whole."""
        by_run: dict[str, list[int]] = {}
        for place in {self.ids[place]: place for place in places}.values():
            by_run.setdefault(self.runs[place], []).append(place)
        unpublished = {run for run, rows in by_run.items() if not all(map(self._is_published, rows[-_ROWS_COMPARED:]))}
        return next((place for place in places if self.runs[place] in unpublished), len(self.ids))

    def _is_published(self, place: int) -> bool:
        row = self.index.row(self.ids[place])
        if self.events[place] == HistoryEvent.REMOVED:
            return row is None
        return row is not None and bool(self.index.document(row)["text_hash"] == self.value("text_hash", place))


class TextChanges(Struct, frozen=True):
    """The last change of each document after some row: `places` in the history, oldest first. `known` are the documents
    that existed before; all rows up to `until` are published."""

    history: ChangeHistory
    known: frozenset[str]
    places: Sequence[int]
    until: int

    def change(self, place: int) -> ChangedDocument:
        history, index, id_ = self.history, self.history.index, self.history.ids[place]
        row, cause = index.row(id_), history.value("cause", place)
        facts: dict[str, Any] = {
            "cause": "" if cause in (None, Cause.NEW) else str(cause),
            "commit": history.commits[place],
            "written_at": history.value("written_at", place),
        }
        if row is None or history.events[place] == HistoryEvent.REMOVED:
            level, kind = history.value("level", place), TextChangeKind.REMOVED
            return ChangedDocument.gone(index.repo, id_, level, change=kind, **facts)
        kind = TextChangeKind.REWRITTEN if id_ in self.known else TextChangeKind.NEW
        return ChangedDocument.of(IndexedDocument(index, row), change=kind, **facts)


def _begin(arguments: ChangeArguments, index: PublishedIndex, history: ChangeHistory) -> tuple[int, int]:
    """The row of the history after which changes are listed, and the number of the known view of the work tree."""
    if arguments.cursor:
        sequence, number = (*Cursor.read(arguments.cursor, _TOOL, {"repo": index.repo}).at, 0)[:2]
        return sequence, number
    if not arguments.since:
        return history.before_last_run(), 0
    since = arguments.since.lower()
    last = next((k for k in range(len(history.ids) - 1, -1, -1) if history.commits[k].startswith(since)), None)
    if last is not None:
        return history.sequences[last], 0
    commits = list(dict.fromkeys(commit[:SHORT_COMMIT] for commit in reversed(history.commits)))[:_COMMITS_NAMED]
    raise ConfigurationError(
        f"since {shorten_text(arguments.since)!r}: no text of {index.repo} was written at such a commit; "
        f"the last ones are: {', '.join(commits)}"
    )
