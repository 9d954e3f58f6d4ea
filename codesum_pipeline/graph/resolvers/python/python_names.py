"""What a name refers to in its place: scopes from the inside out, imports, star imports, builtins."""

from collections.abc import Iterator, Sequence
from typing import Any

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.foundation.data_model.ids import symbol_id
from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    NONE,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    OneOf,
    Reason,
    Value,
    agree_on_value,
    found_by,
)
from codesum_pipeline.foundation.data_model.scopes import Binding, Key, LazyFiles, Scope, ScopedFile
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.graph.resolvers.python.python_lookups import PythonLookups
from codesum_pipeline.graph.resolvers.python.python_types import PythonTypes
from codesum_pipeline.graph.resolvers.resolver import MAX_DEPTH, Resolver
from codesum_pipeline.languages.declarations.python.module_paths import Absent, ModulePath

_ACCESSORS = frozenset({"setter", "getter", "deleter"})

# Values that say less than a declaration.
_CONSTANT = frozenset({Bound.VALUE, Bound.ANNOTATED, Bound.ELSEWHERE, Bound.UNKNOWN})
# How many files a constant is followed through.
_MOST_HOPS = 20
_VAGUE_VALUES = frozenset({UNKNOWN, AMBIGUOUS, OUTSIDE})

Placed = tuple[Scope, Binding]


