"""The parts of a component's file become one file: their symbols and references, with the component as a class.

What runs for each use of a component stands in it (`UserCard::submit`): code of its instance, and what the object or
class that is its default export holds. What its modules share stands beside it, and others can import it. Inside of the
file all names are seen as a module's are, so only the ids change. The markup is code of the component.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.languages.declarations.ecmascript.ecmascript_rules import COMPONENT
from codesum_pipeline.symbols.parsing.text import ParsedFile

_DEFAULT = "default"
_AS_DEFAULT = f" as {_DEFAULT}"
# Groups of options whose members are the component's own.
_MEMBER_GROUPS = ("methods", "computed")
_SETUP = "setup"
_THIS = "this"
# Rows that begin with the number of the scope that declares a name: a file's names stay a file's.
_NAMED = ("imports", "typed", "bound")
_MOST_BLOCKS = 100
_OTHERS = ("constants", "extensions", "calls", "counts", "blocks", "results", "uses")


class ScriptRole(StrEnum):
    """Which code of a component a part is."""

    INSTANCE = "instance"
    MODULE = "module"
    MARKUP = "markup"


class ComponentPart(Struct, frozen=True):
    """A part of a component's file as the parser of its language reads it alone. Others can import the names in
    `shared`, which are those of an instance's code."""

    kind: ScriptRole
    parsed: ParsedFile
    shared: Collection[str] = frozenset()


def join_parts(
    component: Symbol, parts: Sequence[ComponentPart], modules: Sequence[Import]
) -> tuple[tuple[Symbol, ...], dict[str, Any]]:
    """The symbols of a file, the component first, and the fields of its facts that follow from all parts. `modules` are
    scripts in other files."""
    return _Joiner(component, parts).join(modules)


def default_class(parsed: ParsedFile) -> Symbol | None:
    """The class that a module exports as its default."""
    names = [one.removesuffix(_AS_DEFAULT) for one in parsed.facts.exports or () if one.endswith(_AS_DEFAULT)]
    classes = (one for one in parsed.symbols if one.type is SymbolType.CLASS and one.parent_id is None)
    return next((one for one in classes if one.name in (*names, _DEFAULT)), None)


