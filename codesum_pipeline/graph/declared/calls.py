"""What the expressions of a family's files stand for, and what their calls call.

Answers rest on others only so far: chains of a person's code are short. What
rests on more is unknown, and so is what rests on itself.
"""

from collections.abc import Iterable, Iterator, Sequence

from codesum_pipeline.graph.call_sites import CallSite
from codesum_pipeline.graph.declared.containers import GIVING, held_type, unwrapped
from codesum_pipeline.graph.declared.definitions import CallExpression, CodePlace, DeclaredFile, Key, ScopeDefinition
from codesum_pipeline.graph.declared.names import FamilyNameResolver
from codesum_pipeline.graph.declared.outcomes import outcome_of
from codesum_pipeline.graph.declared.rules import MAX_NAMESAKES, Rules
from codesum_pipeline.graph.declared.unique import UniqueMethods
from codesum_pipeline.graph.declared.values import (
    AMBIGUOUS,
    BUILTIN,
    OUTSIDE,
    UNKNOWN,
    External,
    Held,
    Instance,
    NamedDefinitions,
    Space,
    Value,
    Variable,
    agree,
    weakened,
)
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.model.expressions import CAST, NO_CALL, OBJECT, ROOT, Chain, ExpressionStep, TypeName, chain_of

MAX_DEPTH = 12
THIS = chain_of("this")
_THIS = ("this",)
MAX_BASES = 100


