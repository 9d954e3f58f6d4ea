"""The uses in a work tree that differs from its index, as far as they are certain without resolving them anew.

- The uses of unchanged files remain, unless their target is gone from the tree.
- The uses of a changed document remain where its code is the same, or still has the name of the used document.
- Uses among changed files are those of their own index, without methods whose names unchanged files have, too.
- A name that is unknown among changed files means a document of an unchanged file where only one fits.

No other use is taken over, so that none is invented; the others are found once the tree is settled. A compiler's index
confirms a use only where neither the file nor one that it imports has changed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR, module_path_of, without_suffix
from codesum_pipeline.indexes.file_formats.index_files import KINDS, Uses
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex

_WORD = re.compile(r"\w+")
_SEPARATORS = re.compile(r"[./:\\]+")
# Files that are called by the name of their folder.
ENTRIES = frozenset({"__init__", "index", "mod", "lib", "main"})
# Methods that are called by the name of their class.
CONSTRUCTORS = frozenset({"constructor", "initialize", "new", "init"})
_SUPER = "super"
# A class and its method.
_LONGEST_QUALIFIED = 2


def qualified_parts(id_: str) -> list[str]:
    """The names behind the path of an id; empty for a file or folder."""
    return without_suffix(id_).split(SEPARATOR)[1:]


def names_of(id_: str) -> frozenset[str]:
    """Words that identify uses: a text that uses the document has at least one of them."""
    parts = qualified_parts(id_)
    if not parts:
        path = PurePosixPath(id_)
        return frozenset({path.name.partition(".")[0], path.parent.name})
    last = parts[-1]
    is_special = last.startswith("__") or last in CONSTRUCTORS
    return frozenset({last, parts[-2], _SUPER} if is_special and len(parts) > 1 else {last})


def dotted_parts(name: str) -> list[str]:
    """The parts of a name as code writes it: `shop.money.round_cents`, `example.com/shop/money.Cents`."""
    return [part for part in _SEPARATORS.split(name) if part]


def is_module(path: str, module: Sequence[str], *, packages: frozenset[str]) -> bool:
    """Whether a file is the module of this dotted name, counted from a folder that is no package itself. `packages` are
    the folders of packages. A single name is counted from the root: `json` is not `tools/json.py`."""
    plain = PurePosixPath(path).with_suffix("")
    parts = [*plain.parts[:-1]] if plain.name in ENTRIES else [*plain.parts]
    above, end = parts[: -len(module)], parts[-len(module) :]
    is_below_package = len(module) == 1 or ("/".join(above) or ROOT_MODULE) in packages
    return end == list(module) and not (above and is_below_package)


GONE = -1
_CALL, _IMPORT, _INHERIT = map(KINDS.index, (EdgeKind.CALL, EdgeKind.IMPORT, EdgeKind.INHERIT))
_RESOLVED_BY_NAME = frozenset({_CALL, KINDS.index(EdgeKind.REFERENCE)})
_KIND_OF = {Level.FUNCTION: _CALL, Level.CLASS: _INHERIT}

# The user, the used document, and the kind as a place in KINDS.
Edge = tuple[int, int, int]


class JoinedUses(Struct, frozen=True):
    """Uses between documents that are numbered through all parts. `now[k]` is the document in place of the k-th one:
    the other part's where this one hides it, or GONE. `lost[k]` are ids that document k used at the commit and that the
    tree lacks. `internal[k]` are names of the repository that the index of changed files takes for external. `gone` are
    the ids of the commit that the tree lacks."""

    uses: Uses
    now: Array
    lost: Mapping[int, Sequence[str]] = field(default_factory=dict)
    internal: Mapping[int, frozenset[str]] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()


def join_uses(parts: Sequence[PublishedIndex], sources: SourceReader) -> JoinedUses:
    """The uses of one part as they are; for an index and one of changed files, those that hold in the tree."""
    base, *others = parts
    if base.visible is None:
        return JoinedUses(base.uses, np.arange(len(base)))
    if others:
        return _JoinedPair(base, others[0], sources).joined()
    now, edges = np.where(base.visible, np.arange(len(base)), GONE), _edges(base.uses)
    moved = _moved(edges, now)
    is_there = (moved[:2] != GONE).all(axis=0)
    uses = _uses(moved[:, is_there], len(base), _still_trusted(base, edges, moved)[is_there])
    return JoinedUses(uses, now, _lost(base, edges, moved), gone=_gone(base, now))


class _JoinedPair(Struct, eq=False, dict=True):
    """An index without the differing files, and the index of these. While they are joined, it keeps what it has read
    of both."""

    base: PublishedIndex
    small: PublishedIndex
    sources: SourceReader
    _documents: dict[int, dict[str, Any]] = field(default_factory=dict)

    def joined(self) -> JoinedUses:
        edges = _edges(self.base.uses)
        moved = _moved(edges, self.now)
        is_there = (moved[:2] != GONE).all(axis=0)
        is_unchanged = moved[0] < len(self.base)
        stands = is_there & is_unchanged
        used_before: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        carried = set[Edge]()
        for edge in moved[:, is_there & ~is_unchanged].T.tolist():
            user, used, kind = edge
            if used < len(self.base):
                last = (qualified_parts(self._at(used).id) or [""])[-1]
                used_before[self._at(user).path][last].add(used)
            if self._still_uses(user, used):
                carried.add((user, used, kind))
        own = {(user, used, kind) for user, used, kind in _edges(self.small.uses, len(self.base)).T.tolist()}
        imports = {(self._at(user).path, self._at(used).path) for user, used, kind in own if kind == _IMPORT}
        sure = {edge for edge in own if edge in carried or self._is_sure(*edge, imports)}
        named, internal = self._named(used_before)
        changed = np.array(sorted(carried | sure | named), dtype=np.int64).reshape(-1, 3).T
        trusted = np.zeros(stands.sum() + changed.shape[1], dtype=np.bool_)
        trusted[: stands.sum()] = _still_trusted(self.base, edges, moved)[stands]
        found = np.concatenate((moved[:, stands], changed), axis=1)
        uses = _uses(found, len(self.base) + len(self.small), trusted)
        lost = _lost(self.base, edges, moved)
        return JoinedUses(uses, self.now, lost, internal, _gone(self.base, self.now))

    @cached_property
    def now(self) -> Array:
        """The document in place of each: a folder of both parts counts once, in the part that shows it."""
        base, small, size = self.base, self.small, len(self.base)
        found = np.arange(size + len(small))
        assert base.visible is not None and small.visible is not None
        by_id = {small.ids[row]: size + row for row in np.flatnonzero(small.visible).tolist()}
        for row in np.flatnonzero(~base.visible).tolist():
            found[row] = by_id.get(base.ids[row], GONE)
        for row in np.flatnonzero(~small.visible).tolist():
            kept = base.row(small.ids[row])
            found[size + row] = GONE if kept is None else kept
        return found

    @cached_property
    def _before(self) -> Mapping[str, int]:
        """The hidden rows of the base by their ids."""
        assert self.base.visible is not None
        return {self.base.ids[row]: row for row in np.flatnonzero(~self.base.visible).tolist()}

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return self.sources.read(self.small, [self.small.ids[row] for row in self.small.rows_at(Level.FILE)])

    @cached_property
    def _packages(self) -> frozenset[str]:
        files = (index.ids[row] for index in (self.base, self.small) for row in index.rows_at(Level.FILE))
        return frozenset(module_path_of(path) for path in files if path.endswith("/__init__.py"))

    def _at(self, number: int) -> IndexedDocument:
        size = len(self.base)
        return IndexedDocument(self.base, number) if number < size else IndexedDocument(self.small, number - size)

    def _still_uses(self, user: int, used: int) -> bool:
        """Whether a changed file's document has the same code as before, or still names the used document."""
        before, now = self._before.get(self._at(user).id), self._document(user)
        above = self._before.get(self._at(user).id.rpartition(SEPARATOR)[0])
        if above is not None and self._at(above).level != self._at(int(self.now[above])).level:
            # Names mean something else in what is no class any more.
            return False
        if before is not None and self._document(before)["content_hash"] == now["content_hash"]:
            return True
        lines = self._texts.get(self._at(user).path, "").split("\n")
        if now["start_line"] is not None:
            lines = lines[now["start_line"] - 1 : now["end_line"]]
        return not names_of(self._at(used).id).isdisjoint(_WORD.findall("\n".join(lines)))

    def _is_sure(self, user: int, used: int, kind: int, imports: set[tuple[str, str]]) -> bool:
        """Whether a use between changed documents would be found in the whole tree, too."""
        parts, is_same_file = qualified_parts(self._at(used).id), self._at(user).path == self._at(used).path
        if kind not in _RESOLVED_BY_NAME or not parts:
            return True
        if not any(self.base.shows(row) for row in self.base.names.rows_named(parts[-1])):
            return True
        if len(parts) == 1:
            return is_same_file or (self._at(user).path, self._at(used).path) in imports
        return self._at(user).id.startswith(self._at(used).id.rpartition(SEPARATOR)[0] + SEPARATOR)

    def _named(self, used_before: Mapping[str, Mapping[str, set[int]]]) -> tuple[set[Edge], dict[int, frozenset[str]]]:
        found = set[Edge]()
        internal: dict[int, frozenset[str]] = {}
        assert self.small.visible is not None
        for row in np.flatnonzero(self.small.visible).tolist():
            level, number = self.small.level_of(row), len(self.base) + row
            names = [name for name in self._document(number)["dependencies"] if self.small.row(name) is None]
            ours = set[str]()
            for name in names:
                last = (dotted_parts(name) or [""])[-1]
                target = self._meant(name, used_before.get(self._at(number).path, {}).get(last, ()))
                if target is not None and level in _KIND_OF:
                    found.add((number, target, _KIND_OF[level]))
                    file = len(self.base) + int(self.small.arrays["file_row"][row])
                    found.add((file, int(self.base.arrays["file_row"][target]), _IMPORT))
                if target is not None or self._is_ours(name, number):
                    ours.add(name)
            internal[number] = frozenset(ours)
        return found, internal

    def _meant(self, name: str, used_before: Iterable[int]) -> int | None:
        """The unchanged document that a dotted name means: one with its last name that the file used before, or the one
        at its whole path; None where several fit."""
        parts, of_used = dotted_parts(name), {used: qualified_parts(self._at(used).id) for used in used_before}
        ending = {used: len(names) for used, names in of_used.items() if names and parts[-len(names) :] == names}
        best = [used for used, count in ending.items() if count == max(ending.values())]
        if not best:
            best = [
                row
                for count in range(1, min(_LONGEST_QUALIFIED, len(parts) - 1) + 1)
                for row in self.base.names.rows_named(".".join(parts[-count:]))
                if self.base.shows(row)
                and qualified_parts(self.base.ids[row]) == parts[-count:]
                and is_module(self._at(row).path, parts[:-count], packages=self._packages)
            ]
        return best[0] if len(best) == 1 else None

    def _is_ours(self, name: str, number: int) -> bool:
        """Whether a name is a file or folder of the repository; a name that was external before remains so."""
        before = self._before.get(self._at(number).id)
        if before is not None and name in self._document(before)["dependencies"]:
            return False
        path = "/".join(dotted_parts(name))
        return any(self.base.row(each) is not None for each in (path, f"src/{path}", f"{path}.py", f"src/{path}.py"))

    def _document(self, number: int) -> dict[str, Any]:
        if number not in self._documents:
            self._documents[number] = self._at(number).document()
        return self._documents[number]


