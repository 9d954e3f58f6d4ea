"""What a person typed, taken apart once for all lanes and all repositories."""

import re
from dataclasses import dataclass

from codesum_pipeline.indexes.embedders import Embedder, Vectors
from codesum_pipeline.indexes.tokens import split_identifier, tokenize

_NAME = re.compile(r"[\w./:#-]*\w")
# Written like code: a separator inside, a digit, or a capital behind the first letter.
_LOOKS_LIKE_CODE = re.compile(r"\w[._/:]+\w|_|\d|[a-z][A-Z]")
# A query this short is a name more often than a sentence.
_SHORT_QUERY_WORDS = 2


@dataclass(frozen=True, slots=True)
class Query:
    """`names` may be names of documents; `words` are the stems that file names are compared with.

    `vector` is None where no lane needs it.
    """

    text: str
    tokens: tuple[str, ...]
    words: frozenset[str]
    names: tuple[str, ...]
    vector: Vectors | None

    @property
    def is_name(self) -> bool:
        """Whether it is one word, as names of code are."""
        return _NAME.fullmatch(self.text.strip()) is not None


def parse_query(text: str, *, embedder: Embedder | None) -> Query:
    """Take a query apart; `embedder` is None where no dense lane is asked."""
    tokens = tokenize(text)
    vector = None if embedder is None else embedder.embed_query(text)
    return Query(text=text, tokens=tuple(tokens), words=frozenset(tokens), names=names_in(text), vector=vector)


def names_in(text: str) -> tuple[str, ...]:
    """The words that may name a document: those that look like code, and all of a short query.

    `a::b` is written as the qualified name `a.b`.
    """
    found = _NAME.findall(text)
    if len(found) > _SHORT_QUERY_WORDS:
        found = [word for word in found if _LOOKS_LIKE_CODE.search(word)]
    spoken = "_".join(part for word in _NAME.findall(text) for part in split_identifier(word))
    return tuple(dict.fromkeys([*(word.replace("::", ".") for word in found), *([spoken] if spoken else [])]))
