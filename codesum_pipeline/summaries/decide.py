"""Which texts are written again, and why: one comparison, the same for every level.

A text is a function of its id, its writer and what that writer is shown. The
`summary_hash` covers the last two, so a text is kept exactly where id and
`summary_hash` stand as they did; the rest of the comparison only names the cause.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow.compute as pc

from codesum_pipeline.model.documents import Cause, ChildPair, HistoryEvent, Level, WrittenBy
from codesum_pipeline.store.rows import from_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that must exist, and the hashes of what its writer is shown."""

    id: str
    writer: str
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One text that is written, why, and the ids that caused it."""

    id: str
    cause: Cause
    cause_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Origin:
    id: str
    children: tuple[ChildPair, ...]


class LastTexts:
    """What the texts of one level were written from in the last build."""

    def __init__(self, workspace: Workspace, level: Level) -> None:
        self._workspace = workspace
        self._level = level
        names = ["id", "own_hash", "summary_hash"]
        table = workspace.tables.read_or_empty(texts_table(level), workspace.key, columns=names)
        ids, own_hashes, summary_hashes = (table.column(name).to_pylist() for name in names)
        self._hashes: dict[str, tuple[str, str]] = dict(
            zip(ids, zip(own_hashes, summary_hashes, strict=True), strict=True)
        )

    def decide(self, wanted: Sequence[Wanted], *, force: bool) -> list[Rewrite]:
        """What to write of `wanted`, sorted by id; the rest is kept."""
        rewrites = []
        for found in wanted:
            before = self._hashes.get(found.id)
            if before is None or before[1] != found.summary_hash:
                rewrites.append(self._rewrite(found, before))
            elif force:
                rewrites.append(Rewrite(found.id, Cause.FORCED, (found.id,)))
        return sorted(rewrites, key=lambda rewrite: rewrite.id)

    @property
    def ids(self) -> Collection[str]:
        """The documents that have a text."""
        return self._hashes.keys()

    def removed(self, wanted_ids: Collection[str]) -> list[str]:
        """The ids that have a text and must not exist any more."""
        return sorted(self._hashes.keys() - set(wanted_ids))

    def _rewrite(self, wanted: Wanted, before: tuple[str, str] | None) -> Rewrite:
        """What a document itself shows outranks its children as a cause, since it would have caused it alone."""
        own = (wanted.id,)
        if before is None:
            # A text that had been removed and returns unchanged.
            is_restored = (wanted.id, wanted.summary_hash) in self._ever_written
            return Rewrite(wanted.id, Cause.RESTORED if is_restored else Cause.NEW, own)
        # Above functions a model is shown other metadata than the extractive writer: their hashes do not compare.
        turned = self._turned(wanted)
        if turned and self._level is not Level.FUNCTION:
            return Rewrite(wanted.id, turned, own)
        if before[0] != wanted.own_hash:
            return Rewrite(wanted.id, Cause.CONTENT, own)
        # The children that came, went or read otherwise.
        children = self._children[wanted.id]
        changed = {(c.id, c.text_hash) for c in wanted.children} ^ {(c.id, c.text_hash) for c in children}
        if not changed:
            return Rewrite(wanted.id, turned or self._other_writer(wanted), own)
        return Rewrite(wanted.id, Cause.CHILD, tuple(sorted({id_ for id_, _ in changed})))

    def _turned(self, wanted: Wanted) -> Cause | None:
        """Whether a model's text takes the place of another writer's, or the other way round."""
        was, is_ = (_is_model(writer) for writer in (self._writers[wanted.id], wanted.writer))
        if was == is_:
            return None
        return Cause.UPGRADED if is_ else Cause.DOWNGRADED

    def _other_writer(self, wanted: Wanted) -> Cause:
        return Cause.PROMPT if _is_model(wanted.writer) else Cause.SETTINGS

    @cached_property
    def _writers(self) -> dict[str, str]:
        names = ["id", "writer"]
        table = self._workspace.tables.read(texts_table(self._level), self._workspace.key, columns=names)
        return dict(zip(*(table.column(name).to_pylist() for name in names), strict=True))

    @cached_property
    def _children(self) -> dict[str, tuple[ChildPair, ...]]:
        table = self._workspace.tables.read(texts_table(self._level), self._workspace.key, columns=["id", "children"])
        return {row.id: row.children for row in from_table(table, _Origin)}

    @cached_property
    def _ever_written(self) -> set[tuple[str, str]]:
        names = ["id", "summary_hash", "level", "event"]
        table = self._workspace.tables.read_or_empty("document_history", self._workspace.key, columns=names)
        of_level = pc.equal(table.column("level"), self._level.value)
        rows = table.filter(pc.and_(of_level, pc.equal(table.column("event"), HistoryEvent.WRITTEN.value)))
        return set(zip(rows.column("id").to_pylist(), rows.column("summary_hash").to_pylist(), strict=True))


def _is_model(writer: str) -> bool:
    return writer.startswith(f"{WrittenBy.LLM}/")
