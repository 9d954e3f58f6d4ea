"""The interface of a file of a declared language: the facts of it on which the edges of other files may depend.

A file's edges follow from its own facts and from the interfaces of its family's other files. So they stay valid while
these are unchanged. A change inside a function changes the interface only if the function's result or a field of its
object depends on it.

All that a parser wrote down is part of the interface but for

- calls, which only the file itself looks at;
- names in functions, and the scopes inside functions, that no other file can depend on. Other files start from the
names of classes and of the file, from types, bases and results, and follow the names in those. A file's own variables
count only where modules can import them;
- scopes that are neither functions nor classes and contain no such name: their numbers are left out.
"""

import json
from collections.abc import Iterator
from typing import Any

from msgspec.structs import astuple

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.foundation.data_model.hashing import sha1_hex
from codesum_pipeline.foundation.data_model.scopes import Binding, Scope, ScopedFile
from codesum_pipeline.symbols.languages.rules import NameTree

_KEPT = frozenset({ScopeKind.MODULE, ScopeKind.CLASS, ScopeKind.FUNCTION})


def interface_of(file: ScopedFile, *, gives_variables: bool = True) -> str:
    """The hash of a file's interface; whether others can import its variables depends on its language."""
    content = _Interface(file, gives_variables=gives_variables).content()
    return sha1_hex(json.dumps(content, separators=(",", ":")))


class _Interface:
    """One file, and which of its names are seen from outside."""

    def __init__(self, file: ScopedFile, *, gives_variables: bool) -> None:
        self._file = file
        self._gives_variables = gives_variables
        self._exports = {export.partition(" as ")[0] for export in file.exports or ()}
        self._seen: set[tuple[Scope, str]] = set()
        self._looked_up: set[tuple[Scope, str]] = set()
        self._waiting: list[tuple[Scope, Any]] = []

    def content(self) -> list[Any]:
        for scope in self._file.scopes:
            self._start(scope)
        while self._waiting:
            self._follow(*self._waiting.pop())
        file = self._file
        kept = self._kept_scopes()
        numbers = {scope.number: position for position, scope in enumerate(kept)}
        return [
            *[file.language, file.package, None if file.exports is None else sorted(file.exports)],
            [astuple(one) for one in file.reexports],
            *[file.extensions, sorted(file.constants), sorted(file.private_constants)],
            [[numbers[row.scope + 1], *row[1:]] for row in file.imports],
            [self._scope(scope, numbers) for scope in kept],
        ]

    def _start(self, scope: Scope) -> None:
        """Mark the names of a scope that other files can ask for directly."""
        for name in scope.names:
            if self._can_be_looked_up(scope, name):
                self._see(scope, name)
        self._waiting.extend((scope, base) for base in scope.bases)
        self._waiting.extend(scope.results)
        if scope.returns is not None:
            self._waiting.append((scope, scope.returns))

    def _can_be_looked_up(self, scope: Scope, name: str) -> bool:
        if scope.is_class:
            return True
        if not scope.is_top:
            return NameTree.own_name(name) is not None
        return self._gives_variables and (not self._exports or name.partition(".")[0] in self._exports)

    def _see(self, scope: Scope, name: str) -> None:
        """Mark a name of a scope as seen, with everything that it is bound to."""
        if (scope, name) not in self._seen:
            self._seen.add((scope, name))
            for binding in scope.names[name]:
                self._waiting.extend((scope, part) for part in binding[1:])

    def _follow(self, scope: Scope, expression: Any) -> None:
        """Mark every name around a scope that the words of an expression or type can mean."""
        for word in _texts(expression):
            around: Scope | None = scope
            while around is not None and (around, word) not in self._looked_up:
                self._looked_up.add((around, word))
                if word in around.names:
                    self._see(around, word)
                around = around.parent

    def _kept_scopes(self) -> list[Scope]:
        """All functions and classes, and the other scopes that hold a name which is seen."""
        scopes = self._file.scopes
        kept = {scope for scope in scopes if scope.kind in _KEPT} | {scope for scope, _ in self._seen}
        kept |= {scope for at in scopes for scope, _ in at.results}
        kept |= {scopes[row.scope + 1] for row in self._file.imports}
        for scope in [*kept]:
            around = scope.parent
            while around is not None and around not in kept:
                kept.add(around)
                around = around.parent
        return sorted(kept, key=lambda scope: scope.number)

    def _scope(self, scope: Scope, numbers: dict[int, int]) -> list[Any]:
        names = (name for name in scope.names if (scope, name) in self._seen)
        return [
            *[scope.kind, -1 if scope.parent is None else numbers[scope.parent.number]],
            *[scope.id, scope.bases, scope.returns, scope.parts],
            *[sorted(scope.modifiers), scope.least, scope.most, scope.is_member, scope.condition],
            {name: [_renumbered(one, numbers) for one in scope.names[name]] for name in names},
            [[numbers[at.number], value] for at, value in scope.results],
        ]


def _texts(expression: Any) -> Iterator[str]:
    waiting = [expression]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, tuple):
            waiting.extend(current)


def _renumbered(binding: Binding, numbers: dict[int, int]) -> Binding:
    return [binding[0], numbers[binding[1].number]] if binding[0] == Bound.DEFINED else binding
