"""Annotations as values: what an object so annotated may be asked for."""

from typing import TYPE_CHECKING

from codesum_pipeline.graph.python.annotations import UNION, Annotation, parse_annotation
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import MAX_DEPTH
from codesum_pipeline.graph.scopes import Scope
from codesum_pipeline.graph.values import (
    NONE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    InstanceValue,
    NoValue,
    Value,
    agree,
)

if TYPE_CHECKING:
    from codesum_pipeline.graph.python.resolver import PythonResolver

_TYPING = frozenset({"typing", "typing_extensions", "t", "collections", "abc", "contextlib", "builtins", "dataclasses"})
# What these modules name, builtin objects are.
_PROTOCOLS = frozenset({"typing", "typing_extensions", "collections.abc"})
# X[Y] is a Y.
_WRAPPERS = frozenset({
    "Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable",
    "Unpack",
})  # fmt: skip
_ITERABLES = frozenset({
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "Container", "Reversible",
    "set", "Set", "frozenset", "FrozenSet", "AbstractSet", "MutableSet", "deque", "Deque", "Generator",
    "AsyncGenerator", "AsyncIterable", "AsyncIterator", "KeysView", "ValuesView",
})  # fmt: skip
_MAPPINGS = frozenset(["dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"])
_CONTEXTS = frozenset({
    "ContextManager", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager",
})  # fmt: skip
_UNTOLD = frozenset({
    "Any", "Callable", "Literal", "TypeVar", "Hashable", "LiteralString", "Never", "NoReturn", "object",
})  # fmt: skip


class Types:
    """Evaluates annotations in the scope they stand in."""

    def __init__(self, resolver: "PythonResolver") -> None:
        self._resolver = resolver
        self._known: dict[tuple[Scope, str], Value] = resolver.answers()

    def value(self, scope: Scope, text: str) -> Value:
        """An object with this annotation."""
        key = (scope, text)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._object(scope, parse_annotation(text))
        return found

    def _object(self, scope: Scope, annotation: Annotation) -> Value:
        if self._resolver.depth >= MAX_DEPTH:
            return UNKNOWN
        self._resolver.depth += 1
        value = self._described(scope, annotation)
        self._resolver.depth -= 1
        return value

    def _described(self, scope: Scope, annotation: Annotation) -> Value:
        name, arguments = annotation.name, annotation.arguments
        if name == "None":
            return NONE
        if name == UNION:
            return agree([self._object(scope, part) for part in arguments])
        named = self._resolver.value(scope, name)
        if isinstance(named, ClassValue):
            return InstanceValue(named.scope, Reason.ANNOTATION)
        if isinstance(named, BuiltinValue):
            return self._of_python(scope, named.name, arguments) or BuiltinValue(named.name, is_instance=True)
        if isinstance(named, ExternalValue) and not named.is_instance:
            module, _, last = named.dotted.rpartition(".")
            known = self._of_python(scope, last, arguments) if module.partition(".")[0] in _TYPING else None
            if known is None and module in _PROTOCOLS:
                return BuiltinValue(last, is_instance=True)
            return known or ExternalValue(named.dotted, is_instance=True)
        return UNKNOWN

    def _of_python(self, scope: Scope, name: str, arguments: tuple[Annotation, ...]) -> Value | None:
        """Objects whose class Python itself defines; None for any other class of it."""
        if name in _UNTOLD:
            return UNKNOWN
        if name == "Self":
            return NoValue.SELF
        if not arguments:
            return None
        if name in _WRAPPERS:
            return self._object(scope, arguments[0])
        if name == "Union":
            return agree([self._object(scope, part) for part in arguments])
        if name == "Coroutine":
            return self._object(scope, arguments[-1])
        if name in ("type", "Type"):
            described = self._object(scope, arguments[0])
            return ClassValue(described.scope, Reason.ANNOTATION) if isinstance(described, InstanceValue) else UNKNOWN
        return self._container(scope, name, arguments)

    def _container(self, scope: Scope, name: str, arguments: tuple[Annotation, ...]) -> Value | None:
        if name in ("tuple", "Tuple"):
            if len(arguments) == 2 and arguments[1].name == "?":
                return ContainerValue("iterable", (self._object(scope, arguments[0]),))
            return ContainerValue("tuple", tuple(self._object(scope, part) for part in arguments))
        if name in _ITERABLES:
            return ContainerValue("iterable", (self._object(scope, arguments[0]),))
        if name in _MAPPINGS and len(arguments) == 2:
            return ContainerValue("dict", tuple(self._object(scope, part) for part in arguments))
        if name in _CONTEXTS:
            return ContainerValue("context", (self._object(scope, arguments[0]),))
        return None
