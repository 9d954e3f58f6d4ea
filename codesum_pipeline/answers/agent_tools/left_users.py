"""Who still uses a definition under the name that it had: it was removed, renamed or moved, and these did not change.

A graph of the version without the definition cannot say so. The published index is often of an earlier version: what
used the definition there, and is the same now, uses nothing of that name that is known now.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.changed_symbols import SymbolChange, SymbolChangeKind
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import ENTRIES, dotted_parts
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.indexes.file_formats.index_files import KINDS
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

_WORD = re.compile(r"\w+")
_EXPORTING = frozenset({"import", "from", "export", "exports", "use", "require"})


class LeftUsers(Struct, eq=False, dict=True):
    """`index` is the published one; `documents` are those of the version that answers."""

    index: PublishedIndex
    documents: JoinedDocuments
    sources: SourceReader
    changes: Sequence[SymbolChange]
    _known: dict[str, list[int]] = field(default_factory=dict)

    def of(self, change: SymbolChange) -> list[int]:
        """The documents that use what a change took away, ascending; none where the old name is kept."""
        if change.id not in self._known:
            self._known[change.id] = self._of(change)
        return self._known[change.id]

    def _of(self, change: SymbolChange) -> list[int]:
        before = change.before
        if change.moved_file:
            ids = [] if _is_imported_as(change.moved_file, change.path) else self._inside(change.moved_file)
        elif before is None or (change.after and change.after.id == before.id) or self.is_kept(before, change.after):
            ids = []
        else:
            ids = [before.id]
        found = {user for id_ in ids for user in self._users_of(id_)}
        return sorted(one for one in found if self.documents[one].path != change.moved_file)

    def _inside(self, path: str) -> list[str]:
        """The ids of a file of the published index and of its definitions."""
        row = self.index.row(path)
        inside = [] if row is None else (self.index.arrays["file_row"] == row).nonzero()[0].tolist()
        return [path, *(self.index.ids[one] for one in inside)]

    def _users_of(self, id_: str) -> Iterator[int]:
        number = self.documents.number(id_)
        if number is None:
            yield from self._users_before(id_)
        else:
            # The version that answers is the one before.
            yield from (user for kind in KINDS for user in self.documents.uses.users_of(number, kind))

    def gone(self, change: SymbolChange) -> list[str]:
        """The ids by which other repositories may know what a change took away."""
        was, documents = change.moved_file, self.documents
        if change.before or not was or _is_imported_as(was, change.path):
            return [change.before.id] if change.before else []
        inside = (
            (path, one) for path in (was, change.path)
            if (file := documents.number(path)) is not None for one in documents.inside_file(file)
        )  # fmt: skip
        return sorted({f"{was}{documents[one].id.removeprefix(path)}" for path, one in inside})

    def _users_before(self, id_: str) -> Iterator[int]:
        row = self.index.row(id_)
        if row is None:
            return
        for user in {user for kind in KINDS for user in self.index.uses.users_of(row, kind)}:
            number = self.documents.number(self.index.ids[user])
            if number is not None and self._is_same(user, number) and not self._uses_another(number, own_name(id_)):
                yield number

    def _is_same(self, row: int, number: int) -> bool:
        return bool(self.index.document(row)["content_hash"] == self.documents[number].document()["content_hash"])

    def _uses_another(self, number: int, name: str) -> bool:
        """Whether a document uses something else of a name, here or from outside of the repository."""
        documents = self.documents
        if any(number in documents.uses.users_of(one, kind) for one in documents.named_exactly(name) for kind in KINDS):
            return True
        return any(dotted_parts(each)[-1:] == [name] for each in documents.outside(number))

    def is_kept(self, before: Symbol, after: Symbol | None) -> bool:
        """Whether the old name has a value now (`old = new`), or its file brings it in from where it went."""
        path, name = before.file_path, before.name
        return name in self._given_values.get(path, ()) or (
            after is not None and after.file_path != path and self._brings_in(path, name)
        )

    @cached_property
    def _given_values(self) -> Mapping[str, Collection[str]]:
        """The names to which the code of each file gives other values."""
        return {change.path: change.names for change in self.changes if change.kind is SymbolChangeKind.CODE}

    def _brings_in(self, path: str, name: str) -> bool:
        number = self.documents.number(path)
        text = "" if number is None else self.sources.text(self.documents.repo, path) or ""
        for line in text.split("\n"):
            words = _WORD.findall(line)
            if name in words and (words == [name] or not _EXPORTING.isdisjoint(words)):
                return True
        return False


def _is_imported_as(before: str, after: str) -> bool:
    """Whether a moved file is imported as before: its ending is another, or it became a folder with an entry."""
    plain = (PurePosixPath(path) for path in (before, after))
    old, new = (one.parent if one.name.partition(".")[0] in ENTRIES else one.with_suffix("") for one in plain)
    return old == new
