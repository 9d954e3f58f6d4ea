"""A file's interface: the facts of it on which the edges of other files may depend.

A file's edges follow from its own facts and from the interfaces of the other files. So they stay valid while these are
unchanged. A change inside a function changes the interface only if the function's result or an attribute of its object
depends on it.

All that a parser wrote down is part of the interface but for

- calls, and Python's list of imports, which only the file itself looks at (what an import binds is a name);
- names in functions, and the scopes inside functions, that no other file can depend on. Other files start from the
names of classes and of the file, from attributes, types, bases and results, and follow the names in those. In the
declared languages a file's own variables count only where modules can import them;
- scopes that are neither functions nor classes and contain no such name: their numbers are left out.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import astuple

from codesum_pipeline.foundation.data_model.bindings import RETURN, YIELD, Bound, ScopeKind
from codesum_pipeline.foundation.data_model.hashing import sha1_hex
from codesum_pipeline.foundation.data_model.scopes import Binding, ImportRow, Scope, ScopedFile
from codesum_pipeline.symbols.languages.rules import NameTree

_WORD = re.compile(r"\w+")
_NUMBERED = frozenset({Bound.DEFINED, Bound.RECEIVER, Bound.CLASS_RECEIVER})
_RECEIVERS = frozenset({Bound.RECEIVER, Bound.CLASS_RECEIVER})
_KEPT = frozenset({ScopeKind.MODULE, ScopeKind.CLASS, ScopeKind.FUNCTION})


def interface_of(file: ScopedFile, *, gives_variables: bool = True) -> str:
    """The hash of a file's interface; whether others can import its variables depends on its language."""
    content = _Interface(file, gives_variables=gives_variables).content()
    return sha1_hex(json.dumps(content, separators=(",", ":")))


class _Interface:
    """One file, and which of its names are seen from outside."""

    def __init__(self, file: ScopedFile, *, gives_variables: bool) -> None:
        self._file = file
        self._is_python = file.language == "python"
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
        rows = [row for row in file.imports if isinstance(row, ImportRow)]
        kept = self._kept_scopes(rows)
        numbers = {scope.number: position for position, scope in enumerate(kept)}
        return [
            *[file.language, file.package, None if file.exports is None else sorted(file.exports)],
            [astuple(one) for one in file.reexports],
            *[[star for star in file.stars if star[0] == 0], file.extensions, sorted(file.constants)],
            [[numbers[row.scope + 1], *row[1:]] for row in rows],
            [self._scope(scope, numbers) for scope in kept],
        ]

    def _start(self, scope: Scope) -> None:
        """Mark the names of a scope that other files can ask for directly."""
        for name in scope.names:
            if self._can_be_looked_up(scope, name):
                self._see(scope, name)
        for attributes in scope.attributes.values():
            for number, binding in attributes:
                self._read(self._file.scopes[number], binding)
        self._waiting.extend((scope, base) for base in scope.bases)
        self._waiting.extend(scope.results)
        if scope.returns is not None:
            self._waiting.append((scope, scope.returns))
        elif (word := YIELD if scope.is_generator else RETURN) in scope.names and self._is_python:
            self._see(scope, word)

    def _can_be_looked_up(self, scope: Scope, name: str) -> bool:
        if scope.is_class:
            return True
        if self._is_python:
            return scope.is_top or any(binding[0] in _RECEIVERS for binding in scope.names[name])
        if not scope.is_top:
            return NameTree.own_name(name) is not None
        return self._gives_variables and (not self._exports or name.partition(".")[0] in self._exports)

    def _see(self, scope: Scope, name: str) -> None:
        """Mark a name of a scope as seen, with everything that it is bound to."""
        if (scope, name) not in self._seen:
            self._seen.add((scope, name))
            for binding in scope.names[name]:
                self._read(scope, binding)

    def _read(self, scope: Scope, binding: Binding) -> None:
        """Follow the names that a binding mentions."""
        if binding[0] == Bound.ELSEWHERE:
            self._read(self._file.scopes[binding[1]], binding[2])
        else:
            self._waiting.extend((scope, part) for part in binding[1:])

    def _follow(self, scope: Scope, expression: Any) -> None:
        """Mark every name around a scope that the words of an expression or type can mean."""
        is_text = self._is_python and isinstance(expression, str)
        for word in _WORD.findall(expression) if is_text else _texts(expression):
            around: Scope | None = scope
            while around is not None and (around, word) not in self._looked_up:
                self._looked_up.add((around, word))
                if word in around.names:
                    self._see(around, word)
                around = around.parent

    def _kept_scopes(self, rows: list[ImportRow]) -> list[Scope]:
        """All functions and classes, and the other scopes that hold a name which is seen."""
        scopes = self._file.scopes
        kept = {scope for scope in scopes if scope.kind in _KEPT} | {scope for scope, _ in self._seen}
        kept |= {scopes[number] for at in scopes for found in at.attributes.values() for number, _ in found}
        kept |= {scopes[number] for at, name in self._seen for one in at.names[name] for number in _elsewhere(one)}
        kept |= {scope for at in scopes for scope, _ in at.results} | {scopes[row.scope + 1] for row in rows}
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
            *[scope.id, scope.bases, scope.returns, scope.decorators, scope.is_generator, scope.parts],
            *[sorted(scope.modifiers), scope.least, scope.most, scope.is_member],
            {name: [_renumbered(one, numbers) for one in scope.names[name]] for name in names},
            {
                name: [[numbers[number], _renumbered(binding, numbers)] for number, binding in found]
                for name, found in scope.attributes.items()
            },
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


def _elsewhere(binding: Binding) -> Iterator[int]:
    while binding[0] == Bound.ELSEWHERE:
        yield binding[1]
        binding = binding[2]


def _renumbered(binding: Binding, numbers: dict[int, int]) -> Binding:
    if binding[0] in _NUMBERED:
        scope = binding[1]
        return [binding[0], numbers[scope.number if isinstance(scope, Scope) else scope]]
    if binding[0] == Bound.ELSEWHERE:
        return [binding[0], numbers[binding[1]], _renumbered(binding[2], numbers)]
    return binding
