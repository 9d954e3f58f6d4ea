"""What calling, drawing from, indexing or entering a value gives."""

from typing import TYPE_CHECKING

from codesum_pipeline.graph.reasons import Reason, weaker
from codesum_pipeline.graph.scopes import Scope
from codesum_pipeline.graph.values import (
    NONE,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    NoValue,
    Value,
    agree,
    is_inside,
    not_own,
    weakened,
)
from codesum_pipeline.languages.python.references.statements import RETURN, YIELD

if TYPE_CHECKING:
    from codesum_pipeline.graph.python.resolver import PythonResolver

_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "classproperty"})
_CONTEXT_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
# Decorators that leave alone what a function gives back; any other may not.
_TRANSPARENT = _PROPERTIES | frozenset({
    "staticmethod", "classmethod", "abstractmethod", "overload", "override", "final", "lru_cache", "cache", "wraps",
    "deprecated", "no_type_check", "singledispatch", "singledispatchmethod",
})  # fmt: skip
_CLASSES = frozenset({
    "str", "bytes", "bytearray", "int", "float", "complex", "bool", "list", "dict", "set", "frozenset", "tuple",
    "object", "range", "slice", "memoryview", "enumerate", "zip", "map", "filter", "reversed",
})  # fmt: skip
_GIVES = {
    "open": "file", "repr": "str", "ascii": "str", "format": "str", "chr": "str", "hex": "str", "bin": "str",
    "input": "str", "len": "int", "ord": "int", "hash": "int", "id": "int", "sorted": "list", "dir": "list",
    "isinstance": "bool", "issubclass": "bool", "hasattr": "bool", "callable": "bool", "all": "bool", "any": "bool",
}  # fmt: skip


