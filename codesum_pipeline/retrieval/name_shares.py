"""How much of a question is the name of a thing.

"how does the job queue retry" says `job`, which half of the code of a job queue
says too; "what is a redirect" says `redirect` and little else. A name counts as
its words make up the question's, each as heavy as it is rare.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.retrieval.lookup import Lookup
from codesum_pipeline.retrieval.query import Query


@dataclass(frozen=True, slots=True)
class NameShares:
    """`weights` are those of the question's words; `total` is what all of them weigh."""

    weights: Mapping[str, float]
    total: float

    @classmethod
    def of(cls, lookup: Lookup, query: Query) -> "NameShares":
        """Weigh a question's words by how few of the passages and documents have them."""
        having, count = lookup.documents_with(), lookup.texts_of_code
        weights = {
            word: math.log1p((count - some + 0.5) / (some + 0.5))
            for word in sorted(query.words)
            for some in [having[word]]
        }
        return cls(weights, sum(weights[word] for word in dict.fromkeys(query.tokens)))

    def of_names(self, names: Iterable[str]) -> list[float]:
        """The share of each name, 1 at most."""
        return [self._share(name) for name in names]

    def _share(self, name: str) -> float:
        weight = sum(self.weights.get(word, 0.0) for word in {*tokenize(name)})
        return min(1.0, weight / self.total) if self.total else 0.0
