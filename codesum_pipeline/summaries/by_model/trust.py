"""About which code a model may write: under `Trust.SCIP` only what an indexer's edges confirm."""

from collections.abc import Collection
from dataclasses import dataclass

import pyarrow.compute as pc

from codesum_pipeline.graph.trusted import OF_TRUST, is_trusted
from codesum_pipeline.model.avoided import Saving
from codesum_pipeline.model.documents import Gate, PlanRow
from codesum_pipeline.model.options import Options, Trust
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.outline import DocumentTree


@dataclass(frozen=True, slots=True)
class TrustCount:
    """Of the documents that a model may write: how many pass the gate, and what the others would cost."""

    edges: int
    passing: int
    waiting: Saving


def count_trust(tables: TableStore, key: str, options: Options) -> TrustCount | None:
    """What `Trust.SCIP` comes to in a repository that is built; None where a model does not write, or of all code."""
    if not options.llm.enabled or options.llm.trust is Trust.OFF:
        return None
    edges = tables.read_or_empty("edges", key, columns=list(OF_TRUST))
    gates = tables.read_or_empty("documents", key, columns=["gate"]).column("gate").to_pylist()
    waiting = (row for row in tables.read_rows_or_empty("plan", key, PlanRow) if row.gate is Gate.TRUST)
    return TrustCount(
        edges=pc.sum(is_trusted(edges)).as_py() or 0,
        passing=sum(gate not in (Gate.PLACEHOLDER, Gate.TRUST) for gate in gates),
        waiting=sum(
            (Saving(1, row.predicted_input_tokens, row.predicted_output_tokens, row.predicted_usd) for row in waiting),
            Saving(),
        ),
    )


def trusted_ids(workspace: Workspace, outline: DocumentTree) -> Collection[str] | None:
    """The symbols at an edge of a SCIP index, and all that holds one of them; None: everything."""
    if workspace.options.llm.trust is Trust.OFF:
        return None
    edges = workspace.tables.read("edges", workspace.key, columns=["src_id", "dst", *OF_TRUST])
    sure = edges.filter(is_trusted(edges))
    found: set[str] = set()
    for id_ in {*sure.column("src_id").to_pylist(), *sure.column("dst").to_pylist()} & outline.parents.keys():
        above: str | None = id_
        while above is not None and above not in found:
            found.add(above)
            above = outline.parents.get(above)
    return found