class CallResults:
    """Follows values; a function's result is worked out once, and adds nothing to itself while it is."""

    def __init__(self, resolver: "PythonResolver") -> None:
        self._resolver = resolver
        self._results: dict[Scope, Value] = resolver.answers()

    def is_property(self, scope: Scope) -> bool:
        """Whether reading the attribute calls the function."""
        return any(name.rpartition(".")[2] in _PROPERTIES for name in scope.decorators)

    def of_call(self, value: Value) -> Value:
        """What a call of the value gives back."""
        match value:
            case ClassValue(scope, why, is_own):
                return InstanceValue(scope, weaker(Reason.CONSTRUCTOR_TYPE, why), is_own)
            case FunctionValue():
                return self._of_function(value)
            case InstanceValue():
                method = self._resolver.members.attribute(value, "__call__")
                return self._of_function(method) if isinstance(method, FunctionValue) else UNKNOWN
            case ExternalValue(dotted, is_instance):
                is_class = not is_instance and dotted.rpartition(".")[2][:1].isupper()
                return ExternalValue(dotted, is_instance=True) if is_class else OUTSIDE
            case BuiltinValue():
                return _of_builtin(value)
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def _of_function(self, function: FunctionValue) -> Value:
        result: Value = self._resolver.once(self._results, function.scope, self._work_out, function.scope)
        if result is NoValue.SELF:
            result = self._receiver(function)
        return result if result is not NONE else UNKNOWN

    def _receiver(self, function: FunctionValue) -> Value:
        receiver = function.receiver
        if receiver is not None:
            return InstanceValue(receiver.scope, weaker(Reason.INFERRED_RETURN, receiver.why), receiver.is_own)
        enclosing = function.scope.enclosing_class()
        return InstanceValue(enclosing, Reason.INFERRED_RETURN) if enclosing is not None else UNKNOWN

    def _work_out(self, scope: Scope) -> Value:
        decorators = {name.rpartition(".")[2] for name in scope.decorators}
        enters = bool(decorators & _CONTEXT_MANAGERS)
        if not decorators <= _TRANSPARENT | _CONTEXT_MANAGERS:
            return UNKNOWN
        if isinstance(scope.returns, str):
            annotated = self._resolver.types.value(scope.parent or scope, scope.returns)
            return ContainerValue("context", (self.iterated(annotated),)) if enters else annotated
        if scope.is_generator:
            yielded = not_own(self._given(scope, YIELD))
            kind = "context" if enters else "iterable"
            return ContainerValue(kind, (yielded,)) if is_inside(yielded) else UNKNOWN
        given = self._given(scope, RETURN)
        if isinstance(given, InstanceValue) and given.is_own:
            return NoValue.SELF
        return weakened(not_own(given), Reason.INFERRED_RETURN)

    def _given(self, scope: Scope, word: str) -> Value:
        """What all statements of a kind agree on."""
        return agree([self._resolver.alternatives(scope, shape) for _, shape in scope.names.get(word, ())])

    def iterated(self, value: Value) -> Value:
        """What a loop over the value draws."""
        match value:
            case ContainerValue(kind, items):
                return agree(list(items)) if kind == "tuple" else items[0] if kind != "context" else UNKNOWN
            case ClassValue(scope, why):
                return InstanceValue(scope, why) if self._resolver.members.is_enum(scope) else UNKNOWN
            case InstanceValue():
                drawn = self._method_result(value, "__iter__")
                return self.iterated(drawn) if isinstance(drawn, ContainerValue) else UNKNOWN
            case BuiltinValue("str", is_instance=True):
                return value
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def item(self, value: Value) -> Value:
        """What an index or key of the value holds; a class with arguments is the class."""
        match value:
            case ContainerValue(kind, items):
                return agree(list(items)) if kind == "tuple" else items[-1] if kind != "context" else UNKNOWN
            case ClassValue(scope, why):
                return InstanceValue(scope, why) if self._resolver.members.is_enum(scope) else value
            case InstanceValue():
                return self._method_result(value, "__getitem__")
            case ExternalValue(_, is_instance):
                return OUTSIDE if is_instance else value
            case BuiltinValue("str", is_instance=True):
                return value
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def part(self, value: Value, position: int) -> Value:
        """One of the values that unpacking gives."""
        if isinstance(value, ContainerValue) and value.kind == "tuple":
            return value.items[position] if position < len(value.items) else UNKNOWN
        return self.iterated(value)

    def entered(self, value: Value) -> Value:
        """What `with value as x` binds."""
        match value:
            case ContainerValue("context", items):
                return items[0]
            case InstanceValue():
                found = self._method_result(value, "__enter__")
                return found if isinstance(found, InstanceValue) else self._method_result(value, "__aenter__")
            case ExternalValue():
                return OUTSIDE
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def _method_result(self, value: InstanceValue, name: str) -> Value:
        method = self._resolver.members.attribute(value, name)
        return weakened(self._of_function(method), value.why) if isinstance(method, FunctionValue) else UNKNOWN


def _of_builtin(value: BuiltinValue) -> Value:
    name = value.name
    if value.owner is not None:
        return _of_container(value.owner, name.rpartition(".")[2])
    if value.is_instance:
        return UNKNOWN
    if name in _CLASSES or name[:1].isupper() or name.startswith("str."):
        return BuiltinValue(name.partition(".")[0], is_instance=True)
    return BuiltinValue(_GIVES[name], is_instance=True) if name in _GIVES else UNKNOWN


def _of_container(owner: ContainerValue, method: str) -> Value:
    """The result of a builtin container's method."""
    if method == "copy":
        return owner
    if owner.kind == "dict":
        key, item = owner.items
        if method in ("get", "pop", "setdefault"):
            return item
        drawn: dict[str, Value] = {"keys": key, "values": item, "items": ContainerValue("tuple", (key, item))}
        return ContainerValue("iterable", (drawn[method],)) if method in drawn else UNKNOWN
    return owner.items[0] if owner.kind == "iterable" and method in ("pop", "popleft", "__next__") else UNKNOWN
