"""Which edges a compiler's index has, and which of them for the very text at hand: these are trusted."""

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.graph.reasons import TRUSTED, of_tool

# What `is_trusted` reads of a table of edges.
OF_TRUST = ("confidence", "reason")


def is_of_index(edges: pa.Table) -> pa.ChunkedArray:
    """Of each edge whether an index has it."""
    return pc.starts_with(edges.column("reason"), pattern=of_tool(""))


def is_trusted(edges: pa.Table) -> pa.ChunkedArray:
    """Of each edge whether an index has it for the text at hand."""
    return pc.and_(pc.equal(edges.column("confidence"), TRUSTED), is_of_index(edges))
