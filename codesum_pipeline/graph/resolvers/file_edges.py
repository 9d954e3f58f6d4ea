"""The edges of one file: one for each source, target and kind.

A call of a class is an edge to the class, never also to its constructor, which
is reached by explicit calls alone. Calls and bases that a language itself provides
give no edge. What is used and not called is a reference; it ends at a definition, or at a constant of a file.

A file also exports documents: the names that it re-exports, as the resolver follows them. A name of a variable or a
module is an alias of the file that contains it. `*` means everything that a file exports: its top-level definitions,
only the listed ones where the file lists its exports, and its own re-exports.
"""

from collections import Counter, deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind, CallRow, Edge, EdgeKind
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, module_path_of, without_suffix
from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    CONFIDENCE,
    OUTSIDE,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    ModuleValue,
    OneOf,
    Reason,
    Value,
    VariableValue,
)
from codesum_pipeline.foundation.data_model.scopes import ScopedFile
from codesum_pipeline.graph.resolvers.cells import LookupRecord, own_exports
from codesum_pipeline.graph.resolvers.resolver import Resolver

ALL = "*"
# How many files stars are followed to from one file.
MAX_FILES = 200
_ALIAS_KINDS = frozenset(map(str, AliasKind))


class CallOutcome(StrEnum):
    """How the resolution of a call ends. A call is `unknown` also where its object comes from a function outside the
    repository: it may be an object that was passed in."""

    RESOLVED = "resolved"
    EXTERNAL = "external"
    BUILTIN = "builtin"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


class _EdgeUses(Struct):
    count: int
    confidence: float
    reason: str


