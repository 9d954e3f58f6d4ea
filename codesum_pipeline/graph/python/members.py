"""Attributes: of modules, of classes through their bases, of objects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codesum_pipeline.graph.reasons import Reason, weaker
from codesum_pipeline.graph.scopes import Scope
from codesum_pipeline.graph.values import (
    AMBIGUOUS,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    NoValue,
    SuperValue,
    Value,
    not_own,
    weakened,
)

if TYPE_CHECKING:
    from codesum_pipeline.graph.python.resolver import PythonResolver

# What a class of the repository or something outside of it may derive from.
Ancestor = Scope | ExternalValue | BuiltinValue | NoValue

# Beyond these the rest of a class's ancestors count as unknown; Django's deepest class has 22.
MAX_ANCESTORS = 100

# Bases that bring no methods one would call by name.
_BARE = frozenset({"Generic", "Protocol", "ABC", "NamedTuple", "TypedDict"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


class Members:
    """Looks attributes up; every answer is kept."""

    def __init__(self, resolver: "PythonResolver") -> None:
        self._resolver = resolver
        self._orders: dict[Scope, tuple[Ancestor, ...]] = resolver.answers()
        self._own: dict[tuple[Scope, str], Value | None] = resolver.answers()

    def mro(self, scope: Scope) -> tuple[Ancestor, ...]:
        """A class and its ancestors, in the order in which attributes are looked up."""
        if scope not in self._orders:
            self._order_all(scope)
        return self._orders[scope]

    def _order_all(self, scope: Scope) -> None:
        """Find the order of a class after those of its bases; one that derives from itself adds nothing to its own."""
        bases: dict[Scope, list[Value]] = {}
        waiting = [scope]
        while waiting:
            current = waiting[-1]
            if current not in bases and current not in self._orders:
                self._orders[current] = (current,)
                bases[current] = self.bases(current)
                classes = (base.scope for base in reversed(bases[current]) if isinstance(base, ClassValue))
                waiting.extend(found for found in classes if found not in self._orders)
            else:
                waiting.pop()
                if current in bases:
                    order = _linearized(current, [self._ancestors(base) for base in bases.pop(current)])
                    self._orders[current] = order if len(order) <= MAX_ANCESTORS else (*order[:MAX_ANCESTORS], UNKNOWN)

    def bases(self, scope: Scope) -> list[Value]:
        """The values of a class's bases, as written."""
        around = scope.parent or scope
        return [self._resolver.value(around, base) for base in scope.bases]

    def _ancestors(self, base: Value) -> tuple[Ancestor, ...]:
        if isinstance(base, ClassValue):
            return self._orders[base.scope]
        if isinstance(base, ExternalValue | BuiltinValue):
            return (base,)
        return (OUTSIDE,) if base is OUTSIDE else (UNKNOWN,)

    def attribute(self, value: Value, name: str) -> Value:
        """What `value.name` is."""
        match value:
            case ModuleValue(module):
                return self._resolver.names.member(module, name)
            case ClassValue():
                return self._of_class(value, name)
            case InstanceValue():
                return self._of_instance(value, name)
            case SuperValue(scope):
                found = self._member(name, self.mro(scope)[1:])
                receiver = InstanceValue(scope, Reason.SELF, is_own=True)
                return FunctionValue(found.scope, Reason.SUPER, receiver) if isinstance(found, FunctionValue) else found
            case ExternalValue(dotted):
                return ExternalValue(f"{dotted}.{name}")
            case BuiltinValue(builtin):
                return BuiltinValue(f"{builtin}.{name}")
            case ContainerValue(kind):
                return BuiltinValue(f"{kind}.{name}", owner=value)
        return value if value in (AMBIGUOUS, OUTSIDE) else UNKNOWN

    def _of_class(self, value: ClassValue, name: str) -> Value:
        found = self.member(value.scope, name)
        if isinstance(found, FunctionValue):
            return FunctionValue(found.scope, value.why, value)
        is_plain = isinstance(found, BuiltinValue | ContainerValue | ExternalValue) or found is OUTSIDE
        if is_plain and name in value.scope.names and self.is_enum(value.scope):
            return InstanceValue(value.scope, value.why)
        return weakened(not_own(found), value.why)

    def _of_instance(self, value: InstanceValue, name: str) -> Value:
        if name == "__class__":
            return ClassValue(value.scope, value.why, value.is_own)
        found = self.member(value.scope, name)
        if isinstance(found, FunctionValue):
            method = FunctionValue(found.scope, weaker(found.why, value.why), value)
            if self._resolver.results.is_property(found.scope):
                return weakened(self._resolver.results.of_call(method), value.why)
            return FunctionValue(found.scope, value.why, value)
        if isinstance(found, InstanceValue) and self._is_descriptor(found.scope):
            return UNKNOWN
        return weakened(not_own(found), value.why)

    def _is_descriptor(self, scope: Scope) -> bool:
        return isinstance(self.member(scope, "__get__"), FunctionValue)

    def is_enum(self, scope: Scope) -> bool:
        """Whether a class's own values are its members."""
        outside = (entry.dotted for entry in self.mro(scope) if isinstance(entry, ExternalValue))
        return any(dotted.rpartition(".")[2] in _ENUMS for dotted in outside)

    def member(self, scope: Scope, name: str) -> Value:
        """What a class or one of its ancestors binds a name to."""
        return self._member(name, self.mro(scope))

    def _member(self, name: str, order: tuple[Ancestor, ...]) -> Value:
        for entry in order:
            if isinstance(entry, Scope):
                found = self._own_member(entry, name)
                if found is not None:
                    return found
            elif entry is UNKNOWN:
                return UNKNOWN
        return _outside(order, name)

    def _own_member(self, scope: Scope, name: str) -> Value | None:
        """What the class itself binds a name to, in its body or on `self` in its methods."""
        key = (scope, name)
        if key in self._own:
            return self._own[key]
        bindings = [(scope, binding) for binding in scope.names.get(name, ())]
        bindings += [(scope.file.scopes[number], binding) for number, binding in scope.attributes.get(name, ())]
        if not bindings:
            self._own[key] = None
            return None
        found: Value = self._resolver.once(self._own, key, self._resolver.names.settle, bindings)
        return found


