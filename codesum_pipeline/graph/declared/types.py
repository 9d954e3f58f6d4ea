"""Types as values: what an object of a type may be asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.scopes import Scope
from codesum_pipeline.graph.values import (
    AMBIGUOUS,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    InstanceValue,
    ModuleValue,
    ObjectValue,
    Value,
)
from codesum_pipeline.model.expressions import ROOT, TypeName

if TYPE_CHECKING:
    from codesum_pipeline.graph.declared.resolver import DeclaredResolver

# Methods of containers, options, results and locks that give what is in them.
GIVING = frozenset({
    "?", "[]", "await", "unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "as_ref", "as_mut", "as_deref",
    "as_deref_mut", "clone", "cloned", "borrow", "borrow_mut", "lock", "read", "write", "get", "orElse", "orElseThrow",
    "orElseGet", "first", "last", "pop", "at", "front", "back", "getFirst", "getLast", "Value", "value", "Result",
})  # fmt: skip


class DeclaredTypes:
    """Evaluates types in the scope they stand in."""

    def __init__(self, resolver: "DeclaredResolver") -> None:
        self._resolver = resolver
        self._rules = resolver.rules
        self._objects: dict[tuple[Scope, TypeName], Value] = resolver.answers()

    def value(self, scope: Scope, said: TypeName | None) -> Value:
        """An object of a type; of one that is used as what it holds, as `Foo` of `Arc<Box<Foo>>`, what is in it."""
        type_ = said
        while type_ is not None and type_.arguments and type_.names[-1] in self._rules.transparent:
            type_ = type_.arguments[0]
        if type_ is None:
            return UNKNOWN
        found: Value = self._resolver.once(self._objects, (scope, type_), self._object, scope, type_)
        return found

    def _object(self, scope: Scope, type_: TypeName) -> Value:
        if type_.is_list:
            return self._container(scope, type_)
        value = self.named(scope, type_.names)
        match value:
            case ClassValue(class_):
                return InstanceValue(class_, Reason.ANNOTATION)
            case ModuleValue(module) if self._rules.files_are_types:
                return ObjectValue(module, Reason.ANNOTATION)
        is_foreign = isinstance(value, ExternalValue | BuiltinValue) or value in (UNKNOWN, OUTSIDE)
        if type_.arguments and is_foreign:
            return self._container(scope, type_)
        if isinstance(value, ExternalValue):
            return ExternalValue(value.dotted, is_instance=True)
        return OUTSIDE if isinstance(value, BuiltinValue) else value if value in (AMBIGUOUS, OUTSIDE) else UNKNOWN

    def _container(self, scope: Scope, type_: TypeName) -> Value:
        """What a container, option, result or pointer holds or gives, of a map its values."""
        is_map = type_.names[-1].lower().endswith("map") or any("dict" in name.lower() for name in type_.names)
        return ContainerValue("iterable", (self.value(scope, type_.arguments[-1 if is_map else 0]),))

    def named(self, scope: Scope, said: Sequence[str]) -> Value:
        """The class, or what holds it, that names say."""
        names = self._resolver.names
        first, *others = said[1:] if said[0] == ROOT else said
        if first in self._rules.class_words or first == "@This()":
            owner = self._resolver.owner(scope)
            value: Value = ClassValue(owner, Reason.SELF) if isinstance(owner, Scope) else owner
        else:
            value = names.settled(names.lookup(scope, first))
        for name in others:
            value = self._resolver.members.attribute(scope, value, name)
        handed = self._rules.called(value.module) if isinstance(value, ModuleValue) else None
        return names.settled(names.member(handed.key, handed.name)) if handed is not None else value
