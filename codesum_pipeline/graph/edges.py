"""What was resolved, as edges: one for each source, target and kind.

A call of a class is an edge to the class, never also to its `__init__`, which
is reached by explicit calls alone. Calls and bases that Python itself provides
give no edge.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from codesum_pipeline.graph.call_sites import CallSite, Outcome, resolve_calls
from codesum_pipeline.graph.declared.definitions import DeclaredFile
from codesum_pipeline.graph.declared.edges import add_declared_edges
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts
from codesum_pipeline.graph.imports import imported, imported_files
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.unique_names import UniqueNames
from codesum_pipeline.graph.values import ClassValue, ExternalValue
from codesum_pipeline.model.graph import Edge, EdgeKind
from codesum_pipeline.model.progress import Progress, no_progress

PROGRESS_EVERY = 200


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many call sites came to which end; `external` includes builtins."""

    call_sites: int
    resolved: int
    external: int
    builtin: int
    ambiguous: int
    unknown: int
    by_reason: tuple[tuple[str, int], ...]


def find_edges(
    resolver: Resolver, declared: Mapping[str, DeclaredFile], projects: Projects, *, progress: Progress = no_progress
) -> tuple[list[Edge], Coverage]:
    """All edges of a repository, and what became of its calls."""
    table = EdgeTable()
    outcomes: Counter[Outcome] = Counter()
    reasons: Counter[str] = Counter()
    unique_names = UniqueNames(resolver, imported_files(resolver))
    for done, path in enumerate(sorted(resolver.files)):
        if done % PROGRESS_EVERY == 0:
            progress("resolving references", done, len(resolver.files))
        file = resolver.files[path]
        _add_imports(table, resolver, file)
        for scope in file.classes():
            _add_bases(table, resolver, scope)
        for site in resolve_calls(resolver, unique_names, file):
            outcomes[site.outcome] += 1
            _add_call(table, site)
            if site.reason is not None:
                reasons[site.reason] += 1
    add_declared_edges(table, declared, projects, outcomes, reasons, progress=progress)
    return table.edges(), _coverage(outcomes, reasons)


def _add_call(table: EdgeTable, site: CallSite) -> None:
    if site.target is None:
        return
    is_external = site.outcome is Outcome.EXTERNAL
    table.add(site.caller_id, site.target, EdgeKind.CALL, site.reason or Reason.IMPORT, is_external=is_external)


def _add_bases(table: EdgeTable, resolver: Resolver, scope: ScopeFacts) -> None:
    if scope.id is None:
        return
    for base in resolver.members.bases(scope):
        if isinstance(base, ClassValue) and base.scope.id is not None:
            table.add(scope.id, base.scope.id, EdgeKind.INHERIT, base.why)
        elif isinstance(base, ExternalValue):
            table.add(scope.id, base.dotted, EdgeKind.INHERIT, Reason.IMPORT, is_external=True)


def _add_imports(table: EdgeTable, resolver: Resolver, file: FileScopes) -> None:
    for target, is_external in imported(resolver, file):
        table.add(file.path, target, EdgeKind.IMPORT, Reason.IMPORT, is_external=is_external)


def _coverage(outcomes: Counter[Outcome], reasons: Counter[str]) -> Coverage:
    return Coverage(
        call_sites=outcomes.total(),
        resolved=outcomes[Outcome.RESOLVED],
        external=outcomes[Outcome.EXTERNAL] + outcomes[Outcome.BUILTIN],
        builtin=outcomes[Outcome.BUILTIN],
        ambiguous=outcomes[Outcome.AMBIGUOUS],
        unknown=outcomes[Outcome.UNKNOWN],
        by_reason=tuple(sorted(reasons.items())),
    )
