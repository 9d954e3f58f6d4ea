"""The words that a document should be found by: telling ones first.

A word's score is the weight of its best place times its rarity in source code
at large, by a table that ships with the package.
"""

from collections.abc import Iterable
from functools import lru_cache

from codesum_pipeline.summaries.documentation.word_lists import word_bucket, word_set
from codesum_pipeline.summaries.extractive.words import split_identifier

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
        for word, rare in _told(text):
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
        chosen.setdefault(fold(word), word)
        if len(chosen) == limit:
            break
    return _filled(tuple(chosen.values()), (*best, *fallback))


@lru_cache(maxsize=65536)
def _told(text: str) -> tuple[tuple[str, float], ...]:
    return tuple([(word, telling(word)) for word in split_identifier(text)])


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
    ranked = sorted(shared, key=lambda word: (-shared[word] * rarity(word), word))
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
def telling(word: str) -> float:
    """The rarity of a word; 0 for words that tell nothing: stop words, numbers, single letters, digests."""
    if word in STOP_WORDS or len(word) > _MAX_WORD_CHARS or word[0].isdigit() or not word.isprintable():
        return 0.0
    return rarity(word) if len(word) > 2 or word in _SHORT or not word.isascii() else 0.0


@lru_cache(maxsize=65536)
def rarity(word: str) -> float:
    """How telling a word is: near 0 where every file has it, 1 for the rarest."""
    return min(word_bucket(word), _RAREST_BUCKET) / _RAREST_BUCKET


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
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
