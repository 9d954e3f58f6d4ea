"""The last resort: a method that only one class of the repository has.

A name alone proves little, so all of this must hold: nothing is known about
the object; no other class, attribute or module-level name of the repository is
called so; the name has two words at least, and no well-known package has such a
method; and the calling file is the class's own, or imports it.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from codesum_pipeline.graph.common_methods import COMMON_METHODS
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts
from codesum_pipeline.graph.imports import imported
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.values import UNKNOWN, FunctionValue
from codesum_pipeline.languages.python.references.names import Bound
from codesum_pipeline.languages.python.references.scopes import ScopeKind

_LEAST_LENGTH = 6


# What a name that could tell a method stands for in one file: the number of the method's scope, or `_NO_METHOD`.
Telling = Mapping[str, int]
_NO_METHOD = -1


class UniqueNames:
    """The methods of a repository's files that can be told by their name, found when the first is asked for.

    Of the files in `known` it is known what their names tell, so that they need not be read.
    """

    def __init__(self, files: Mapping[str, FileScopes], known: Mapping[str, Telling] | None = None) -> None:
        self._files = files
        self._known = known or {}
        self._imports: dict[str, frozenset[str]] = {}

    @cached_property
    def _methods(self) -> dict[str, tuple[str, int] | None]:
        found: dict[str, tuple[str, int] | None] = {}
        for path in sorted(self._files):
            told = self._known.get(path)
            for name, number in (telling_names(self._files[path]) if told is None else told).items():
                found[name] = None if name in found or number == _NO_METHOD else (path, number)
        return found

    def find(self, resolver: Resolver, scope: ScopeFacts, callee: str) -> FunctionValue | None:
        """The only method that a call of an unknown object's method can mean."""
        receiver, dot, name = callee.rpartition(".")
        place = self._methods.get(name) if dot and _is_telling(name) else None
        if place is None or resolver.shape(scope, receiver) is not UNKNOWN:
            return None
        path, number = place
        if path != scope.file.path and path not in self._imports_of(resolver, scope.file):
            return None
        return FunctionValue(self._files[path].scopes[number], Reason.UNIQUE_NAME)

    def _imports_of(self, resolver: Resolver, file: FileScopes) -> frozenset[str]:
        found = self._imports.get(file.path)
        if found is None:
            targets = (target for target, is_external in imported(resolver, file) if not is_external)
            found = self._imports[file.path] = frozenset(targets)
        return found


def telling_names(file: FileScopes) -> dict[str, int]:
    """What each name of a file stands for that could tell a method; with several meanings it tells none."""
    found: dict[str, int] = {}
    for name, method in _telling(file):
        found[name] = _NO_METHOD if name in found or method is None else method.number
    return found


def _telling(file: FileScopes) -> Iterator[tuple[str, ScopeFacts | None]]:
    """Each meaning of a name that could tell a method: the method, or None for any other."""
    for scope in file.scopes:
        if scope.is_class:
            for name in {*scope.names, *scope.attributes}:
                if _is_telling(name):
                    yield name, _method(scope, name)
        elif scope.kind == ScopeKind.MODULE:
            for name, bindings in scope.names.items():
                if _is_telling(name) and bindings[0][0] not in (Bound.IMPORTED, Bound.MODULE, Bound.ALIASED_MODULE):
                    yield name, None


def _is_telling(name: str) -> bool:
    return len(name) >= _LEAST_LENGTH and "_" in name.strip("_") and name not in COMMON_METHODS


def _method(scope: ScopeFacts, name: str) -> ScopeFacts | None:
    """The function that a class outside any function defines under a name, if it is its only meaning."""
    bindings = scope.names.get(name, [])
    is_only = len(bindings) == 1 and bindings[0][0] == Bound.DEFINED and name not in scope.attributes
    if not is_only or name.startswith("__") or (scope.parent is not None and scope.parent.kind == ScopeKind.FUNCTION):
        return None
    method = scope.file.scopes[bindings[0][1]]
    return None if method.is_class else method
