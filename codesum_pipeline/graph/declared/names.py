"""What a name stands for where it is written: variables, definitions around, imports, the package, what is left."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from codesum_pipeline.graph.declared.definitions import CodePlace, DeclaredFile, Key, ScopeDefinition
from codesum_pipeline.graph.declared.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.graph.declared.values import (
    BUILTIN,
    OUTSIDE,
    UNKNOWN,
    External,
    NamedDefinitions,
    Space,
    Value,
    Variable,
    agree,
    weakened,
)
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.model.guard import FailureGuard

# How many places one name is looked for through what modules hand on to each other.
MAX_HOPS = 200


class FileImports:
    """One file's imports: names, and the places whose names it takes in whole."""

    def __init__(self, rows: Iterable[tuple[int, ResolvedImport]]) -> None:
        self.rows = list(rows)
        self.named: dict[str, list[tuple[int, ResolvedImport]]] = defaultdict(list)
        self.stars: list[tuple[int, ResolvedImport]] = []
        for symbol, resolved in self.rows:
            if resolved.is_star:
                self.stars.append((symbol, resolved))
            elif resolved.name:
                self.named[resolved.name].append((symbol, resolved))


class FamilyNameResolver:
    """Looks names up for one family; `used` are the files that a file's package and star imports came to need."""

    def __init__(self, rules: Rules, tree: NameTree, guard: FailureGuard) -> None:
        self.rules = rules
        self.tree = tree
        self.used: dict[str, set[str]] = defaultdict(set)
        self.imports: dict[str, FileImports] = {}
        for path in sorted(tree.files):
            self.imports[path] = FileImports(())
            with guard.item(path):
                self.imports[path] = self._read_imports(tree.files[path])
        self._by_unit: dict[Key, list[ResolvedImport]] = defaultdict(list)
        for path in sorted(tree.files):
            self._by_unit[tree.files[path].unit].extend(
                resolved for symbol, resolved in self.imports[path].rows if symbol < 0 and resolved.is_handed_on
            )
        self._known: dict[tuple[Key, str], Value] = {}
        self._shown: dict[tuple[str, Key], Sequence[ScopeDefinition]] = {}

    def _read_imports(self, file: DeclaredFile) -> FileImports:
        return FileImports(
            (row.symbol, found) for row in file.imports for found in self.rules.resolve_import(file, row)
        )

    def is_variable(self, place: CodePlace, name: str) -> ScopeDefinition | None:
        """The function whose parameter or variable a name is."""
        # With blocks, a function that a variable is given is a definition of the variable's block.
        scope, has_blocks = place.scope, place.file.names is not None
        while scope is not None:
            if not scope.is_class:
                if name in scope.children and has_blocks:
                    return None
                if name in scope.typed or name in scope.bound or name in scope.parameters:
                    return scope
                if name in scope.children:
                    return None
            scope = scope.parent
        return None

    def lookup(self, place: CodePlace, name: str) -> Value:
        """What a name that is no variable stands for."""
        for step in (self._nested, self._member, self._own_file, self._imported, self._spaces, self._starred):
            found = step(place, name)
            if found is not None:
                return found
        if name in self.rules.builtins:
            return BUILTIN
        return self.rules.root(place, name)

    def _nested(self, place: CodePlace, name: str) -> Value | None:
        scope = place.scope
        while scope is not None:
            if name in scope.children and not scope.is_class:
                return self.rules.pick(place, scope.children[name], Reason.SAME_FILE)
            scope = scope.parent
        return None

    def _visible(self, place: CodePlace, key: Key) -> Sequence[ScopeDefinition]:
        """The definitions of a key that a file sees."""
        at = (place.file.path, key)
        if at not in self._shown:
            self._shown[at] = self.rules.visible(place, self.tree.entries.get(key, ()))
        return self._shown[at]

    def _member(self, place: CodePlace, name: str) -> Value | None:
        """A type inside of the classes around; a member too where the language sees it."""
        if place.scope is None:
            return None
        for key in self.rules.inner_spaces(place):
            found = self._visible(place, (*key, name))
            is_class = key in self.tree.classes
            if is_class and key[-1] == name:
                # A constructor is called by the name of its class.
                continue
            if is_class and not self.rules.sees_members:
                found = [entry for entry in found if entry.is_class and self._sees_types(place)]
            if found:
                return self.rules.pick(
                    place, found, Reason.SELF if is_class and not found[0].is_class else Reason.PACKAGE
                )
        return None

    def _sees_types(self, place: CodePlace) -> bool:
        return not self.rules.files_are_types

    def _own_file(self, place: CodePlace, name: str) -> Value | None:
        names = place.file.names
        if names is not None:
            found = names.get(name)
        else:
            found = self.tree.entries_in.get((place.file.path, (*place.file.unit, name)))
        return self.rules.pick(place, found, Reason.SAME_FILE) if found else None

    def _imported(self, place: CodePlace, name: str) -> Value | None:
        found = self.imports[place.file.path].named.get(name)
        if not found:
            return None
        scopes = set(_scopes(place))
        inner = [resolved for symbol, resolved in found if place.file.definition(symbol) in scopes] or [
            resolved for symbol, resolved in found if symbol < 0
        ]
        values = [value for resolved in inner if (value := self.target(resolved)) is not UNKNOWN]
        return agree(values) if inner else None

    def target(self, resolved: ResolvedImport) -> Value:
        """What an import stands for."""
        match resolved.target:
            case Space():
                return resolved.target
            case Member(key, name):
                return weakened(self.member(key, name), Reason.IMPORT)
            case Outside(package, name):
                return External(self.rules.external_name(package, name))
        return UNKNOWN

    def _spaces(self, place: CodePlace, name: str) -> Value | None:
        for key in self.rules.spaces_of(place.file):
            found = self._visible(place, (*key, name)) if not self.rules.has_modules else ()
            if found:
                value = self.rules.pick(place, found, Reason.PACKAGE)
                self._use(place, value)
                return value
            if (*key, name) in self.tree.spaces:
                # It may be no more than what a file says of a type of another place.
                taken = self._starred(place, name)
                return taken if isinstance(taken, NamedDefinitions) else Space((*key, name))
        return None

    def _starred(self, place: CodePlace, name: str) -> Value | None:
        """What the places taken in whole have; of several, none."""
        stars = self.imports[place.file.path].stars
        values, is_outside = [], False
        scopes = set(_scopes(place))
        for symbol, resolved in stars:
            if symbol >= 0 and place.file.definition(symbol) not in scopes:
                continue
            if isinstance(resolved.target, Space):
                value = self.member(resolved.target.key, name)
                if value is not UNKNOWN:
                    values.append(value)
            elif isinstance(resolved.target, Outside):
                is_outside = True
        if values:
            value = weakened(agree(values), Reason.IMPORT)
            self._use(place, value)
            return value
        return OUTSIDE if is_outside and name not in self.rules.builtins else None

    def _use(self, place: CodePlace, value: Value) -> None:
        if isinstance(value, NamedDefinitions):
            self.used[place.file.path].update(entry.file.path for entry in value.definitions)

    def member(self, key: Key, name: str) -> Value:
        """What a space gives under a name, also through what it takes from others."""
        known = self._known.get((key, name))
        if known is None:
            known = self._known[(key, name)] = self._find_member(key, name)
        return known

    def _find_member(self, key: Key, name: str) -> Value:
        waiting, seen, values = deque([(key, name)]), set[tuple[Key, str]](), []
        variables: list[Value] = []
        while waiting:
            here = waiting.popleft()
            if here in seen:
                continue
            if len(seen) >= MAX_HOPS:
                return UNKNOWN
            seen.add(here)
            value = self._direct(*here)
            if value is not None:
                values.append(value)
                continue
            if self.rules.keeps(*here):
                variables.append(Variable(*here))
            else:
                values.extend(self._hand_on(here, waiting))
        if not values:
            return agree(variables)
        return agree([value for value in values if value is not OUTSIDE] or values)

    def _direct(self, key: Key, name: str) -> Value | None:
        inner = self.rules.local_key(key, name)
        found = self.tree.entries.get(inner, ())
        if found:
            return self.rules.pick(_ELSEWHERE, self.rules.given(found), Reason.IMPORT)
        return Space(inner) if inner in self.tree.spaces else None

    def _hand_on(self, here: tuple[Key, str], waiting: "deque[tuple[Key, str]]") -> list[Value]:
        key, name = here
        inner = self.rules.local_key(key, name)[-1]
        exact = [row for row in self._handed(key, inner, name) if not row.is_star]
        given: list[Value] = []
        for row in exact or [row for row in self._handed(key, inner, name) if row.is_star]:
            match row.target:
                case Member(other, wanted):
                    waiting.append((other, wanted))
                case Space(other) if row.is_star:
                    waiting.append((other, name))
                case Space():
                    given.append(row.target)
                case Outside(package, taken) if not row.is_star:
                    given.append(External(self.rules.external_name(package, taken)))
                case Outside():
                    given.append(OUTSIDE)
        return given

    def _handed(self, key: Key, inner: str, name: str) -> Sequence[ResolvedImport]:
        found = self.rules.handed_on(key, name)
        if found is not None:
            return [row for row in found if row.is_star or row.name == inner]
        return [row for row in self._by_unit.get(key, ()) if row.is_star or row.name == inner]


def _scopes(place: CodePlace) -> Iterable[ScopeDefinition]:
    scope = place.scope
    while scope is not None:
        yield scope
        scope = scope.parent


_ELSEWHERE = CodePlace(DeclaredFile("", "", None, (), [], [], [], {}, {}), None)
