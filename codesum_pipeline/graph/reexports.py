"""Which documents a file hands on: the names that it re-exports, as the resolver follows them.

A name that stands for a variable or a module stands for the file that has it. `*` stands for all that a file offers:
its own definitions at the top, those exported where it says which, and what it hands on itself.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.model.scopes import ScopedFile
from codesum_pipeline.model.values import ClassValue, FunctionValue, ModuleValue, Value, VariableValue

ALL = "*"
# How many files stars are followed to from one file.
MAX_FILES = 200


def handed_on(resolver: Resolver[Any, Any], file: ScopedFile) -> dict[str, str]:
    """The documents that a file hands on, by their names there; a name with two meanings has none."""
    found: dict[str, str | None] = {}
    waiting, seen = deque([file]), {file.path}
    while waiting:
        current = waiting.popleft()
        given = [] if current is file else [*_own(current)]
        for row in current.reexports:
            values = [*resolver.taken(current, row)]
            if row.name != ALL:
                targets = {target for value in values if (target := _document(resolver, value)) is not None}
                given += [(row.name, target) for target in targets]
                continue
            paths = [path for value in values if isinstance(value, ModuleValue) for path in resolver.files_of(value)]
            further = [path for path in dict.fromkeys(paths) if path not in seen][: MAX_FILES - len(seen)]
            seen.update(further)
            waiting.extend(resolver.files[path] for path in further)
        for name, target in given:
            if found.setdefault(name, target) != target:
                found[name] = None
    return {name: target for name, target in found.items() if target is not None}


def _document(resolver: Resolver[Any, Any], value: Value) -> str | None:
    """The document that a value is; of overloads, the implementation."""
    match value:
        case ClassValue(scope):
            return scope.id
        case FunctionValue():
            plain = [scope.id for scope in value.scopes if scope.id is None or without_suffix(scope.id) == scope.id]
            return plain[0] if len(plain) == 1 else None
        case ModuleValue(module) | VariableValue(module):
            paths = resolver.files_of(ModuleValue(module))
            return paths[0] if len(paths) == 1 else None
    return None


def _own(file: ScopedFile) -> Iterator[tuple[str, str]]:
    """What a file defines at its top for others."""
    ids = [scope.id.partition(SEPARATOR) for scope in file.scopes if scope.id and without_suffix(scope.id) == scope.id]
    defined = {name: f"{path}{SEPARATOR}{name}" for path, _, name in ids if name and SEPARATOR not in name}
    if not file.exports:
        yield from ((name, target) for name, target in defined.items() if not name.startswith("_"))
    for export in file.exports or ():
        inner, renamed, outer = export.partition(" as ")
        if inner in defined:
            yield outer if renamed else inner, defined[inner]
