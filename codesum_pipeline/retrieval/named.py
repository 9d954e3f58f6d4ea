"""The documents that a question names."""

from collections.abc import Mapping

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers, Scores, distinct
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.reader import PublishedIndex

# The scores of the id itself, the name in this spelling, and in another; a prefix gets 1 at most.
SAME_ID, SPELLED_NAME, EXACT_NAME = 4.0, 3.0, 2.0

# A prefix of one or two characters is no name yet.
_SHORTEST_PREFIX = 3


def scored_by_name(
    index: PublishedIndex, query: Query, called: Mapping[str, list[int]], limit: int
) -> tuple[Numbers, Scores]:
    """The documents that a query names, with their scores, rows ascending: an id scores most, then exact names (first
    in the query's spelling), then at most `limit` names that begin so, shorter ones first.

    `called` has the rows of documents by name, in small letters, for the names of the query.
    """
    text = query.text.strip()
    typed = text.replace("::", ".")
    rows: list[Array] = []
    scores: list[Scores] = []
    for name in query.names:
        if found := called.get(name.lower()):
            is_typed = name in typed
            spelled = [SPELLED_NAME if is_typed and _is_spelled(index.ids[row], name) else EXACT_NAME for row in found]
            rows.append(np.array(found))
            scores.append(np.array(spelled))
        if len(name) >= _SHORTEST_PREFIX and len(longer := index.names.with_prefix(name, limit=limit)):
            rows.append(longer)
            scores.append(1.0 / np.arange(1, len(longer) + 1))
    # The id of a file or a folder is one of its names.
    asked = index.row(text) if text.lower() in called or SEPARATOR in text else None
    if asked is not None:
        rows.append(np.array([asked]))
        scores.append(np.array([SAME_ID]))
    if not rows:
        return NO_NUMBERS, NO_SCORES
    named, places = distinct(np.concatenate(rows).astype(np.int64))
    best = np.zeros(len(named))
    np.maximum.at(best, places, np.concatenate(scores))
    return named, best


def _is_spelled(id_: str, name: str) -> bool:
    """Whether an id ends with a name in exactly this spelling."""
    return without_suffix(id_).replace(SEPARATOR, ".").endswith(name)
