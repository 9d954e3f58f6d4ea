"""Identifiers, paths and lists of names become words, without the prefix that a library gives to all of its names.

A document's keywords are sorted, the most distinctive first: a word's score is the weight of its best place
times its rarity in source code at large, by a table that ships with the package.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from codesum_pipeline.evidence.author_texts.plain_sentences import (
    make_printable,
    word_bucket,
    word_set,
    word_table,
)
from codesum_pipeline.foundation.language_facts.writing_systems import (
    HIRAGANA,
    any_of,
    cut_at_case,
    ends_sentence,
    letters_worth,
    pairs_of,
    phrases_of,
    sets_no_blanks,
    words_of,
)

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
_PLURAL_ACRONYM = re.compile(r"(?<![A-Z])([A-Z]{2,}+)s(?![a-z])")
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
    parts = _PART.findall(_regular(identifier)) if identifier.isascii() else _parts_of_any_script(identifier)
    words: list[str] = []
    for part in parts:
        word = part.lower()
        if words and word.isdigit() and words[-1] in _GLUED_DIGITS:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


@lru_cache(maxsize=65536)
def identifier_in_words(identifier: str, *, written_out: bool = True) -> str:
    """An identifier as a reader would say it: `req_hdrs` gives `request headers`, `user_id` gives `user ID`.

    Clipped words are left as they are where they are not `written_out`.
    """
    words = name_words(identifier)
    return " ".join(map(word_in_full, words) if written_out else words)


@lru_cache(maxsize=65536)
def spell_in_prose(identifier: str) -> str:
    """A name within an author's sentence: as `identifier_in_words`, but capitals that stand together stay."""
    parts = _spoken_parts(identifier)
    is_mixed = any(map(str.islower, identifier))
    return " ".join(
        part if is_mixed and len(part) > 1 and part.isupper() else word_in_full(part.lower()) for part in parts
    )


@lru_cache(maxsize=65536)
def name_words(identifier: str) -> tuple[str, ...]:
    """Lower-case words as they are said, a number staying with its word: `x509_store2` gives x509, store2."""
    return tuple([part.lower() for part in _spoken_parts(identifier)])


def _spoken_parts(identifier: str) -> list[str]:
    if not identifier.isascii():
        return _parts_of_any_script(identifier)
    return _SPOKEN_PART.findall(_regular(identifier))


_DIGITS_OR_LETTERS = re.compile(r"\d+|[^\d_]+")


def _parts_of_any_script(identifier: str) -> list[str]:
    """The parts of a name beyond ASCII, as they are written: `größteZahl2`, `获取user列表`."""
    runs = (run for word in words_of(_regular(identifier)) for run in _DIGITS_OR_LETTERS.findall(word))
    return [part for run in runs for phrase in phrases_of(run) for part in cut_at_case(phrase)]


def word_in_full(word: str) -> str:
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
def name_in_words(name: str, prefix: tuple[str, ...] = ()) -> str:
    """A name in words without a prefix; as it is written where it has no words."""
    words = name_words(name)
    if words[-1:] == ("t",) and name.lower().endswith("_t"):
        words = words[:-1]
    if words[:1] == ("i",) and len(words) > 1 and name[:1] == "I":
        words = words[1:]
    if prefix and words[: len(prefix)] == prefix and len(words) > len(prefix):
        words = words[len(prefix) :]
    return " ".join(map(word_in_full, words)) or identifier_in_words(name) or make_printable(name)


def list_names(names: Iterable[str], limit: int, *, prefix: tuple[str, ...] = (), are_all: bool = True) -> str:
    """The first names in words, each once, and how many more there are."""
    return list_first([name_in_words(name, prefix) for name in names], limit, are_all=are_all)


def list_plain_names(names: Iterable[str], limit: int) -> str:
    """The first names of paths or packages, clipped words as they are, and how many more there are."""
    return list_first([identifier_in_words(name, written_out=False) for name in names], limit)