class PythonNames:
    """Looks names up; a name that depends on itself adds nothing to its own answer."""

    def __init__(
        self, resolver: Resolver[str, str], types: PythonTypes, files: LazyFiles, lookups: PythonLookups
    ) -> None:
        self._resolver = resolver
        self._types = types
        self._files = files
        self._lookups = lookups
        self._bound: dict[tuple[Scope, str, str], Value | None] = resolver.make_answers()
        self._star_answers: dict[tuple[str, str], Value | None] = resolver.make_answers()
        self._stars_in_progress: set[tuple[str, str]] = set()
        self._star_cycles = 0
        # Which modules that star imports name may give a name.
        self._givers: dict[tuple[str, str], Any] = {}
        self._builtins = library_names("python", "builtins")

    def lookup(self, scope: Scope, name: str, chosen: str = "") -> Value:
        """The value of a name used in a scope; functions do not see the classes around them.

        `chosen` are the numbers of the bindings that reach the use, where not all of its scope do.
        """
        current: Scope | None = scope
        while current is not None:
            if (current is scope or not current.is_class) and self._lookups.bindings(current, name) is not None:
                value = self.bound(current, name, chosen)
                if value is not None:
                    return value
                if current.kind not in (ScopeKind.CLASS, ScopeKind.MODULE):
                    return NONE
            current = current.parent
        return self._global(scope.file, name)

    def _global(self, file: ScopedFile, name: str) -> Value:
        starred = self._starred(file, name)
        if starred is not None and not (starred is OUTSIDE and name in self._builtins):
            return starred
        return BuiltinValue(name) if name in self._builtins else UNKNOWN

    def bound(self, scope: Scope, name: str, chosen: str = "") -> Value | None:
        """What the bindings of one scope agree on; None while that is being worked out."""
        key = (scope, name, chosen)
        if key not in self._bound:
            bindings = self._lookups.bindings(scope, name) or ()
            self._resolver.answer_once(self._bound, key, self._settled, scope, bindings, chosen, meanwhile=None)
        return self._bound.get(key, UNKNOWN)

    def _settled(self, scope: Scope, bindings: Sequence[Binding], chosen: str) -> Value:
        plain = [(scope, binding) for binding in bindings if binding[0] != Bound.NARROWED]
        if not chosen:
            return self.settle(plain)
        picked = [bindings[int(number)] for number in chosen.split(",")]
        value = self.settle([(scope, binding) for binding in picked])
        if all(binding[0] == Bound.NARROWED for binding in picked):
            return self._narrowed(value, self.settle(plain))
        # A declared type of a name holds for all values assigned to it.
        is_declared = any(binding[0] in (Bound.ANNOTATED, Bound.NARROWED) for binding in bindings)
        return self.settle(plain) if is_declared and value in _VAGUE_VALUES else value

    def _narrowed(self, value: Value, otherwise: Value) -> Value:
        """Join two things known of an object: the more special class counts, and a class of the repository before
        others."""
        if not isinstance(otherwise, InstanceValue | OneOf):
            return value if value is not UNKNOWN else otherwise
        if not isinstance(value, InstanceValue):
            return value if isinstance(value, OneOf) else otherwise
        wider = otherwise.values if isinstance(otherwise, OneOf) else (otherwise,)
        special = [one for one in wider if value.scope in self._resolver.ancestors(one.scope)]
        return agree_on_value(special) if special else value

    def settle(self, bindings: list[Placed]) -> Value:
        """The one value of a name that has all these bindings."""
        bindings = self._without_accessors(bindings)
        declared = [self._value(*placed) for placed in bindings if placed[1][0] == Bound.ANNOTATED]
        assigned = [self._value(*placed) for placed in bindings if placed[1][0] != Bound.ANNOTATED]
        if not declared:
            return agree_on_value(assigned)
        value = agree_on_value(declared)
        if isinstance(value, InstanceValue) and not all(self._may_be(value, other) for other in assigned):
            return AMBIGUOUS
        return value

    def _without_accessors(self, bindings: list[Placed]) -> list[Placed]:
        """Leave out a property's setters, and of overloads all but the implementation."""
        if sum(binding[0] == Bound.DEFINED for _, binding in bindings) < 2:
            return bindings
        kept, implemented = [], []
        for scope, binding in bindings:
            defined = self._lookups.head(scope.file.scopes[binding[1]]) if binding[0] == Bound.DEFINED else None
            parts = [name.rpartition(".") for name in (defined.decorators if defined else ())]
            if not any(dot and last in _ACCESSORS for _, dot, last in parts):
                kept.append((scope, binding))
                if all(last != "overload" for _, _, last in parts):
                    implemented.append((scope, binding))
        return implemented or kept[-1:]

    def _may_be(self, declared: InstanceValue, assigned: Value) -> bool:
        if isinstance(assigned, InstanceValue):
            return declared.scope in self._resolver.ancestors(assigned.scope)
        return not isinstance(assigned, ModuleValue | ClassValue | FunctionValue | BuiltinValue)

    def _value(self, scope: Scope, binding: Binding) -> Value:
        match binding:
            case [Bound.VALUE | Bound.NARROWED, shapes]:
                return value_of_alternatives(self._resolver, scope, shapes)
            case [Bound.ANNOTATED, annotation]:
                value = self._types.value(scope, annotation)
                return UNKNOWN if value is NONE else value
            case [Bound.DEFINED, number]:
                defined = scope.file.scopes[number]
                return ClassValue(defined) if defined.is_class else FunctionValue(defined)
            case [Bound.IMPORTED, module, level, name]:
                return self.imported(scope.file, module, level, name)
            case [Bound.MODULE, dotted]:
                return self._module(scope.file, dotted)
            case [Bound.ALIASED_MODULE, dotted]:
                return self.imported_module(scope.file, dotted, 0)
            case [Bound.RECEIVER, number]:
                return InstanceValue(scope.file.scopes[number], Reason.SELF, is_own=True)
            case [Bound.CLASS_RECEIVER, number]:
                return ClassValue(scope.file.scopes[number], Reason.SELF, is_own=True)
            case [Bound.ELSEWHERE, number, inner]:
                return self._value(scope.file.scopes[number], inner)
            case [Bound.GLOBAL, name]:
                return self.lookup(scope.file.top, name)
            case [Bound.DELETED]:
                # Whether a file or class still has the name depends on the order of things.
                return AMBIGUOUS if scope.kind in (ScopeKind.CLASS, ScopeKind.MODULE) else NONE
            case _:
                return UNKNOWN

    def constant(self, scope: Scope, name: str) -> tuple[str, Reason] | None:
        """The id of the constant of a file that a name means in a scope, and how it was found."""
        current: Scope | None = scope
        while current is not None and (
            (current.is_class and current is not scope) or self._lookups.bindings(current, name) is None
        ):
            current = current.parent
        is_local = current is not None and not current.is_top
        return None if is_local else self._constant_in(scope.file, name, Reason.SAME_FILE)

    def constant_of_module(self, module: Key, name: str) -> tuple[str, Reason] | None:
        """The same for an attribute of a module."""
        file = self._files.get(module[0])
        return None if file is None else self._constant_in(file, name, Reason.IMPORT)

    def _constant_in(self, file: ScopedFile, name: str, why: Reason) -> tuple[str, Reason] | None:
        for _ in range(_MOST_HOPS):
            bindings = self._lookups.bindings(file.top, name)
            if bindings is None:
                givers = [*self._find_givers(file, name)]
                module: Value = ModuleValue(ModulePath(*givers[0])) if len(givers) == 1 and givers[0] else UNKNOWN
            elif len(bindings) == 1 and bindings[0][0] == Bound.IMPORTED:
                _, dotted, level, name = bindings[0]
                module = self.imported_module(file, dotted, level)
            else:
                is_constant = name.isupper() and all(one[0] in _CONSTANT for one in bindings)
                return (symbol_id(file.path, [name]), why) if is_constant else None
            following = self._files.get(module.module[0]) if isinstance(module, ModuleValue) else None
            if following is None or following is file:
                return None
            file, why = following, Reason.IMPORT
        return None

    def imported_module(self, file: ScopedFile, dotted: str, level: int) -> Value:
        """The module that an import in a file names."""
        found = self._lookups.module(file.path, level, dotted)
        if isinstance(found, ModulePath):
            return ModuleValue(found)
        return ExternalValue(dotted) if found is Absent.EXTERNAL else UNKNOWN

    def _module(self, file: ScopedFile, dotted: str) -> Value:
        """`import a.b` binds `a`."""
        whole = self.imported_module(file, dotted, 0)
        if not isinstance(whole, ModuleValue):
            return ExternalValue(dotted.partition(".")[0]) if isinstance(whole, ExternalValue) else UNKNOWN
        first = self.imported_module(file, dotted.partition(".")[0], 0)
        if isinstance(first, ModuleValue) or not whole.module[0]:
            return first
        # The package has no `__init__`: its folder is as far up as the module's name is long.
        folder = whole.module[1] or whole.module[0]
        for _ in range(dotted.count(".")):
            folder = folder.rpartition("/")[0]
        return ModuleValue(ModulePath("", folder))

    def imported(self, file: ScopedFile, dotted: str, level: int, name: str) -> Value:
        """What an import of a name from a module binds."""
        module = self.imported_module(file, dotted, level)
        if isinstance(module, ModuleValue):
            return self.member(module.module, name)
        if isinstance(module, ExternalValue):
            submodule = self.imported_module(file, f"{dotted}.{name}", 0)
            return submodule if isinstance(submodule, ModuleValue) else ExternalValue(f"{dotted}.{name}")
        return UNKNOWN

    def member(self, module: Key, name: str) -> Value:
        """What a module's attribute is: bound in it, by a star import of it, or its submodule."""
        path, folder = module
        file = self._files.get(path)
        is_bound = file is not None and self._lookups.bindings(file.top, name) is not None
        if file is not None:
            value = self.bound(file.top, name) if is_bound else self._starred(file, name)
            if value is not None:
                return found_by(value, Reason.IMPORT)
        child = self._lookups.child(folder, name)
        if child is not None:
            return ModuleValue(child)
        # A module that imports a name from itself says nothing new about it.
        return NONE if is_bound else UNKNOWN

    def _starred(self, file: ScopedFile, name: str) -> Value | None:
        """What the last star import that has the name gives; None if none has it."""
        if not self._lookups.stars(file):
            return None
        key = (file.path, name)
        if key in self._star_answers:
            return self._star_answers[key]
        if key in self._stars_in_progress:
            self._star_cycles += 1
            return None
        if self._resolver.depth >= MAX_DEPTH:
            return UNKNOWN
        cycles = self._star_cycles
        self._stars_in_progress.add(key)
        self._resolver.depth += 1
        value = self._from_stars(file, name)
        self._resolver.depth -= 1
        self._stars_in_progress.discard(key)
        # An answer that a cycle cut short is not the whole answer.
        if cycles == self._star_cycles:
            self._star_answers[key] = value
        return value

    def _from_stars(self, file: ScopedFile, name: str) -> Value | None:
        key = (file.path, name)
        for module in self._lookups.once(self._givers, key, lambda: tuple(self._find_givers(file, name))):
            if module is None:
                return OUTSIDE
            found = self.member(module, name)
            if found is not UNKNOWN:
                return found
        return None

    def _find_givers(self, file: ScopedFile, name: str) -> Iterator[Key | None]:
        """The modules whose star imports may give a name, the last one first; None ends them where one lies outside."""
        for scope, dotted, level in reversed(self._lookups.stars(file)):
            module = self.imported_module(file, dotted, level) if scope == 0 else UNKNOWN
            if isinstance(module, ModuleValue) and self._exports(module.module, name):
                yield module.module
            elif isinstance(module, ExternalValue):
                yield None
                return

    def _exports(self, module: Key, name: str) -> bool:
        return module[0] in self._files and self._lookups.exports(module[0], name)


def value_of_alternatives(resolver: Resolver[str, str], scope: Scope, shapes: str) -> Value:
    """The value of an expression with alternatives, if they agree."""
    return resolver.agreed(scope, shapes.split("|")) if "|" in shapes else resolver.value(scope, shapes)
