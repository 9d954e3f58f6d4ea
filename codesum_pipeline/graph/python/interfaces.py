"""What the rest of a repository may see of a Python file.

A file's edges follow from its own facts, from the interfaces of the files that
its names lead to, and from which modules there are. So the edges of a file
stand while its facts stand and no interface changes, and a change inside a
function leaves the interface as it is unless the function's result or an
attribute of its object depends on it.

All that `extract_references` wrote is part of the interface but for

- calls and the list of imports, which only the file itself looks at (what an import binds is a name);
- names in functions, lambdas and comprehensions on which nothing rests that others may ask for: others start from
  the file's and its classes' names and attributes, from annotations, bases and returns, and go on by the words in them;
- lambdas and comprehensions in which no such name stands: their numbers are left out.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from codesum_pipeline.languages.python.references.names import Binding, Bound
from codesum_pipeline.languages.python.references.scopes import ScopeKind
from codesum_pipeline.languages.python.references.statements import RETURN, YIELD
from codesum_pipeline.model.hashing import sha1_hex

_WORD = re.compile(r"\w+")
_NUMBERED = frozenset({Bound.DEFINED, Bound.RECEIVER, Bound.CLASS_RECEIVER})
_RECEIVERS = frozenset({Bound.RECEIVER, Bound.CLASS_RECEIVER})
_OPEN = frozenset({ScopeKind.MODULE, ScopeKind.CLASS})


def interface_of(references: str, exports: Iterable[str] | None) -> str:
    """The hash of a file's interface."""
    return sha1_hex(json.dumps(_Interface(json.loads(references)).content(exports), separators=(",", ":")))


class _Interface:
    """The facts of one file, and which of its names are seen from outside."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        self._names: list[dict[str, list[Binding]]] = facts["names"]
        self._kinds: list[str] = [kind for kind, _, _ in facts["scopes"]]
        self._parents: list[int] = [parent for _, parent, _ in facts["scopes"]]
        self._seen: set[tuple[int, str]] = set()
        self._asked: set[tuple[int, str]] = set()
        self._waiting: list[tuple[int, str]] = []

    def content(self, exports: Iterable[str] | None) -> list[Any]:
        self._start()
        while self._waiting:
            self._follow(*self._waiting.pop())
        new_number = {number: position for position, number in enumerate(self._kept_scopes())}
        facts = self._facts
        return [
            None if exports is None else sorted(exports),
            [star for star in facts["stars"] if star[0] == 0],
            [
                [
                    facts["scopes"][number][0],
                    new_number.get(self._parents[number], -1),
                    facts["scopes"][number][2],
                    {name: [_renumbered(b, new_number) for b in found] for name, found in self._kept_names(number)},
                    {
                        name: [[new_number[scope], _renumbered(binding, new_number)] for scope, binding in found]
                        for name, found in facts["attributes"].get(str(number), {}).items()
                    },
                    facts["functions"].get(str(number)),
                    facts["classes"].get(str(number)),
                ]
                for number in new_number
            ],
        ]

    def _start(self) -> None:
        """What others ask for first."""
        facts = self._facts
        for number, names in enumerate(self._names):
            if self._kinds[number] in _OPEN:
                for name in names:
                    self._see(number, name)
            else:
                for name, bindings in names.items():
                    if any(binding[0] in _RECEIVERS for binding in bindings):
                        self._see(number, name)
        for attributes in facts["attributes"].values():
            for bindings in attributes.values():
                for scope, binding in bindings:
                    self._read(scope, binding)
        for number, (returns, _, is_generator) in facts["functions"].items():
            if returns is not None:
                self._waiting.append((int(number), returns))
            else:
                given = YIELD if is_generator else RETURN
                if given in self._names[int(number)]:
                    self._see(int(number), given)
        for number, (bases, _) in facts["classes"].items():
            self._waiting.extend((int(number), base) for base in bases)

    def _see(self, scope: int, name: str) -> None:
        """All that a scope binds a name to is seen."""
        if (scope, name) not in self._seen:
            self._seen.add((scope, name))
            for binding in self._names[scope][name]:
                self._read(scope, binding)

    def _read(self, scope: int, binding: Binding) -> None:
        """Look up in a scope whatever a binding says."""
        for part in binding[1:]:
            if isinstance(part, str):
                self._waiting.append((scope, part))
            elif isinstance(part, list):
                # A binding that stands elsewhere, in the scope of that number.
                self._read(binding[1], part)

    def _follow(self, scope: int, text: str) -> None:
        """Every name around a scope that a text in it can mean."""
        for word in _WORD.findall(text):
            around = scope
            while around > 0 and (around, word) not in self._asked:
                self._asked.add((around, word))
                if word in self._names[around]:
                    self._see(around, word)
                around = self._parents[around]

    def _kept_names(self, number: int) -> Iterator[tuple[str, list[Binding]]]:
        return ((name, found) for name, found in self._names[number].items() if (number, name) in self._seen)

    def _kept_scopes(self) -> list[int]:
        """The scopes but for lambdas and comprehensions that nothing kept stands in."""
        named = {number for number, _ in self._seen}
        named.update(scope for names in self._facts["attributes"].values() for b in names.values() for scope, _ in b)
        named.update(scope for number, name in self._seen for b in self._names[number][name] for scope in _elsewhere(b))
        named.update(number for number, kind in enumerate(self._kinds) if kind in _OPEN or kind == ScopeKind.FUNCTION)
        for number in sorted(named, reverse=True):
            around = self._parents[number]
            while around >= 0 and around not in named:
                named.add(around)
                around = self._parents[around]
        return sorted(named)


def _elsewhere(binding: Binding) -> Iterator[int]:
    while binding[0] == Bound.ELSEWHERE:
        yield binding[1]
        binding = binding[2]


def _renumbered(binding: Binding, numbers: dict[int, int]) -> Binding:
    if binding[0] in _NUMBERED:
        return [binding[0], numbers[binding[1]]]
    if binding[0] == Bound.ELSEWHERE:
        return [binding[0], numbers[binding[1]], _renumbered(binding[2], numbers)]
    return binding
