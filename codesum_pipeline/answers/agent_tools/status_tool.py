"""`status`: the repositories, the commits of their indexes, how far these are behind, and the last changes."""

from itertools import chain
from typing import Annotated

from pydantic import BaseModel, Field

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import AsOf
from codesum_pipeline.answers.agent_tools.changes_tool import ChangedDocument, read_history, tree_edits
from codesum_pipeline.answers.agent_tools.skipped_files import read_skipped, told_skipped
from codesum_pipeline.answers.agent_tools.submodule_answers import read_submodules, told_left_out
from codesum_pipeline.answers.agent_tools.tool_answers import (
    AnswerPage,
    ItemSlice,
    Names,
    PagedArguments,
    indent_lines,
    make_section,
    take_fitting,
)
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.errors import BrokenStore, MissingTable
from codesum_pipeline.foundation.data_model.moments import age_in_words, moment_at
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import current_holder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

# About as long as a line without the key.
_LONG_LINE = " " * 100


class StatusArguments(PagedArguments):
    """Repositories, and how many changes are shown."""

    repos: Names = []
    limit: int = Field(20, ge=1, le=200)
    changes: Annotated[int, Field(ge=0, le=100, description="For one repository: how many of its last changes")] = 10


class RepositoryStatus(BaseModel):
    """One repository; without an index, `state` says why."""

    repo: str
    state: str
    behind: int | None = None
    commit: str = ""
    published_at: str = ""
    levels: dict[str, int] = {}
    embedder: str = ""
    skipped: dict[str, int] = {}
    read_as: dict[str, int] = {}
    unread: int = 0


class StatusPage(AnswerPage):
    """Repositories by key, and the last changes of a single one."""

    repositories: list[RepositoryStatus] = []
    changes: list[ChangedDocument] = []
    more_changes: int = 0

    def text(self) -> str:
        lines = []
        for each in self.repositories:
            counts = ", ".join(f"{number:,} {level}" for level, number in each.levels.items())
            skipped = f"skipped: {told_skipped(each.skipped)}" if each.skipped else ""
            read_as = "; ".join(f"{count_noun(number, 'file')} read as {name}" for name, number in each.read_as.items())
            unread = f"{count_noun(each.unread, 'definition')} not read" if each.unread else ""
            lines.append("  ".join(filter(None, (each.repo, each.state, counts, skipped, unread))))
            lines += indent_lines([read_as]) if read_as else []
        if not lines and not self.notes:
            lines = ["no repository is registered: run `codesum index PATH|URL`"]
        for heading, is_of_tree in (("what the work tree changed:", True), ("what the last build changed:", False)):
            lines += make_section(
                heading, (change.line() for change in self.changes if change.is_of_tree is is_of_tree)
            )
        if self.more_changes:
            lines.append(f"{self.more_changes:,} more changes: ask with a higher `changes`, or watch_changes")
        return self.framed(lines, what="repositories")


def status(call: ToolContext, arguments: StatusArguments) -> StatusPage:
    """The status of the named repositories, else of those of the caller's folder, else of all."""
    entries = _entries(call, arguments)
    part: ItemSlice[RepositoryEntry] = call.part("status", arguments, [], entries, lambda entry: entry.key + _LONG_LINE)
    opened = {entry.key: _opened(call, entry) for entry in part.items}
    indexes = [found for found in opened.values() if isinstance(found, PublishedIndex)]
    as_of = {each.repo: each for each in call.as_of(index.repo for index in indexes)}
    for key in as_of:
        hidden = call.catalogue.hidden_folders(key)
        if left_out := told_left_out(key, read_submodules(call.catalogue.layout, key, hidden=hidden)):
            call.tell(f"{key}: {left_out}")
    changes: list[ChangedDocument] = []
    more = 0
    if arguments.changes and len(indexes) == len(entries) == 1:
        index = indexes[0]
        edits, history = tree_edits(call, index), read_history(call, index)
        texts = history.changes(history.before_last_run())
        places = [place for place in texts.places if history.ids[place] not in edits.ids]
        rows = chain(map(edits.change, edits.differing), map(texts.change, reversed(places)))
        kept = take_fitting(rows, ChangedDocument.line, limit=arguments.changes, tokens=arguments.tokens // 2)
        changes, more = kept, len(edits.differing) + len(places) - len(kept)
    return StatusPage(
        as_of=list(as_of.values()),
        repositories=[_status(call, key, found, as_of.get(key)) for key, found in opened.items()],
        changes=changes,
        more_changes=more,
        **part.frame,
    )


def _entries(call: ToolContext, arguments: StatusArguments) -> list[RepositoryEntry]:
    if arguments.repos:
        return call.entries(arguments.repos)
    if waiting := call.first_index():
        call.tell(str(waiting))
    keys = call.keys_here()
    return [entry for entry in call.catalogue.entries(call.tell) if entry.key in keys or not keys]


def _opened(call: ToolContext, entry: RepositoryEntry) -> PublishedIndex | str:
    """The index of a repository, or the reason why there is none or it cannot be read."""
    try:
        return call.index(entry.key)
    except MissingTable:
        return f"never indexed: {call.catalogue.way_to_first(entry.key)}"
    except (BrokenStore, OSError) as error:
        return f"broken: {error}"


def _status(call: ToolContext, key: str, found: PublishedIndex | str, as_of: AsOf | None) -> RepositoryStatus:
    layout = call.catalogue.layout
    try:
        holder = current_holder(layout.state(key))
    except BrokenStore as error:
        call.tell(f"{key}: {error}")
        holder = None
    building = "being built, " if holder and not holder.is_gone() else ""
    if isinstance(found, str) or as_of is None:
        return RepositoryStatus(repo=key, state=f"{building}{found}")
    files = read_skipped(layout, key, hidden=call.catalogue.hidden_folders(key))
    manifest, published_at = found.version.manifest, layout.published(key).lstat().st_mtime
    return RepositoryStatus(
        repo=key,
        state=f"{building}{as_of.standing}, published {age_in_words(published_at)} ago",
        behind=as_of.behind,
        commit=as_of.commit,
        published_at=moment_at(published_at),
        levels={level.value: manifest["counts"]["levels"][level] for level in LEVELS},
        embedder=manifest["embedder"]["name"],
        skipped=files.counts(),
        read_as=dict(files.read_as),
        unread=found.unread_count,
    )