def list_first(items: Iterable[str], limit: int, *, are_all: bool = True) -> str:
    """The first items, each once, and the number of further ones, if the items are complete."""
    found = list(dict.fromkeys(filter(None, items)))
    more = len(found) - limit
    return ", ".join([*found[:limit], f"{more} more" if are_all else "and more"] if more > 0 else found)


def list_fitting(items: Iterable[str], most_characters: int) -> str:
    """The first items, each once, that fit into some characters, one at least, and the number of further ones."""
    found = list(dict.fromkeys(filter(None, items)))
    lengths = accumulate(len(item) + len(", ") for item in found)
    return list_first(found, max(1, sum(length <= most_characters for length in lengths)))


def in_a_row(names: Sequence[str], last: str = " and ") -> str:
    """`a, b and c`; "" of nothing."""
    return f"{', '.join(names[:-1])}{last}{names[-1]}" if len(names) > 1 else "".join(names)


def make_fact(lead: str, items: Sequence[str] | str) -> str:
    """A short phrase: `Takes`, path, mode gives `Takes path, mode.`; "" without items."""
    text = items if isinstance(items, str) else ", ".join(items)
    is_ended = text.endswith((".", "…")) or (not text.isascii() and ends_sentence(text))
    return f"{lead} {text}{'' if is_ended else '.'}" if text else ""


def capitalize(text: str) -> str:
    return f"{text[:1].title()}{text[1:]}"


# Their folder says what such files are about.
_ENTRIES = frozenset(("__init__", "index", "mod", "__main__", "lib", "init"))


@lru_cache(maxsize=4096)
def place_of(path: str) -> str:
    """The last folder and the file in words: `src/auth/http_login.py` gives `auth/HTTP login`."""
    parts = [part for part in path.split("/") if part not in (".", "")]
    stem = stem_of(parts[-1]) if parts else ""
    names = parts[-3:-1] if stem in _ENTRIES and len(parts) > 1 else [*parts[-2:-1], stem]
    spoken_names = (identifier_in_words(make_printable(name).strip("_."), written_out=False) for name in names)
    return "/".join(filter(None, spoken_names)) or "the repository"


def stem_of(name: str) -> str:
    """A file's name without its extension: `help.wrap.test.js` gives `help.wrap.test`."""
    bare = name.strip(".")
    return bare.rpartition(".")[0].removesuffix(".d") or bare or name


def name_of_file(path: str) -> str:
    """A file's name in words, with its folder's where that says more."""
    folder, _, name = path.rpartition("/")
    stem = stem_of(name)
    words = identifier_in_words(make_printable(stem).strip("_"), written_out=False) or make_printable(name)
    return f"{words} of {place_of(folder)}" if stem in _ENTRIES and folder else words


def folder_of(path: str) -> str:
    """What a file or folder is a part of, in words."""
    folder = path.rpartition("/")[0]
    return f"folder {place_of(folder)}" if folder else "the repository's root folder"


MIN_KEYWORDS = 3
MAX_KEYWORDS = 12
_USUAL = 10
# A word rarer than one file in 2**k counts no more: the rarest words are often typing errors.
_RAREST_BUCKET = 11
_MAX_WORD_CHARS = 40

# Weights of the places of a word: a name is chosen with care, a body follows from it.
NAME, PARAMETER, DOCSTRING, BODY = 4.0, 2.5, 1.6, 1.0
_MAX_SCORE = NAME * 1.5

STOP_WORDS = word_set("stop_words")
_SHORT = word_set("short_keywords")
_FOLDS = ("ing", "edly", "ed", "ation", "ion", "er", "or", "e", "y")


def choose_keywords(
    places: Iterable[tuple[str, float]], *, fallback: Iterable[str] = (), limit: int = _USUAL
) -> tuple[str, ...]:
    """The best words of (text or identifier, weight) pairs, best first; `fallback` fills up to the least number."""
    best: dict[str, float] = {}
    for text, weight in places:
        for word, rare in _weighted_words(text):
            score = weight * rare
            before = best.get(word)
            if before is None:
                best[word] = score
            elif before:
                # A second mention confirms a word, a tenth says no more.
                confirmed = (score if score > before else before) * 1.1
                best[word] = confirmed if confirmed < _MAX_SCORE else _MAX_SCORE
    chosen: dict[str, str] = {}
    for word in sorted([word for word in best if best[word]], key=lambda word: -best[word]):
        chosen.setdefault(fold_word(word), word)
        if len(chosen) == limit:
            break
    return _filled(tuple(chosen.values()), (*best, *fallback))


