"""What a name means at its place: variables, enclosing definitions, imports, the package, then anything else."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.expression import Chain, ExpressionStep, chain_of
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.possible_values import (
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ExternalValue,
    FunctionValue,
    ModuleValue,
    Reason,
    Value,
    VariableValue,
    agree_on_value,
    weaken_value,
)
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.graph.resolvers.resolver import Resolver
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules

# How many places one name is looked up in through re-exports of modules.
MAX_HOPS = 200


class DeclaredNames:
    """Looks names up for one family. `used` holds, by file, the files whose definitions it uses through its package or
    through star imports."""

    def __init__(
        self, resolver: Resolver[Chain | None, ExpressionStep], rules: Rules, tree: NameTree, guard: FailureGuard
    ) -> None:
        self._resolver = resolver
        self.rules = rules
        self.tree = tree
        self.used: dict[str, set[str]] = defaultdict(set)
        # The imports of each file, with the numbers of the scopes that they are in.
        self.imports: dict[str, list[tuple[int, ResolvedImport]]] = {}
        # What a file re-exports, and what it imports by a name or as a whole, with the scopes that see it.
        self.reexports: Table[tuple[str, Reexport], tuple[ResolvedImport, ...]] = tree.table("re-exports")
        self._named: Table[tuple[str, str], list[tuple[Scope, ResolvedImport]]] = tree.table("imported")
        self._stars: Table[str, list[tuple[Scope, ResolvedImport]]] = tree.table("stars")
        # What a package or file hands on to those who import it, by name and, without one, as a whole.
        self._handed: Table[tuple[Key, str | None], list[ResolvedImport]] = tree.table("handed on")
        for path in sorted(tree.files):
            self.imports[path] = []
            with guard.item(path):
                self._read_imports(tree.files[path])
        self._looked_up: dict[tuple[Scope, str], Value] = resolver.make_answers()
        # With what was asked for them.
        self._members: dict[tuple[Key, str], Any] = {}
        self._shown: dict[tuple[str, Key], Any] = {}
        self._owners: dict[Scope, Any] = {}

    def _read_imports(self, file: ScopedFile) -> None:
        rows = [(row.scope, found) for row in file.imports for found in self.rules.resolve_import(file, row)]
        for reexport in file.reexports:
            alias = reexport.name if reexport.name != reexport.original else None
            row = ImportRow(-1, reexport.source, reexport.original, alias, 0)
            self.reexports.rows[file.path, reexport] = tuple(self.rules.resolve_import(file, row))
        self.imports[file.path] = rows
        self._stars.rows[file.path] = [(file.scopes[at + 1], resolved) for at, resolved in rows if resolved.is_star]
        for at, resolved in rows:
            if resolved.name and not resolved.is_star:
                self._named.rows.setdefault((file.path, resolved.name), []).append((file.scopes[at + 1], resolved))
            if at < 0 and resolved.is_handed_on and (resolved.is_star or resolved.name):
                key = (file.unit, None if resolved.is_star else resolved.name)
                self._handed.rows.setdefault(key, []).append(resolved)

    # Variables

    def variable_scope(self, scope: Scope, name: str) -> Scope | None:
        """The function or block whose parameter or variable a name is."""
        around = scope
        while not around.is_top:
            bindings = None if around.is_class else self.tree.bindings(around, name)
            if bindings is not None:
                kinds = {binding[0] for binding in bindings}
                # With blocks, a function that a variable is given is a definition of the variable's block.
                is_defined = Bound.DEFINED in kinds and (scope.file.has_blocks or len(kinds) == 1)
                return None if is_defined else around
            around = around.parent or scope.file.top
        return None

    def settled(self, value: Value) -> Value:
        """The value of another module's variable, found from its declaration there."""
        if not isinstance(value, VariableValue):
            return value
        top = self.tree.known_files.get(value.module[0]).top
        inner = self.rules.local_key(value.module, value.name)[-1]
        if self.tree.bound(top, inner, Bound.ANNOTATED, Bound.VALUE):
            return weaken_value(self._resolver.value(top, chain_of(inner)), Reason.IMPORT)
        assigned = self.tree.bound(top, self.rules.member_name(value.module, value.name), Bound.VALUE)
        return weaken_value(self._resolver.agreed(top, [chain for chain in assigned if chain != ()]), Reason.IMPORT)

    def owner(self, scope: Scope) -> Scope | ModuleValue:
        """The class, object or file that `this` means in a scope."""
        return self.tree.once(self._owners, scope, self._find_owner, scope)

    def _find_owner(self, scope: Scope) -> Scope | ModuleValue:
        around = scope.definition
        if around.is_top:
            return ModuleValue(scope.file.unit)
        key = self.rules.owner_key(around)
        return self._class_at(scope, key) or ModuleValue(key)

    def _class_at(self, scope: Scope, key: Key) -> Scope | None:
        """The class of a key."""
        if (own := self.rules.own_class(scope, key)) is not None:
            return own
        entries = [entry for entry in self.tree.entries.get(key, ()) if entry.is_class]
        found = self.rules.visible_from(scope.file, entries)
        value = self.rules.pick_value(scope.file, found, Reason.SELF) if found else None
        return value.scope if isinstance(value, ClassValue) else None

    # Definitions and imports

    def lookup(self, scope: Scope, name: str) -> Value:
        """What a name refers to if it is not a variable."""
        found: Value | None = self._looked_up.get((scope, name))
        if found is None:
            found = self._looked_up[scope, name] = self._lookup(scope, name)
        return found

    def _lookup(self, scope: Scope, name: str) -> Value:
        for step in (self._nested, self._member, self._own_file, self._imported, self._spaces, self._starred):
            found = step(scope, name)
            if found is not None:
                return found
        return BuiltinValue(name) if name in self.rules.builtins else self.rules.value_of_root(scope, name)

    def _nested(self, scope: Scope, name: str) -> Value | None:
        around = scope
        while not around.is_top:
            if not around.is_class and (found := self.tree.bound(around, name, Bound.DEFINED)):
                return self.rules.pick_value(scope.file, found, Reason.SAME_FILE)
            around = around.parent or scope.file.top
        return None

    def _visible(self, file: ScopedFile, key: Key) -> Sequence[Scope]:
        """The definitions of a key that a file sees."""
        return self.tree.once(self._shown, (file.path, key), self._find_visible, file, key)

    def _find_visible(self, file: ScopedFile, key: Key) -> Sequence[Scope]:
        return self.rules.visible_from(file, self.tree.entries.get(key, ()))

    def _member(self, scope: Scope, name: str) -> Value | None:
        """A type that is defined in one of the classes around; where a language sees members without a receiver, also a
        member."""
        for key in self.rules.inner_spaces(scope):
            found = self._visible(scope.file, (*key, name))
            is_class = key in self.tree.classes
            if is_class and key[-1] == name:
                # A constructor is called by the name of its class.
                continue
            if is_class and not self.rules.sees_members:
                found = [entry for entry in found if entry.is_class and not self.rules.files_are_types]
            if found:
                why = Reason.SELF if is_class and not found[0].is_class else Reason.PACKAGE
                return self.rules.pick_value(scope.file, found, why)
        return None

    def _own_file(self, scope: Scope, name: str) -> Value | None:
        found = self.tree.bound(scope.file.top, name, Bound.DEFINED)
        return self.rules.pick_value(scope.file, found, Reason.SAME_FILE) if found else None

    def _imported(self, scope: Scope, name: str) -> Value | None:
        found = self._named.get((scope.file.path, name))
        if not found:
            return None
        around = {*scope.around()}
        inner = [resolved for at, resolved in found if at in around]
        inner = inner or [resolved for at, resolved in found if at.is_top]
        values = [value for resolved in inner if (value := self.target(resolved)) is not UNKNOWN]
        return agree_on_value(values) if inner else None

    def target(self, resolved: ResolvedImport) -> Value:
        """What an import refers to."""
        match resolved.target:
            case ModuleValue():
                return resolved.target
            case Member(key, name):
                return weaken_value(self.member(key, name), Reason.IMPORT)
            case Outside(package, name):
                return ExternalValue(self.rules.external_name(package, name))
        return UNKNOWN

    def _spaces(self, scope: Scope, name: str) -> Value | None:
        for key in self.rules.spaces_of(scope.file):
            found = self._visible(scope.file, (*key, name)) if not self.rules.has_modules else ()
            if found:
                value = self.rules.pick_value(scope.file, found, Reason.PACKAGE)
                self.use(scope.file, value)
                return value
            if (*key, name) in self.tree.spaces:
                # It may only be a file's extension of a type from elsewhere.
                taken = self._starred(scope, name)
                return taken if isinstance(taken, ClassValue | FunctionValue) else ModuleValue((*key, name))
        return None

    def _starred(self, scope: Scope, name: str) -> Value | None:
        """What the star imports of the file give under a name; ambiguous where several places have it."""
        values, is_outside = [], False
        around = {*scope.around()}
        for at, resolved in self._stars.get(scope.file.path, ()):
            if not at.is_top and at not in around:
                continue
            if isinstance(resolved.target, ModuleValue):
                value = self.member(resolved.target.module, name)
                if value is not UNKNOWN:
                    values.append(value)
            elif isinstance(resolved.target, Outside):
                is_outside = True
        if values:
            value = weaken_value(agree_on_value(values), Reason.IMPORT)
            self.use(scope.file, value)
            return value
        return OUTSIDE if is_outside and name not in self.rules.builtins else None

    def use(self, file: ScopedFile, value: Value) -> None:
        """Note that a file needs those in which a value is defined."""
        if isinstance(value, ClassValue | FunctionValue):
            self.used[file.path].update(entry.file.path for entry in definitions_of(value))

    # Names of other places

    def member(self, key: Key, name: str) -> Value:
        """What a module or package offers under a name, also through its own re-exports."""
        return self.tree.once(self._members, (key, name), self._find_member, key, name)

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
            elif self.rules.has_variable(*here):
                variables.append(VariableValue(*here))
            else:
                values.extend(self._hand_on(here, waiting))
        return agree_on_value([value for value in values if value is not OUTSIDE] or values or variables)

    def _direct(self, key: Key, name: str) -> Value | None:
        inner = self.rules.local_key(key, name)
        found = self.tree.entries.get(inner, ())
        if found:
            return self.rules.pick_value(None, self.rules.importable_among(found), Reason.IMPORT)
        return ModuleValue(inner) if inner in self.tree.spaces else None

    def _hand_on(self, here: tuple[Key, str], waiting: "deque[tuple[Key, str]]") -> list[Value]:
        key, name = here
        inner = self.rules.local_key(key, name)[-1]
        values: list[Value] = []
        for row in self._handed.get((key, inner)) or self._handed.get((key, None), ()):
            match row.target:
                case Member(other, wanted):
                    waiting.append((other, wanted))
                case ModuleValue(other) if row.is_star:
                    waiting.append((other, name))
                case ModuleValue():
                    values.append(row.target)
                case Outside(package, taken) if not row.is_star:
                    values.append(ExternalValue(self.rules.external_name(package, taken)))
                case Outside():
                    values.append(OUTSIDE)
        return values


def definitions_of(value: ClassValue | FunctionValue) -> tuple[Scope, ...]:
    """The definitions that a value refers to: several for an overloaded function."""
    return value.scopes if isinstance(value, FunctionValue) else (value.scope,)