def _outside(order: tuple[Ancestor, ...], name: str) -> Value:
    """An attribute that no class of the repository has: of the one class outside that may have it."""
    external = [e for e in order if isinstance(e, ExternalValue) and e.dotted.rpartition(".")[2] not in _BARE]
    if len(external) == 1:
        return ExternalValue(f"{external[0].dotted}.{name}")
    if external or OUTSIDE in order:
        return OUTSIDE
    builtin = [entry for entry in order if isinstance(entry, BuiltinValue)]
    if builtin:
        return BuiltinValue(f"{builtin[0].name}.{name}")
    return BuiltinValue(f"object.{name}") if name.startswith("__") and name.endswith("__") else UNKNOWN


def _linearized(own: Ancestor, ancestors: Sequence[Sequence[Ancestor]]) -> tuple[Ancestor, ...]:
    """Python's C3 order of `own` and its bases' orders; where that contradicts itself, depth first."""
    if len(ancestors) == 1:
        return (own, *(entry for entry in ancestors[0] if entry != own))
    merged = _merge([list(order) for order in ancestors if order] + [[order[0] for order in ancestors if order]])
    if merged is None:
        merged = list(dict.fromkeys(entry for order in ancestors for entry in order))
    return (own, *(entry for entry in merged if entry != own))


def _merge(orders: list[list[Ancestor]]) -> list[Ancestor] | None:
    merged: list[Ancestor] = []
    waiting = [order for order in orders if order]
    while waiting:
        tails = {entry for order in waiting for entry in order[1:]}
        head = next((order[0] for order in waiting if order[0] not in tails), None)
        if head is None:
            return None
        merged.append(head)
        waiting = [rest for order in waiting if (rest := order[1:] if order[0] == head else order)]
    return merged
