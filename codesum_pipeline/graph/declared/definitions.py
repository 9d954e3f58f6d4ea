"""A file of a declared language as the resolver sees it: its definitions, linked, and what it imports and calls."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from codesum_pipeline.model.expressions import Chain, TypeName, chain_from_json, type_from_json
from codesum_pipeline.model.ids import SEPARATOR

# Where something stands in a language's tree of names: a package or file, then the names in it.
Key = tuple[str, ...]


class CallExpression(NamedTuple):
    """A call as written; `arguments` is how many it has, -1 where that is not known.

    `receiver` has no steps where there is none, and is None where it is no chain.
    """

    symbol: int
    receiver: Chain | None
    name: str
    is_new: bool
    arguments: int


class ImportRow(NamedTuple):
    """An import as written: see `Imported`."""

    symbol: int
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


@dataclass(slots=True, eq=False)
class ScopeDefinition:
    """One function or class, or a block in one. `typed` and `bound` are the names that say their type or what they are
    first given.

    A block has the id and the names of the definition around it; a member is known through its object alone.
    """

    file: "DeclaredFile"
    id: str
    is_class: bool
    parts: Key
    bases: tuple[TypeName, ...]
    returns: TypeName | None
    modifiers: frozenset[str]
    parameters: frozenset[str]
    least: int
    most: int
    parent: "ScopeDefinition | None" = None
    # What it gives back where it does not say of what type that is: the scope and the value.
    results: tuple[tuple["ScopeDefinition", Chain | None], ...] = ()
    is_block: bool = False
    is_member: bool = False
    key: Key = ()
    children: dict[str, list["ScopeDefinition"]] = field(default_factory=dict)
    typed: dict[str, list[TypeName | None]] = field(default_factory=dict)
    bound: dict[str, list[Chain | None]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def owner(self) -> "ScopeDefinition | None":
        """The definition that a block is in; of any other, itself."""
        scope: ScopeDefinition | None = self
        while scope is not None and scope.is_block:
            scope = scope.parent
        return scope

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many arguments."""
        return count < 0 or (self.least <= count and (self.most < 0 or count <= self.most))


