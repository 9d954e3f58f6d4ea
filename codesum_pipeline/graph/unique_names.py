"""The last resort: a method that only one class of the repository has.

A name alone proves little, so all of this must hold: nothing is known about
the object; no other class, attribute or module-level name of the repository is
called so; the name has two words at least, and no well-known package has such a
method; and the calling file is the class's own, or imports it.
"""

from collections.abc import Mapping

from codesum_pipeline.graph.common_methods import COMMON_METHODS
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.values import UNKNOWN, FunctionValue
from codesum_pipeline.parsing.references.names import Bound
from codesum_pipeline.parsing.references.scopes import ScopeKind

_LEAST_LENGTH = 6


class UniqueNames:
    """The methods that can be told by their name; `imports` maps each file to those it imports."""

    def __init__(self, resolver: Resolver, imports: Mapping[str, frozenset[str]]) -> None:
        self._resolver = resolver
        self._imports = imports
        self._methods: dict[str, ScopeFacts | None] = {}
        for path in sorted(resolver.files):
            self._add_file(resolver.files[path])

    def _add_file(self, file: FileScopes) -> None:
        for scope in file.scopes:
            if scope.is_class:
                for name in {*scope.names, *scope.attributes}:
                    self._add(name, _method(scope, name))
            elif scope.kind == ScopeKind.MODULE:
                for name, bindings in scope.names.items():
                    if bindings[0][0] not in (Bound.IMPORTED, Bound.MODULE, Bound.ALIASED_MODULE):
                        self._add(name, None)

    def _add(self, name: str, method: ScopeFacts | None) -> None:
        if _is_telling(name):
            self._methods[name] = None if name in self._methods else method

    def find(self, scope: ScopeFacts, callee: str) -> FunctionValue | None:
        """The only method that a call of an unknown object's method can mean."""
        receiver, dot, name = callee.rpartition(".")
        method = self._methods.get(name) if dot else None
        if method is None or self._resolver.shape(scope, receiver) is not UNKNOWN:
            return None
        path = method.file.path
        if path != scope.file.path and path not in self._imports.get(scope.file.path, ()):
            return None
        return FunctionValue(method, Reason.UNIQUE_NAME)


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
