"""The lanes of the index: each is one way to look at a document, and can be searched alone."""

from collections.abc import Collection
from enum import StrEnum


class Lane(StrEnum):
    """`code` and `summary` are dense and BM25, `fused` dense, `keywords` BM25, `symbol` names."""

    CODE = "code"
    SUMMARY = "summary"
    FUSED = "fused"
    KEYWORDS = "keywords"
    SYMBOL = "symbol"


LANES = tuple(Lane)
DENSE_LANES = (Lane.CODE, Lane.FUSED, Lane.SUMMARY)
# The dense lanes of a search that names none.
_READ = (Lane.SUMMARY, Lane.FUSED)
TERM_LANES = (Lane.CODE, Lane.KEYWORDS, Lane.SUMMARY)


def dense_lanes(extra: Collection[str]) -> tuple[Lane, ...]:
    """The lanes that vectors are made for: what a search reads, and what the setting `extra_lanes` names."""
    return tuple(lane for lane in DENSE_LANES if lane in _READ or lane in extra)
