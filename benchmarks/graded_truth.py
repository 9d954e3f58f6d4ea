"""What a compiler says each call of a tree calls, from a SCIP index or from lines of JSON.

A line of JSON is `{"file", "line", "column", "target_file", "target_line"}`, of
one call: the 1-based line and the 0-based column, in bytes, of the callee's last
name, and the place of what is called, null where that is outside. `kind` may
say that a `variable` is called, and `target_name` what the definition is called.

An index of scip-python calls some things by another's name; an occurrence whose
text is not its symbol's last name says nothing here, nor does one that takes a
method (`x.set`) for the builtin of that name. What such an index names where an
object's property is called is the property, not what it gives.

Where a library is written in JavaScript and a `.d.ts` file beside it declares its types, a compiler names the
declaration and the graph the implementation, which a reader wants: a definition of the same name in the file beside
is right as well. A class that only declares another's members may end in `_`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmarks.graded_calls import Definitions, PlacedCall, Tree
from codesum_pipeline.foundation.data_model.ids import symbol_id
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.symbols.scip.offering import message_class
from codesum_pipeline.symbols.scip.symbol_names import Suffix, is_local, parse_symbol

_DEFINITION = 1
_UTF8, _UTF32 = 1, 3
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_ALIAS = re.compile(r"\b([\w$]+)\s+as\s+([\w$]+)")
_BUILTIN = re.compile(r"python-stdlib \S+ builtins/\w+(?:#|\(\)\.|\.)$")
_OWN_CLASS = re.compile(r"builtins/(?:object|type)#__class__\(\)\.$")
# Languages in which functions of one name in one place are signatures of one function.
_WITH_SIGNATURES = frozenset({"python", "typescript", "tsx", "javascript"})
_DECLARING = ".d.ts"
_CONSTRUCTORS = frozenset({"__init__", "__new__", "<constructor>"})
_ACCESSOR = re.compile(r"^<[gs]et>")
_PROPERTY = re.compile(r"^\s*@(?:\w+\.)*(?:\w*_)?(?:cached_?)?property\b", re.MULTILINE)


class TargetStatus(StrEnum):
    """What is known of a call's target."""

    INSIDE = "inside"
    # Defined in the repository, as something that has no document: an interface's method, say.
    UNDOCUMENTED = "no document"
    # A variable, a parameter or a field holds what is called.
    VARIABLE = "variable"
    # A property gives what is called.
    PROPERTY = "property"
    OUTSIDE = "outside"
    UNRESOLVED = "unresolved"
    MISNAMED = "misnamed"
    SILENT = "no occurrence"
    NAMELESS = "no name"


@dataclass(frozen=True, slots=True)
class Truth:
    """`targets` are ids of symbols, each of them right; `text` is the compiler's own word for it."""

    status: TargetStatus
    targets: frozenset[str] = frozenset()
    text: str = ""
    through_module: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    line: int
    name: str


class Judge:
    """Says of each call of a tree what a compiler says of it."""

    def __init__(self, tree: Tree, truth: Path) -> None:
        self.tree = tree
        self.definitions = Definitions(tree)
        self._lines = _Lines(self, truth) if truth.suffix == ".jsonl" else _Index(self, truth)

    def find_truth(self, call: PlacedCall) -> Truth:
        if call.line == 0:
            return Truth(TargetStatus.NAMELESS)
        return self._lines.find_truth(call)

    def covers(self, path: str) -> bool:
        """Whether the compiler read the file."""
        return path in self._lines.paths

    def used_names(self) -> Iterator[tuple[str, int, int, str]]:
        """Each name that the compiler has, but where it is defined: file, line, column in bytes, and text."""
        return self._lines.used_names()

    def constants_at(self, path: str, line: int, column: int) -> frozenset[str]:
        """The ids that the variables which the compiler has at a place would have as definitions."""
        return self._lines.constants_at(path, line, column)

    def inside(self, found: Iterable[Symbol], text: str) -> Truth:
        symbols = list(found)
        if any(_is_property(self.tree, symbol) for symbol in symbols):
            return Truth(TargetStatus.PROPERTY, frozenset(symbol.id for symbol in symbols), text)
        return Truth(TargetStatus.INSIDE, frozenset(self._same(symbols)), text)

    def _same(self, symbols: Sequence[Symbol]) -> Iterator[str]:
        """The ids of symbols, with those of which they are other signatures or the declaration."""
        for symbol in symbols:
            yield symbol.id
            if symbol.language in _WITH_SIGNATURES:
                yield from self.definitions.signatures(symbol)
            if symbol.file_path.endswith(_DECLARING):
                yield from self.definitions.implementations(symbol, symbol.file_path.removesuffix(_DECLARING))


