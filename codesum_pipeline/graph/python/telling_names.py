"""The methods of Python's classes that can be told by their name."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from codesum_pipeline.graph.scopes import Scope, ScopedFile
from codesum_pipeline.graph.unique_names import TellingNames
from codesum_pipeline.languages.profiles import library_names
from codesum_pipeline.languages.python.references.names import Bound
from codesum_pipeline.languages.python.references.scopes import ScopeKind

# What a name that could tell a method stands for in one file: the number of the method's scope, or `_NO_METHOD`.
Telling = Mapping[str, int]
_NO_METHOD = -1

TELLING = TellingNames(6, re.compile(r"[^_]_+[^_]"), library_names("python", "methods"))


class TellingMethods:
    """The methods of a repository's files by name, found when the first is asked for.

    Of the files in `known` it is known what their names tell, so that they need not be read.
    """

    def __init__(self, files: Mapping[str, ScopedFile], known: Mapping[str, Telling]) -> None:
        self._files = files
        self._known = known

    @cached_property
    def _places(self) -> dict[str, tuple[str, int] | None]:
        found: dict[str, tuple[str, int] | None] = {}
        for path in sorted(self._files):
            told = self._known.get(path)
            for name, number in (telling_names(self._files[path]) if told is None else told).items():
                found[name] = None if name in found or number == _NO_METHOD else (path, number)
        return found

    def only(self, name: str) -> Scope | None:
        """The method that is all that a name means."""
        place = self._places.get(name)
        return None if place is None else self._files[place[0]].scopes[place[1]]


def telling_names(file: ScopedFile) -> dict[str, int]:
    """What each name of a file stands for that could tell a method; with several meanings it tells none."""
    found: dict[str, int] = {}
    for name, method in _meanings(file):
        found[name] = _NO_METHOD if name in found or method is None else method.number
    return found


def _meanings(file: ScopedFile) -> Iterator[tuple[str, Scope | None]]:
    """Each meaning of a name that could tell a method: the method, or None for any other."""
    for scope in file.scopes:
        if scope.is_class:
            names = {*scope.names, *scope.attributes}
            yield from ((name, _method(scope, name)) for name in names if name in TELLING)
        elif scope.kind == ScopeKind.MODULE:
            for name, bindings in scope.names.items():
                if name in TELLING and bindings[0][0] not in (Bound.IMPORTED, Bound.MODULE, Bound.ALIASED_MODULE):
                    yield name, None


def _method(scope: Scope, name: str) -> Scope | None:
    """The function that a class outside any function defines under a name, if it is its only meaning."""
    bindings = scope.names.get(name, [])
    is_only = len(bindings) == 1 and bindings[0][0] == Bound.DEFINED and name not in scope.attributes
    if not is_only or name.startswith("__") or (scope.parent is not None and scope.parent.kind == ScopeKind.FUNCTION):
        return None
    method = scope.file.scopes[bindings[0][1]]
    return None if method.is_class else method
