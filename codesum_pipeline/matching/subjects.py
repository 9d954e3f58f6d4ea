"""What an intent asks about, taken apart once: its vector, and its words, each as heavy as it is rare."""

import math
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder, Vectors
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.indexes.version_folder import Lane
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.retrieval.about_testing import asks_for_tests
from codesum_pipeline.retrieval.reader import PublishedIndex

# How a standing question is put, not what it is about: "tell me about anything that touches billing".
_FRAME_WORDS = """
    about affect affected affecting affects all any anything anywhere change changed changes changing code
    concern concerned concerning concerns everything file files function functions handle handled handles
    handling has have i if implementation implemented interested involving know like made me modified new notify
    our ours please related relates relating something tell thing things touch touched touches touching update
    updated updates us want way we whatever whenever who why work working works would you
"""
_FRAME = frozenset(_FRAME_WORDS.split())
# An intent that names many things is about each of them: nothing has to have all of its words.
_HEAVIEST = 2
_WORD = re.compile(r"[^\W_]+")


class Subject(Struct, frozen=True):
    """`weights` are the words' shares in the heaviest few of them; none for an intent without a word.

    `vector` is None where only words are compared.
    """

    weights: Mapping[str, float]
    vector: Vectors | None
    asks_for_tests: bool


def subjects_of(intents: Sequence[Intent], index: PublishedIndex, embedder: Embedder | None) -> list[Subject]:
    """The subjects of some intents in a repository; raises `ConfigurationError` when its index was made with another
    embedding model."""
    if embedder is not None:
        index.check_embedder(embedder)
    texts = [subject_text(intent.text) for intent in intents]
    heaviness = _heaviness(index, sorted({token for text in texts for token in tokenize(text)}))
    return [
        Subject(
            weights=_shares({token: heaviness[token] for token in tokenize(text)}),
            vector=None if embedder is None else embedder.embed_query(text),
            asks_for_tests=asks_for_tests(intent.text),
        )
        for intent, text in zip(intents, texts, strict=True)
    ]


def subject_text(text: str) -> str:
    """The text without the words that only ask; all of it where no other says anything."""
    kept = _WORD.sub(lambda found: "" if found[0].lower() in _FRAME else found[0], text)
    return " ".join(kept.split()) if tokenize(kept) else text


def _heaviness(index: PublishedIndex, tokens: Sequence[str]) -> dict[str, float]:
    """BM25's weight of each token, by how many documents and passages have it."""
    words = index.words[Lane.CODE]
    spans = zip(tokens, words.spans(tokens), strict=True)
    having = {token: span.stop - span.start for token, span in spans}
    return {token: math.log1p((words.documents - count + 0.5) / (count + 0.5)) for token, count in having.items()}


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(sorted(weights.values())[-_HEAVIEST:])
    return {token: weight / total for token, weight in weights.items()} if total else {}