class FamilyCallResolver:
    """Resolves the calls of one family."""

    def __init__(self, rules: Rules, names: FamilyNameResolver, unique: UniqueMethods) -> None:
        self.rules = rules
        self.names = names
        self.tree = names.tree
        self.unique = unique
        self._known: dict[tuple[DeclaredFile, ScopeDefinition | None, Chain], Value] = {}
        self._variables: dict[tuple[ScopeDefinition | None, str], Value] = {}
        self._bases: dict[ScopeDefinition, list[Value]] = {}
        self._in_progress: set[object] = set()
        self._own_members: dict[tuple[ScopeDefinition, str], Sequence[ScopeDefinition]] = {}
        # Bases that classes are given elsewhere.
        self._given_bases: dict[ScopeDefinition, list[Value]] = {}
        self._depth = 0

    def forget(self) -> None:
        """Keep no answer, nor what one that failed had begun."""
        self._known.clear()
        self._variables.clear()
        self._bases.clear()
        self._in_progress.clear()
        self._depth = 0

    def sites(self, file: DeclaredFile) -> Iterator[CallSite]:
        """The calls of one file in source order."""
        for call in file.calls:
            place = CodePlace(file, file.definition(call.symbol))
            outcome, target, reason = outcome_of(self.resolve(place, call))
            caller_id = place.scope.id if place.scope is not None else file.path
            yield CallSite(caller_id, file.path, 0, call.name, outcome, target, reason)

    def resolve(self, place: CodePlace, call: CallExpression) -> Value:
        """What one call calls: one definition, something outside, or why neither."""
        value = self._callee(place, call)
        if isinstance(value, Space):
            handed = self.rules.called(value)
            value = self.names.member(handed.key, handed.name) if handed else UNKNOWN
        if isinstance(value, NamedDefinitions):
            return self._chosen(place, value, call.arguments)
        if value is UNKNOWN and call.receiver != () and not call.is_new:
            return self.unique.find(place, call.name) or UNKNOWN
        return value

    def _callee(self, place: CodePlace, call: CallExpression) -> Value:
        if call.receiver != ():
            receiver = self.value(place, call.receiver)
            found = self.attribute(place, receiver, call.name)
            return AMBIGUOUS if receiver is AMBIGUOUS else found
        if call.name in self.rules.super_words:
            return self._super_call(place)
        if call.name in self.rules.own_words:
            return self._own_constructor(place)
        if call.is_new and call.name in self.rules.class_words:
            owner = self.owner(place)
            return NamedDefinitions((owner,), Reason.SELF) if isinstance(owner, ScopeDefinition) else UNKNOWN
        if not call.is_new and self.names.is_variable(place, call.name) is not None:
            return UNKNOWN
        found = self._plain(place, call.name)
        return self.rules.fallback(place, call.name, call.arguments) if found is UNKNOWN else found

    def _plain(self, place: CodePlace, name: str) -> Value:
        """A name without receiver, which may be a member that the class around inherits."""
        if self.rules.sees_members and isinstance(owner := self.owner(place), ScopeDefinition):
            inherited = self.attribute(place, Instance(owner, Reason.SELF), name)
            if isinstance(inherited, NamedDefinitions):
                return inherited
        return self._settled(self.names.lookup(place, name))

    def _settled(self, value: Value) -> Value:
        """What a variable of another module is, by what it is given there."""
        if not isinstance(value, Variable):
            return value
        file = self.tree.files[value.key[0]]
        place, inner = CodePlace(file, None), self.rules.local_key(value.key, value.name)[-1]
        if inner in file.typed or inner in file.bound:
            return weakened(self.value(place, chain_of(inner)), Reason.IMPORT)
        given = file.bound.get(self.rules.member_name(value.key, value.name), ())
        return weakened(agree([self.value(place, chain) for chain in given if chain != ()]), Reason.IMPORT)

    def _super_call(self, place: CodePlace) -> Value:
        owner = self.owner(place)
        bases = self.bases(owner) if isinstance(owner, ScopeDefinition) else []
        return weakened(bases[0], Reason.SUPER) if bases else UNKNOWN

    def _own_constructor(self, place: CodePlace) -> Value:
        owner = self.owner(place)
        if not isinstance(owner, ScopeDefinition):
            return UNKNOWN
        for name in (*self.rules.constructors, owner.name):
            entries = self.tree.entries.get((*owner.key, name), ())
            if len(entries) > MAX_NAMESAKES:
                return AMBIGUOUS
            if found := tuple(entry for entry in entries if entry is not place.definition):
                return NamedDefinitions(found, Reason.SELF)
        return UNKNOWN

    def _chosen(self, place: CodePlace, value: NamedDefinitions, count: int) -> Value:
        if len(value.definitions) == 1:
            return value
        fitting = [entry for entry in value.definitions if entry.takes(count)]
        chosen = self.rules.prefer(place, fitting or value.definitions)
        return NamedDefinitions((chosen[0],), value.why) if len(chosen) == 1 else AMBIGUOUS

    def owner(self, place: CodePlace) -> ScopeDefinition | Space | None:
        """The class whose member a place is in, or the object or file."""
        around = place.definition
        if around is None:
            return Space(place.file.unit)
        key = self.rules.owner_key(around)
        return self.class_at(place, key) or Space(key)

    def class_at(self, place: CodePlace, key: Key) -> ScopeDefinition | None:
        """The class of a key."""
        if (own := self.rules.own_class(place, key)) is not None:
            return own
        found = self.rules.visible(place, [entry for entry in self.tree.entries.get(key, ()) if entry.is_class])
        value = self.rules.pick(place, found, Reason.SELF) if found else None
        return value.as_class if isinstance(value, NamedDefinitions) else None

    def value(self, place: CodePlace, chain: Chain | None) -> Value:
        """What an expression stands for."""
        if chain is None:
            return UNKNOWN
        key = (place.file, place.scope, chain)
        if key in self._known:
            return self._known[key]
        if self._depth >= MAX_DEPTH or key in self._in_progress:
            return UNKNOWN
        self._depth += 1
        self._in_progress.add(key)
        value = self._follow(place, chain)
        self._in_progress.discard(key)
        self._depth -= 1
        if self._depth == 0 or value is not UNKNOWN:
            self._known[key] = value
        return value

    def _follow(self, place: CodePlace, chain: Chain) -> Value:
        value = self._first(place, chain[0])
        receiver: Value = UNKNOWN
        for number, step in enumerate(chain):
            if number:
                receiver, value = value, self.attribute(place, value, step.name)
            if step.arguments != NO_CALL or step.is_new:
                value = self._result(place, value, step, receiver)
            if value in (UNKNOWN, AMBIGUOUS):
                break
        return value

    def _first(self, place: CodePlace, step: ExpressionStep) -> Value:
        name, rules = step.name, self.rules
        if name == CAST:
            return self.type_value(place, step.type)
        if name == OBJECT:
            around = place.definition
            return Instance(Space(around.key), Reason.SAME_FILE) if around is not None else UNKNOWN
        if name.startswith("@"):
            return self._own_field(place, name.lstrip("@"))
        own = rules.own_words | rules.class_words | rules.super_words
        if name in own and step.arguments == NO_CALL and not self._is_typed(place, name):
            owner = self.owner(place)
            if owner is None or (isinstance(owner, Space) and name not in rules.own_words):
                return UNKNOWN
            if isinstance(owner, Space):
                return owner
            if name in rules.class_words:
                return NamedDefinitions((owner,), Reason.SELF)
            is_super = name in rules.super_words
            return Instance(owner, Reason.SUPER if is_super else Reason.SELF, is_super)
        scope = self.names.is_variable(place, name) if not step.is_new else None
        if scope is not None:
            return self._variable(CodePlace(place.file, scope), name)
        if step.arguments == NO_CALL:
            if rules.sees_members and (field := self._own_field(place, name)) is not UNKNOWN:
                return field
            if name in place.file.typed or name in place.file.bound:
                return self._module_variable(place, name)
        found = self._plain(place, name)
        return rules.fallback(place, name, step.arguments) if found is UNKNOWN and step.arguments != NO_CALL else found

    def _is_typed(self, place: CodePlace, name: str) -> bool:
        scope = self.names.is_variable(place, name)
        return scope is not None and name in scope.typed

    def _own_field(self, place: CodePlace, name: str) -> Value:
        owner = self.owner(place)
        return self._field(owner, name) if isinstance(owner, ScopeDefinition) else UNKNOWN

    def _module_variable(self, place: CodePlace, name: str) -> Value:
        top = CodePlace(place.file, None)
        imported = self._settled(self.names.lookup(top, name))
        if imported not in (UNKNOWN, BUILTIN):
            return imported
        if name in place.file.typed:
            return agree([self.type_value(top, type_) for type_ in place.file.typed[name]])
        return self._given(top, place.file.bound[name])

    def _variable(self, place: CodePlace, name: str) -> Value:
        """What a variable of a scope is; many blocks of that ask for it."""
        at = (place.scope, name)
        if at not in self._variables:
            value = self._find_variable(place, name)
            if value is UNKNOWN:
                return value
            self._variables[at] = value
        return self._variables[at]

    def _find_variable(self, place: CodePlace, name: str) -> Value:
        scope = place.scope
        if scope is not None and name in scope.typed:
            return agree([self.type_value(place, type_) for type_ in scope.typed[name]])
        return self._given(place, scope.bound.get(name, ())) if scope is not None else UNKNOWN

    def _given(self, place: CodePlace, values: Sequence[Chain | None]) -> Value:
        """What a variable is that is first given these values; it is no class and no function by itself."""
        value = agree([self.value(place, chain) for chain in values if chain != ()])
        return UNKNOWN if isinstance(value, NamedDefinitions) else value

    def _result(self, place: CodePlace, value: Value, step: ExpressionStep, receiver: Value) -> Value:
        """What a call gives."""
        if isinstance(value, Space):
            handed = self.rules.called(value)
            value = self.names.member(handed.key, handed.name) if handed else UNKNOWN
        if isinstance(value, NamedDefinitions):
            chosen = self._chosen(place, value, step.arguments)
            if not isinstance(chosen, NamedDefinitions):
                return UNKNOWN
            called = chosen.definitions[0]
            if called.is_class:
                return Instance(called, Reason.CONSTRUCTOR_TYPE)
            if step.is_new and self.rules.has_modules:
                return Instance(Space(called.key), Reason.CONSTRUCTOR_TYPE)
            if called.returns is None:
                return self._inferred(called, receiver)
            if called.returns.names == _THIS and isinstance(receiver, Instance):
                return weakened(receiver, Reason.INFERRED_RETURN)
            return weakened(self.type_value(CodePlace(called.file, called), called.returns), Reason.INFERRED_RETURN)
        if isinstance(value, Held | Instance):
            # A field or a step of a container that was reached already.
            return value if isinstance(value, Held) or step.name in GIVING else UNKNOWN
        return OUTSIDE if isinstance(value, External) or value is OUTSIDE else UNKNOWN

    def _inferred(self, called: ScopeDefinition, receiver: Value) -> Value:
        """What a function gives back, by all the values that it gives."""
        values = [
            receiver
            if value == THIS and isinstance(receiver, Instance)
            else self.value(CodePlace(called.file, scope), value)
            for scope, value in called.results
        ]
        value = agree(values)
        is_object = isinstance(value, Instance | External) or value is OUTSIDE
        return weakened(value, Reason.INFERRED_RETURN) if is_object else UNKNOWN

    # Types

    def type_value(self, place: CodePlace, said: TypeName | None) -> Value:
        """An object of a type."""
        type_ = unwrapped(said, self.rules.transparent)
        if type_ is None or self._depth >= MAX_DEPTH:
            return UNKNOWN
        if type_.is_list:
            return Held(type_, place)
        self._depth += 1
        value = self.named_type(place, type_.names)
        self._depth -= 1
        if isinstance(value, NamedDefinitions) and (class_ := value.as_class) is not None:
            return Instance(class_, Reason.ANNOTATION)
        if isinstance(value, Space) and self.rules.files_are_types:
            return Instance(value, Reason.ANNOTATION)
        if type_.arguments and (isinstance(value, External) or value in (UNKNOWN, BUILTIN, OUTSIDE)):
            return Held(type_, place)
        if isinstance(value, External):
            return External(value.name, is_instance=True)
        return OUTSIDE if value is BUILTIN else value if value in (AMBIGUOUS, OUTSIDE) else UNKNOWN

    def named_type(self, place: CodePlace, said: Sequence[str]) -> Value:
        """The class, or what holds it, that names say."""
        names = said[1:] if said[0] == ROOT else said
        if names[0] in self.rules.class_words or names[0] == "@This()":
            owner = self.owner(place)
            value: Value = (
                NamedDefinitions((owner,), Reason.SELF) if isinstance(owner, ScopeDefinition) else owner or UNKNOWN
            )
        else:
            value = self._settled(self.names.lookup(place, names[0]))
        for name in names[1:]:
            value = self.attribute(place, value, name)
        handed = self.rules.called(value) if isinstance(value, Space) else None
        return self._settled(self.names.member(handed.key, handed.name)) if handed is not None else value

    def element(self, held: Held) -> Value:
        """What a container, option, result or pointer holds or gives."""
        inner = held_type(held.type)
        return self.type_value(held.place, inner) if inner is not None else UNKNOWN

    # Members

    def attribute(self, place: CodePlace, value: Value, name: str) -> Value:
        """A member of what a value is."""
        if name in self.rules.super_words and isinstance(value, NamedDefinitions | Instance):
            return UNKNOWN
        match value:
            case Space(key):
                return self._space_member(place, key, name)
            case NamedDefinitions() if (class_ := value.as_class) is not None:
                found = self._member(place, class_, name)
                if not isinstance(found, NamedDefinitions):
                    return found
                is_far = value.why is Reason.SAME_FILE and found.definitions[0].file is not place.file
                return NamedDefinitions(found.definitions, Reason.PACKAGE if is_far else value.why)
            case Instance():
                return self._instance_member(place, value, name)
            case Held():
                return self.element(value) if name in GIVING else UNKNOWN
            case External(dotted, is_instance):
                return OUTSIDE if is_instance else External(self.rules.external_name(dotted, name))
        return value if value in (OUTSIDE, AMBIGUOUS, BUILTIN) else UNKNOWN

    def _space_member(self, place: CodePlace, key: Key, name: str) -> Value:
        value = self._settled(self.names.member(key, name))
        if value is UNKNOWN and (handed := self.rules.called(Space(key))) is not None:
            held = self.names.member(handed.key, handed.name)
            value = self.attribute(place, held, name) if not isinstance(held, Space) else UNKNOWN
        if isinstance(value, NamedDefinitions):
            self.names.used[place.file.path].update(entry.file.path for entry in value.definitions)
            is_here = all(entry.file is place.file for entry in value.definitions)
            return weakened(value, Reason.SAME_FILE if is_here else Reason.IMPORT)
        return value

    def _instance_member(self, place: CodePlace, value: Instance, name: str) -> Value:
        if isinstance(value.owner, Space):
            return weakened(self.names.member(value.owner.key, name), value.why)
        if name == "?":
            return value
        return weakened(self._member(place, value.owner, name, of_bases=value.is_super), value.why)

    def _member(self, place: CodePlace, class_: ScopeDefinition, name: str, *, of_bases: bool = False) -> Value:
        """A method, an inner type or the object in a field: the class's own, or that of the first base that has it."""
        is_outside = False
        waiting, seen = [class_], {class_.key}
        while waiting and len(seen) <= MAX_BASES:
            current = waiting.pop(0)
            if current is not class_ or not of_bases:
                found = self._members(current, name) if name != current.name else ()
                if found:
                    return self.rules.pick(CodePlace(current.file, None), found, Reason.SELF)
                if (field := self._field(current, name)) is not UNKNOWN:
                    return field
            own = self._bases_of_all_parts(current)
            for base in (*own, *self._given_bases.get(current, ())):
                if (
                    isinstance(base, NamedDefinitions)
                    and (parent := base.as_class) is not None
                    and parent.key not in seen
                ):
                    seen.add(parent.key)
                    waiting.append(parent)
            is_outside = is_outside or any(isinstance(base, External) or base is OUTSIDE for base in own)
        return OUTSIDE if is_outside else UNKNOWN

    def _members(self, class_: ScopeDefinition, name: str) -> Sequence[ScopeDefinition]:
        """The definitions of a name in a class itself."""
        at = (class_, name)
        if at not in self._own_members:
            entries = self.tree.entries.get((*class_.key, name), ())
            self._own_members[at] = self.rules.members_of(class_, entries)
        return self._own_members[at]

    def _bases_of_all_parts(self, class_: ScopeDefinition) -> list[Value]:
        """The bases of a class, also of its other parts where it is written in several."""
        parts = self.tree.derived.get(class_.key, ()) if self.rules.is_merged else (class_,)
        return [base for part in parts for base in self.bases(part)]

    def _field(self, class_: ScopeDefinition, name: str) -> Value:
        values = [
            self.type_value(field.place, field.type) if field.is_typed else self.value(field.place, field.value)
            for field in self.tree.fields(class_.key, name)
            if self.rules.is_of(class_, field.place.scope)
        ]
        value = agree(values)
        for base in class_.bases if value is UNKNOWN and self.rules.has_embedded else ():
            if base.names[-1] == name:
                return self.type_value(CodePlace(class_.file, class_), base)
        return UNKNOWN if isinstance(value, NamedDefinitions) else value

    def bases(self, class_: ScopeDefinition) -> list[Value]:
        """What a class derives from, as written."""
        if not class_.bases:
            return []
        if class_ in self._bases:
            return self._bases[class_]
        is_first = not self._in_progress
        found = self._find_bases(class_)
        if is_first:
            # What was asked for on the way to something else may have ended in a circle.
            self._bases[class_] = found
        return found

    def _find_bases(self, class_: ScopeDefinition) -> list[Value]:
        key = ("bases", class_)
        if key in self._in_progress:
            return []
        self._in_progress.add(key)
        found = self._named_types(CodePlace(class_.file, self.rules.scope_of_bases(class_)), class_.bases)
        self._in_progress.discard(key)
        return [value for value in found if not (isinstance(value, NamedDefinitions) and value.as_class is class_)]

    def _named_types(self, place: CodePlace, types: Sequence[TypeName]) -> list[Value]:
        named = ((type_.names, self.named_type(place, type_.names)) for type_ in types)
        return [self.rules.whole_name(names) if value is UNKNOWN else value for names, value in named]

    def extended(self, file: DeclaredFile) -> Iterator[tuple[ScopeDefinition, Value]]:
        """The classes that a file gives bases to, each with one of them."""
        for around, type_, bases in file.extensions:
            place = CodePlace(file, file.scope(around))
            for owner in self._named_types(place, (type_,)):
                if isinstance(owner, NamedDefinitions) and (class_ := owner.as_class) is not None:
                    yield from ((class_, base) for base in self._named_types(place, bases) if base != owner)

    def extend(self, extended: Iterable[tuple[ScopeDefinition, Value]]) -> None:
        """Let classes have the members of bases that they are given elsewhere."""
        for class_, base in extended:
            self._given_bases.setdefault(class_, []).append(base)