class _Joiner:
    """Joins the parts of one file; `content` are the references of all, with the component as the first symbol."""

    def __init__(self, component: Symbol, parts: Sequence[ComponentPart]) -> None:
        self._component, self._parts = component, parts
        self._path, self._name = component.file_path, component.name
        self._taken: set[str] = {self._name}
        # Of each part: the ids of its symbols, what it says to the graph, and the numbers in the file of its scopes.
        self._names = [dict(self._named(part)) for part in parts]
        self._read = [json.loads(part.parsed.facts.references) for part in parts]
        self._scopes = self._numbered()
        self.content: dict[str, Any] = {
            "language": self._read[0]["language"], "package": None, "exports": self._exports(),
            "symbols": [[component.name, SymbolType.CLASS.value, [component.name], [], None]],
            # A script does not see its component by its name, which may be that of what it imports.
            "heads": [[[COMPONENT], [], 0, 0]], "around": [[-1, 1]], "receivers": [],
            **{group: [] for group in (*_NAMED, *_OTHERS)},
        }  # fmt: skip
        for number in range(len(parts)):
            self._add(number)

    def _local(self, id_: str) -> str:
        return id_.removeprefix(f"{self._path}{SEPARATOR}")

    def _named(self, part: ComponentPart) -> Iterator[tuple[str, str]]:
        """The ids of a part's symbols without the path, each with the one in the file. A member of a group of options
        keeps its group where the component has another member of its name."""
        class_ = default_class(part.parsed) if part.kind is ScriptRole.MODULE else None
        root = class_.name if class_ is not None else _DEFAULT
        grouped: set[str] = set()
        for symbol in part.parsed.symbols if part.kind is not ScriptRole.MARKUP else ():
            local = self._local(symbol.id)
            found = self._renamed(local, part, root)
            is_taken = found in self._taken and found != self._name
            if is_taken or local.rpartition(SEPARATOR)[0] in grouped:
                grouped.add(local)
                found = self._renamed(local, part, root, is_flat=False)
            self._taken.add(found)
            yield local, found

    def _renamed(self, local: str, part: ComponentPart, root: str, *, is_flat: bool = True) -> str:
        first, _, rest = local.partition(SEPARATOR)
        if part.kind is ScriptRole.INSTANCE:
            return local if without_suffix(first) in part.shared else f"{self._name}{SEPARATOR}{local}"
        if without_suffix(first) != root:
            return local
        group, _, member = rest.partition(SEPARATOR)
        return SEPARATOR.join(filter(None, (self._name, member if is_flat and group in _MEMBER_GROUPS else rest)))

    def join(self, modules: Sequence[Import]) -> tuple[tuple[Symbol, ...], dict[str, Any]]:
        """Symbols keep their order in each part; the ones without a name come last."""
        parts = list(zip(self._parts, self._names, strict=True))
        found = [
            self._moved(one, names)
            for part, names in parts
            for one in part.parsed.symbols
            if names.get(self._local(one.id), self._name) != self._name
        ]
        self.content["imports"] += [[-1, one.module, None, None, 0] for one in modules]
        imports = [
            replace(one, scope_id=self._moved_id(one.scope_id, names))
            for part, names in parts
            for one in part.parsed.facts.imports
        ]
        return (self._component, *sorted(found, key=lambda symbol: symbol.is_unnamed)), {
            "references": json.dumps(self.content, ensure_ascii=False, separators=(",", ":")),
            "exports": tuple(self.content["exports"]),
            "imports": (*imports, *modules),
            "call_places": tuple(place for part in self._parts for place in self._places(part)),
        }

    @staticmethod
    def _places(part: ComponentPart) -> Sequence[int]:
        """Where the calls are. Those of the markup are in code that was made of it."""
        places = part.parsed.facts.call_places or ()
        return (0,) * len(places) if part.kind is ScriptRole.MARKUP else places

    def _moved_id(self, id_: str | None, names: Mapping[str, str]) -> str | None:
        if id_ is None:
            return None
        return f"{self._path}{SEPARATOR}{names.get(self._local(id_), self._local(id_))}"

    def _moved(self, symbol: Symbol, names: Mapping[str, str]) -> Symbol:
        local = self._local(symbol.id)
        moved = names[local]
        parent = self._moved_id(symbol.parent_id, names)
        is_inside = moved.startswith(f"{self._name}{SEPARATOR}")
        return replace(
            symbol,
            id=f"{self._path}{SEPARATOR}{moved}",
            qualified_name=_qualified(symbol.qualified_name, local, moved),
            language=self._component.language,
            parent_id=self._component.id if parent is None and is_inside else parent,
        )

    def _numbered(self) -> list[list[int]]:
        """The number in the file of each symbol of each part, and of each of its blocks, which come after all symbols.
        What is the component has 0: the class that it is, and all symbols of the markup."""
        count, found = 1, []
        for part, names, read in zip(self._parts, self._names, self._read, strict=True):
            numbers = []
            for local, *_ in read["symbols"]:
                is_own = part.kind is not ScriptRole.MARKUP and names[local] != self._name
                numbers.append(count if is_own else 0)
                count += is_own
            found.append(numbers)
        for numbers, read in zip(found, self._read, strict=True):
            numbers += range(count, count + len(read["blocks"]))
            count += len(read["blocks"])
        return found

    def _exports(self) -> list[str]:
        exports = {f"{self._component.name}{_AS_DEFAULT}": None}
        for part, read in zip(self._parts, self._read, strict=True):
            for name in read["exports"] if part.kind is ScriptRole.MODULE else sorted(part.shared):
                if name != _DEFAULT and not name.endswith(_AS_DEFAULT):
                    exports[name] = None
        return list(exports)

    def _scope(self, number: int, scope: int) -> int:
        """The number in the file of a scope of a part; what is outside of all symbols is run by the component, but for
        a module's code."""
        if scope < 0:
            return -1 if self._parts[number].kind is ScriptRole.MODULE else 0
        return self._scopes[number][scope]

    def _is_bound(self, number: int, scope: int, name: str) -> bool:
        """Whether a block around a place in markup binds a name, or may: not all of a hundred are looked at."""
        read = self._read[number]
        first = len(read["symbols"])
        for _ in range(_MOST_BLOCKS):
            if scope < first:
                return False
            scope, names = read["blocks"][scope - first]
            if name in names:
                return True
        return True

    def _declaring(self, number: int, scope: int) -> int:
        """The same of a scope that declares a name: the names at the top of a script are the file's."""
        return -1 if scope < 0 else self._scope(number, scope)

    def _add(self, number: int) -> None:
        part, read, content = self._parts[number], self._read[number], self.content
        is_markup = part.kind is ScriptRole.MARKUP
        for at, symbol in enumerate(read["symbols"]):
            if self._scopes[number][at]:
                content["symbols"].append(self._symbol(number, symbol))
                content["heads"].append(read["heads"][at])
                content["around"].append(self._place(number, at))
        for group in _NAMED:
            rows = [] if is_markup else read[group]
            content[group] += [[self._declaring(number, scope), *row] for scope, *row in rows]
        content["constants"] += read["constants"] if part.kind is ScriptRole.MODULE else []
        content["extensions"] += [] if is_markup else read["extensions"]
        first_call, first_receiver = len(content["calls"]), len(content["receivers"])
        content["receivers"] += [*read["receivers"], [_THIS]]
        this = len(content["receivers"]) - 1
        members = self._members() if is_markup else {}
        for scope, receiver, name, is_new in read["calls"]:
            at, on = self._scope(number, scope), first_receiver + receiver
            if content["receivers"][on] == [] and name in members and not self._is_bound(number, scope, name):
                at, on = members[name] or at, on if members[name] else this
            content["calls"].append([at, on, name, is_new])
        content["counts"] += read["counts"]
        content["blocks"] += [[self._scope(number, around), names] for around, names in read["blocks"]]
        content["results"] += [] if is_markup else [[self._scope(number, at), value] for at, value in read["results"]]
        for scope, path, *row in read["uses"]:
            at, first = self._scope(number, scope), path.partition(" ")[0]
            if first in members and not self._is_bound(number, scope, first):
                at, path = members[first] or at, path if members[first] else f"{_THIS} {path}"
            content["uses"].append([at, path, *row])
        self._add_names(number, first_call)

    def _symbol(self, number: int, symbol: Sequence[Any]) -> list[Any]:
        local, type_, parts, *types = symbol
        moved = self._names[number][local]
        old, new = _different_parts(local, moved)
        return [moved, type_, [*new, *parts[len(old) :]], *types]

    def _place(self, number: int, at: int) -> list[int]:
        """What is around a symbol; the members of the object that is the component are the component's."""
        scope, is_member = self._read[number]["around"][at]
        is_own = self._names[number][self._read[number]["symbols"][at][0]].startswith(self._component.name + SEPARATOR)
        is_option = is_own and is_member and self._parts[number].kind is ScriptRole.MODULE
        return [0 if scope < 0 and is_option else self._declaring(number, scope), is_member]

    def _members(self) -> dict[str, int]:
        """The names that markup uses of an object that is the component: of its own members, with 0, and of what its
        `setup` declares, with the number of that."""
        found: dict[str, int] = {}
        for at, (local, _, parts, *_) in enumerate(self.content["symbols"]):
            is_own = len(parts) == 2 and self.content["around"][at] == [0, 1]
            if is_own and without_suffix(local) == local:
                found[parts[1]] = 0
        setup = next(
            (at for at, one in enumerate(self.content["symbols"]) if one[2] == [self._component.name, _SETUP]), None
        )
        for at, (around, _) in enumerate(self.content["around"]):
            if setup is not None and around == setup:
                found.setdefault(self.content["symbols"][at][2][-1], setup)
        return found

    def _add_names(self, number: int, first_call: int) -> None:
        read, names = self._read[number], self._names[number]
        if self._parts[number].kind is ScriptRole.MARKUP:
            return
        for kind, name, local, said in read.get("named", ()):
            self.content.setdefault("named", []).append([kind, name, names.get(local, local), said])
        for local, calls in read.get("held", {}).items():
            held = self.content.setdefault("held", {})
            held[names.get(local, local)] = [first_call + call for call in calls]


def _different_parts(before: str, after: str) -> tuple[list[str], list[str]]:
    """The first parts of two ids, without the last ones that both have."""
    old, new = without_suffix(before).split(SEPARATOR), without_suffix(after).split(SEPARATOR)
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return old, new


def _qualified(name: str, before: str, after: str) -> str:
    """A qualified name whose first parts are others: those of the id before and after."""
    old, new = _different_parts(before, after)
    rest = name.removeprefix(".".join(old)).removeprefix(".")
    return ".".join([*new, rest] if rest else new)
