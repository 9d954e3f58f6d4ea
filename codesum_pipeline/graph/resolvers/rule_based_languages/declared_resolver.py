"""Resolves the expressions and calls of a family of declared languages."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.expression import (
    CAST,
    NO_CALL,
    OBJECT,
    Chain,
    ExpressionStep,
    TypeName,
    chain_of,
)
from codesum_pipeline.foundation.data_model.guard import FailureGuard
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
    ObjectValue,
    OneOf,
    Reason,
    SuperValue,
    Value,
    agree_on_value,
    weaken_value,
)
from codesum_pipeline.foundation.data_model.scopes import CallExpression, Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.graph.resolvers.resolver import Resolver, Use
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_lookups import OWN_FILE, DeclaredLookups
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_members import GIVING, DeclaredMembers
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_names import DeclaredNames
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_uses import DeclaredUses
from codesum_pipeline.languages.declarations.name_tree import NameTree
from codesum_pipeline.languages.declarations.rules import MAX_NAMESAKES, Member, Outside, Rules
from codesum_pipeline.symbols.parsing.chains import read_chain

THIS = chain_of("this")
_THIS = ("this",)


class DeclaredResolver(Resolver[Chain | None, ExpressionStep]):
    """Resolves the files of one family. `guard` notes the files that cannot be read."""

    lookups: DeclaredLookups

    def __init__(self, rules: Rules, files: Mapping[str, ScopedFile], guard: FailureGuard) -> None:
        super().__init__(files, rules.telling)
        for path, file in files.items():
            with guard.item(path):
                file.unit = rules.unit_of(file)
        self.rules = rules
        self.tree = NameTree(files, guard)
        rules.use_tree(self.tree)
        self.names = DeclaredNames(self, rules, self.tree, guard)
        self.members = DeclaredMembers(self, self.names, rules, self.tree)
        self._results: dict[Scope, Value] = self.make_answers()
        self.members.add_outside_bases(files, guard)
        self._uses = DeclaredUses(self, self.names, self.members, self.tree, self._chosen)
        self._used = {path: frozenset(used) for path, used in self.names.used.items()}
        self.lookups = DeclaredLookups(self.tree, rules)
        self.tree.table(OWN_FILE).rows.update({path: self._given(file) for path, file in files.items()})

    def _given(self, file: ScopedFile) -> Any:
        """What is known of a file before it is resolved, in part from others."""
        found = self.names.imports[file.path], sorted(self._used.get(file.path, ()))
        return file.unit, *found, self.members.extended.get(file.path, [])

    def only_method(self, name: str) -> Scope | None:
        found: Scope | None = self.tree.methods.get(name)
        return found

    def imported_files(self, file: ScopedFile) -> Set[str]:
        return {target for _, resolved in self.names.imports[file.path] for target in resolved.files}

    def calls(self, file: ScopedFile) -> Iterator[tuple[Scope, str, Value]]:
        for call in file.code()[0]:
            scope = file.scopes[call.scope]
            yield scope, call.name, self._called(scope, call)

    def uses(self, file: ScopedFile) -> Iterator[Use]:
        return self._uses.of_file(file)

    def named(self, scope: Scope, code: str) -> Value:
        receiver, _, name = code.replace("::", ".").rpartition(".")
        steps = [piece for step in receiver.split(".") for piece in (".", step)] if receiver else []
        chain = read_chain(tuple(steps[1:])) if steps else ()
        return UNKNOWN if chain is None else self._called(scope, CallExpression(scope.number, chain, name, False, -1))

    def bases_of(self, class_: Scope) -> list[Value]:
        return self.members.all_bases(class_)

    def bases(self, file: ScopedFile) -> Iterator[tuple[Scope, Value]]:
        self.names.used[file.path] = set(self._used.get(file.path, ()))
        classes = (definition for definition in file.definitions if definition.is_class)
        yield from ((class_, base) for class_ in classes for base in self.members.bases(class_))
        yield from self.members.extended.get(file.path, ())

    def imports(self, file: ScopedFile) -> Iterator[tuple[str, bool]]:
        """The imports; of an imported package, the files whose names are used here."""
        for _, resolved in self.names.imports[file.path]:
            yield from ((target, False) for target in resolved.files if target != file.path)
            if isinstance(resolved.target, Outside):
                yield resolved.target.package, True
        for target in sorted(self.names.used[file.path] - self.imported_files(file) - {file.path}):
            if self.tree.known_files.get(target).unit != file.unit:
                yield target, False

    def reexported_values(self, file: ScopedFile, row: Reexport) -> Iterator[Value]:
        for resolved in self.names.reexports.get((file.path, row), ()):
            if isinstance(resolved.target, Member):
                yield self.names.target(resolved)
            elif resolved.files:
                yield from (ModuleValue((path,)) for path in resolved.files)
            elif isinstance(resolved.target, ModuleValue):
                yield resolved.target

    def files_of(self, module: ModuleValue) -> Sequence[str]:
        if module.module[:1] and module.module[0] in self.tree.known_files:
            return module.module[:1]
        return [file.path for file in self.tree.units.get(module.module, ())]

    def _called(self, scope: Scope, call: CallExpression) -> Value:
        """What one call calls: a definition, something outside the repository, or the reason why neither is known."""
        value = self._handed(self._callee(scope, call))
        if isinstance(value, FunctionValue):
            return self._chosen(value, call.arguments)
        if value is UNKNOWN and call.receiver != () and not call.is_new:
            return self.by_name_alone(scope.file, call.name)
        # A field that holds a function is no container's method.
        return UNKNOWN if isinstance(value, ContainerValue) else value

    def _handed(self, value: Value) -> Value:
        """The target of a call of a module itself: its default export."""
        if not isinstance(value, ModuleValue):
            return value
        handed = self.rules.callee_of(value.module)
        return self.names.member(handed.key, handed.name) if handed else UNKNOWN

    def _callee(self, scope: Scope, call: CallExpression) -> Value:
        rules, name = self.rules, call.name
        if call.receiver != ():
            receiver = self.value(scope, call.receiver)
            return AMBIGUOUS if receiver is AMBIGUOUS else self.members.attribute(scope, receiver, name)
        if name in rules.super_words:
            owner = self.names.owner(scope)
            bases = self.members.bases(owner) if isinstance(owner, Scope) else []
            return weaken_value(bases[0], Reason.SUPER) if bases else UNKNOWN
        if name in rules.own_words:
            return self._own_constructor(scope)
        if call.is_new and name in rules.class_words:
            owner = self.names.owner(scope)
            return ClassValue(owner, Reason.SELF) if isinstance(owner, Scope) else UNKNOWN
        if not call.is_new and self.names.variable_scope(scope, name) is not None:
            return UNKNOWN
        found = self._plain(scope, name)
        return rules.value_of_called(scope.file, name, call.arguments) if found is UNKNOWN else found

    def _plain(self, scope: Scope, name: str) -> Value:
        """A name without receiver, which may be a member that the class around inherits."""
        if self.rules.sees_members and isinstance(owner := self.names.owner(scope), Scope):
            inherited = self.members.attribute(scope, InstanceValue(owner, Reason.SELF), name)
            if isinstance(inherited, ClassValue | FunctionValue):
                return inherited
        return self.names.settled(self.names.lookup(scope, name))

    def _own_constructor(self, scope: Scope) -> Value:
        owner = self.names.owner(scope)
        if not isinstance(owner, Scope):
            return UNKNOWN
        for name in (*self.rules.constructors, owner.name):
            entries = self.tree.entries.get((*owner.key, name), ())
            if len(entries) > MAX_NAMESAKES:
                return AMBIGUOUS
            if found := [entry for entry in entries if entry is not scope.definition]:
                return FunctionValue.of(found, Reason.SELF)
        return UNKNOWN

    def _chosen(self, value: FunctionValue, count: int) -> Value:
        """The one among several functions of one name that can take this number of arguments."""
        if not value.overloads:
            return value
        fitting = [entry for entry in value.scopes if entry.takes(count)]
        chosen = self.rules.preferred_among(fitting or value.scopes)
        return FunctionValue(chosen[0], value.why) if len(chosen) == 1 else AMBIGUOUS

    def steps(self, expression: Chain | None) -> Chain:
        return expression or ()

    def first_value(self, scope: Scope, step: ExpressionStep) -> Value:
        value = self._first(scope, step)
        return self._result(value, step, UNKNOWN) if step.arguments != NO_CALL or step.is_new else value

    def next_value(self, scope: Scope, value: Value, step: ExpressionStep) -> Value:
        member = self.members.attribute(scope, value, step.name)
        return self._result(member, step, value) if step.arguments != NO_CALL or step.is_new else member

    def _first(self, scope: Scope, step: ExpressionStep) -> Value:
        name, rules = step.name, self.rules
        if name == CAST:
            return self.members.of_type(scope, step.type)
        if name == OBJECT:
            around = scope.definition
            return UNKNOWN if around.is_top else ObjectValue(around.key, Reason.SAME_FILE)
        if name.startswith("@"):
            return self._own_field(scope, name.lstrip("@"))
        variable_of = None if step.is_new else self.names.variable_scope(scope, name)
        if name in rules.words_for_owner and step.arguments == NO_CALL:
            is_typed = variable_of is not None and self.tree.bound(variable_of, name, Bound.ANNOTATED)
            if not is_typed:
                return self._by_word(scope, name)
        if variable_of is not None:
            return self.members.variable(variable_of, name)
        if step.arguments == NO_CALL:
            if rules.sees_members and (field := self._own_field(scope, name)) is not UNKNOWN:
                return field
            if self.tree.bound(top := scope.file.top, name, Bound.ANNOTATED, Bound.VALUE):
                imported = self.names.settled(self.names.lookup(top, name))
                is_known = imported is not UNKNOWN and not isinstance(imported, BuiltinValue)
                return imported if is_known else self.members.variable(top, name)
        found = self._plain(scope, name)
        is_call = step.arguments != NO_CALL
        return rules.value_of_called(scope.file, name, step.arguments) if found is UNKNOWN and is_call else found

    def _by_word(self, scope: Scope, name: str) -> Value:
        """What `this`, `Self` or `super` refers to."""
        owner = self.names.owner(scope)
        if not isinstance(owner, Scope):
            return owner if name in self.rules.own_words else UNKNOWN
        if name in self.rules.class_words:
            return ClassValue(owner, Reason.SELF)
        return SuperValue(owner) if name in self.rules.super_words else InstanceValue(owner, Reason.SELF)

    def _own_field(self, scope: Scope, name: str) -> Value:
        owner = self.names.owner(scope)
        return self.members.field(owner, name) if isinstance(owner, Scope) else UNKNOWN

    def _result(self, value: Value, step: ExpressionStep, receiver: Value) -> Value:
        """The result of a call."""
        value = self._handed(value)
        if isinstance(value, FunctionValue):
            value = self._chosen(value, step.arguments)
            return self._returned_value(value.scope, step, receiver) if isinstance(value, FunctionValue) else UNKNOWN
        if isinstance(value, OneOf):
            return agree_on_value([self._result(one, step, receiver) for one in value.values])
        if isinstance(value, ClassValue):
            return InstanceValue(value.scope, Reason.CONSTRUCTOR_TYPE)
        if isinstance(value, ContainerValue):
            # A field or a step of a container that was reached already.
            return value
        if isinstance(value, InstanceValue | ObjectValue | SuperValue):
            return value if step.name in GIVING else UNKNOWN
        return OUTSIDE if isinstance(value, ExternalValue) or value is OUTSIDE else UNKNOWN

    def _returned_value(self, called: Scope, step: ExpressionStep, receiver: Value) -> Value:
        if step.is_new and self.rules.has_modules:
            return ObjectValue(called.key, Reason.CONSTRUCTOR_TYPE)
        value = self.answer_once(self._results, called, self._work_out, called)
        if value is NoValue.SELF:
            if isinstance(receiver, InstanceValue | ObjectValue | SuperValue):
                value = receiver
            elif isinstance(called.returns, TypeName):
                value = self.members.of_type(called, called.returns)
            else:
                value = self.value(called, THIS)
        return weaken_value(value, Reason.INFERRED_RETURN)

    def _work_out(self, called: Scope) -> Value:
        """What a function returns: an object of its stated type, or what its return statements agree on."""
        if isinstance(called.returns, TypeName):
            is_receiver = called.returns.names == _THIS
            return NoValue.SELF if is_receiver else self.members.of_type(called, called.returns)
        value = agree_on_value([
            NoValue.SELF if expression == THIS else self.value(scope, expression)
            for scope, expression in called.results
        ])  # fmt: skip
        is_object = isinstance(value, InstanceValue | ObjectValue | OneOf | ExternalValue)
        return value if is_object or value in (OUTSIDE, NONE, NoValue.SELF) else UNKNOWN