class _Lines:
    """Lines of JSON, by place."""

    def __init__(self, judge: Judge, path: Path) -> None:
        self._judge = judge
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        self._rows = {(row["file"], row["line"], row["column"]): row for row in rows}
        self.paths = {row["file"] for row in rows}

    def used_names(self) -> Iterator[tuple[str, int, int, str]]:
        for (path, line, column), row in self._rows.items():
            yield path, line, column, row.get("target_name") or ""

    def constants_at(self, path: str, line: int, column: int) -> frozenset[str]:
        row = self._rows[path, line, column]
        is_constant = row["target_file"] is not None and row.get("kind") == "constant"
        return frozenset({symbol_id(row["target_file"], [row["target_name"]])} if is_constant else ())

    def find_truth(self, call: PlacedCall) -> Truth:
        row = self._rows.get((call.site.file_path, call.line, call.column))
        if row is None:
            return Truth(TargetStatus.SILENT)
        if row.get("kind") in ("variable", "constant"):
            return Truth(TargetStatus.VARIABLE)
        if row["target_file"] is None:
            return Truth(TargetStatus.OUTSIDE, text=str(row.get("target_name")))
        name = row.get("target_name") or word_at(self._judge.tree, call)
        text = f"{row['target_file']}:{row['target_line']} {name}"
        found = self._judge.definitions.at(row["target_file"], row["target_line"], name)
        return Truth(TargetStatus.UNDOCUMENTED, text=text) if found is None else self._judge.inside([found], text)


class _Index:
    """The occurrences of a SCIP index, by place."""

    def __init__(self, judge: Judge, path: Path) -> None:
        self._judge = judge
        index = message_class("Index").FromString(path.read_bytes())
        self._misnames = index.metadata.tool_info.name == "scip-python"
        self._encodings: dict[str, int] = {}
        self._used: dict[tuple[str, int, int], list[tuple[str, int]]] = defaultdict(list)
        self._defined: dict[str, list[_Place]] = defaultdict(list)
        self._spaces: set[str] = set()
        for document in index.documents:
            self._read(document)
        self.paths = set(self._encodings)
        self._aliases: dict[str, Mapping[str, set[str]]] = {}
        self._known: dict[str, Truth] = {}

    def _read(self, document: Any) -> None:
        path = document.relative_path
        self._encodings[path] = document.position_encoding
        for occurrence in document.occurrences:
            line, start, *rest = occurrence.range
            if len(rest) != 1:
                continue
            symbol = occurrence.symbol
            if not occurrence.symbol_roles & _DEFINITION:
                self._used[path, line + 1, start].append((self._key(path, symbol), rest[0]))
                continue
            name = self._text(path, line + 1, start, rest[0])
            self._defined[self._key(path, symbol)].append(_Place(path, line + 1, name))
            self._spaces.add(_space_of(symbol))

    @staticmethod
    def _key(path: str, symbol: str) -> str:
        """Local symbols are of one file."""
        return f"{symbol} {path}" if is_local(symbol) else symbol

    def _text(self, path: str, line: int, start: int, end: int) -> str:
        text = self._judge.tree.line(path, line)
        encoding = _encoding(self._encodings[path])
        if text.isascii():
            return text[start:end]
        width = len("a".encode(encoding))
        return text.encode(encoding)[start * width : end * width].decode(encoding, "replace")

    def used_names(self) -> Iterator[tuple[str, int, int, str]]:
        for (path, line, start), found in self._used.items():
            if path in self._judge.tree.lines:
                before = self._text(path, line, 0, start)
                yield path, line, len(before.encode()), self._text(path, line, start, found[0][1])

    def constants_at(self, path: str, line: int, column: int) -> frozenset[str]:
        found = self._used.get((path, line, self._column(path, line, column)), ())
        places = [place for symbol, _ in found if _is_of_file(symbol) for place in self._defined.get(symbol, ())]
        return frozenset(symbol_id(place.path, [place.name]) for place in places)

    def find_truth(self, call: PlacedCall) -> Truth:
        path = call.site.file_path
        start = self._column(path, call.line, call.column)
        found = self._used.get((path, call.line, start), ())
        if not found:
            return Truth(TargetStatus.SILENT)
        named = [
            symbol
            for symbol, end in found
            if self._is_named(path, call.line, start, symbol, self._text(path, call.line, start, end))
        ]
        if not named:
            return Truth(TargetStatus.MISNAMED, text=found[0][0])
        text = self._text(path, call.line, start, found[0][1])
        truths = [self._truth(symbol, text) for symbol in named]
        inside = [truth for truth in truths if truth.status is TargetStatus.INSIDE]
        through_module = self._is_module(path, call.line, start)
        if inside:
            targets = frozenset[str]().union(*(truth.targets for truth in inside))
            return Truth(TargetStatus.INSIDE, targets, inside[0].text, through_module)
        first = truths[0]
        return Truth(first.status, first.targets, first.text, through_module)

    def _column(self, path: str, line: int, column: int) -> int:
        text = self._judge.tree.line(path, line)
        if text.isascii() or self._encodings.get(path) == _UTF8:
            return column
        encoding = _encoding(self._encodings.get(path, 0))
        before = text.encode("utf-8")[:column].decode("utf-8", "replace")
        return len(before.encode(encoding)) // len("a".encode(encoding))

    def _is_module(self, path: str, line: int, start: int) -> bool:
        """Whether the name before this one is a module's."""
        before = self._judge.tree.line(path, line)[:start]
        match = re.search(r"([\w$]+)\s*\.\s*$", before)
        if match is None:
            return False
        symbols = [symbol for symbol, _ in self._used.get((path, line, match.start(1)), ())]
        names = [parse_symbol(symbol) for symbol in symbols]
        return any(name is not None and name.last.suffix in (Suffix.META, Suffix.NAMESPACE) for name in names)

    def _is_named(self, path: str, line: int, start: int, symbol: str, text: str) -> bool:
        """Whether the text at an occurrence is a name of its symbol."""
        if not self._misnames:
            return True
        if symbol.startswith("local "):
            places = self._defined.get(symbol)
            return not places or any(place.name == text for place in places)
        name = parse_symbol(symbol)
        is_attribute = self._judge.tree.line(path, line)[:start].rstrip().endswith(".")
        if name is None or (is_attribute and _BUILTIN.search(symbol)):
            return False
        names = {text, *self._aliases_in(path).get(text, ())}
        last = _ACCESSOR.sub("", name.last.name)
        is_class = last in _CONSTRUCTORS and len(name.descriptors) > 1 and name.descriptors[-2].name in names
        return last in names or is_class

    def _aliases_in(self, path: str) -> Mapping[str, set[str]]:
        """The names behind `X as Y`, by Y."""
        found = self._aliases.get(path)
        if found is None:
            found = self._aliases[path] = defaultdict(set)
            for line in self._judge.tree.lines.get(path, []):
                for name, alias in _ALIAS.findall(line):
                    found[alias].add(name)
        return found

    def _truth(self, symbol: str, text: str) -> Truth:
        name = parse_symbol(symbol)
        is_class_call = name is not None and name.last.name in _CONSTRUCTORS and text != name.last.name
        places = self._defined.get(symbol, [])
        if _OWN_CLASS.search(symbol):
            return Truth(TargetStatus.PROPERTY, text=symbol)
        if not places:
            is_outside = name is not None and _space_of(symbol) not in self._spaces
            return Truth(TargetStatus.OUTSIDE if is_outside else TargetStatus.UNRESOLVED, text=symbol)
        found = [self._judge.definitions.at(place.path, place.line, place.name) for place in places]
        if name is not None and name.last.name.startswith("<get>"):
            return Truth(TargetStatus.PROPERTY, frozenset(one.id for one in found if one is not None), symbol)
        if is_class_call:
            found += [self._judge.definitions.class_around(place.path, place.line) for place in places]
        symbols = [one for one in found if one is not None]
        if symbols:
            return self._judge.inside(symbols, symbol)
        is_callable = name is not None and name.last.suffix in (Suffix.METHOD, Suffix.TYPE)
        return Truth(TargetStatus.UNDOCUMENTED if is_callable else TargetStatus.VARIABLE, text=symbol)


