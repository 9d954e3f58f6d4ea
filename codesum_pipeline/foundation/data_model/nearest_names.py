"""Names that are spelled nearly like one that nothing has."""

from collections.abc import Sequence
from heapq import nsmallest

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled

# Nobody means a longer one, and names that are compared at once hold up all other threads.
LONGEST_COMPARED = 200
COMPARED_AT_ONCE = 10_000


def nearest_names(wanted: str, names: Sequence[str], *, most: int, least_likeness: float = 0.6) -> list[str]:
    """At most `most` of the names, the likest first; ties break by name. A hundred thousand take less than a second."""
    # Only a search that finds nothing needs it.
    from rapidfuzz import fuzz, process

    found: list[tuple[str, float, int]] = []
    for start in range(0, len(names), COMPARED_AT_ONCE):
        stop_if_cancelled()
        found += process.extract(
            wanted[:LONGEST_COMPARED],
            names[start : start + COMPARED_AT_ONCE],
            scorer=fuzz.ratio,
            score_cutoff=100 * least_likeness,
            limit=most,
        )
    return [name for name, _, _ in nsmallest(most, found, key=lambda each: (-each[1], each[0]))]
