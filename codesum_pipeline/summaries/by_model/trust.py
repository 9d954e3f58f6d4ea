"""About which code a model may write: under `Trust.SCIP` only what an indexer's edges confirm."""

from collections.abc import Collection

import pyarrow.compute as pc

from codesum_pipeline.model.options import Trust
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.outline import Outline

_SURE = 1.0
_REASON = "scip:"


def trusted_ids(workspace: Workspace, outline: Outline) -> Collection[str] | None:
    """The symbols at an edge of a SCIP index, and all that holds one of them; None: everything."""
    if workspace.options.llm.trust is Trust.OFF:
        return None
    edges = workspace.tables.read("edges", workspace.key, columns=["src_id", "dst", "confidence", "reason"])
    is_sure = pc.and_(
        pc.equal(edges.column("confidence"), _SURE), pc.starts_with(edges.column("reason"), pattern=_REASON)
    )
    sure = edges.filter(is_sure)
    found: set[str] = set()
    for id_ in {*sure.column("src_id").to_pylist(), *sure.column("dst").to_pylist()} & outline.parents.keys():
        above: str | None = id_
        while above is not None and above not in found:
            found.add(above)
            above = outline.parents.get(above)
    return found
