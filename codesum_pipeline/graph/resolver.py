"""What the expressions of a family of languages stand for, as far as reading them tells.

Nothing is guessed: what has several meanings is ambiguous, what cannot be
followed is unknown. Every answer is kept, and one that rests on itself adds
nothing to itself.

Where names rest on each other in a circle, or on too many others, an answer can
depend on which was asked for first. What a file's calls ask for must then not
depend on what was asked for other files: all but what is the same in any order
is forgotten before each file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from codesum_pipeline.graph.scopes import Scope, ScopedFile
from codesum_pipeline.graph.values import NONE, UNKNOWN, ModuleValue, Value, agree
from codesum_pipeline.model.symbols import Reexport

# How far one answer may rest on others: names, expressions, members, results and types all count. Chains of
# a person's code are short, and Python's stack is finite: a link takes fewer than ten of its 1,000 frames. What
# rests on more is unknown.
MAX_DEPTH = 80

Answer = TypeVar("Answer")
Expression = TypeVar("Expression")


class Resolver(ABC, Generic[Expression]):
    """One family's files, and what is known about their expressions."""

    def __init__(self, files: Mapping[str, ScopedFile]) -> None:
        self.files = files
        self.depth = 0
        self._kept: list[dict[Any, Any]] = []
        self._values: dict[tuple[Scope, Expression], Value] = self.answers()

    def answers(self) -> dict[Any, Any]:
        """A place for answers that are forgotten before the next file."""
        self._kept.append({})
        return self._kept[-1]

    def forget(self) -> None:
        """Begin with a file as if none had been resolved before, or had failed half-way."""
        self.depth = 0
        for answers in self._kept:
            answers.clear()

    def once(
        self, answers: dict[Any, Any], key: Any, find: Callable[..., Answer], *about: Any, meanwhile: Any = NONE
    ) -> Any:
        """An answer that is found once; `meanwhile` is what it adds to itself, and one that rests on too many others is
        unknown."""
        if key in answers:
            return answers[key]
        if self.depth >= MAX_DEPTH:
            return UNKNOWN
        answers[key] = meanwhile
        self.depth += 1
        answer = answers[key] = find(*about)
        self.depth -= 1
        return answer

    def value(self, scope: Scope, expression: Expression) -> Value:
        """What an expression in a scope stands for."""
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

    def agreed(self, scope: Scope, expressions: list[Expression]) -> Value:
        """What several expressions agree on."""
        return agree([self.value(scope, expression) for expression in expressions])

    @abstractmethod
    def _follow(self, scope: Scope, expression: Expression) -> Value:
        """The value of an expression, step by step."""

    @abstractmethod
    def imports(self, file: ScopedFile) -> Iterator[tuple[str, bool]]:
        """The files of the repository that a file imports, and the packages outside with True."""

    @abstractmethod
    def taken(self, file: ScopedFile, row: Reexport) -> Iterator[Value]:
        """What a file takes from another to hand it on; modules for all that is in them."""

    @abstractmethod
    def files_of(self, module: ModuleValue) -> Sequence[str]:
        """The files that a module is."""

    @abstractmethod
    def bases(self, file: ScopedFile) -> Iterator[tuple[Scope, Value]]:
        """The classes that a file says the bases of, each with one of them."""

    @abstractmethod
    def calls(self, file: ScopedFile) -> Iterator[tuple[Scope, str, int, Value]]:
        """The calls of a file in source order: where it stands, the callee as written, its line, and what it calls."""
