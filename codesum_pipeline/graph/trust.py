"""How far an edge from a compiler's index can be trusted."""

import pyarrow as pa
import pyarrow.compute as pc

_TOOL = "scip:"
# What `is_trusted` reads of a table of edges.
OF_TRUST = ("confidence", "reason")
TRUSTED = 1.0
# It is what a compiler said of a text that is not wholly the one at hand.
DOUBTFUL = 0.97


def of_tool(tool: str) -> str:
    """The reason of an edge that an indexer has: `scip:scip-python`."""
    return f"{_TOOL}{tool}"


def is_of_index(edges: pa.Table) -> pa.ChunkedArray:
    """Whether an index has the edge, for each edge."""
    return pc.starts_with(edges.column("reason"), pattern=_TOOL)


def is_trusted(edges: pa.Table) -> pa.ChunkedArray:
    """Whether an index has the edge for the current text, for each edge."""
    return pc.and_(pc.equal(edges.column("confidence"), TRUSTED), is_of_index(edges))
