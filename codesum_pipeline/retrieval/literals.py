"""Words that stand in a source as they were asked for: a phrase, or a message with its values filled in.

What stands between words does not count, so that a message is found that the source has in two pieces, escaped or
wrapped. A placeholder of a string literal (`%s`, `{name}`, `${name}`, `#{name}`) stands for any text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"[\"“`]([^\"”`]+)[\"”`]|(?<!\w)'([^']+)'(?!\w)")
# printf's, and a pair of braces with or without a sign before it, Swift's brackets, a shell's variable.
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-+#0-9.*]*(?:hh|ll|[hlzjtL])?[A-Za-z@]|[$#]?\{[^{}\n]*\}|\\\([^()\n]*\)|\$\w+"
)
_LITERAL = r"""(?:"{0}((?:[^"\\\n]|\\.){{6,400}})"|'{0}((?:[^'\\\n]|\\.){{6,400}})'|`{0}((?:[^`\\]|\\.){{6,400}})`)"""
_QUOTES = "\"'`"
_ESCAPED_SPACE = re.compile(r"\\[nrt]")
# Between two words of a phrase: quotes and a line's end with its indentation, not half a file.
_BETWEEN = r"[\W_]{1,40}"
# A phrase that nobody put into quotes: three words that follow one another in a string literal, four anywhere.
_FEWEST_WORDS = 3
_WORDS_ANYWHERE = 4
# How much of a query a message has to make up with the values that stand in it.
_LEAST_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class SearchLiteral:
    """What is looked for as it stands; `is_quoted` where the one who asked said so."""

    text: str
    is_quoted: bool

    @property
    def words(self) -> list[str]:
        return _WORD.findall(_PLACEHOLDER.sub(" ", self.text))


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where it stands. `closeness`: 2 the very text, 1 its words, 0 a message with other values."""

    line: int
    closeness: int


def wanted_in(query: str) -> SearchLiteral | None:
    """What a query wants as it stands: the longest part in quotes, else all of it where it has three words."""
    quoted = [first or second for first, second in _QUOTED.findall(query)]
    if quoted:
        wanted = SearchLiteral(max(quoted, key=len).strip(), is_quoted=True)
        return wanted if wanted.words else None
    wanted = SearchLiteral(query.strip(), is_quoted=False)
    return wanted if len(wanted.words) >= _FEWEST_WORDS else None


def occurrence_in(source: str, wanted: SearchLiteral) -> Occurrence | None:
    """Where a source has what is wanted: the very text before its words, these before a message that fits."""
    position = source.find(wanted.text) if wanted.is_quoted or len(wanted.words) >= _WORDS_ANYWHERE else -1
    if position >= 0:
        return Occurrence(_line(source, position), 2)
    spaced = _ESCAPED_SPACE.sub("  ", source)
    found = _phrase(spaced, wanted)
    if found is not None:
        return Occurrence(_line(source, found), 1)
    filled = next((place for place, literal in _literals(spaced, wanted) if _fits(literal, wanted)), None)
    return None if filled is None else Occurrence(_line(source, filled), 0)


def _phrase(source: str, wanted: SearchLiteral) -> int | None:
    """Where the words follow one another; of few words that nobody quoted, in a string literal."""
    is_enough = wanted.is_quoted or len(wanted.words) >= _WORDS_ANYWHERE
    lowered = source.lower()
    if not all(word.lower() in lowered for word in wanted.words):
        return None
    found = _words_pattern(tuple(wanted.words)).finditer(source)
    return next((match.start() for match in found if is_enough or _is_in_literal(source, match.start())), None)


def _is_in_literal(source: str, position: int) -> bool:
    """Whether a quote is open: of one kind, there is an odd number before it in its line."""
    before = source[source.rfind("\n", 0, position) + 1 : position]
    return any(before.count(quote) % 2 for quote in _QUOTES)


@lru_cache(maxsize=64)
def _words_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){_BETWEEN.join(map(re.escape, words))}(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=64)
def _literals_pattern(words: frozenset[str]) -> re.Pattern[str]:
    """String literals that begin with one of some words, or with a placeholder: of all, few have to be looked at."""
    begins = rf"(?=[^\w\"'`\n]{{0,4}}(?:[%{{$#\\]|(?:{'|'.join(sorted(map(re.escape, words)))})(?!\w)))"
    return re.compile(_LITERAL.format(begins), re.IGNORECASE)


def _literals(source: str, wanted: SearchLiteral) -> Iterator[tuple[int, str]]:
    """The string literals of a source that a query may have the values of, and where each begins."""
    for match in _literals_pattern(frozenset(_WORD.findall(wanted.text.lower()))).finditer(source):
        text = match[match.lastindex or 0]
        if " " in text:
            yield match.start(), text


def _fits(literal: str, wanted: SearchLiteral) -> bool:
    """Whether a message is what was asked for with values in it: all its words, in order, make up most of the query."""
    parts = [_WORD.findall(part) for part in _PLACEHOLDER.split(literal)]
    words = [word.lower() for part in parts for word in part]
    if len(words) < _FEWEST_WORDS or not {*words} <= {word.lower() for word in _WORD.findall(wanted.text)}:
        return False
    # A literal that ends with a space has its value behind it.
    goes_on = literal[-1] in " :=" or not parts[-1]
    pattern = r"[\W_]+(?:.*?[\W_])??".join(r"[\W_]+".join(map(re.escape, part)) for part in parts if part)
    match = re.search(rf"(?<!\w){pattern}(?!\w){'.*' if goes_on else ''}", wanted.text, re.IGNORECASE | re.DOTALL)
    # Three words behind others may be a sentence about them.
    if match is None or (match.start() > 0 and len(words) == _FEWEST_WORDS):
        return False
    return len(match[0]) >= _LEAST_SHARE * len(wanted.text)


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
