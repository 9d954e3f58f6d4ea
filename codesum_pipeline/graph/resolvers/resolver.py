"""Resolves the expressions of a family of languages, as far as static reading allows.

Nothing is guessed: an expression with several meanings is ambiguous, one that cannot be followed is unknown. Every
answer is kept, and one that depends on itself adds nothing to itself.

If names depend on each other in a cycle, or on too many others, an answer can depend on which name was resolved first.
The answers for one file must not depend on other files: before each file, all answers are forgotten except those that
are the same in any order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    NONE,
    OUTSIDE,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ExternalValue,
    FunctionValue,
    ModuleValue,
    NoValue,
    OneOf,
    Reason,
    Value,
    agree_on_value,
)
from codesum_pipeline.foundation.data_model.scopes import Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.graph.resolvers.cells import LookupRecord
from codesum_pipeline.languages.declarations.rules import TellingNames

# How far one answer may rest on others: names, expressions, members, results and types all count. Chains of
# a person's code are short, and Python's stack is finite: a link takes fewer than ten of its 1,000 frames. What
# rests on more is unknown.
MAX_DEPTH = 80

# Beyond these the rest of a class's ancestors count as unknown; Django's deepest class has 22.
MAX_ANCESTORS = 100

# What a class of the repository or something outside of it may derive from.
Ancestor = Scope | ExternalValue | BuiltinValue | NoValue
Answer = TypeVar("Answer")
Expression = TypeVar("Expression")
Step = TypeVar("Step")


class Use(NamedTuple):
    """A document uses a definition, or a constant by the id that a definition of its name would have."""

    user: str
    used: str
    why: Reason
    times: int


class Lookups(Protocol):
    """What one file after the other asks of others."""

    def begin(self, file: ScopedFile, /) -> None:
        """Begin with a file."""

    def note_exports(self, file: ScopedFile, /) -> None:
        """Note that everything is read that a file exports."""

    def record(self) -> LookupRecord | None:
        """What the file has asked for; None if that is too much."""


class Resolver(ABC, Generic[Expression, Step]):
    """One family's files, and what is known about their expressions."""

    lookups: Lookups

    def __init__(self, files: Mapping[str, ScopedFile], telling: TellingNames) -> None:
        self.files = files
        self._telling = telling
        self._imported_files: dict[str, Set[str]] = {}
        self.depth = 0
        self._kept: list[dict[Any, Any]] = []
        self._orders: dict[Scope, tuple[Ancestor, ...]] = self.make_answers()
        self._values: dict[tuple[Scope, Expression], Value] = self.make_answers()

    def make_answers(self) -> dict[Any, Any]:
        """A place for answers that are forgotten before the next file."""
        self._kept.append({})
        return self._kept[-1]

    def begin(self, file: ScopedFile) -> None:
        """Begin with a file as if none had been resolved before, or had failed half-way."""
        self.depth = 0
        for answers in self._kept:
            answers.clear()
        self.lookups.begin(file)

    def answer_once(
        self, answers: dict[Any, Any], key: Any, find: Callable[..., Answer], *about: Any, meanwhile: Any = NONE
    ) -> Answer:
        """An answer that is found once; `meanwhile` is what it adds to itself, and one that rests on too many others is
        unknown."""
        known: Any = UNKNOWN
        if key in answers:
            known = answers[key]
        elif self.depth < MAX_DEPTH:
            answers[key] = meanwhile
            self.depth += 1
            known = answers[key] = find(*about)
            self.depth -= 1
        answer: Answer = known
        return answer

    def value(self, scope: Scope, expression: Expression) -> Value:
        """The value of an expression in a scope."""
        key = (scope, expression)
        value = self._values.get(key)
        if value is not None:
            return value
        if self.depth >= MAX_DEPTH:
            return UNKNOWN
        self.depth += 1
        value = self._follow(scope, expression)
        self.depth -= 1
        if self.depth == 0 or value not in (UNKNOWN, NONE):
            self._values[key] = value
        return value

    def by_name_alone(self, file: ScopedFile, name: str) -> Value:
        """The last resort: the method of an unknown object that only one class of the family has.

        A name alone proves little, so all of this must hold: nothing else in the family has it, it is distinctive,
        and the calling file is the method's own or imports it.
        """
        method = self.only_method(name) if name in self._telling else None
        if method is None:
            return UNKNOWN
        if file.path not in self._imported_files:
            self._imported_files[file.path] = self.imported_files(file)
        is_seen = method.file is file or method.file.path in self._imported_files[file.path]
        return FunctionValue(method, Reason.UNIQUE_NAME) if is_seen else UNKNOWN

    @abstractmethod
    def only_method(self, name: str) -> Scope | None:
        """The method of a name, if the name has no other meaning in the family."""

    @abstractmethod
    def imported_files(self, file: ScopedFile) -> Set[str]:
        """The files that a file imports."""

    def agreed(self, scope: Scope, expressions: list[Expression]) -> Value:
        """What several expressions agree on."""
        return agree_on_value([self.value(scope, expression) for expression in expressions])

    def ancestors(self, scope: Scope) -> tuple[Ancestor, ...]:
        """A class and its ancestors, in the order in which members are looked up."""
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
                bases[current] = self.bases_of(current)
                classes = (base.scope for base in reversed(bases[current]) if isinstance(base, ClassValue))
                waiting.extend(found for found in classes if found not in self._orders)
            else:
                waiting.pop()
                if current in bases:
                    order = _linearized(current, [self._ancestors(base) for base in bases.pop(current)])
                    self._orders[current] = order if len(order) <= MAX_ANCESTORS else (*order[:MAX_ANCESTORS], UNKNOWN)

    def _ancestors(self, base: Value) -> tuple[Ancestor, ...]:
        if isinstance(base, ClassValue):
            return self._orders[base.scope]
        if isinstance(base, ExternalValue | BuiltinValue):
            return (base,)
        return (OUTSIDE,) if base is OUTSIDE else (UNKNOWN,)

    @abstractmethod
    def bases_of(self, class_: Scope) -> list[Value]:
        """The values of what a class derives from."""

    def _follow(self, scope: Scope, expression: Expression) -> Value:
        """The value of an expression, step by step."""
        steps = self.steps(expression)
        value = self.first_value(scope, steps[0]) if steps else UNKNOWN
        for step in steps[1:]:
            if value in (UNKNOWN, AMBIGUOUS):
                break
            if isinstance(value, OneOf):
                value = agree_on_value([self.next_value(scope, one, step) for one in value.values])
            else:
                value = self.next_value(scope, value, step)
        return value

    @abstractmethod
    def steps(self, expression: Expression) -> Sequence[Step]:
        """What an expression starts from, and its steps."""

    @abstractmethod
    def first_value(self, scope: Scope, step: Step) -> Value:
        """What an expression starts from."""

    @abstractmethod
    def next_value(self, scope: Scope, value: Value, step: Step) -> Value:
        """What a step leads to from a value."""

    @abstractmethod
    def imports(self, file: ScopedFile) -> Iterator[tuple[str, bool]]:
        """The files of the repository that a file imports, and the packages outside with True."""

    @abstractmethod
    def reexported_values(self, file: ScopedFile, row: Reexport) -> Iterator[Value]:
        """The values that a file re-exports from another; a module stands for all its contents."""

    @abstractmethod
    def files_of(self, module: ModuleValue) -> Sequence[str]:
        """The files that a module is."""

    @abstractmethod
    def bases(self, file: ScopedFile) -> Iterator[tuple[Scope, Value]]:
        """The classes that a file says the bases of, each with one of them."""

    @abstractmethod
    def named(self, scope: Scope, code: str) -> Value:
        """What some code names that hands a function over: names with marks between them."""

    @abstractmethod
    def calls(self, file: ScopedFile) -> Iterator[tuple[Scope, str, Value]]:
        """The calls of a file in source order: the scope, the callee as written, and what is called."""

    @abstractmethod
    def uses(self, file: ScopedFile) -> Iterator[Use]:
        """The definitions and constants that a file uses without calling them."""


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
