"""Identifiers become words."""

import re
from functools import lru_cache

from codesum_pipeline.summaries.documentation.word_lists import word_set, word_table

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
# A word keeps its number and a letter or two after it (`k3s`, `l4re`, `utf8`); a digest stays whole.
_SPOKEN_PART = re.compile(
    r"(?=(?:[a-z]*\d){5})[a-z\d]{12,}|[A-Z]{2,}v\d+(?![a-z])|[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z]+(?:\d+[a-z]{1,2}(?![a-z\d])|\d*)"
    r"|[^\W\d_a-zA-Z]+|\d+[a-z]?(?![a-z])|\d+"
)
# Longer ones are no names: digests, encoded data.
_MAX_CHARS = 200
# Names with inner capitals that are one word.
_BRANDS = word_table("brands")
_BRAND = re.compile("|".join(_BRANDS))
_PLURAL_ACRONYM = re.compile(r"([A-Z]{2,})s(?![a-z])")
# Written together in identifiers, apart in prose.
_CLIPPED = word_table("clipped")
_ACRONYMS = word_set("acronyms")
_MIXED_CASE = word_table("mixed_case")
# An ending with digits that is one word: utf8, sha256, ipv4, base64.
_GLUED_DIGITS = word_set("glued_digits")


def _regular(identifier: str) -> str:
    """The identifier with brands and plural acronyms (`URLs`) capitalised like any word."""
    identifier = identifier[:_MAX_CHARS]
    if identifier.islower():
        return identifier
    identifier = _BRAND.sub(lambda match: _BRANDS[match[0]], identifier)
    return _PLURAL_ACRONYM.sub(lambda match: f"{match[1].capitalize()}s", identifier)


@lru_cache(maxsize=65536)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-case words of a snake, camel or kebab name: `HTTPServer2_loop` gives http, server, 2, loop."""
    parts = _PART.findall(_regular(identifier))
    words: list[str] = []
    for part in parts:
        word = part.lower()
        if words and word.isdigit() and words[-1] in _GLUED_DIGITS:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


@lru_cache(maxsize=65536)
def spoken(identifier: str, *, written_out: bool = True) -> str:
    """An identifier as a reader would say it: `req_hdrs` gives `request headers`, `user_id` gives `user ID`.

    Clipped words are left as they are where they are not `written_out`.
    """
    words = name_words(identifier)
    return " ".join(map(spoken_word, words) if written_out else words)


@lru_cache(maxsize=65536)
def name_words(identifier: str) -> tuple[str, ...]:
    """Lower-case words as they are said, a number staying with its word: `x509_store2` gives x509, store2."""
    parts = _SPOKEN_PART.findall(_regular(identifier))
    return tuple([part.lower() for part in parts])


def spoken_word(word: str) -> str:
    """A clipped word written out, an acronym in capitals."""
    if word in _ACRONYMS:
        return word.upper()
    if word in _MIXED_CASE:
        return _MIXED_CASE[word]
    if word[-1:] == "s" and word[:-1] in _ACRONYMS:
        return f"{word[:-1].upper()}s"
    return _CLIPPED.get(word, word)
