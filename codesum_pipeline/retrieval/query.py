"""A query, taken apart once for all lanes and all repositories.

Related words come from a table that ships with the package: people ask for "the smallest allowed length" where code
says `min_len`. A passage that has a related word in place of a word of the query counts too, as far as the two are
alike.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files

from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder, Vectors
from codesum_pipeline.indexes.stored_zip import Array, map_npz
from codesum_pipeline.indexes.string_table import StringTable
from codesum_pipeline.indexes.tokens import STOP_WORDS, split_identifier, tokenize, tokens_of_word
from codesum_pipeline.model.errors import ConfigurationError

# Cosines are kept in this many steps.
STEPS = 255


class RelatedWords(Struct, frozen=True, dict=True):
    """`related[k]` are the positions, in the sorted `words`, of the words nearest to word k, with -1 behind the last;
    `likeness` are their cosines in `STEPS`."""

    words: StringTable
    related: Array
    likeness: Array

    def of(self, text: str) -> dict[str, float]:
        """The tokens related to the words of a text, each with its highest cosine; none of the text's own."""
        words = dict.fromkeys(part for word in text.split() for part in split_identifier(word))
        own = {token for part in words for token in tokens_of_word(part).split()}
        self._read([word for word in words if word not in self._known])
        found: dict[str, float] = {}
        for word in words:
            for token, likeness in self._known.get(word, ()):
                if token not in own:
                    found[token] = max(found.get(token, 0.0), likeness)
        return found

    @cached_property
    def _known(self) -> dict[str, list[tuple[str, float]]]:
        """The tokens related to the words of earlier queries."""
        return {}

    def _read(self, words: Sequence[str]) -> None:
        for word, position in zip(words, self.words.find_all(words), strict=True):
            if position is not None:
                of_word = zip(self.related[position].tolist(), self.likeness[position].tolist(), strict=True)
                self._known[word] = [
                    (token, steps / STEPS)
                    for other, steps in of_word
                    if other >= 0
                    for token in tokens_of_word(self.words[other]).split()
                ]


@cache
def load_related_words() -> RelatedWords:
    """The table of the package, mapped into memory."""
    with as_file(files("codesum_pipeline.indexes") / "models" / "related_words.npz") as path:
        arrays = map_npz(path)
    return RelatedWords(StringTable(arrays["words"], arrays["offsets"]), arrays["related"], arrays["likeness"])


_NAME = re.compile(r"[\w./:#-]*\w")
_RUN = re.compile(r"[\w./:#-]+")
_WORD = re.compile(r"\w+")
# A word like code: with a separator inside, a digit, a capital behind a small letter, or several before small ones.
_LOOKS_LIKE_CODE = re.compile(r"\w[._/:]+\w|_|\d|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
# A query this short is a name more often than a sentence.
_SHORT_QUERY_WORDS = 2
_COMPOUND_WORDS = (2, 3)


class Query(Struct, frozen=True, dict=True):
    """`names` may be names of documents; `words` are the stems that file names are compared with.

    `identifiers` are the words that look like code, `compounds` neighbouring words as one name. `vector` is None where
    no lane needs it, `related` are tokens of other words that mean nearly the same, with their likeness.
    """

    text: str
    tokens: tuple[str, ...]
    words: frozenset[str]
    names: tuple[str, ...]
    identifiers: tuple[str, ...]
    compounds: tuple[str, ...]
    vector: Vectors | None
    related: Mapping[str, float]

    @cached_property
    def is_name(self) -> bool:
        """Whether it is one word, as names of code are."""
        return _NAME.fullmatch(self.text.strip()) is not None


def parse_query(text: str, *, embedder: Embedder | None) -> Query:
    """Take a query apart; `embedder` is None where no dense lane is searched."""
    tokens = tokenize(text)
    vector = None if embedder is None else embedder.embed_query(text)
    compounds = compounds_in(text)
    return Query(
        text=text,
        tokens=tuple(tokens),
        words=frozenset((*tokens, *tokenize(" ".join(compounds)))),
        names=names_in(text),
        identifiers=identifiers_in(text),
        compounds=compounds,
        vector=vector,
        related=load_related_words().of(text),
    )


def check_says_something(text: str) -> None:
    """Raise `ConfigurationError` for a query without a letter or a digit."""
    if not any(map(str.isalnum, text)):
        problem = f"query {text!r} has no word" if text.strip() else "the query is empty"
        raise ConfigurationError(f"{problem}: say what is looked for, in words or as a name")


def names_in(text: str) -> tuple[str, ...]:
    """The words that may name a document: those that look like code, and all of a short query.

    `a::b` is written as the qualified name `a.b`.
    """
    found = _words_of_names(text)
    if len(found) > _SHORT_QUERY_WORDS:
        found = [word for word in found if _LOOKS_LIKE_CODE.search(word)]
    spoken = "_".join(part for word in _words_of_names(text) for part in split_identifier(word))
    return tuple(dict.fromkeys([*(word.replace("::", ".") for word in found), *([spoken] if spoken else [])]))


def identifiers_in(text: str) -> tuple[str, ...]:
    """The words that look like code, `a::b` as `a.b`."""
    found = [word for word in _words_of_names(text) if _LOOKS_LIKE_CODE.search(word)]
    return tuple(dict.fromkeys(word.replace("::", ".") for word in found))


def compounds_in(text: str) -> tuple[str, ...]:
    """Two or three neighbouring words as one name: people say "thread pool" where code has `ThreadPool`, `thread_pool`.

    In small letters, as names are looked up.
    """
    words = [word.lower() for word in _WORD.findall(text)]
    neighbours = (words[start : start + count] for count in _COMPOUND_WORDS for start in range(len(words) + 1 - count))
    said = [some for some in neighbours if all(map(_is_part_of_a_name, some))]
    return tuple(dict.fromkeys(joint.join(some) for some in said for joint in ("", "_")))


def _words_of_names(text: str) -> list[str]:
    """All matches of `_NAME`, in one pass over a text of any length."""
    return [name for run in _RUN.findall(text) if (name := run.rstrip("./:#-"))]


def _is_part_of_a_name(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and word not in STOP_WORDS
