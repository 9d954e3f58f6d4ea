"""About which code a model may write: under `Trust.SCIP` only what an indexer's edges confirm."""

from collections.abc import Collection

from codesum_pipeline.graph.trusted import OF_TRUST, is_trusted
from codesum_pipeline.model.options import Trust
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.outline import Outline


def trusted_ids(workspace: Workspace, outline: Outline) -> Collection[str] | None:
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
