"""A parsed file as the resolver sees it: its scopes, linked, with the names that they bind; its imports and its calls.

The first scope is the file itself. In Python expressions and types are texts, in the declared languages chains of
steps and names with arguments (`model.expressions`).
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.expression import (
    Chain,
    ExpressionStep,
    TypeName,
    chain_from_json,
    chain_of,
    type_from_json,
)
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.symbol import Reexport

# What parsers wrote down of one file.
Row = Mapping[str, Any]
# How a name is bound, and to what.
Binding = Sequence[Any]
# Where something is in a language's tree of names: a package or file, then the names in it.
Key = tuple[str, ...]

# A scope of a declared language that is no function or class.
_BLOCK = "b"
_PARAMETER = (Bound.UNKNOWN,)
_NOTHING: Mapping[str, Any] = {}


class CallExpression(NamedTuple):
    """A call of a declared language as written; `arguments` is how many it has, -1 where that is not known.

    `receiver` has no steps where there is none, and is None if it is no chain.
    """

    scope: int
    receiver: Chain | None
    name: str
    is_new: bool
    arguments: int


class UseExpression(NamedTuple):
    """A name of a declared language that is used and not called: a function of so many `arguments` (-1: unknown) if it
    `may_be_function`, a class or a constant; `times` is how often. What `is_only` is the only function of its name."""

    scope: int
    path: Chain
    may_be_function: bool
    arguments: int
    times: int
    is_only: bool = False


class ImportRow(NamedTuple):
    """An import of a declared language as written; `scope` is -1 outside of all functions and classes."""

    scope: int
    module: str
    name: str | None
    alias: str | None
    level: int

    @property
    def bound_name(self) -> str | None:
        return self.alias or self.name


class TypeExtension(NamedTuple):
    """Bases that a type is given where it is not defined; `around` are the names around that place."""

    around: Key
    type: TypeName
    bases: tuple[TypeName, ...]


class Scope(Struct, eq=False):
    """A file, function or class, or a part of one that binds names; `id` is None if there is no document.

    Functions can be called with `least` to `most` arguments (-1: any number). `results` are what a function gives back
    that does not say of what type that is, each with the scope that it is written in. A member is known through its
    object alone. What has a `condition` is not in every program; what `is_apart` is
    written in an extension of an inner type.
    """

    file: "ScopedFile"
    number: int
    kind: str
    parent: "Scope | None"
    id: str | None
    caller_id: str
    names: dict[str, list[Binding]]
    is_top: bool = False
    is_class: bool = False
    # What the methods of a class bind on its objects: the number of the scope, and the binding.
    attributes: Mapping[str, list[list[Any]]] = field(default_factory=lambda: _NOTHING)
    bases: tuple[Any, ...] = ()
    returns: str | TypeName | None = None
    decorators: tuple[str, ...] = ()
    is_generator: bool = False
    parts: Key = ()
    key: Key = ()
    modifiers: Sequence[str] = ()
    least: int = 0
    most: int = -1
    results: tuple[tuple["Scope", Chain | None], ...] = ()
    is_member: bool = False
    condition: str = ""
    is_apart: bool = False

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def definition(self) -> "Scope":
        """The function or class that a block is in, or else the file; of any other, itself."""
        scope = self
        while scope.kind == _BLOCK and scope.parent is not None:
            scope = scope.parent
        return scope

    def around(self) -> Iterator["Scope"]:
        """This scope and those around it but for the file, from the inside out."""
        scope: Scope | None = self
        while scope is not None and not scope.is_top:
            yield scope
            scope = scope.parent

    def enclosing_class(self) -> "Scope | None":
        """The class whose method contains this scope, also through functions inside it."""
        scope: Scope | None = self
        while scope is not None and scope.parent is not None and not scope.parent.is_class:
            scope = scope.parent
        return scope.parent if scope is not None else None

    def bound(self, name: str, *kinds: Bound) -> list[Any]:
        """What bindings of these kinds bind a name to."""
        return [binding[1] for binding in self.names.get(name, ()) if binding[0] in kinds]

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many arguments."""
        return count < 0 or (self.least <= count and (self.most < 0 or count <= self.most))


