"""Identifiers, paths and lists of names become words, without the prefix that a library gives to all of its names."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from codesum_pipeline.summaries.documentation.plain import printable
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


_MIN_SHARING = 3
_SHARED_PART = 0.6
# A first word that says what is done is no library's prefix, however many names share it.
_VERBS = word_set("verbs")


def shared_prefix(names: Iterable[str]) -> tuple[str, ...]:
    """The words that most of some names begin with, if that is no verb; each name keeps at least one word."""
    split = [words for name in dict.fromkeys(names) if len(words := name_words(name)) > 1]
    if len(split) < _MIN_SHARING:
        return ()
    prefix: tuple[str, ...] = ()
    while len(prefix) < 3:
        longer = [words[: len(prefix) + 1] for words in split if len(words) > len(prefix) + 1]
        found = max(sorted(set(longer)), key=longer.count, default=())
        is_shared = longer.count(found) >= max(_MIN_SHARING, _SHARED_PART * len(split))
        if not is_shared or found[-1] in _VERBS:
            break
        prefix = found
        if prefix == ("test",):
            break
    return prefix


@lru_cache(maxsize=65536)
def said(name: str, prefix: tuple[str, ...] = ()) -> str:
    """A name in words without a prefix; as it is written where it has no words."""
    words = name_words(name)
    if words[-1:] == ("t",) and name.lower().endswith("_t"):
        words = words[:-1]
    if words[:1] == ("i",) and len(words) > 1 and name[:1] == "I":
        words = words[1:]
    if prefix and words[: len(prefix)] == prefix and len(words) > len(prefix):
        words = words[len(prefix) :]
    return " ".join(map(spoken_word, words)) or spoken(name) or printable(name)


def listed(names: Iterable[str], limit: int, *, prefix: tuple[str, ...] = (), are_all: bool = True) -> str:
    """The first names in words, each once, and how many more there are."""
    return shortened([said(name, prefix) for name in names], limit, are_all=are_all)


def plainly(names: Iterable[str], limit: int) -> str:
    """The first names of paths or packages, clipped words as they are, and how many more there are."""
    return shortened([spoken(name, written_out=False) for name in names], limit)


def shortened(items: Iterable[str], limit: int, *, are_all: bool = True) -> str:
    """The first items, each once, and how many more there are, where they are all that there are."""
    found = list(dict.fromkeys(filter(None, items)))
    more = len(found) - limit
    return ", ".join([*found[:limit], f"{more} more" if are_all else "and more"] if more > 0 else found)


def named(lead: str, names: Sequence[str], limit: int, *, are_all: bool = True) -> str:
    """A fact of names, without the prefix that they share."""
    return fact(lead, listed(names, limit, prefix=shared_prefix(names), are_all=are_all))


def fact(lead: str, items: Sequence[str] | str) -> str:
    """A short phrase: `Takes`, path, mode gives `Takes path, mode.`; "" without items."""
    told = items if isinstance(items, str) else ", ".join(items)
    return f"{lead} {told}{'' if told.endswith(('.', '…')) else '.'}" if told else ""


def capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


# Their folder says what such files are about.
_ENTRIES = frozenset(("__init__", "index", "mod", "__main__", "lib", "init"))


@lru_cache(maxsize=4096)
def place_of(path: str) -> str:
    """The last folder and the file in words: `src/auth/http_login.py` gives `auth/HTTP login`."""
    parts = [part for part in path.split("/") if part not in (".", "")]
    stem = stem_of(parts[-1]) if parts else ""
    names = parts[-3:-1] if stem in _ENTRIES and len(parts) > 1 else [*parts[-2:-1], stem]
    said = [words for name in names if (words := spoken(printable(name).strip("_."), written_out=False))]
    return "/".join(said) or "the repository"


def stem_of(name: str) -> str:
    """A file's name without its extension: `help.wrap.test.js` gives `help.wrap.test`."""
    bare = name.strip(".")
    return bare.rpartition(".")[0].removesuffix(".d") or bare or name


def name_of_file(path: str) -> str:
    """A file's name in words, with its folder's where that says more."""
    folder, _, name = path.rpartition("/")
    stem = stem_of(name)
    words = spoken(printable(stem).strip("_"), written_out=False) or printable(name)
    return f"{words} of {place_of(folder)}" if stem in _ENTRIES and folder else words


def folder_of(path: str) -> str:
    """The folder of a path, as a sentence of its own."""
    folder = path.rpartition("/")[0]
    return f"Part of folder {place_of(folder)}." if folder else "Part of the repository's root folder."
