"""A parsed file as the resolver sees it: the scopes that the parser wrote down, linked."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from codesum_pipeline.languages.python.references.names import Binding
from codesum_pipeline.languages.python.references.scopes import ScopeKind


@dataclass(slots=True, eq=False)
class ScopeFacts:
    """One scope. Functions and classes are known by theirs; `id` is None where there is no document."""

    file: "FileScopes"
    number: int
    kind: str
    parent: "ScopeFacts | None"
    id: str | None
    caller_id: str
    names: dict[str, list[Binding]]
    attributes: dict[str, list[list[Any]]] = field(default_factory=dict)
    returns: str | None = None
    decorators: tuple[str, ...] = ()
    is_generator: bool = False
    bases: tuple[str, ...] = ()

    @property
    def is_class(self) -> bool:
        return self.kind == ScopeKind.CLASS

    def enclosing_class(self) -> "ScopeFacts | None":
        """The class whose method this scope stands in, also through functions inside it."""
        scope: ScopeFacts | None = self
        while scope is not None and scope.parent is not None and not scope.parent.is_class:
            scope = scope.parent
        return scope.parent if scope is not None else None


@dataclass(slots=True, eq=False)
class FileScopes:
    """One file: its path, its scopes (the first is the file itself), and what it imports and calls."""

    path: str
    exports: frozenset[str] | None
    scopes: list[ScopeFacts]
    imports: list[tuple[str, int, str | None]]
    stars: list[tuple[int, str, int]]
    calls: list[tuple[int, str, int]]

    @property
    def top(self) -> ScopeFacts:
        return self.scopes[0]

    @property
    def is_package(self) -> bool:
        return self.path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")

    def classes(self) -> Iterator[ScopeFacts]:
        return (scope for scope in self.scopes if scope.is_class)


def load_file(path: str, references: str, exports: Iterable[str] | None) -> FileScopes:
    """Read what `extract_references` wrote."""
    facts = json.loads(references)
    offered = None if exports is None else frozenset(exports)
    file = FileScopes(path, offered, [], facts["imports"], facts["stars"], facts["calls"])
    for number, ((kind, parent_number, suffix), names) in enumerate(zip(facts["scopes"], facts["names"], strict=True)):
        parent = file.scopes[parent_number] if parent_number >= 0 else None
        scope_id = None if suffix is None else path + suffix
        caller_id = scope_id or (parent.caller_id if parent is not None else path)
        file.scopes.append(ScopeFacts(file, number, kind, parent, scope_id, caller_id, names))
    for number, attributes in facts["attributes"].items():
        file.scopes[int(number)].attributes = attributes
    for number, (returns, decorators, is_generator) in facts["functions"].items():
        scope = file.scopes[int(number)]
        scope.returns, scope.decorators, scope.is_generator = returns, tuple(decorators), is_generator
    for number, (bases, decorators) in facts["classes"].items():
        scope = file.scopes[int(number)]
        scope.bases, scope.decorators = tuple(bases), tuple(decorators)
    return file