class ScopedFile(Struct, eq=False):
    """One file; `unit` is the key of what its top-level names belong to. `stars` are Python's imports of all names."""

    path: str
    language: str
    exports: frozenset[str] | tuple[str, ...] | None = None
    reexports: Sequence[Reexport] = ()
    package: str | None = None
    scopes: list[Scope] = field(default_factory=list)
    imports: list[Any] = field(default_factory=list)
    stars: list[tuple[int, str, int]] = field(default_factory=list)
    # Of the declared languages: names at the top that are no definitions, and those that no other file sees.
    constants: frozenset[str] = frozenset()
    private_constants: frozenset[str] = frozenset()
    extensions: list[TypeExtension] = field(default_factory=list)
    definitions: list[Scope] = field(default_factory=list)
    # Rows of kind, name, the id of a document without the path, and code that leads to what has that name; and the ids
    # of functions without a name, each with the numbers of its calls (`symbols.parsing.name_facts`).
    other_names: Sequence[tuple[str, str, str, str]] = ()
    held: Mapping[str, Sequence[int]] = field(default_factory=lambda: _NOTHING)
    has_blocks: bool = False
    unit: Key = ()
    # Of Python: a name for each scope, which does not depend on its number (`graph.resolvers.cells`).
    places: list[str] = field(default_factory=list)
    _named: dict[Key, Scope] = field(default_factory=dict)
    # Of the declared languages as it is written, until it is looked at.
    _code: "Mapping[str, Any] | tuple[list[Any], list[Any]]" = ([], [])

    def code(self) -> tuple[list[Any], list[Any]]:
        """The calls, and the uses, at which only the file itself looks."""
        if not isinstance(self._code, tuple):
            self._code = _code_of(self._code)
        return self._code

    @property
    def top(self) -> Scope:
        return self.scopes[0]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].partition(".")[0]

    def add(self, kind: str, parent: Scope | None, id_: str | None, names: dict[str, list[Binding]]) -> Scope:
        """Take in the next scope."""
        caller_id = id_ or (parent.caller_id if parent is not None else self.path)
        number = len(self.scopes)
        scope = Scope(self, number, kind, parent, id_, caller_id, names, number == 0, kind == ScopeKind.CLASS)
        self.scopes.append(scope)
        return scope

    def named(self, parts: Key) -> Scope:
        """The scope with these names in the file: of a definition, or of a block without a document."""
        if not parts:
            return self.top
        if parts not in self._named:
            block = self._named[parts] = Scope(self, -1, "", self.named(parts[:-1]), None, "", {})
            block.parts, block.key = parts, self.unit + parts
        return self._named[parts]


def empty_file(path: str, language: str) -> ScopedFile:
    """A file without names, calls and imports."""
    file = ScopedFile(path, language)
    file.add(ScopeKind.MODULE, None, None, {})
    return file


def load_python(path: str, references: str, exports: Iterable[str] | None) -> ScopedFile:
    """Read what `extract_references` wrote."""
    facts = json.loads(references)
    file = ScopedFile(path, "python", None if exports is None else frozenset(exports))
    file.imports, file.stars, file._code = facts["imports"], facts["stars"], (facts["calls"], facts["uses"])
    file.other_names = [*map(tuple, facts.get("named", ()))]
    scopes = file.scopes
    for (kind, parent, suffix), names in zip(facts["scopes"], facts["names"], strict=True):
        file.add(kind, scopes[parent] if parent >= 0 else None, None if suffix is None else path + suffix, names)
    for number, attributes in facts["attributes"].items():
        scopes[int(number)].attributes = attributes
    for number, (returns, decorators, is_generator) in facts["functions"].items():
        scope = scopes[int(number)]
        scope.returns, scope.decorators, scope.is_generator = returns, tuple(decorators), is_generator
    for number, (bases, decorators) in facts["classes"].items():
        scopes[int(number)].bases, scopes[int(number)].decorators = tuple(bases), tuple(decorators)
    return file


def load_declared(path: str, references: str) -> ScopedFile:
    """Read what `read_references` wrote, whose scopes have numbers one less than here."""
    facts = json.loads(references)
    file = empty_file(path, facts["language"])
    file.package, file.exports = facts["package"], tuple(facts["exports"])
    file.other_names, file.held = [*map(tuple, facts.get("named", ()))], facts.get("held", {})
    file.has_blocks = bool(facts["around"] or facts["blocks"])
    file._code = {name: facts[name] for name in ("receivers", "calls", "counts", "uses")}
    file.constants, file.private_constants = frozenset(facts["constants"]), frozenset(facts.get("private", ()))
    file.imports = [ImportRow(*row) for row in facts["imports"]]
    file.extensions = [
        TypeExtension(tuple(around), _type(type_), tuple(map(_type, bases)))
        for around, type_, bases in facts["extensions"]
    ]
    for symbol, head in zip(facts["symbols"], facts["heads"], strict=True):
        _add_definition(file, symbol, head)
    for number, condition in facts.get("conditions", ()):
        file.definitions[number].condition = condition
    for number in facts.get("apart", ()):
        file.definitions[number].is_apart = True
    if file.has_blocks:
        _nest(file, facts)
    else:
        for definition in file.definitions:
            parent = definition.parent = _around(file, definition.parts)
            if len(definition.parts) == len(parent.parts) + 1:
                parent.names.setdefault(definition.name, []).append((Bound.DEFINED, definition))
    _add_names(file, facts)
    return file


