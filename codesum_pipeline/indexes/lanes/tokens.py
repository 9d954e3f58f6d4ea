"""A text becomes the words that BM25 counts.

An identifier gives its parts and itself: `getUserName`, `get_user_name` and "get user name" meet in `get`, `user` and
`name`, and the two spellings also in `getusername`. Words are stemmed, so that "connections" finds `connect`.

Words of other scripts are compared as people type them: without accents, vowel points and differences of width. Where
no blanks are between words, and in Korean, where endings hang on words, pairs of characters are compared.
"""

import re
import threading
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

import Stemmer

from codesum_pipeline.foundation.language_facts.writing_systems import (
    HAN,
    HANGUL,
    HIRAGANA,
    KATAKANA,
    SOUTH_EAST_ASIAN,
    any_of,
    cut_at_case,
    pairs_of,
    phrases_of,
    plain_spelling,
    words_of,
)

# Part of the hash of every BM25 text: a change indexes all terms again.
TOKENS_VERSION = "2"

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
# Between letters of scripts that are cut into pairs and all others, digits and underscores apart.
_DENSE = f"{HAN}{HIRAGANA}{KATAKANA}{HANGUL}{SOUTH_EAST_ASIAN}"


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"([{_DENSE}]+)|\d+|[^\d_{_DENSE}]+")


# Words of earlier texts return in most later ones; the bound is for processes that live long.
_CACHE_SIZE = 1 << 18
# Enough for the lines of a file and all that is defined in it, whose texts follow one another.
_LINE_CACHE_SIZE = 1 << 13


_ALONE = f"{HAN}{HANGUL}"
# The stemmer of an alphabet is that of the language that most texts in it are in.
_ALPHABETS = (
    ("russian", re.compile("[\u0400-\u052f]")),
    ("greek", re.compile("[\u0370-\u03ff]")),
    ("arabic", re.compile("[\u0600-\u06ff\u0750-\u077f]")),
    ("hindi", re.compile("[\u0900-\u097f]")),
    ("armenian", re.compile("[\u0531-\u058f]")),
    ("tamil", re.compile("[\u0b80-\u0bff]")),
)


class _ThreadStemmers(threading.local):
    """Stemmers for each thread: PyStemmer's are not made for several."""

    def __init__(self) -> None:
        self._stemmers: dict[str, Stemmer.Stemmer] = {}

    def of(self, language: str, word: str) -> str:
        if language not in self._stemmers:
            # Its own cache would be a second one behind ours.
            self._stemmers[language] = Stemmer.Stemmer(language, maxCacheSize=0)
        stem: str = self._stemmers[language].stemWord(word)
        return stem


_STEMMERS = _ThreadStemmers()


def tokenize(text: str) -> list[str]:
    """The tokens of a text in order, with repetitions; none of them holds white space."""
    return joined_tokens(text).split()


def joined_tokens(text: str) -> str:
    """The tokens of a text, joined by single spaces."""
    return " ".join(filter(None, map(_tokens_of_line, text.split("\n"))))


# A line of a function is in its class and its file too.
@lru_cache(maxsize=_LINE_CACHE_SIZE)
def _tokens_of_line(line: str) -> str:
    return " ".join(filter(None, map(tokens_of_word, _WORD.findall(line) if line.isascii() else words_of(line))))


@lru_cache(maxsize=_CACHE_SIZE)
def tokens_of_word(word: str) -> str:
    """The stemmed parts of one identifier or word, and the whole where it has several parts."""
    parts = split_identifier(word)
    tokens = [stem for part in parts if (stem := _token(part))]
    if len(parts) > 1 and (whole := _whole(word)) and len(whole) <= _LONGEST:
        tokens.append(whole)
    return " ".join(tokens)


def _whole(word: str) -> str:
    """An identifier without what separates its parts; "" of what is cut into pairs of characters, often a sentence."""
    if word.isascii():
        return word.replace("_", "").lower()
    word = plain_spelling(word).replace("_", "").lower()
    return "" if any_of(_DENSE).search(word) else word


def split_identifier(word: str) -> list[str]:
    """The lower-case parts of an identifier, cut at case, underscore and digits: `HTTPServer2` is http, server, 2.
    Scripts without blanks are cut into overlapping pairs of characters."""
    if not word.isascii():
        return _parts_of_any_script(word)
    return [part.lower() for part in _ASCII_PART.findall(word)]


def _parts_of_any_script(word: str) -> list[str]:
    parts: list[str] = []
    for match in _run().finditer(plain_spelling(word)):
        if match[1]:
            parts += [pair for phrase in phrases_of(match[1]) for pair in pairs_of(phrase)]
        elif match[0].isascii():
            parts += [part.lower() for part in _ASCII_PART.findall(match[0])]
        else:
            parts += [part.lower() for part in cut_at_case(match[0])]
    return parts


# Words share their parts: there are a fifth as many parts as words.
@lru_cache(maxsize=_CACHE_SIZE)
def _token(part: str) -> str | None:
    """The stem of a part; None for a single sign of an alphabet, a stop word or a blob."""
    if part.isascii():
        is_word = len(part) <= _LONGEST and part not in STOP_WORDS and len(part) > 1
        return _STEMMERS.of("english", part) if is_word else None
    if len(part) > _LONGEST or part in _foreign_stop_words():
        return None
    if any_of(_DENSE).match(part):
        # A single syllable of kana is a particle, and Thai has no word of one sign.
        return part if len(part) > 1 or any_of(_ALONE).match(part) else None
    language = next((language for language, letters in _ALPHABETS if letters.match(part)), "")
    return None if len(part) == 1 else _STEMMERS.of(language, part) if language else part


@cache
def _foreign_stop_words() -> frozenset[str]:
    lists = tomllib.loads((files(__package__) / "stop_words.toml").read_text("utf-8"))
    return frozenset(word for words in lists.values() for word in words.split())
