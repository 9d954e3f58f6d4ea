"""The documents that differ between two versions of an index, as each version has them.

Both files of documents are in one order, by level and then by id, so one pass over both finds what differs; only lines
that are not equal are parsed. What counts is a document's `content_hash`, and that its file is another one: lines that
moved, provenance, a model's new words and new rules of hashing change no code.

Documents with different ids can be one document that was moved or renamed. Three rules find such pairs: equal content,
documents of one name first; a class, file or folder that holds most of the parts of one that is gone; and, within such
a pair, parts of the same name.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE

Line = Mapping[str, Any]
_NUMBERS = {str(level): number for number, level in enumerate(LEVELS)}


class DocumentDifferences(Struct):
    """The documents that differ, by id, before and after, as they are found; one that is in a single dict is new or
    gone."""

    before: dict[str, Line] = field(default_factory=dict)
    after: dict[str, Line] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return sorted(self.before.keys() | self.after.keys())

    def line(self, id_: str) -> Line:
        return self.after[id_] if id_ in self.after else self.before[id_]


def differing_documents(before: Path, after: Path, files: Collection[str] | None) -> DocumentDifferences:
    """What differs between two files of documents; `files` are the paths whose blobs differ, None if that is not
    known."""
    found = DocumentDifferences()
    may_differ = _in_changed_files(files)
    with before.open("rb") as old, after.open("rb") as new:
        for then, now in _unequal_lines(old, new):
            if then and now and then["content_hash"] == now["content_hash"]:
                continue
            if then and may_differ(then):
                found.before[then["id"]] = then
            if now and may_differ(now):
                found.after[now["id"]] = now
    return found


def _unequal_lines(old: Iterator[bytes], new: Iterator[bytes]) -> Iterator[tuple[Line | None, Line | None]]:
    """The lines of documents that are not equal byte for byte, side by side; None if one side has no such
    document."""
    then, now = next(old, b""), next(new, b"")
    while then or now:
        if then == now:
            then, now = next(old, b""), next(new, b"")
            continue
        left, right = _parsed(then), _parsed(now)
        if left and right and _key(left) == _key(right):
            yield left, right
            then, now = next(old, b""), next(new, b"")
        elif right is None or (left and _key(left) < _key(right)):
            yield left, None
            then = next(old, b"")
        else:
            yield None, right
            now = next(new, b"")


def _parsed(line: bytes) -> Line | None:
    found: Line | None = json.loads(line) if line else None
    return found


def _key(line: Line) -> tuple[int, str]:
    return _NUMBERS[line["type"]], line["id"]


def _in_changed_files(files: Collection[str] | None) -> Callable[[Line], bool]:
    """A test whether a document's file changed, or of a folder a file in it."""
    if files is None:
        return lambda line: True
    folders = {ROOT_MODULE}
    for path in files:
        while path := path.rpartition("/")[0]:
            folders.add(path)
    return lambda line: line["file_path"] in (folders if line["type"] == Level.MODULE else files)


# Children before what holds them: a pair of these is known by its children.
_HOLDING = (Level.CLASS, Level.FILE, Level.MODULE)


def find_renames(found: DocumentDifferences) -> dict[str, str]:
    """The old id of each document that has a new one."""
    gone = {id_: line for id_, line in found.before.items() if id_ not in found.after}
    new = {id_: line for id_, line in found.after.items() if id_ not in found.before}
    pairs = _of_equal_content(gone, new)
    for level in _HOLDING:
        pairs |= _holding_most(level, pairs, gone, new)
    _pair_parts(pairs, gone, new)
    return pairs


def _of_equal_content(gone: Mapping[str, Line], new: Mapping[str, Line]) -> dict[str, str]:
    """Pairs of one level and content: first those with one name, then in the order of their ids."""
    pairs: dict[str, str] = {}
    for by_name in (True, False):
        waiting: dict[tuple[str, ...], list[str]] = defaultdict(list)
        taken = set(pairs.values())
        for id_ in sorted(gone.keys() - taken, reverse=True):
            waiting[_content(gone[id_], by_name)].append(id_)
        for id_ in sorted(new.keys() - pairs.keys()):
            if same := waiting.get(_content(new[id_], by_name)):
                pairs[id_] = same.pop()
    return pairs


def _content(line: Line, by_name: bool) -> tuple[str, ...]:
    return (line["type"], line["content_hash"], *([_own_name(line)] if by_name else []))


def _holding_most(
    level: Level, pairs: Mapping[str, str], gone: Mapping[str, Line], new: Mapping[str, Line]
) -> dict[str, str]:
    """Pairs of one level in which the new one contains at least half of the old one's parts."""
    parts = Counter(line["parent_id"] for line in gone.values())
    shared = Counter((gone[old]["parent_id"], new[id_]["parent_id"]) for id_, old in pairs.items())
    taken, known = set(pairs.values()), set(pairs)
    found: dict[str, str] = {}
    for (before, after), count in sorted(shared.items(), key=lambda entry: (-entry[1], entry[0])):
        is_open = before in gone and after in new and before not in taken and after not in known
        if is_open and gone[before]["type"] == new[after]["type"] == level and 2 * count >= parts[before]:
            found[after] = before
            taken.add(before)
            known.add(after)
    return found


def _pair_parts(pairs: dict[str, str], gone: Mapping[str, Line], new: Mapping[str, Line]) -> None:
    """Add pairs of parts: within a pair, parts of the same level and name belong together."""
    taken = set(pairs.values())
    before = _parts_by_name(line for id_, line in gone.items() if id_ not in taken)
    after = _parts_by_name(line for id_, line in new.items() if id_ not in pairs)
    open_pairs = sorted(pairs.items())
    while open_pairs:
        holder, old_holder = open_pairs.pop()
        for named, id_ in after.get(holder, {}).items():
            old = before.get(old_holder, {}).get(named)
            if old is not None:
                pairs[id_] = old
                open_pairs.append((id_, old))


def _parts_by_name(lines: Iterable[Line]) -> dict[str | None, dict[tuple[str, str], str]]:
    found: dict[str | None, dict[tuple[str, str], str]] = defaultdict(dict)
    for line in lines:
        found[line["parent_id"]][line["type"], _own_name(line)] = line["id"]
    return found


def _own_name(line: Line) -> str:
    """The last part of a name or path."""
    name: str = line["qualified_name"] or line["file_path"]
    return name.rpartition("." if line["qualified_name"] else "/")[2]