def word_at(tree: Tree, call: PlacedCall) -> str:
    """The name of a call's callee, as written."""
    text = tree.line(call.site.file_path, call.line).encode("utf-8")[call.column :].decode("utf-8", "replace")
    match = _WORD.match(text)
    return match[0] if match else ""


def _is_of_file(symbol: str) -> bool:
    """Whether a symbol is a variable at the top of its file."""
    name = parse_symbol(symbol)
    if name is None or is_local(symbol):
        return False
    # scip-python names a variable that is `Final` twice.
    own = {(one.suffix, one.name) for one in name.descriptors if one.suffix is not Suffix.NAMESPACE}
    return len(own) == 1 and next(iter(own))[0] is Suffix.TERM


def _encoding(number: int) -> str:
    return {_UTF8: "utf-8", _UTF32: "utf-32-le"}.get(number, "utf-16-le")


def _space_of(symbol: str) -> str:
    """The file or module of a symbol, with its package."""
    name = parse_symbol(symbol)
    if name is None:
        return symbol
    spaces = [one.name for one in name.descriptors if one.suffix is Suffix.NAMESPACE]
    return json.dumps([name.package, spaces])


def _is_property(tree: Tree, symbol: Symbol) -> bool:
    if tree.languages[symbol.file_path] != "python":
        return False
    head = (tree.line(symbol.file_path, number) for number in range(symbol.start_line, symbol.end_line + 1))
    decorators: list[str] = []
    for line in head:
        if re.match(r"\s*(?:async\s+)?(?:def|class)\b", line):
            break
        decorators.append(line)
    return bool(_PROPERTY.search("\n".join(decorators)))
