"""The lanes of the index: each is one way to look at a document, and can be asked alone."""

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
TERM_LANES = (Lane.CODE, Lane.KEYWORDS, Lane.SUMMARY)