@lru_cache(maxsize=65536)
def _weighted_words(text: str) -> tuple[tuple[str, float], ...]:
    return tuple([(word, telling_weight(word)) for word in split_identifier(text)])


def merge_keywords(
    own: Iterable[tuple[str, float]],
    children: Iterable[tuple[str, ...]],
    *,
    fallback: Iterable[str],
) -> tuple[str, ...]:
    """Keywords of a document from its own words and its children's; what several children share counts more."""
    places = list(own)
    shared: dict[str, float] = {}
    for keywords in children:
        for rank, word in enumerate(keywords):
            shared[word] = shared.get(word, 0.0) + 1.0 / (1 + rank)
    top = max(shared.values(), default=1.0)
    ranked = sorted(shared, key=lambda word: (-shared[word] * rarity_of(word), word))
    places.extend((word, BODY + (PARAMETER - BODY) * shared[word] / top) for word in ranked[:40])
    return choose_keywords(places, fallback=fallback, limit=MAX_KEYWORDS if shared else _USUAL)


def _filled(chosen: tuple[str, ...], candidates: Iterable[str]) -> tuple[str, ...]:
    """The words, and from the candidates as many as are missing to the least number."""
    if len(chosen) >= MIN_KEYWORDS:
        return chosen
    words = dict.fromkeys(chosen)
    others = [word[:_MAX_WORD_CHARS] for candidate in candidates for word in split_identifier(candidate)]
    for word in (*(word for word in others if word.isascii() and len(word) > 1), "code", "source", "symbol"):
        if len(words) < MIN_KEYWORDS:
            words.setdefault(word)
    return tuple(words)


@lru_cache(maxsize=65536)
def telling_weight(word: str) -> float:
    """The rarity of a word; 0 for words without information: stop words, numbers, single letters, digests."""
    if word in STOP_WORDS or len(word) > _MAX_WORD_CHARS or word[0].isdigit() or not word.isprintable():
        return 0.0
    if not word.isascii():
        return rarity_of(word) if _is_telling_beyond_ascii(word) else 0.0
    return rarity_of(word) if len(word) > 2 or word in _SHORT else 0.0


def _is_telling_beyond_ascii(word: str) -> bool:
    """Whether a word is more than one letter, or than Japanese endings and particles."""
    return letters_worth(word) > 2 and not all(map(any_of(HIRAGANA).match, word))


@lru_cache(maxsize=65536)
def rarity_of(word: str) -> float:
    """How distinctive a word is: near 0 if every file has it, 1 for the rarest."""
    return min(word_bucket(word), _RAREST_BUCKET) / _RAREST_BUCKET


@lru_cache(maxsize=65536)
def fold_word(word: str) -> str:
    """A crude stem, so that `parse`, `parser`, `parsers` and `parsing` are one word."""
    if word.endswith("ies") and len(word) > 4:
        word = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in _FOLDS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
    return word


_SMALL_WORDS = frozenset(["a", "an", "the", "of", "for", "to", "and", "or", "in", "over", "from", "by", "its", "with"])


def telling_stems(text: str) -> frozenset[str]:
    """The stems of a text's words, names split into theirs, without articles, prepositions and the like."""
    words = (stem for part in text.split() for word in split_identifier(part) for stem in _stems(word))
    return frozenset(word for word in words if word not in _SMALL_WORDS)


def _stems(word: str) -> Iterable[str]:
    """The stem of a word; of what has no blanks the pairs of characters, for it may be several words."""
    return (fold_word(word),) if word.isascii() or not sets_no_blanks(word) else pairs_of(word)
