"""What one Python file says about the graph, as edges: one for each source, target and kind.

A call of a class is an edge to the class, never also to its `__init__`, which
is reached by explicit calls alone. Calls and bases that Python itself provides
give no edge.
"""

from codesum_pipeline.graph.call_sites import resolve_calls
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts
from codesum_pipeline.graph.imports import imported
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.unique_names import UniqueNames
from codesum_pipeline.graph.values import ClassValue, ExternalValue
from codesum_pipeline.model.graph import EdgeKind


def edges_of_file(resolver: Resolver, unique_names: UniqueNames, file: FileScopes) -> EdgeTable:
    """The edges that start in a file, whatever other files were resolved before."""
    resolver.forget()
    table = EdgeTable()
    for target, is_external in imported(resolver, file):
        table.add(file.path, target, EdgeKind.IMPORT, Reason.IMPORT, is_external=is_external)
    for scope in file.classes():
        _add_bases(table, resolver, scope)
    for site in resolve_calls(resolver, unique_names, file):
        table.add_call(site)
    return table


def _add_bases(table: EdgeTable, resolver: Resolver, scope: ScopeFacts) -> None:
    if scope.id is None:
        return
    for base in resolver.members.bases(scope):
        if isinstance(base, ClassValue) and base.scope.id is not None:
            table.add(scope.id, base.scope.id, EdgeKind.INHERIT, base.why)
        elif isinstance(base, ExternalValue):
            table.add(scope.id, base.dotted, EdgeKind.INHERIT, Reason.IMPORT, is_external=True)
