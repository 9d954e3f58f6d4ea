"""What a document is worth among those that a model could write: the sum over all that is in it."""

from collections.abc import Mapping

from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.outline import DocumentTree


def importance_of(workspace: Workspace, outline: DocumentTree) -> Mapping[str, float]:
    """PageRank of functions; of classes, files and folders that of their members together."""
    table = workspace.tables.read_or_empty("graph_stats", workspace.key, columns=["id", "pagerank"])
    ranks: dict[str, float] = dict(
        zip(table.column("id").to_pylist(), table.column("pagerank").to_pylist(), strict=True)
    )
    worth: dict[str, float] = {}
    for id_ in outline.parents:
        if outline.children.get(id_):
            continue
        above: str | None = id_
        while above is not None:
            worth[above] = worth.get(above, 0.0) + ranks.get(id_, 0.0)
            above = outline.parents.get(above)
    return worth