class EdgeTable:
    """Joins edges of the same source, target and kind, and counts the outcomes of calls."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.calls: list[CallRow] = []
        self.aliases: list[Alias] = []
        # What was asked of other files; None where that is not known.
        self.lookups: LookupRecord | None = None
        self._edges: dict[tuple[str, str, bool, EdgeKind], _EdgeUses] = {}

    def add(
        self,
        src_id: str,
        dst: str,
        kind: EdgeKind,
        reason: str,
        *,
        confidence: float | None = None,
        count: int = 1,
        is_external: bool = False,
    ) -> None:
        """Count uses of an edge; of several reasons, the most trusted one is kept."""
        key = (src_id, dst, is_external, kind)
        confidence = CONFIDENCE[reason] if confidence is None else confidence
        uses = self._edges.get(key)
        if uses is None:
            self._edges[key] = _EdgeUses(count, confidence, reason)
            return
        uses.count += count
        if (-confidence, reason) < (-uses.confidence, uses.reason):
            uses.confidence, uses.reason = confidence, reason

    def __contains__(self, key: object) -> bool:
        """Whether there is an edge: source, target, whether that is outside, and kind."""
        return key in self._edges

    def add_call(self, site: CallRow) -> None:
        """Count a call; one whose target is known is an edge."""
        self.calls.append(site)
        self.outcomes[site.outcome] += 1
        if site.target is not None:
            is_external = site.outcome == CallOutcome.EXTERNAL
            self.add(site.caller_id, site.target, EdgeKind.CALL, site.reason or Reason.IMPORT, is_external=is_external)

    def edges(self) -> Iterator[Edge]:
        """All edges, sorted."""
        for (src_id, dst, is_external, kind), uses in sorted(self._edges.items(), key=lambda item: item[0]):
            yield Edge(
                src_id=src_id,
                dst=dst,
                is_external=is_external,
                kind=kind,
                count=uses.count,
                confidence=uses.confidence,
                reason=uses.reason,
                is_cross_module=is_external or folder_of(src_id) != folder_of(dst),
            )


def folder_of(document_id: str) -> str:
    """The module that contains a function, class or file."""
    return module_path_of(document_id.partition(SEPARATOR)[0])


def edges_of_file(resolver: Resolver[Any, Any], file: ScopedFile) -> EdgeTable:
    """The edges that start in a file, independent of the files resolved before."""
    resolver.begin(file)
    table = EdgeTable()
    for class_, base in resolver.bases(file):
        if isinstance(base, ClassValue) and class_.id is not None and base.scope.id is not None:
            table.add(class_.id, base.scope.id, EdgeKind.INHERIT, base.why)
        elif isinstance(base, ExternalValue) and class_.id is not None:
            table.add(class_.id, base.dotted, EdgeKind.INHERIT, Reason.IMPORT, is_external=True)
    callers = {call: f"{file.path}{SEPARATOR}{id_}" for id_, calls in file.held.items() for call in calls}
    for number, (scope, callee, value) in enumerate(resolver.calls(file)):
        caller_id = callers.get(number, scope.caller_id)
        table.add_call(CallRow(file.path, number, caller_id, callee, *_outcome_of(value)))
    for target, is_external in resolver.imports(file):
        table.add(file.path, target, EdgeKind.IMPORT, Reason.IMPORT, is_external=is_external)
    for use in resolver.uses(file):
        # A class does not use its bases once more, nor a definition what it is or is in.
        is_around = use.user == use.used or use.user.startswith(f"{use.used}{SEPARATOR}")
        if not is_around and (use.user, use.used, False, EdgeKind.INHERIT) not in table:
            table.add(use.user, use.used, EdgeKind.REFERENCE, use.why, count=use.times)
    table.aliases = [Alias(file.path, name, target) for name, target in find_reexports(resolver, file).items()]
    table.aliases += find_other_names(resolver, file)
    table.lookups = resolver.lookups.record()
    return table


def _outcome_of(value: Value) -> tuple[CallOutcome, str | None, Reason | None]:
    """How a call of this value ends, its target and why."""
    if isinstance(value, FunctionValue | ClassValue) and value.scope.id is not None:
        if isinstance(value, FunctionValue) and value.overloads:
            return CallOutcome.AMBIGUOUS, None, None
        return CallOutcome.RESOLVED, value.scope.id, value.why
    if isinstance(value, ExternalValue):
        return CallOutcome.EXTERNAL, None if value.is_instance else value.dotted, None
    if isinstance(value, BuiltinValue | ContainerValue):
        return CallOutcome.BUILTIN, None, None
    if value is OUTSIDE:
        return CallOutcome.EXTERNAL, None, None
    is_ambiguous = value is AMBIGUOUS or isinstance(value, OneOf)
    return (CallOutcome.AMBIGUOUS if is_ambiguous else CallOutcome.UNKNOWN), None, None


def find_reexports(resolver: Resolver[Any, Any], file: ScopedFile) -> dict[str, str]:
    """The documents that a file re-exports, by their names there; a name with two meanings has none."""
    found: dict[str, str | None] = {}
    waiting, seen = deque([file]), {file.path}
    while waiting:
        current = waiting.popleft()
        exported = [] if current is file else [*own_exports(current)]
        resolver.lookups.note_exports(current)
        for row in current.reexports:
            values = [*resolver.reexported_values(current, row)]
            if row.name != ALL:
                targets = {target for value in values if (target := _document(resolver, value)) is not None}
                exported += [(row.name, target) for target in targets]
                continue
            paths = [path for value in values if isinstance(value, ModuleValue) for path in resolver.files_of(value)]
            further = [path for path in dict.fromkeys(paths) if path not in seen][: MAX_FILES - len(seen)]
            seen.update(further)
            waiting.extend(resolver.files[path] for path in further)
        for name, target in exported:
            if found.setdefault(name, target) != target:
                found[name] = None
    return {name: target for name, target in found.items() if target is not None}


def find_other_names(resolver: Resolver[Any, Any], file: ScopedFile) -> list[Alias]:
    """What documents are called besides their names: by the routes, commands and tables of a file."""
    scopes = {scope.id: scope for scope in file.scopes if scope.id is not None}
    found: dict[Alias, None] = {}
    for kind, name, within, code in file.other_names:
        holder = f"{file.path}{SEPARATOR}{within}" if within else file.path
        target: str | None = holder
        if code:
            value = resolver.named(scopes.get(holder, file.top), code)
            is_defined = isinstance(value, FunctionValue) or (kind != AliasKind.KEY and isinstance(value, ClassValue))
            target = _document(resolver, value) if is_defined else None
        if target is not None and kind in _ALIAS_KINDS:
            found[Alias(file.path, name, target, AliasKind(kind))] = None
    return [*found]


def _document(resolver: Resolver[Any, Any], value: Value) -> str | None:
    """The document of a value; of an overloaded function, its implementation."""
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