@dataclass(slots=True, eq=False)
class DeclaredFile:
    """One file; `unit` is the key of what its top-level names belong to.

    `names` are the definitions outside of all others, where blocks are known.
    """

    path: str
    language: str
    package: str | None
    exports: tuple[str, ...]
    definitions: list[ScopeDefinition]
    imports: list[ImportRow]
    calls: list[CallExpression]
    typed: dict[str, list[TypeName | None]]
    bound: dict[str, list[Chain | None]]
    unit: Key = ()
    extensions: list[TypeExtension] = field(default_factory=list)
    blocks: list[ScopeDefinition] = field(default_factory=list)
    names: dict[str, list[ScopeDefinition]] | None = None
    _scopes: dict[Key, ScopeDefinition] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].partition(".")[0]

    def definition(self, number: int) -> ScopeDefinition | None:
        """The definition or block of a number."""
        if number < 0:
            return None
        of_blocks = number - len(self.definitions)
        return self.blocks[of_blocks] if of_blocks >= 0 else self.definitions[number]

    def add(self, definition: ScopeDefinition) -> None:
        """Take in the next definition of the file."""
        self.definitions.append(definition)
        self._scopes.setdefault(definition.parts, definition)

    def first_with(self, parts: Key) -> ScopeDefinition | None:
        """The first definition of the file that has these names."""
        return self._scopes.get(parts)

    def scope(self, around: Key) -> ScopeDefinition | None:
        """What has these names in the file: a definition, or one that stands for a block without a document."""
        if not around:
            return None
        if around not in self._scopes:
            nothing = frozenset[str]()
            block = ScopeDefinition(self, "", False, around, (), None, nothing, nothing, 0, 0, self.scope(around[:-1]))
            block.key = self.unit + around
            self._scopes[around] = block
        return self._scopes[around]


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Where something is written: in a file, and in which definition or block of it."""

    file: DeclaredFile
    scope: ScopeDefinition | None

    @property
    def definition(self) -> ScopeDefinition | None:
        """The definition around, blocks left out."""
        return self.scope.owner if self.scope is not None else None


def load_declared(path: str, references: str) -> DeclaredFile:
    """Read what `read_references` wrote."""
    facts = json.loads(references)
    receivers = [*map(chain_from_json, facts["receivers"])]
    calls = [
        CallExpression(symbol, receivers[receiver], name, bool(is_new), count)
        for (symbol, receiver, name, is_new), count in zip(facts["calls"], facts["counts"], strict=True)
    ]
    imports = [ImportRow(*row) for row in facts["imports"]]
    file = DeclaredFile(
        path, facts["language"], facts["package"], tuple(facts["exports"]), [], imports, calls, {}, {}
    )  # fmt: skip
    file.extensions = [
        TypeExtension(tuple(around), _type(type_), tuple(map(_type, bases)))
        for around, type_, bases in facts["extensions"]
    ]
    for symbol, head in zip(facts["symbols"], facts["heads"], strict=True):
        file.add(_definition(file, symbol, head))
    if facts["around"] or facts["blocks"]:
        _nest(file, facts)
    else:
        for definition in file.definitions:
            definition.parent = file.first_with(definition.parts[:-1])
            if definition.parent is not None:
                definition.parent.children.setdefault(definition.name, []).append(definition)
    _add_names(file, facts)
    return file


def _nest(file: DeclaredFile, facts: dict[str, Any]) -> None:
    """Link definitions and blocks as they stand in each other."""
    nothing = frozenset[str]()
    for _, parameters in facts["blocks"]:
        names = frozenset(parameters)
        file.blocks.append(ScopeDefinition(file, "", False, (), (), None, nothing, names, 0, 0, is_block=True))
    for block, (around, _) in zip(file.blocks, facts["blocks"], strict=True):
        block.parent = file.definition(around)
    for block in file.blocks:
        owner = block.owner
        block.id, block.parts = (owner.id, owner.parts) if owner is not None else (file.path, ())
    file.names = {}
    for definition, (around, is_member) in zip(file.definitions, facts["around"], strict=True):
        definition.parent = file.definition(around)
        definition.is_member = bool(is_member)
        if not is_member:
            seen = definition.parent.children if definition.parent is not None else file.names
            seen.setdefault(definition.name, []).append(definition)
    for number, value in facts["results"]:
        scope = file.definition(number)
        if scope is not None and (owner := scope.owner) is not None:
            owner.results = (*owner.results, (scope, chain_from_json(value)))


def _definition(file: DeclaredFile, symbol: list[Any], head: list[Any]) -> ScopeDefinition:
    local_id, kind, parts, bases, returns = symbol
    modifiers, parameters, least, most = head
    return ScopeDefinition(
        file, f"{file.path}{SEPARATOR}{local_id}", kind == "class", tuple(parts), tuple(map(_type, bases)),
        type_from_json(returns), frozenset(modifiers), frozenset(parameters), least, most,
    )  # fmt: skip


def _type(said: list[Any]) -> TypeName:
    type_ = type_from_json(said)
    assert type_ is not None
    return type_


def _add_names(file: DeclaredFile, facts: dict[str, Any]) -> None:
    imported = {(row.symbol, row.bound_name) for row in file.imports}
    readers: dict[str, Callable[[Any], Chain | TypeName | None]] = {"typed": type_from_json, "bound": chain_from_json}
    for kind, read in readers.items():
        for number, name, said in facts[kind]:
            if number >= 0 and (number, name) in imported:
                continue
            names = getattr(file.definition(number) or file, kind)
            values = names.setdefault(name, [])
            if (value := read(said)) not in values:
                values.append(value)
