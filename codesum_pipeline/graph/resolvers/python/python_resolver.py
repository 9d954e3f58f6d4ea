"""Resolves Python's expressions. One part resolves names, one annotations, and one attributes and calls."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache

from codesum_pipeline.foundation.data_model.bindings import CHOSEN, Bound, ScopeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.possible_values import (
    NONE,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    Reason,
    SuperValue,
    Value,
    agree_on_value,
    found_by,
    is_inside,
)
from codesum_pipeline.foundation.data_model.scopes import LazyFiles, Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.graph.resolvers.cells import place_of, places_of
from codesum_pipeline.graph.resolvers.python.python_lookups import (
    NO_METHOD,
    Methods,
    PythonLookups,
    Telling,
    find_methods,
)
from codesum_pipeline.graph.resolvers.python.python_members import PythonMembers
from codesum_pipeline.graph.resolvers.python.python_names import PythonNames
from codesum_pipeline.graph.resolvers.python.python_types import PythonTypes
from codesum_pipeline.graph.resolvers.resolver import Resolver, Use
from codesum_pipeline.languages.declarations.python.module_paths import Absent, ModulePath, ModulePaths
from codesum_pipeline.languages.declarations.rules import TellingNames

_DISPLAYS = {",": "tuple", "*": "list", ":": "dict"}
TELLING = TellingNames(6, re.compile(r"[^_]_+[^_]"), library_names("python", "methods"))
_TOKEN = re.compile(r"⟨[^⟩]*+⟩?|\{[^}]*+\}?|super\([^)]*+\)?|<\w+>|\?|\.\w+|\(\)|\[\]|\*|>|#\d+|\w+(?:@[\d,]+)?")


# Files share few shapes with any but those around them; more would only hold memory.
@lru_cache(maxsize=1 << 13)
def split_shape(shape: str) -> tuple[str, ...]:
    """What an expression starts from, and its steps."""
    return tuple(_TOKEN.findall(shape))


class PythonResolver(Resolver[str, str]):
    """A repository's Python files; only those that others lead to are read."""

    lookups: PythonLookups

    def __init__(self, files: LazyFiles, paths: ModulePaths, telling: Mapping[str, Telling]) -> None:
        super().__init__(files, TELLING)
        self._telling_by_file = telling
        # The scopes by their places, of files with a method that a name identifies.
        self._scopes_at: dict[str, dict[str, Scope]] = {}
        self.lookups = PythonLookups(files, paths, lambda: self._methods)
        self.types = PythonTypes(self)
        self.names = PythonNames(self, self.types, files, self.lookups)
        self.members = PythonMembers(self, self.names, self.types, self.lookups)

    @cached_property
    def _methods(self) -> Methods:
        return find_methods(self._telling_by_file)

    def only_method(self, name: str) -> Scope | None:
        found = self.lookups.method(name)
        if found is None:
            return None
        path, place = found
        if path not in self._scopes_at:
            file = self.files[path]
            self._scopes_at[path] = dict(zip(places_of(file), file.scopes, strict=True))
        return self._scopes_at[path][place]

    def imported_files(self, file: ScopedFile) -> Set[str]:
        return {target for target, is_external in self.imports(file) if not is_external}

    def steps(self, expression: str) -> Sequence[str]:
        return split_shape(expression)

    def first_value(self, scope: Scope, step: str) -> Value:
        match step[0]:
            case "?":
                return UNKNOWN
            case "<":
                return NONE if step == "<None>" else BuiltinValue(step[1:-1], is_instance=True)
            case "{":
                return self.types.value(scope, step[1:-1])
            case "⟨":
                return self._display(scope, step[1], step[2:-1])
            case "s" if step.startswith("super("):
                return self._super(scope, step[6:-1])
        name, _, chosen = step.partition(CHOSEN)
        return self.names.lookup(scope, name, chosen)

    def _display(self, scope: Scope, mark: str, items: str) -> Value:
        """What is written out: of what the repository defines the elements are kept."""
        values = [self.value(scope, item) for item in items.split(";")]
        kind = _DISPLAYS[mark]
        if mark == ",":
            has_own = any(is_inside(value) for value in values)
            return ContainerValue(kind, tuple(values)) if has_own else BuiltinValue(kind, is_instance=True)
        value = agree_on_value(values)
        if not is_inside(value):
            return BuiltinValue(kind, is_instance=True)
        return ContainerValue("dict", (UNKNOWN, value)) if mark == ":" else ContainerValue("iterable", (value,))

    def _super(self, scope: Scope, argument: str) -> Value:
        if argument:
            named = self.value(scope, argument)
            return SuperValue(named.scope) if isinstance(named, ClassValue) else UNKNOWN
        enclosing = scope.enclosing_class()
        return SuperValue(enclosing) if enclosing is not None else UNKNOWN

    def next_value(self, scope: Scope, value: Value, step: str) -> Value:
        match step[0]:
            case ".":
                return self.members.attribute(value, step[1:])
            case "(":
                return self.members.of_call(value)
            case "[":
                return self.members.item(value)
            case "*":
                return self.members.iterated(value)
            case "#":
                return self.members.part(value, int(step[1:]))
            case _:
                return self.members.entered(value)

    def calls(self, file: ScopedFile) -> Iterator[tuple[Scope, str, Value]]:
        for number, callee, _ in file.code()[0]:
            scope = file.scopes[number]
            value = self.value(scope, callee)
            receiver, _, name = callee.rpartition(".")
            if value is UNKNOWN and receiver and name in TELLING and self.value(scope, receiver) is UNKNOWN:
                value = self.by_name_alone(file, name)
            if isinstance(value, InstanceValue):
                value = self.members.attribute(value, "__call__")
            # An object that something outside gives may be one that was passed in.
            yield scope, callee, UNKNOWN if value is OUTSIDE else value

    def named(self, scope: Scope, code: str) -> Value:
        return self.value(scope, code)

    def uses(self, file: ScopedFile) -> Iterator[Use]:
        for number, user, dotted, count in file.code()[1]:
            receiver, _, name = dotted.rpartition(".")
            scope = file.scopes[number]
            found = self._used_member(scope, receiver, name) if receiver else self._used_name(scope, name)
            if found is not None:
                yield Use(file.scopes[user].caller_id, *found, count)

    def _used_name(self, scope: Scope, name: str) -> tuple[str, Reason] | None:
        """The id of what a plain name means that is not called, and how that was found."""
        value = self.names.lookup(scope, name)
        if isinstance(value, ClassValue | FunctionValue) and value.scope.id is not None:
            return value.scope.id, value.why
        return self.names.constant(scope, name) if name.isupper() else None

    def _used_member(self, scope: Scope, receiver: str, name: str) -> tuple[str, Reason] | None:
        owner = self.value(scope, receiver)
        match owner:
            case ModuleValue(module):
                value = self.names.member(module, name)
            case InstanceValue():
                # What a property gives is not what it is.
                value = found_by(self.members.member(owner.scope, name), owner.why)
            case ClassValue():
                value = self.members.attribute(owner, name)
            case _:
                return None
        if isinstance(value, ClassValue | FunctionValue) and value.scope.id is not None:
            # An attribute may hold what has another name; that is used where it is assigned.
            is_named = isinstance(owner, ModuleValue) or own_name(value.scope.id) == name
            return (value.scope.id, value.why) if is_named else None
        if isinstance(owner, ModuleValue) and name.isupper():
            return self.names.constant_of_module(owner.module, name)
        return None

    def reexported_values(self, file: ScopedFile, row: Reexport) -> Iterator[Value]:
        dotted = row.source.lstrip(".")
        level = len(row.source) - len(dotted)
        is_whole = row.original in (None, "*")
        found = self.names.imported_module(file, dotted, level)
        yield found if is_whole else self.names.imported(file, dotted, level, row.original or "")

    def files_of(self, module: ModuleValue) -> Sequence[str]:
        return module.module[:1] if module.module[0] in self.files else ()

    def bases_of(self, class_: Scope) -> list[Value]:
        return [self.value(class_.parent or class_, base) for base in self.lookups.head(class_).bases]

    def bases(self, file: ScopedFile) -> Iterator[tuple[Scope, Value]]:
        return ((scope, base) for scope in file.scopes if scope.is_class for base in self.bases_of(scope))

    def imports(self, file: ScopedFile) -> Iterator[tuple[str, bool]]:
        """Nothing for a name that cannot be located."""
        for module, level, name in file.imports:
            target = self._imported(file, module, level, name)
            if target is Absent.EXTERNAL and module != "__future__":
                yield module.partition(".")[0], True
            elif isinstance(target, ModulePath) and target.file and target.file != file.path:
                yield target.file, False

    def _imported(self, file: ScopedFile, module: str, level: int, name: str | None) -> ModulePath | Absent:
        found = self.lookups.module(file.path, level, module)
        if name is None or name == "*" or found is Absent.MISSING:
            return found
        if not isinstance(found, ModulePath):
            # A folder without `__init__` is no module by itself, but what is in it may be.
            return self.lookups.module(file.path, 0, f"{module}.{name}")
        bound_in = self.files.get(found.file)
        if bound_in is None or bound_in is file or self.lookups.bindings(bound_in.top, name) is None:
            return self.lookups.child(found.folder, name) or found
        return found


