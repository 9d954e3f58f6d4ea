"""How an edge's target was found, and how far that is to be trusted.

None is 1.0, which is kept for edges of a compiler's index. All sampled edges of
every reason were right (`benchmarks/graph_precision.py`), so the numbers order
the reasons by what each takes for granted.
"""

from collections.abc import Mapping
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc


class Reason(StrEnum):
    IMPORT = "ast:import"
    SAME_FILE = "ast:same-file"
    PACKAGE = "ast:package"
    INCLUDE = "ast:include"
    LINK = "ast:link"
    SELF = "ast:self"
    SUPER = "ast:super"
    CONSTRUCTOR_TYPE = "ast:constructor-type"
    ANNOTATION = "ast:annotation"
    INFERRED_RETURN = "ast:inferred-return"
    UNIQUE_NAME = "ast:unique-name"
    REEXPORT = "ast:re-export"


CONFIDENCE: Mapping[str, float] = {
    # Nobody rebinds the name from elsewhere.
    Reason.IMPORT: 0.98,
    Reason.SAME_FILE: 0.98,
    # Among the files that one imports, and those that they import, the name is defined in one only.
    Reason.REEXPORT: 0.97,
    # Nothing of that name comes between the file and its package, or the namespaces around it.
    Reason.PACKAGE: 0.97,
    # The header that is found is the one that a compiler is told to take.
    Reason.INCLUDE: 0.95,
    # The only function of that name in the repository is linked into this program.
    Reason.LINK: 0.88,
    # No class derived from this one overrides the method.
    Reason.SELF: 0.96,
    # No class of another branch comes between in the order of bases.
    Reason.SUPER: 0.95,
    # The variable holds what it was first given.
    Reason.CONSTRUCTOR_TYPE: 0.95,
    # The annotation is true, and no derived class overrides the method.
    Reason.ANNOTATION: 0.93,
    # All that a function gives back was seen.
    Reason.INFERRED_RETURN: 0.9,
    # Nothing outside the repository has a method of that name.
    Reason.UNIQUE_NAME: 0.8,
}


def weaker(one: Reason, other: Reason) -> Reason:
    """The less trusted of two steps: a chain is as strong as its weakest link."""
    return one if CONFIDENCE[one] <= CONFIDENCE[other] else other


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
    """Of each edge whether an index has it."""
    return pc.starts_with(edges.column("reason"), pattern=_TOOL)


def is_trusted(edges: pa.Table) -> pa.ChunkedArray:
    """Of each edge whether an index has it for the text at hand."""
    return pc.and_(pc.equal(edges.column("confidence"), TRUSTED), is_of_index(edges))
