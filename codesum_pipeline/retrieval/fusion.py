"""Merge rankings from different lanes into one.

Ranks are merged, never raw scores: BM25 and cosine live on different scales,
so a sum would let one lane drown the other.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

# Softens the lead of first place over second; the value of Cormack et al.
# (2009), where reciprocal rank fusion was introduced.
RANK_OFFSET = 60

# Documents are ordered to break ties; rankings are only told apart.
D = TypeVar("D", bound=Any)
R = TypeVar("R", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Fused(Generic[D, R]):
    """A document with its fused score and its rank (from 1) in each ranking that has it."""

    document: D
    score: float
    ranks: Mapping[R, int]


def fuse_ranks(rankings: Mapping[R, Sequence[D]], weights: Mapping[R, float]) -> list[Fused[D, R]]:
    """Weighted reciprocal rank fusion: the sum of weight / (60 + rank) over the rankings that have a document.

    Divided by what a document would get that leads them all, so that 1 is the
    best there is. Best first; ties break by document. A ranking names a
    document once.
    """
    ranks: dict[D, dict[R, int]] = {}
    for name, ranking in rankings.items():
        for rank, document in enumerate(ranking, start=1):
            ranks.setdefault(document, {})[name] = rank
    best = math.fsum(weights[name] for name in rankings) / (RANK_OFFSET + 1)
    fused = [
        Fused(document, math.fsum(weights[name] / (RANK_OFFSET + rank) for name, rank in found.items()) / best, found)
        for document, found in ranks.items()
    ]
    return sorted(fused, key=lambda item: (-item.score, item.document))