def _code_of(facts: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    receivers = [*map(chain_from_json, facts["receivers"])]
    calls = [
        CallExpression(scope + 1, receivers[receiver], name, bool(is_new), count)
        for (scope, receiver, name, is_new), count in zip(facts["calls"], facts["counts"], strict=True)
    ]
    return calls, [
        UseExpression(scope + 1, tuple(map(_step_of, path.split(" "))), kind > 0, arguments, times, is_only=kind > 1)
        for scope, path, kind, arguments, times in facts["uses"]
    ]


def _step_of(name: str) -> ExpressionStep:
    return chain_of(name)[0]


def _add_definition(file: ScopedFile, symbol: list[Any], head: list[Any]) -> None:
    local_id, type_, parts, bases, returns = symbol
    kind = ScopeKind.CLASS if type_ == "class" else ScopeKind.FUNCTION
    scope = file.add(kind, None, f"{file.path}{SEPARATOR}{local_id}", {name: [_PARAMETER] for name in head[1]})
    scope.modifiers, _, scope.least, scope.most = head
    scope.parts, scope.bases, scope.returns = tuple(parts), tuple(map(_type, bases)), type_from_json(returns)
    file.definitions.append(scope)
    file._named.setdefault(scope.parts, scope)


def _around(file: ScopedFile, parts: Key) -> Scope:
    """The innermost definition around one; not each of the names before its own is one, such as a group of tests."""
    for size in range(len(parts) - 1, 0, -1):
        if (found := file._named.get(parts[:size])) is not None:
            return found
    return file.top


def _nest(file: ScopedFile, facts: dict[str, Any]) -> None:
    """Link definitions and blocks as they are nested."""
    first = len(file.scopes)
    for _, parameters in facts["blocks"]:
        file.add(_BLOCK, None, None, {name: [_PARAMETER] for name in parameters})
    blocks = file.scopes[first:]
    for block, (around, _) in zip(blocks, facts["blocks"], strict=True):
        block.parent = file.scopes[around + 1]
    for block in blocks:
        owner = block.definition
        block.caller_id, block.parts = owner.caller_id, owner.parts
    for definition, (around, is_member) in zip(file.definitions, facts["around"], strict=True):
        parent = definition.parent = file.scopes[around + 1]
        definition.is_member = bool(is_member)
        if not is_member:
            parent.names.setdefault(definition.name, []).append((Bound.DEFINED, definition))
    for number, value in facts["results"]:
        owner = file.scopes[number + 1].definition
        owner.results = (*owner.results, (file.scopes[number + 1], chain_from_json(value)))


def _bind(scope: Scope, name: str, kind: Bound, what: Any) -> None:
    """Bind a name once more, unless it is bound to the same already."""
    bindings = scope.names.setdefault(name, [])
    if (kind, what) not in bindings:
        bindings.append((kind, what))


def _type(written: list[Any]) -> TypeName:
    type_ = type_from_json(written)
    assert type_ is not None
    return type_


def _add_names(file: ScopedFile, facts: dict[str, Any]) -> None:
    imported = {(row.scope, row.bound_name) for row in file.imports}
    readers: dict[str, tuple[Bound, Callable[[Any], Chain | TypeName | None]]] = {
        "typed": (Bound.ANNOTATED, type_from_json), "bound": (Bound.VALUE, chain_from_json)
    }  # fmt: skip
    for facts_of, (kind, read) in readers.items():
        for number, name, written in facts[facts_of]:
            if number < 0 or (number, name) not in imported:
                _bind(file.scopes[number + 1], name, kind, read(written))


class LazyFiles(Mapping[str, ScopedFile]):
    """Files by path, in the order of paths; each is read once, and is empty if it cannot be."""

    def __init__(self, rows: Mapping[str, Row], guard: FailureGuard) -> None:
        self.rows = dict(sorted(rows.items()))
        self._guard = guard
        self._files: dict[str, ScopedFile] = {}
        self._offers: dict[str, frozenset[str] | None] = {}

    def exports(self, path: str) -> frozenset[str] | None:
        """The exports that a file declares, known without reading the file; None if it declares none."""
        if path not in self._offers:
            offered = self.rows[path]["exports"]
            self._offers[path] = None if offered is None else frozenset(offered)
        return self._offers[path]

    def __getitem__(self, path: str) -> ScopedFile:
        if path not in self._files:
            row = self.rows[path]
            self._files[path] = empty_file(path, row["language"])
            with self._guard.item(path):
                self._files[path] = _read(path, row)
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, path: object) -> bool:
        return path in self.rows

    def only(self, paths: Collection[str]) -> "LazyFiles":
        """Those of these paths."""
        return LazyFiles({path: row for path, row in self.rows.items() if path in paths}, self._guard)


def _read(path: str, row: Row) -> ScopedFile:
    is_python = row["language"] == "python"
    references = row["references"]
    file = load_python(path, references, row["exports"]) if is_python else load_declared(path, references)
    file.reexports = convert(row["reexports"] or (), list[Reexport])
    return file
