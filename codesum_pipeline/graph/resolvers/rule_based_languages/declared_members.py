"""The values of members (of modules, of classes through their bases, of objects) and of variables and fields."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.expression import ROOT, Chain, ExpressionStep, TypeName
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.possible_values import (
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
    ObjectValue,
    OneOf,
    Reason,
    SuperValue,
    Value,
    agree_on_value,
    found_by,
    weaken_value,
    weaker_reason,
)
from codesum_pipeline.foundation.data_model.scopes import Binding, Key, Scope, ScopedFile
from codesum_pipeline.graph.resolvers.resolver import Resolver
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_names import DeclaredNames, definitions_of
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.rules import Rules

# Methods of containers, options, results and locks that give what is in them.
GIVING = frozenset({
    "?", "[]", "await", "unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "as_ref", "as_mut", "as_deref",
    "as_deref_mut", "clone", "cloned", "borrow", "borrow_mut", "lock", "read", "write", "get", "orElse", "orElseThrow",
    "orElseGet", "first", "last", "pop", "at", "front", "back", "getFirst", "getLast", "Value", "value", "Result",
})  # fmt: skip


class DeclaredMembers:
    """Looks members and variables up. `extended` holds, by file, the classes that the file gives a base, each with that
    base."""

    def __init__(
        self, resolver: Resolver[Chain | None, ExpressionStep], names: DeclaredNames, rules: Rules, tree: NameTree
    ) -> None:
        self._resolver = resolver
        self._names = names
        self._rules = rules
        self._tree = tree
        self._variables: dict[tuple[Scope, str], Value] = resolver.make_answers()
        self._bases: dict[Scope, list[Value]] = resolver.make_answers()
        self._fields: dict[tuple[Scope, str], Value] = resolver.make_answers()
        self._objects: dict[tuple[Scope, TypeName], Value] = resolver.make_answers()
        # With what was asked for them.
        self._own: dict[tuple[Scope, str], Any] = {}
        self.extended: defaultdict[str, list[tuple[Scope, Value]]] = defaultdict(list)
        self._bases_from_outside: Table[Scope, list[Value]] = tree.table("bases from outside")

    def add_outside_bases(self, files: Mapping[str, ScopedFile], guard: FailureGuard) -> None:
        """Give classes the bases that files state outside of the class, as Rust's `impl Trait for Type` does."""
        for path in sorted(files):
            with guard.item(path):
                self._extend(files[path])
        for found in self.extended.values():
            for class_, base in found:
                # One from outside says less than the bases that a class itself names.
                if isinstance(base, ClassValue):
                    self._bases_from_outside.rows.setdefault(class_, []).append(base)

    def attribute(self, scope: Scope, value: Value, name: str) -> Value:
        """The member of a value that a name in a scope refers to."""
        if name in self._rules.super_words and not isinstance(value, ModuleValue | ObjectValue):
            return UNKNOWN
        match value:
            case ModuleValue(module):
                return self._of_module(scope, module, name)
            case ClassValue(class_, why):
                found = self._of_class(class_, name)
                if not isinstance(found, ClassValue | FunctionValue):
                    return found
                is_far = why is Reason.SAME_FILE and found.scope.file is not scope.file
                return found_by(found, Reason.PACKAGE if is_far else why)
            case ObjectValue(module, why):
                return weaken_value(self._names.member(module, name), why)
            case InstanceValue(class_, why):
                return value if name == "?" else weaken_value(self._of_class(class_, name), why)
            case SuperValue(class_):
                return value if name == "?" else weaken_value(self._of_class(class_, name, is_own=False), Reason.SUPER)
            case OneOf(values):
                return agree_on_value([self.attribute(scope, one, name) for one in values])
            case ContainerValue(_, (item,)):
                return item if name in GIVING else UNKNOWN
            case ExternalValue(dotted, is_instance):
                return OUTSIDE if is_instance else ExternalValue(self._rules.external_name(dotted, name))
            case BuiltinValue():
                return value
        return value if value in (OUTSIDE, AMBIGUOUS) else UNKNOWN

    def _of_module(self, scope: Scope, module: Key, name: str) -> Value:
        names = self._names
        value = names.settled(names.member(module, name))
        if value is UNKNOWN and (handed := self._rules.callee_of(module)) is not None:
            held = names.member(handed.key, handed.name)
            value = UNKNOWN if isinstance(held, ModuleValue) else self.attribute(scope, held, name)
        if isinstance(value, ClassValue | FunctionValue):
            names.use(scope.file, value)
            is_here = all(entry.file is scope.file for entry in definitions_of(value))
            return found_by(value, weaker_reason(Reason.SAME_FILE if is_here else Reason.IMPORT, value.why))
        return value

    def _of_class(self, class_: Scope, name: str, *, is_own: bool = True) -> Value:
        """A method, an inner type or the object in a field: of the class itself, or of its first base that has it."""
        order = self._resolver.ancestors(class_)
        for entry in order if is_own else order[1:]:
            if isinstance(entry, Scope) and (found := self._own_member(entry, name)) is not UNKNOWN:
                return found
        return OUTSIDE if any(isinstance(entry, ExternalValue) or entry is OUTSIDE for entry in order) else UNKNOWN

    def _own_member(self, class_: Scope, name: str) -> Value:
        found = self._tree.once(self._own, (class_, name), self._own_members, class_, name)
        return self._rules.pick_value(class_.file, found, Reason.SELF) if found else self.field(class_, name)

    def _own_members(self, class_: Scope, name: str) -> Sequence[Scope]:
        entries = self._tree.entries.get((*class_.key, name), ()) if name != class_.name else ()
        return self._rules.members_of(class_, entries)

    def variable(self, scope: Scope, name: str) -> Value:
        """The value of a scope's variable. The answer is kept, since many blocks ask for it."""
        placed = [(scope, binding) for binding in self._tree.bindings(scope, name) or ()]
        return self._resolver.answer_once(self._variables, (scope, name), self._settle, placed)

    def _settle(self, bindings: Sequence[tuple[Scope, Binding]]) -> Value:
        """The value of a variable or field: an object of its type, or else its first assigned value.

        A variable is never taken for a class or a function.
        """
        types = [(scope, binding[1]) for scope, binding in bindings if binding[0] == Bound.ANNOTATED]
        if types:
            return agree_on_value([self.of_type(scope, type_) for scope, type_ in types])
        assigned = [(scope, binding[1]) for scope, binding in bindings if binding[0] == Bound.VALUE]
        value = agree_on_value([self._resolver.value(scope, chain) for scope, chain in assigned if chain != ()])
        return UNKNOWN if isinstance(value, ClassValue | FunctionValue) else value

    def field(self, class_: Scope, name: str) -> Value:
        """The object in a field of a class."""
        return self._resolver.answer_once(self._fields, (class_, name), self._find_field, class_, name)

    def _find_field(self, class_: Scope, name: str) -> Value:
        declared = [field for field in self._tree.fields(class_.key, name) if self._rules.is_of(class_, field[0])]
        value = self._settle(declared)
        for base in class_.bases if value is UNKNOWN and self._rules.has_embedded else ():
            if base.names[-1] == name:
                return self.of_type(class_, base)
        return value

    def all_bases(self, class_: Scope) -> list[Value]:
        """The bases of a class: also of its other parts where it is written in several, and those given elsewhere."""
        parts = self._tree.derived.get(class_.key, ()) if self._rules.is_merged else (class_,)
        return [*(base for part in parts for base in self.bases(part)), *self._bases_from_outside.get(class_, ())]

    def bases(self, class_: Scope) -> list[Value]:
        """What a class derives from, as written."""
        if not class_.bases:
            return []
        around = self._rules.scope_of_bases(class_)
        found = self._resolver.answer_once(self._bases, class_, self._named, around, class_.bases, meanwhile=())
        others = () if isinstance(found, NoValue) else found
        return [value for value in others if not (isinstance(value, ClassValue) and value.scope is class_)]

    def _named(self, scope: Scope, types: Sequence[TypeName]) -> list[Value]:
        named = ((type_.names, self.named(scope, type_.names)) for type_ in types)
        return [self._rules.value_of_full_name(names) if value is UNKNOWN else value for names, value in named]

    def _extend(self, file: ScopedFile) -> None:
        for around, type_, bases in file.extensions:
            scope = file.named(around)
            for owner in self._named(scope, (type_,)):
                if isinstance(owner, ClassValue):
                    for base in self._named(scope, bases):
                        if base != owner:
                            self.extended[owner.scope.file.path].append((owner.scope, base))

    def of_type(self, scope: Scope, written: TypeName | None) -> Value:
        """An object of a type. For a transparent type such as `Arc<Box<Foo>>`, an object of what it holds: a `Foo`."""
        type_ = written
        while type_ is not None and type_.arguments and type_.names[-1] in self._rules.transparent:
            type_ = type_.arguments[0]
        if type_ is None:
            return UNKNOWN
        return self._resolver.answer_once(self._objects, (scope, type_), self._object, scope, type_)

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
        """A container, option, result or pointer with what it holds; for a map, its values."""
        is_map = type_.names[-1].lower().endswith("map") or any("dict" in name.lower() for name in type_.names)
        return ContainerValue("iterable", (self.of_type(scope, type_.arguments[-1 if is_map else 0]),))

    def named(self, scope: Scope, path: Sequence[str]) -> Value:
        """The class, or the module around it, that a path of names leads to."""
        names = self._names
        first, *others = path[1:] if path[0] == ROOT else path
        if first in self._rules.class_words or first == "@This()":
            owner = names.owner(scope)
            value: Value = ClassValue(owner, Reason.SELF) if isinstance(owner, Scope) else owner
        else:
            value = names.settled(names.lookup(scope, first))
        for name in others:
            value = self.attribute(scope, value, name)
        handed = self._rules.callee_of(value.module) if isinstance(value, ModuleValue) else None
        return names.settled(names.member(handed.key, handed.name)) if handed is not None else value
