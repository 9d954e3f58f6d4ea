"""`status`: which repositories are indexed, at which commit, how far behind, and what changed last."""

from typing import Annotated

from pydantic import BaseModel, Field

from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.store.lease import current_holder
from codesum_pipeline.tools.answers import Names, Page, PagedArguments
from codesum_pipeline.tools.call import Call
from codesum_pipeline.tools.changes import Change, before_last_run, change_line, changes_after, read_history
from codesum_pipeline.tools.paging import fitting
from codesum_pipeline.tools.published_state import age, moment
from codesum_pipeline.tools.text import indented, with_frame

_TOOL = "status"


class StatusArguments(PagedArguments):
    """Of which repositories, and how much of what changed."""

    repos: Names = []
    limit: int = Field(20, ge=1, le=200)
    changes: Annotated[int, Field(ge=0, le=100, description="Of one repository: how many last changes")] = 10


class RepositoryStatus(BaseModel):
    """One repository; without an index, `state` says why."""

    repo: str
    state: str
    behind: int | None = None
    commit: str = ""
    published_at: str = ""
    levels: dict[str, int] = {}
    embedder: str = ""


class StatusPage(Page):
    """Repositories by key, and of a single one what changed last."""

    repositories: list[RepositoryStatus] = []
    changes: list[Change] = []
    more_changes: int = 0


def status(call: Call, asked: StatusArguments) -> StatusPage:
    """Those of the caller's folder, else all."""
    entries = _entries(call, asked)
    start = (call.start(_TOOL, asked, []) or (0,))[0]
    found = [_status(call, entry) for entry in entries[start : start + asked.limit]]
    kept = fitting(((each, _line(each)) for each in found), limit=asked.limit, tokens=asked.tokens)
    end = start + len(kept)
    changes: list[Change] = []
    left = 0
    opened = [entry for entry in entries if call.catalogue.is_published(entry.key)]
    if asked.changes and len(opened) == 1 and kept and kept[0].commit:
        changes, left = _changes(call, call.indexes([opened[0].key])[0], asked)
    return StatusPage(
        as_of=call.as_of(each.repo for each in kept if each.commit),
        notes=call.notes,
        shown=len(kept),
        total=len(entries),
        next=call.next(_TOOL, asked, [], (end,)) if kept and end < len(entries) else None,
        repositories=kept,
        changes=changes,
        more_changes=left,
    )


def status_text(page: StatusPage) -> str:
    lines = [_line(each) for each in page.repositories] or ["no repository is registered: run `codesum index PATH|URL`"]
    if page.changes:
        lines += ["what the last build changed:", *indented(map(change_line, page.changes))]
    if page.more_changes:
        lines.append(f"{page.more_changes:,} more changes: ask with a higher `changes`, or watch_changes")
    return with_frame(page, lines, what="repositories")


def _entries(call: Call, asked: StatusArguments) -> list[RepositoryEntry]:
    if asked.repos:
        return call.entries(asked.repos)
    keys = call.catalogue.keys_of_folder(call.folder)
    return [entry for entry in call.catalogue.entries(call.tell) if entry.key in keys or not keys]


def _status(call: Call, entry: RepositoryEntry) -> RepositoryStatus:
    """One that cannot be read is told, and does not silence the others."""
    published = call.catalogue.layout.published(entry.key)
    try:
        holder = current_holder(call.catalogue.layout.state(entry.key))
        building = "being built, " if holder and not holder.is_gone() else ""
        if not call.catalogue.is_published(entry.key):
            return RepositoryStatus(repo=entry.key, state=f"{building}never indexed: run `codesum index {entry.key}`")
        (index,) = call.indexes([entry.key])
        published_at = published.lstat().st_mtime
    except (BrokenStore, OSError) as error:
        return RepositoryStatus(repo=entry.key, state=f"broken: {error}")
    (stands,) = call.as_of([entry.key])
    manifest = index.version.manifest
    return RepositoryStatus(
        repo=entry.key,
        state=f"{building}{str(stands).partition(', ')[2]}, published {age(published_at)} ago",
        behind=stands.behind,
        commit=stands.commit,
        published_at=moment(published_at),
        levels={level.value: manifest["counts"]["levels"][level] for level in LEVELS},
        embedder=manifest["embedder"]["name"],
    )


def _line(each: RepositoryStatus) -> str:
    counts = ", ".join(f"{number:,} {level}" for level, number in each.levels.items())
    return f"{each.repo}  {each.state}" + (f"  {counts}" if counts else "")


def _changes(call: Call, index: PublishedIndex, asked: StatusArguments) -> tuple[list[Change], int]:
    """The last ones, and how many are left out."""
    history = read_history(call, index.repo)
    found = [change for _, change in changes_after(index, history, before_last_run(history)).rows]
    found.reverse()
    kept = fitting(((each, change_line(each)) for each in found), limit=asked.changes, tokens=asked.tokens // 2)
    return kept, len(found) - len(kept)