def telling_names(file: ScopedFile) -> dict[str, str]:
    """The method that each distinctive name of a file identifies; a name with several meanings identifies none."""
    found: dict[str, str] = {}
    for name, method in _meanings(file):
        found[name] = NO_METHOD if name in found or method is None else place_of(method)
    return found


def _meanings(file: ScopedFile) -> Iterator[tuple[str, Scope | None]]:
    """Each meaning of a name that may identify a method: the method, or None for any other."""
    for scope in file.scopes:
        if scope.is_class:
            names = {*scope.names, *scope.attributes}
            yield from ((name, _method(scope, name)) for name in names if name in TELLING)
        elif scope.kind == ScopeKind.MODULE:
            for name, bindings in scope.names.items():
                if name in TELLING and bindings[0][0] not in (Bound.IMPORTED, Bound.MODULE, Bound.ALIASED_MODULE):
                    yield name, None


def _method(scope: Scope, name: str) -> Scope | None:
    """The function that a class outside any function defines under a name, if it is its only meaning."""
    bindings = scope.names.get(name, [])
    is_only = len(bindings) == 1 and bindings[0][0] == Bound.DEFINED and name not in scope.attributes
    if not is_only or name.startswith("__") or (scope.parent is not None and scope.parent.kind == ScopeKind.FUNCTION):
        return None
    method = scope.file.scopes[bindings[0][1]]
    return None if method.is_class else method
