"""What Python's expressions stand for: names, attributes, annotations and calls each know one part and ask the others
through here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from codesum_pipeline.graph.loading import LazyFiles
from codesum_pipeline.graph.python.members import Members
from codesum_pipeline.graph.python.module_paths import Absent, ModulePath, ModulePaths
from codesum_pipeline.graph.python.names import PythonNames
from codesum_pipeline.graph.python.results import CallResults
from codesum_pipeline.graph.python.telling_names import TELLING, Telling, TellingMethods
from codesum_pipeline.graph.python.types import Types
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.scopes import Scope, ScopedFile
from codesum_pipeline.graph.unique_names import UniqueNames
from codesum_pipeline.graph.values import (
    AMBIGUOUS,
    NONE,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    InstanceValue,
    ModuleValue,
    OneOf,
    SuperValue,
    Value,
    agree,
    is_inside,
)
from codesum_pipeline.languages.python.references.reaching import CHOSEN
from codesum_pipeline.model.symbols import Reexport

_DISPLAYS = {",": "tuple", "*": "list", ":": "dict"}
_TOKEN = re.compile(r"⟨[^⟩]*⟩|\{[^}]*\}|super\([^)]*\)|<\w+>|\?|\.\w+|\(\)|\[\]|\*|>|#\d+|\w+(?:@[\d,]+)?")


# Files share few shapes with any but those around them; more would only hold memory.
@lru_cache(maxsize=1 << 13)
def split_shape(shape: str) -> tuple[str, ...]:
    """What an expression starts from, and its steps."""
    return tuple(_TOKEN.findall(shape))


class PythonResolver(Resolver[str]):
    """A repository's Python files; only those that others lead to are read."""

    def __init__(self, files: LazyFiles, paths: ModulePaths, telling: Mapping[str, Telling]) -> None:
        super().__init__(files)
        self.exports = files.exports
        self.paths = paths
        self.names = PythonNames(self)
        self.members = Members(self)
        self.types = Types(self)
        self.results = CallResults(self)
        self._unique_names = UniqueNames(
            TELLING,
            TellingMethods(files, telling).only,
            lambda file: {target for target, is_external in self.imports(file) if not is_external},
        )

    def alternatives(self, scope: Scope, shapes: str) -> Value:
        """The value of an expression with alternatives, if they agree."""
        return self.agreed(scope, shapes.split("|")) if "|" in shapes else self.value(scope, shapes)

    def _follow(self, scope: Scope, expression: str) -> Value:
        root, *links = split_shape(expression)
        value = self._root(scope, root)
        for link in links:
            if value in (UNKNOWN, AMBIGUOUS):
                return value
            value = self._linked(value, link)
        return value

    def _root(self, scope: Scope, root: str) -> Value:
        first = root[0]
        if first == "?":
            return UNKNOWN
        if first == "<":
            return NONE if root == "<None>" else BuiltinValue(root[1:-1], is_instance=True)
        if first == "{":
            return self.types.value(scope, root[1:-1])
        if first == "⟨":
            return self._display(scope, root[1], root[2:-1])
        if first == "s" and root.startswith("super("):
            return self._super(scope, root[6:-1])
        name, _, chosen = root.partition(CHOSEN)
        return self.names.lookup(scope, name, chosen)

    def _display(self, scope: Scope, mark: str, items: str) -> Value:
        """What is written out: of what the repository defines the elements are kept."""
        values = [self.value(scope, item) for item in items.split(";")]
        kind = _DISPLAYS[mark]
        if mark == ",":
            is_told = any(is_inside(value) for value in values)
            return ContainerValue(kind, tuple(values)) if is_told else BuiltinValue(kind, is_instance=True)
        value = agree(values)
        if not is_inside(value):
            return BuiltinValue(kind, is_instance=True)
        return ContainerValue("dict", (UNKNOWN, value)) if mark == ":" else ContainerValue("iterable", (value,))

    def _super(self, scope: Scope, argument: str) -> Value:
        if argument:
            named = self.value(scope, argument)
            return SuperValue(named.scope) if isinstance(named, ClassValue) else UNKNOWN
        enclosing = scope.enclosing_class()
        return SuperValue(enclosing) if enclosing is not None else UNKNOWN

    def _linked(self, value: Value, link: str) -> Value:
        if isinstance(value, OneOf):
            return agree([self._linked(one, link) for one in value.values])
        match link[0]:
            case ".":
                return self.members.attribute(value, link[1:])
            case "(":
                return self.results.of_call(value)
            case "[":
                return self.results.item(value)
            case "*":
                return self.results.iterated(value)
            case "#":
                return self.results.part(value, int(link[1:]))
            case _:
                return self.results.entered(value)

    def calls(self, file: ScopedFile) -> Iterator[tuple[Scope, str, int, Value]]:
        for number, callee, line in file.calls:
            scope = file.scopes[number]
            value = self.value(scope, callee)
            receiver, _, name = callee.rpartition(".")
            if value is UNKNOWN and receiver and name in TELLING and self.value(scope, receiver) is UNKNOWN:
                value = self._unique_names.find(file, name)
            if isinstance(value, InstanceValue):
                value = self.members.attribute(value, "__call__")
            # An object that something outside gives may be one that was passed in.
            yield scope, callee, line, UNKNOWN if value is OUTSIDE else value

    def taken(self, file: ScopedFile, row: Reexport) -> Iterator[Value]:
        dotted = row.source.lstrip(".")
        level = len(row.source) - len(dotted)
        is_whole = row.original in (None, "*")
        found = self.names.imported_module(file, dotted, level)
        yield found if is_whole else self.names.imported(file, dotted, level, row.original or "")

    def files_of(self, module: ModuleValue) -> Sequence[str]:
        return module.module[:1] if module.module[0] in self.files else ()

    def bases(self, file: ScopedFile) -> Iterator[tuple[Scope, Value]]:
        return ((scope, base) for scope in file.scopes if scope.is_class for base in self.members.bases(scope))

    def imports(self, file: ScopedFile) -> Iterator[tuple[str, bool]]:
        """Nothing for a name whose place cannot be told."""
        for module, level, name in file.imports:
            target = self._imported(file, module, level, name)
            if target is Absent.EXTERNAL and module != "__future__":
                yield module.partition(".")[0], True
            elif isinstance(target, ModulePath) and target.file and target.file != file.path:
                yield target.file, False

    def _imported(self, file: ScopedFile, module: str, level: int, name: str | None) -> ModulePath | Absent:
        found = self.paths.relative(file.path, level, module) if level else self.paths.absolute(file.path, module)
        if name is None or name == "*" or found is Absent.MISSING:
            return found
        if not isinstance(found, ModulePath):
            # A folder without `__init__` is no module by itself, but what is in it may be.
            return self.paths.absolute(file.path, f"{module}.{name}")
        bound_in = self.files.get(found.file)
        if bound_in is not None and name in bound_in.top.names and bound_in is not file:
            return found
        return self.paths.child(found.folder, name) or found
