"""What the expressions of a repository stand for, as far as reading them tells.

Names, attributes, annotations and calls each know one part and ask the others
through here. Nothing is guessed: what has several meanings is ambiguous, what
cannot be followed is unknown.

Where names rest on each other in a circle, or on too many others, an answer can
depend on which was asked for first. What a file's calls ask for must then not
depend on what was asked for other files: all but what is the same in any order
is forgotten before each file.
"""

import re
from functools import lru_cache

from codesum_pipeline.graph.calls import CallResolver
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts
from codesum_pipeline.graph.loading import LazyFiles
from codesum_pipeline.graph.members import Members
from codesum_pipeline.graph.module_paths import ModulePaths
from codesum_pipeline.graph.names import NameResolver
from codesum_pipeline.graph.types import Types
from codesum_pipeline.graph.values import (
    AMBIGUOUS,
    NONE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    OneOf,
    SuperValue,
    Value,
    agree,
    is_inside,
)
from codesum_pipeline.languages.python.references.reaching import CHOSEN

# How far one answer may rest on others: names, expressions, members, results and annotations all count. Chains of
# a person's code are short, and Python's stack is finite: a link takes fewer than ten of its 1,000 frames. What
# rests on more is unknown.
MAX_DEPTH = 80

_DISPLAYS = {",": "tuple", "*": "list", ":": "dict"}
_TOKEN = re.compile(r"⟨[^⟩]*⟩|\{[^}]*\}|super\([^)]*\)|<\w+>|\?|\.\w+|\(\)|\[\]|\*|>|#\d+|\w+(?:@[\d,]+)?")


# Files share few shapes with any but those around them; more would only hold memory.
@lru_cache(maxsize=1 << 13)
def split_shape(shape: str) -> tuple[str, ...]:
    """What an expression starts from, and its steps."""
    return tuple(_TOKEN.findall(shape))


class Resolver:
    """One repository's files, and what is known about their expressions."""

    def __init__(self, files: LazyFiles[FileScopes], paths: ModulePaths) -> None:
        self.files = files
        self.paths = paths
        self.names = NameResolver(self)
        self.members = Members(self)
        self.types = Types(self)
        self.calls = CallResolver(self)
        self._known: dict[tuple[ScopeFacts, str], Value] = {}
        self.depth = 0

    def forget(self) -> None:
        """Begin with a file as if none had been resolved before, or had failed half-way."""
        self.depth = 0
        self._known.clear()
        self.names.forget()
        self.members.forget()
        self.types.forget()
        self.calls.forget()

    def is_too_deep(self) -> bool:
        """Whether no further answer may be looked for; who looks for one counts it in `depth` meanwhile."""
        return self.depth >= MAX_DEPTH

    def alternatives(self, scope: ScopeFacts, shapes: str) -> Value:
        """The value of an expression with alternatives, if they agree."""
        if "|" not in shapes:
            return self.shape(scope, shapes)
        return agree([self.shape(scope, shape) for shape in shapes.split("|")])

    def shape(self, scope: ScopeFacts, shape: str) -> Value:
        """The value of an expression in a scope."""
        key = (scope, shape)
        value = self._known.get(key)
        if value is not None:
            return value
        if self.is_too_deep():
            return UNKNOWN
        self.depth += 1
        value = self._follow(scope, shape)
        self.depth -= 1
        if self.depth == 0 or value not in (UNKNOWN, NONE):
            self._known[key] = value
        return value

    def _follow(self, scope: ScopeFacts, shape: str) -> Value:
        root, *links = split_shape(shape)
        value = self._root(scope, root)
        for link in links:
            if value in (UNKNOWN, AMBIGUOUS):
                return value
            value = self._linked(value, link)
        return value

    def _root(self, scope: ScopeFacts, root: str) -> Value:
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

    def _display(self, scope: ScopeFacts, mark: str, items: str) -> Value:
        """What is written out: of what the repository defines the elements are kept."""
        values = [self.shape(scope, item) for item in items.split(";")]
        kind = _DISPLAYS[mark]
        if mark == ",":
            is_told = any(is_inside(value) for value in values)
            return ContainerValue(kind, tuple(values)) if is_told else BuiltinValue(kind, is_instance=True)
        value = agree(values)
        if not is_inside(value):
            return BuiltinValue(kind, is_instance=True)
        return ContainerValue("dict", (UNKNOWN, value)) if mark == ":" else ContainerValue("iterable", (value,))

    def _super(self, scope: ScopeFacts, argument: str) -> Value:
        if argument:
            named = self.shape(scope, argument)
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
                return self.calls.result(value)
            case "[":
                return self.calls.item(value)
            case "*":
                return self.calls.iterated(value)
            case "#":
                return self.calls.part(value, int(link[1:]))
            case _:
                return self.calls.entered(value)
