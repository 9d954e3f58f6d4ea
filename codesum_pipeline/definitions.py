"""What the Dagster UI shows."""

import dagster as dg

from codesum_pipeline.defs.assembly import build_defs


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of the home that the process was given."""
    return build_defs()
