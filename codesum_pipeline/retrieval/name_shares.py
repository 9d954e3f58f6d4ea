"""How much of a question is the name of a thing.

"how does the job queue retry" says `job`, which half of the code of a job queue
says too; "what is a redirect" says `redirect` and little else. A name counts as
its words make up the question's, each as heavy as it is rare.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.retrieval.fusion import Scores
from codesum_pipeline.retrieval.lookup import Lookup
from codesum_pipeline.retrieval.query import Query

# A thing is no accident any more that would happen by chance once in e to the power of this.
_NO_ACCIDENT = 20.0


@dataclass(frozen=True, slots=True)
class NameShares:
    """How much of a question each of its words is: `asked` those that were typed, 1 in all; `words` has those of
    neighbours as one name, too.

    `weight` is the negative logarithm of how often all of them stand in one of `count` texts by chance.
    """

    asked: Mapping[str, float]
    words: Mapping[str, float]
    weight: float
    count: int

    @classmethod
    def of(cls, lookup: Lookup, query: Query) -> "NameShares":
        """Weigh a question's words by how few of the passages and documents have them."""
        having, count = lookup.documents_with(), lookup.texts_of_code
        weights = {
            word: math.log1p((count - some + 0.5) / (some + 0.5))
            for word in sorted(query.words)
            for some in [having[word]]
        }
        typed = [*dict.fromkeys(query.tokens)]
        total = sum(weights[word] for word in typed)
        words = {word: weight / total for word, weight in weights.items()} if total else {}
        return cls({word: words[word] for word in typed}, words, total, count)

    def of_names(self, names: Iterable[str]) -> list[float]:
        """The share of each name, 1 at most."""
        return [min(1.0, sum(self.words.get(word, 0.0) for word in {*tokenize(name)})) for name in names]

    def are_no_accidents(self, shares: Scores) -> Scores:
        """How sure it is that texts with these shares of the question's words have them together for a reason: from 0,
        where among so many texts one is expected to, up to 1."""
        return np.clip((shares * self.weight - math.log(self.count)) / _NO_ACCIDENT, 0.0, 1.0)
