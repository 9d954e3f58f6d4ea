"""Attributes of modules, of classes through their bases, of objects; what calling, drawing from, indexing or entering a
value gives."""

from codesum_pipeline.foundation.data_model.bindings import RETURN, YIELD
from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    NONE,
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
    Reason,
    SuperValue,
    Value,
    agree_on_value,
    is_inside,
    not_own,
    weaken_value,
    weaker_reason,
)
from codesum_pipeline.foundation.data_model.scopes import Scope
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.graph.resolvers.python.python_lookups import PythonLookups
from codesum_pipeline.graph.resolvers.python.python_names import PythonNames, value_of_alternatives
from codesum_pipeline.graph.resolvers.python.python_types import PythonTypes
from codesum_pipeline.graph.resolvers.resolver import Ancestor, Resolver

_PROPERTIES = library_names("python", "property_decorators")
_CONTEXT_MANAGERS = library_names("python", "context_decorators")
_TRANSPARENT = _PROPERTIES | _CONTEXT_MANAGERS | library_names("python", "other_decorators")
_CLASSES_OF_RESULTS = ("file", "str", "int", "list", "bool")
_GIVES = {name: class_ for class_ in _CLASSES_OF_RESULTS for name in library_names("python", f"giving_{class_}")}


class PythonMembers:
    """Looks attributes up and follows values; every answer is kept, and a function's result adds nothing to itself."""

    def __init__(
        self, resolver: Resolver[str, str], names: PythonNames, types: PythonTypes, lookups: PythonLookups
    ) -> None:
        self._resolver = resolver
        self._names = names
        self._types = types
        self._lookups = lookups
        self._own: dict[tuple[Scope, str], Value | None] = resolver.make_answers()
        self._results: dict[Scope, Value] = resolver.make_answers()

    def attribute(self, value: Value, name: str) -> Value:
        """What `value.name` is."""
        match value:
            case ModuleValue(module):
                return self._names.member(module, name)
            case ClassValue():
                return self._of_class(value, name)
            case InstanceValue():
                return self._of_instance(value, name)
            case SuperValue(scope):
                found = self._member(name, self._resolver.ancestors(scope)[1:])
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
        if is_plain and self._lookups.bindings(value.scope, name) is not None and self.is_enum(value.scope):
            return InstanceValue(value.scope, value.why)
        return weaken_value(not_own(found), value.why)

    def _of_instance(self, value: InstanceValue, name: str) -> Value:
        if name == "__class__":
            return ClassValue(value.scope, value.why, value.is_own)
        found = self.member(value.scope, name)
        if isinstance(found, FunctionValue):
            method = FunctionValue(found.scope, weaker_reason(found.why, value.why), value)
            if any(one.rpartition(".")[2] in _PROPERTIES for one in self._lookups.head(found.scope).decorators):
                return weaken_value(self.of_call(method), value.why)
            return FunctionValue(found.scope, value.why, value)
        if isinstance(found, InstanceValue) and isinstance(self.member(found.scope, "__get__"), FunctionValue):
            # A descriptor says what it is read as.
            return UNKNOWN
        return weaken_value(not_own(found), value.why)

    def is_enum(self, scope: Scope) -> bool:
        """Whether a class's own values are its members."""
        outside = (entry.dotted for entry in self._resolver.ancestors(scope) if isinstance(entry, ExternalValue))
        return any(dotted.rpartition(".")[2] in library_names("python", "enum_bases") for dotted in outside)

    def member(self, scope: Scope, name: str) -> Value:
        """What a class or one of its ancestors binds a name to."""
        return self._member(name, self._resolver.ancestors(scope))

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
        bindings = [(scope, binding) for binding in self._lookups.bindings(scope, name) or ()]
        bindings += [(scope.file.scopes[number], binding) for number, binding in self._lookups.attributes(scope, name)]
        if not bindings:
            self._own[key] = None
            return None
        return self._resolver.answer_once(self._own, key, self._names.settle, bindings)

    def of_call(self, value: Value) -> Value:
        """The result of a call of the value."""
        match value:
            case ClassValue(scope, why, is_own):
                return InstanceValue(scope, weaker_reason(Reason.CONSTRUCTOR_TYPE, why), is_own)
            case FunctionValue():
                return self._of_function(value)
            case InstanceValue():
                method = self.attribute(value, "__call__")
                return self._of_function(method) if isinstance(method, FunctionValue) else UNKNOWN
            case ExternalValue(dotted, is_instance):
                is_class = not is_instance and dotted.rpartition(".")[2][:1].isupper()
                return ExternalValue(dotted, is_instance=True) if is_class else OUTSIDE
            case BuiltinValue():
                return _of_builtin(value)
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def _of_function(self, function: FunctionValue) -> Value:
        result = self._resolver.answer_once(self._results, function.scope, self._work_out, function.scope)
        if result is NoValue.SELF:
            result = self._receiver(function)
        return result if result is not NONE else UNKNOWN

    def _receiver(self, function: FunctionValue) -> Value:
        receiver = function.receiver
        if receiver is not None:
            return InstanceValue(receiver.scope, weaker_reason(Reason.INFERRED_RETURN, receiver.why), receiver.is_own)
        enclosing = function.scope.enclosing_class()
        return InstanceValue(enclosing, Reason.INFERRED_RETURN) if enclosing is not None else UNKNOWN

    def _work_out(self, scope: Scope) -> Value:
        decorators = {name.rpartition(".")[2] for name in self._lookups.head(scope).decorators}
        enters = bool(decorators & _CONTEXT_MANAGERS)
        if not decorators <= _TRANSPARENT:
            return UNKNOWN
        if isinstance(scope.returns, str):
            annotated = self._types.value(scope.parent or scope, scope.returns)
            return ContainerValue("context", (self.iterated(annotated),)) if enters else annotated
        if scope.is_generator:
            yielded = not_own(self._agreed_on(scope, YIELD))
            kind = "context" if enters else "iterable"
            return ContainerValue(kind, (yielded,)) if is_inside(yielded) else UNKNOWN
        returned = self._agreed_on(scope, RETURN)
        if isinstance(returned, InstanceValue) and returned.is_own:
            return NoValue.SELF
        return weaken_value(not_own(returned), Reason.INFERRED_RETURN)

    def _agreed_on(self, scope: Scope, word: str) -> Value:
        """What all return or yield statements of a function agree on."""
        return agree_on_value(
            [
                value_of_alternatives(self._resolver, scope, shape)
                for _, shape in self._lookups.bindings(scope, word) or ()
            ]
        )

    def iterated(self, value: Value) -> Value:
        """The elements of a loop over the value."""
        match value:
            case ContainerValue(kind, items):
                return agree_on_value(list(items)) if kind == "tuple" else items[0] if kind != "context" else UNKNOWN
            case ClassValue(scope, why):
                return InstanceValue(scope, why) if self.is_enum(scope) else UNKNOWN
            case InstanceValue():
                drawn = self._method_result(value, "__iter__")
                return self.iterated(drawn) if isinstance(drawn, ContainerValue) else UNKNOWN
            case BuiltinValue("str", is_instance=True):
                return value
        return OUTSIDE if value is OUTSIDE else UNKNOWN

    def item(self, value: Value) -> Value:
        """What `value[key]` is; a class with type arguments is the class."""
        match value:
            case ContainerValue(kind, items):
                return agree_on_value(list(items)) if kind == "tuple" else items[-1] if kind != "context" else UNKNOWN
            case ClassValue(scope, why):
                return InstanceValue(scope, why) if self.is_enum(scope) else value
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
        method = self.attribute(value, name)
        return weaken_value(self._of_function(method), value.why) if isinstance(method, FunctionValue) else UNKNOWN


def _outside(order: tuple[Ancestor, ...], name: str) -> Value:
    """An attribute that no class of the repository has: it may belong to the one ancestor outside."""
    bare = library_names("python", "bare_bases")
    external = [e for e in order if isinstance(e, ExternalValue) and e.dotted.rpartition(".")[2] not in bare]
    if len(external) == 1:
        return ExternalValue(f"{external[0].dotted}.{name}")
    if external or OUTSIDE in order:
        return OUTSIDE
    builtin = [entry for entry in order if isinstance(entry, BuiltinValue)]
    if builtin:
        return BuiltinValue(f"{builtin[0].name}.{name}")
    return BuiltinValue(f"object.{name}") if name.startswith("__") and name.endswith("__") else UNKNOWN


def _of_builtin(value: BuiltinValue) -> Value:
    name = value.name
    if value.owner is not None:
        return _of_container(value.owner, name.rpartition(".")[2])
    if value.is_instance:
        return UNKNOWN
    if name in library_names("python", "classes") or name[:1].isupper() or name.startswith("str."):
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