def _edges(uses: Uses, start: int = 0) -> Array:
    """Three rows of numbers: users, used documents, and kinds."""
    used = np.repeat(np.arange(len(uses)), np.diff(uses.indptr))
    return np.stack((uses.users.astype(np.int64) + start, used + start, uses.kinds.astype(np.int64)))


def _moved(edges: Array, now: Array) -> Array:
    return np.stack((now[edges[0]], now[edges[1]], edges[2]))


def _gone(base: PublishedIndex, now: Array) -> frozenset[str]:
    return frozenset(base.ids[row] for row in np.flatnonzero(now[: len(base)] == GONE).tolist())


def _still_trusted(base: PublishedIndex, edges: Array, moved: Array) -> Array:
    """Which uses of a base are confirmed by a compiler's index, and not doubtful in the tree."""
    files = base.arrays["file_row"][edges[0]]
    is_changed = (moved[:2] != edges[:2]).any(axis=0)
    is_doubtful = np.isin(files, files[is_changed & (edges[2] == _IMPORT)])
    found: Array = base.uses.trusted & ~is_changed & ~is_doubtful
    return found


def _uses(edges: Array, size: int, trusted: Array) -> Uses:
    order = np.argsort(edges[1], kind="stable")
    ordered = edges[:, order]
    return Uses(ordered[0], ordered[2], np.searchsorted(ordered[1], np.arange(size + 1)), trusted[order])


def _lost(base: PublishedIndex, edges: Array, moved: Array) -> dict[int, list[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    is_lost = (moved[1] == GONE) & (moved[0] == edges[0])
    for user, used in zip(edges[0][is_lost].tolist(), edges[1][is_lost].tolist(), strict=True):
        found[user].add(base.ids[used])
    return {user: sorted(ids) for user, ids in found.items()}
