"""A text becomes the words that BM25 counts.

An identifier gives its parts and itself: `getUserName`, `get_user_name` and "get user name" meet in `get`, `user` and
`name`, and the two spellings also in `getusername`. Words are stemmed, so that "connections" finds `connect`.
"""

import re
import threading
from functools import lru_cache

import Stemmer

# Part of the hash of every BM25 text: a change indexes all terms again.
TOKENS_VERSION = "1"

# Words that are in every second text and are no evidence: English function words, boilerplate of Python and summaries.
# fmt: off
STOP_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "def", "do", "does", "for", "from", "how", "in", "into",
    "is", "it", "its", "of", "on", "or", "return", "returns", "self", "that", "the", "then", "this", "to",
    "was", "what", "when", "where", "which", "with",
})
# fmt: on

# Longer ones are blobs (base64, a digest, a minified name), not words that anyone searches for.
_LONGEST = 40
_WORD = re.compile(r"\w+")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_OTHER_PART = re.compile(rf"([{_CJK}]+)|[^\W\d_{_CJK}]+|\d+")
# Words of earlier texts return in most later ones; the bound is for processes that live long.
_CACHE_SIZE = 1 << 18
# Enough for the lines of a file and all that is defined in it, whose texts follow one another.
_LINE_CACHE_SIZE = 1 << 13


class _ThreadStemmer(threading.local):
    """A stemmer for each thread: PyStemmer's are not made for several."""

    def __init__(self) -> None:
        # Its own cache would be a second one behind ours.
        self.stem = Stemmer.Stemmer("english", maxCacheSize=0).stemWord


_STEMMER = _ThreadStemmer()


def tokenize(text: str) -> list[str]:
    """The tokens of a text in order, with repetitions; none of them holds white space."""
    return joined_tokens(text).split()


def joined_tokens(text: str) -> str:
    """The tokens of a text, joined by single spaces."""
    return " ".join(filter(None, map(_tokens_of_line, text.split("\n"))))


# A line of a function is in its class and its file too.
@lru_cache(maxsize=_LINE_CACHE_SIZE)
def _tokens_of_line(line: str) -> str:
    return " ".join(filter(None, map(tokens_of_word, _WORD.findall(line))))


@lru_cache(maxsize=_CACHE_SIZE)
def tokens_of_word(word: str) -> str:
    """The stemmed parts of one identifier or word, and the whole where it has several parts."""
    parts = split_identifier(word)
    tokens = [stem for part in parts if (stem := _token(part))]
    if len(parts) > 1:
        whole = word.replace("_", "").lower()
        if len(whole) <= _LONGEST:
            tokens.append(whole)
    return " ".join(tokens)


def split_identifier(word: str) -> list[str]:
    """The lower-case parts of an identifier, cut at case, underscore and digits: `HTTPServer2` is http, server, 2.
    Scripts without spaces are cut into overlapping pairs of characters."""
    if word.isascii():
        return [part.lower() for part in _ASCII_PART.findall(word)]
    parts: list[str] = []
    for match in _OTHER_PART.finditer(word):
        run = match[0]
        pairs = [run[start : start + 2] for start in range(max(1, len(run) - 1))]
        parts += pairs if match[1] else [run.lower()]
    return parts


# Words share their parts: there are a fifth as many parts as words.
@lru_cache(maxsize=_CACHE_SIZE)
def _token(part: str) -> str | None:
    """The stem of a part; None for a single ASCII character, a stop word or a blob."""
    if len(part) > _LONGEST or part in STOP_WORDS or (len(part) == 1 and part.isascii()):
        return None
    stem: str = _STEMMER.stem(part)
    return stem
