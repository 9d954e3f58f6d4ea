"""Which definitions two versions of some files differ in, and how: both versions are parsed here and now.

A definition whose canonical source is the same did not change, wherever its lines are. Of nested definitions the
innermost change is told. A definition that came and one that went are one that was renamed or moved where their sources
are the same but for their names, or where they hold most of the same parts.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.errors import NotParsed, SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy, hash_of
from codesum_pipeline.foundation.data_model.ids import module_path_of, symbol_id
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.notifications.matching.document_differences import DocumentDifferences, Line, find_renames
from codesum_pipeline.source.files.content import judge_content

if TYPE_CHECKING:
    from codesum_pipeline.symbols.parsing.text import ParsedFile

# Shorter definitions are alike by chance.
_TELLING_LINES = 3
_WORD = re.compile(r"\w+")
# A line at the left edge that gives a name a value, and one that only brings names in.
_ASSIGNED = re.compile(r"^(?:[a-z]+ ){0,4}([^\W\d]\w*) ?(?::[^=\n]{0,200})?=(?!=)")
_IMPORTED = re.compile(r"^(?:import|from|use|using|require|require_relative|package|#include|export \*)\b")
_CLOSING = re.compile(r"^[\])}]")


class SymbolChangeKind(StrEnum):
    """What happened to a definition, or to the code of a file outside of definitions (`code`); `asked` where nothing
    did and somebody asks what a change would reach."""

    REMOVED = "removed"
    SIGNATURE = "signature"
    MOVED = "moved"
    BODY = "body"
    ADDED = "added"
    CODE = "code"
    ASKED = "asked"


class SymbolChange(Struct, frozen=True):
    """A definition before and after, None where it is not there. Of a moved one `is_edited` says that its body changed,
    too. Of the code of a file `names` are what it gives other values, `mentions` the definitions of the file that have
    these names, and `runs` says whether it changed otherwise. A file that was moved as a whole was
    `moved_file`."""

    kind: SymbolChangeKind
    path: str
    before: Symbol | None = None
    after: Symbol | None = None
    is_edited: bool = False
    names: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    runs: bool = False
    moved_file: str = ""

    @property
    def id(self) -> str:
        symbol = self.after or self.before
        return symbol.id if symbol else self.path


class SymbolComparison(Struct):
    """The changes, in the order of files and lines; the files that changed only in comments or layout, that hold no
    code, and that could not be read, with the reason."""

    changes: list[SymbolChange] = field(default_factory=list)
    only_layout: list[str] = field(default_factory=list)
    no_code: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)


class FileVersions(Struct, frozen=True):
    """The bytes of a file before and after; None where it is not there."""

    path: str
    before: bytes | None
    after: bytes | None


def compare_symbols(
    files: Iterable[FileVersions], *, hash_policy: HashPolicy, encodings: Mapping[str, str]
) -> SymbolComparison:
    """What differs in some files; `encodings` are those of the files that are known not to be in UTF-8."""
    # The grammars of all languages, which other tools do without.
    from codesum_pipeline.symbols.parsing.parsers import reads_definitions

    found = SymbolComparison()
    pairs: list[tuple[ParsedFile | None, ParsedFile | None]] = []
    for file in files:
        stop_if_cancelled()
        try:
            before, after = (_parsed(file.path, data, hash_policy, encodings) for data in (file.before, file.after))
        except (SkippedFile, NotParsed) as error:
            found.unread[file.path] = str(error)
            continue
        program = after or before
        if program is None or not reads_definitions(program.facts.language):
            found.no_code.append(file.path)
        elif before and after and before.facts.content_hash == after.facts.content_hash:
            found.only_layout.append(file.path)
        else:
            pairs.append((before, after))
    found.changes = sorted(_changes(pairs), key=lambda change: (change.path, _line(change), change.id))
    return found


def _parsed(
    path: str, data: bytes | None, hash_policy: HashPolicy, encodings: Mapping[str, str]
) -> "ParsedFile | None":
    if data is None:
        return None
    from codesum_pipeline.symbols.parsing.parsers import parse_file

    judged = judge_content(path, data)
    if judged.reason is not None:
        raise SkippedFile(judged.reason, judged.problem)
    return parse_file(path, judged.language, data, blob="", hash_policy=hash_policy, encoding=encodings.get(path))


def _changes(pairs: Sequence[tuple["ParsedFile | None", "ParsedFile | None"]]) -> Iterator[SymbolChange]:
    before = {each.id: each for old, _ in pairs if old for each in old.symbols if not each.is_unnamed}
    after = {each.id: each for _, new in pairs if new for each in new.symbols if not each.is_unnamed}
    renames = find_renames(_differences(pairs, before, after))
    old_of = {id_: id_ for id_ in before.keys() & after.keys()}
    old_of |= {new: old for new, old in renames.items() if new in after and old in before}
    own_before, own_after = _own_sources(before), _own_sources(after)
    edited = {
        id_ for id_, old in old_of.items()
        if _nameless(own_before[old], before[old]) != _nameless(own_after[id_], after[id_])
        or _head(before[old]) != _head(after[id_])
    }  # fmt: skip
    for id_ in sorted(after):
        symbol, old = after[id_], before.get(old_of.get(id_, ""))
        if old is None:
            if symbol.parent_id not in after or symbol.parent_id in old_of:
                yield SymbolChange(SymbolChangeKind.ADDED, symbol.file_path, None, symbol)
            continue
        is_moved = id_ != old.id and not _came_along(symbol, old, old_of, renames)
        is_edited = id_ in edited or _is_unexplained(symbol, old, after, edited, old_of)
        if is_moved and _head(old) == _head(symbol):
            yield SymbolChange(SymbolChangeKind.MOVED, symbol.file_path, old, symbol, is_edited=is_edited)
        elif _head(old) != _head(symbol):
            yield SymbolChange(SymbolChangeKind.SIGNATURE, symbol.file_path, old, symbol, is_edited=is_edited)
        elif is_edited:
            yield SymbolChange(SymbolChangeKind.BODY, symbol.file_path, old, symbol, is_edited=True)
    gone = before.keys() - set(old_of.values())
    yield from (
        SymbolChange(SymbolChangeKind.REMOVED, before[id_].file_path, before[id_])
        for id_ in sorted(gone) if before[id_].parent_id not in gone
    )  # fmt: skip
    for old_file, new_file in pairs:
        yield from _change_of_code(old_file, new_file)
        if new_file and (path := new_file.facts.file_path) in renames:
            yield SymbolChange(SymbolChangeKind.MOVED, path, moved_file=renames[path])


def _came_along(symbol: Symbol, old: Symbol, old_of: Mapping[str, str], renames: Mapping[str, str]) -> bool:
    """Whether a definition has another id only since what holds it has: a class, or its file."""
    holder = symbol.parent_id if symbol.parent_id in old_of else None
    moved = old_of[holder] == old.parent_id if holder else renames.get(symbol.file_path) == old.file_path
    return moved and symbol.name == old.name


def _is_unexplained(
    symbol: Symbol, old: Symbol, after: Mapping[str, Symbol], edited: set[str], old_of: Mapping[str, str]
) -> bool:
    """Whether a source differs although neither its own lines nor its parts do: code beside a nested definition."""
    if symbol.content_hash == old.content_hash or symbol.name != old.name:
        return False
    inside = [each for each in after if each.startswith(f"{symbol.id}::")]
    has_came = any(each not in old_of or each in edited for each in inside)
    return not has_came and not _lost_parts(old, old_of)


def _lost_parts(old: Symbol, old_of: Mapping[str, str]) -> bool:
    return any(id_.startswith(f"{old.id}::") and id_ not in old_of for id_ in old_of.values())


def _head(symbol: Symbol) -> tuple[object, ...]:
    """What a user of a definition sees of it: parameters, results, visibility, bases, and how it is called."""
    facts = symbol.facts
    return (
        _nameless(symbol.signature, symbol), symbol.is_public, facts.parameters, facts.return_type, symbol.bases,
        facts.is_async, facts.is_generator,
    )  # fmt: skip


def _nameless(source: str, symbol: Symbol) -> str:
    return _WORD.sub(lambda match: "_" if match[0] == symbol.name else match[0], source)


def _own_sources(symbols: Mapping[str, Symbol]) -> dict[str, str]:
    """The canonical source of each definition without the lines of named definitions in it."""
    inside: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in symbols.values():
        if symbol.parent_id and symbol.parent_id in symbols:
            inside[symbol.parent_id].append(symbol)
    found = {}
    for id_, symbol in symbols.items():
        covered = {line for part in inside[id_] for line in range(part.start_line, part.end_line + 1)}
        lines = zip(symbol.canonical_source.split("\n"), symbol.line_map, strict=False)
        found[id_] = "\n".join(line for line, number in lines if number not in covered)
    return found


def _differences(
    pairs: Sequence[tuple["ParsedFile | None", "ParsedFile | None"]],
    before: Mapping[str, Symbol],
    after: Mapping[str, Symbol],
) -> DocumentDifferences:
    """What differs, in the form in which renames are looked for."""
    found = DocumentDifferences()
    for old, new in pairs:
        for side, parsed in ((found.before, old), (found.after, new)):
            if parsed and (old is None or new is None):
                path = parsed.facts.file_path
                side[path] = {
                    "id": path, "type": "file", "content_hash": parsed.facts.content_hash, "file_path": path,
                    "parent_id": module_path_of(path), "qualified_name": None,
                }  # fmt: skip
    found.before |= {id_: _line_of(symbol) for id_, symbol in before.items() if id_ not in after}
    found.after |= {id_: _line_of(symbol) for id_, symbol in after.items() if id_ not in before}
    return found


def _line_of(symbol: Symbol) -> Line:
    source = symbol.canonical_source
    is_telling = source.count("\n") + 1 >= _TELLING_LINES
    return {
        "id": symbol.id, "type": str(symbol.type), "file_path": symbol.file_path,
        "content_hash": hash_of([_nameless(source, symbol), ""] if is_telling else [source, symbol.name]),
        "parent_id": symbol.parent_id or symbol.file_path, "qualified_name": symbol.qualified_name,
    }  # fmt: skip


def _change_of_code(before: "ParsedFile | None", after: "ParsedFile | None") -> Iterator[SymbolChange]:
    """What changed in a file outside of its definitions; of a new or removed file its definitions tell enough."""
    if before is None or after is None:
        return
    old, new = (_outside(each) for each in (before, after))
    if old == new:
        return
    names: dict[str, None] = {}
    runs = False
    for head in _changed_heads(old, new):
        if match := _ASSIGNED.match(head):
            names[match[1]] = None
        elif not _IMPORTED.match(head):
            runs = True
    if names or runs:
        mentions = (
            each.id for each in after.symbols if not names.keys().isdisjoint(_WORD.findall(each.canonical_source))
        )
        path = after.facts.file_path
        yield SymbolChange(SymbolChangeKind.CODE, path, names=tuple(names), mentions=tuple(mentions), runs=runs)


def _outside(parsed: "ParsedFile") -> list[str]:
    """The canonical lines of a file that are in none of its definitions."""
    lines = [line for line in parsed.facts.source.split("\n") if line.strip()]
    bare = [line.strip() for line in lines]
    kept, at = list[str](), 0
    for symbol in _outermost(parsed.symbols):
        own = [line.strip() for line in symbol.canonical_source.split("\n") if line.strip()]
        places = (place for place in range(at, len(bare)) if own and bare[place] == own[0])
        start = next((place for place in places if bare[place : place + len(own)] == own), None)
        if start is not None:
            kept += lines[at:start]
            at = start + len(own)
    return kept + lines[at:]


def _outermost(symbols: Sequence[Symbol]) -> Iterator[Symbol]:
    """The definitions that stand in no other one; a method may stand beside its class, as in Go."""
    last = 0
    for symbol in sorted(symbols, key=lambda each: (each.start_line, -each.end_line)):
        if symbol.end_line > last:
            last = symbol.end_line
            yield symbol


def _changed_heads(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The first lines of the statements at the left edge that differ."""
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=True)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            yield from (_head_line(old, at) for at in range(first, last))
            yield from (_head_line(new, at) for at in range(start, end))


def _head_line(lines: Sequence[str], at: int) -> str:
    while at > 0 and (lines[at][:1].isspace() or _CLOSING.match(lines[at])):
        at -= 1
    return lines[at]


def _line(change: SymbolChange) -> int:
    symbol = change.after or change.before
    return symbol.start_line if symbol else 0


def constant_id(path: str, name: str) -> str:
    return symbol_id(path, [name])
