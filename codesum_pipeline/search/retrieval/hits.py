"""What a search answers with: hits, the lines of a source that fit a query best, and hits for literal text.

An excerpt counts words as the index does, so it agrees with the rank: a line is worth the query's words in it, each
once, and rare words more. An index holds no sources; the caller reads the file at the commit of the index.

An index knows which words a passage has, not their order. So for an error message, a string literal or a sentence, the
files whose passages have most of the words are read. The text between words does not count, so that a message is
found even if the source has it in two pieces, escaped or wrapped. A placeholder of a string literal (`%s`, `{name}`,
`${name}`, `#{name}`) matches any text.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level, is_long
from codesum_pipeline.foundation.language_facts.writing_systems import count_words, sets_no_blanks, words_of
from codesum_pipeline.indexes.file_formats.highest_scores import highest_above_zero
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.retrieval.innermost import find_innermost
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.shelf import Mask, Shelf
from codesum_pipeline.search.retrieval.weights import IN_FILES, Numbers, Signal

# Digits of a shown score.
DIGITS = 6
_ORDER = {signal: place for place, signal in enumerate(Signal)}


class Hit(Struct, frozen=True):
    """A document that a search found. `why` names its ranks; files and modules have no lines. `line` is where it has
    the query's literal text. In a notebook, the first line is line `cell_line` of `cell`."""

    id: str
    type: str
    repo: str
    file_path: str
    start_line: int | None
    end_line: int | None
    qualified_name: str | None
    score: float
    summary: str
    signature_summary: str | None
    why: str
    line: int | None = None
    cell: int | None = None
    cell_line: int | None = None

    @property
    def may_be_long(self) -> bool:
        """Whether it is a long function, or a file, of whose length nothing is known."""
        return self.type == Level.FILE or (self.type == Level.FUNCTION and is_long(self.start_line, self.end_line))


def make_hit(found: IndexedDocument, *, score: float, why: str, line: int | None = None) -> Hit:
    return Hit(
        id=found.id,
        type=found.level.value,
        repo=found.repo,
        file_path=found.path,
        score=round(score, DIGITS),
        why=why,
        line=line,
        **found.shown(),
    )


class HitPlace(Struct, frozen=True):
    """A hit that has a place of its own in a list, `at` its rank, and later ones of its file that have none."""

    hit: Hit
    at: int
    others: list[Hit]


def share_places(hits: Sequence[Hit], count: int, *, most_of_file: int) -> tuple[list[HitPlace], int]:
    """The hits in at most `count` places, of which a file has at most `most_of_file`, and how many hits these are. If
    other files do not fill the places, each hit has its own."""
    places: list[HitPlace] = []
    of_file: dict[tuple[str, str], list[HitPlace]] = {}
    for at, hit in enumerate(hits):
        own = of_file.setdefault((hit.repo, hit.file_path), [])
        if len(own) == most_of_file and hit.type != Level.MODULE:
            own[-1].others.append(hit)
        elif len(places) == count:
            return places, at
        else:
            own.append(HitPlace(hit, at, []))
            places.append(own[-1])
    if len(places) == count:
        return places, len(hits)
    return [HitPlace(hit, at, []) for at, hit in enumerate(hits[:count])], min(count, len(hits))


def explain_ranks(ranks: Mapping[Signal, int], notes: Sequence[str]) -> str:
    """The ranks, best first, then other reasons: `summary #1, code words #3; test code`. A file without a rank of its
    own was found by the documents and passages in it."""
    best_first = sorted(ranks.items(), key=lambda item: (item[1], _ORDER[item[0]]))
    ranked = ", ".join(f"{signal} #{rank}" for signal, rank in best_first)
    return "; ".join([ranked or "its content", *notes])


# A line beyond this is data; its beginning shows what kind.
_LONGEST_LINE = 400


class Excerpt(Struct, frozen=True):
    """Lines that follow one another, the first of which is `start_line`; very long ones are cut with `…`."""

    start_line: int
    lines: tuple[str, ...]


def best_lines(
    source: str, query: str, *, size: int, start_line: int | None = None, end_line: int | None = None
) -> Excerpt:
    """At most `size` lines of a source, or of its lines from `start_line` to `end_line`, that fit a query best. Among
    windows with the same words of the query, the one that has them most often wins, then the first one. Without any
    word of the query, the excerpt is the beginning."""
    lines = source.removesuffix("\n").split("\n")
    first = (start_line or 1) - 1
    span = lines[first : end_line or len(lines)]
    start = first + _best_start(span, frozenset(tokenize(query)), size)
    return Excerpt(start + 1, tuple(map(_cut, lines[start : min(start + size, first + len(span))])))


def _best_start(lines: Sequence[str], words: frozenset[str], size: int) -> int:
    """Where the best window begins; its words are in its middle as far as there is room."""
    found = [(place, has) for place, line in enumerate(lines) if (has := words.intersection(tokenize(line)))]
    if not found:
        return 0
    frequency = Counter(word for _, has in found for word in has)
    worth = {word: math.log1p(len(lines) / frequency[word]) for word in frequency}
    best, place, last = (-1.0, -1.0), 0, 0
    for position, (begin, _) in enumerate(found):
        inside = [(other, has) for other, has in found[position : position + size] if other < begin + size]
        often = Counter(word for _, has in inside for word in has)
        fit = (math.fsum(worth[word] for word in often), math.fsum(worth[word] * often[word] for word in often))
        if fit > best:
            best, place, last = fit, begin, inside[-1][0]
    room = size - (last - place + 1)
    return max(0, min(place - room // 2, len(lines) - size))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


_WORD = re.compile(r"\w+")
# What only code is spelled like: a flag, a call, `a::b`, snake_case and camelCase. A capital at the start may be a
# product's.
_CODE_WORD = re.compile(
    r"(?<![\w-])--[A-Za-z][\w-]+|(?<![\w$.-])(?:[A-Za-z_$][\w$]*(?:\.|::|->)){0,20}+(?:[A-Za-z_$][\w$]*\(\)"
    r"|_*[A-Za-z0-9]+_\w+|[a-z][a-z0-9]*[A-Z]\w*)|(?<![\w$.-])[A-Za-z_]\w*(?:(?:::|->)[A-Za-z_]\w*){1,20}+"
)
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
# A phrase without quotes: three words that follow one another in a string literal, four anywhere.
_FEWEST_WORDS = 3
_WORDS_ANYWHERE = 4
# Of a longer phrase the first words decide where it is, and no message with its values is longer.
MOST_WORDS = 60
LONGEST_MESSAGE = 2000
# How much of a query a message has to make up with the values that it contains.
_LEAST_SHARE = 0.6


class SearchLiteral(Struct, frozen=True):
    """A text that is looked for literally; `is_quoted` where the query has it in quotes, or marks it as code."""

    text: str
    is_quoted: bool

    @property
    def words(self) -> list[str]:
        return _WORD.findall(_PLACEHOLDER.sub(" ", self.text))

    @property
    def word_count(self) -> int:
        """How many words it says, in any script."""
        return count_words(words_of(_PLACEHOLDER.sub(" ", self.text)))


class Occurrence(Struct, frozen=True):
    """The place of a literal. `closeness`: 2 the exact text, 1 its words, 0 a message with other values."""

    line: int
    closeness: int


def literal_of(query: str) -> SearchLiteral | None:
    """The literal of a query: its longest part in quotes, else all of it where it has three words."""
    quoted = [first or second for first, second in _QUOTED.findall(query)]
    if quoted:
        wanted = SearchLiteral(max(quoted, key=len).strip(), is_quoted=True)
        return wanted if wanted.words else None
    wanted = SearchLiteral(query.strip(), is_quoted=False)
    return wanted if wanted.word_count >= _FEWEST_WORDS else None


def literals_of(query: str) -> list[SearchLiteral]:
    """The literal of a query, and where that is in quotes all of it: a message may quote its values."""
    first = literal_of(query)
    whole = SearchLiteral(query.strip(), is_quoted=False)
    others = [whole] if first is not None and first.is_quoted and whole.word_count >= _FEWEST_WORDS else []
    return [*([first] if first else []), *others]


def code_word_of(query: str) -> SearchLiteral | None:
    """The longest word of a query without quotes that only code is spelled like: `max_tries`, `readAll`, `load()`,
    `std::move`, `--dry-run`. Of a call any arguments will do."""
    words = [] if _QUOTED.search(query) else [match[0].removesuffix(")") for match in _CODE_WORD.finditer(query)]
    return SearchLiteral(max(words, key=len), is_quoted=True) if words else None


def occurrence_in(source: str, wanted: SearchLiteral) -> Occurrence | None:
    """Where a source has a literal: the very text before its words, these before a message that fits."""
    is_enough = wanted.is_quoted or wanted.word_count >= _WORDS_ANYWHERE
    position = source.find(wanted.text) if is_enough else -1
    if position >= 0:
        return Occurrence(source.count("\n", 0, position) + 1, 2)
    spaced = _ESCAPED_SPACE.sub("  ", source)
    found = _phrase(spaced, wanted)
    if found is not None:
        return Occurrence(source.count("\n", 0, found) + 1, 1)
    literals = _literals(spaced, wanted) if len(wanted.text) <= LONGEST_MESSAGE else ()
    filled = next((place for place, literal in literals if _fits(literal, wanted)), None)
    return None if filled is None else Occurrence(source.count("\n", 0, filled) + 1, 0)


def _phrase(source: str, wanted: SearchLiteral) -> int | None:
    """Where the words follow one another; of few words that nobody quoted, in a string literal."""
    is_enough = wanted.is_quoted or wanted.word_count >= _WORDS_ANYWHERE
    lowered, words = source.lower(), wanted.words[:MOST_WORDS]
    if not all(word.lower() in lowered for word in words):
        return None
    found = _words_pattern(tuple(words)).finditer(source)
    return next((match.start() for match in found if is_enough or _is_in_literal(source, match.start())), None)


def _is_in_literal(source: str, position: int) -> bool:
    """Whether a quote is open: of one kind, there is an odd number before it in its line."""
    before = source[source.rfind("\n", 0, position) + 1 : position]
    return any(before.count(quote) % 2 for quote in _QUOTES)


@lru_cache(maxsize=64)
def _words_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # Where no blanks are between words, a phrase begins and ends within a run of letters.
    before = "" if sets_no_blanks(words[0][0]) else r"(?<!\w)"
    behind = "" if sets_no_blanks(words[-1][-1]) else r"(?!\w)"
    return re.compile(rf"{before}{_BETWEEN.join(map(re.escape, words))}{behind}", re.IGNORECASE)


@lru_cache(maxsize=64)
def _literals_pattern(words: frozenset[str]) -> re.Pattern[str]:
    """String literals that begin with one of some words, or with a placeholder."""
    begins = rf"(?=[^\w\"'`\n]{{0,4}}(?:[%{{$#\\]|(?:{'|'.join(sorted(map(re.escape, words)))})(?!\w)))"
    return re.compile(_LITERAL.format(begins), re.IGNORECASE)


def _literals(source: str, wanted: SearchLiteral) -> Iterator[tuple[int, str]]:
    """The string literals that the query may be a filled-in form of, and where each begins."""
    for match in _literals_pattern(frozenset(_WORD.findall(wanted.text.lower()))).finditer(source):
        text = match[match.lastindex or 0]
        if " " in text:
            yield match.start(), text


def _fits(literal: str, wanted: SearchLiteral) -> bool:
    """Whether a query is a message with its values filled in: the message's words, in order, make up most of it."""
    parts = [_WORD.findall(part) for part in _PLACEHOLDER.split(literal)]
    words = [word.lower() for part in parts for word in part]
    if len(words) < _FEWEST_WORDS or not {*words} <= {word.lower() for word in _WORD.findall(wanted.text)}:
        return False
    # A literal that ends with a space has its value behind it.
    goes_on = literal[-1] in " :=" or not parts[-1]
    first, *others = (r"[\W_]+".join(map(re.escape, part)) for part in parts if part)
    # Each part where it comes first: what follows may begin anywhere behind it, so no other place is tried.
    behind = "".join(rf"(?=[\W_]))(?>[\W_](?:.*?[\W_])??{part}" for part in others)
    pattern = rf"(?>.*?(?<!\w)(?P<fitting>){first}{behind}(?!\w)){'.*' if goes_on else ''}"
    match = re.match(pattern, wanted.text, re.IGNORECASE | re.DOTALL)
    # Three words behind others may be a sentence about them.
    if match is None or (match.start("fitting") > 0 and len(words) == _FEWEST_WORDS):
        return False
    return match.end() - match.start("fitting") >= _LEAST_SHARE * len(wanted.text)


# The texts of files of an index, by path, as far as they can be read.
ReadTexts = Callable[[PublishedIndex, Sequence[str]], Mapping[str, str]]

# How many files of an index are read, and of how many indexes.
_FILES_READ = 8
_INDEXES_READ = 4
# The least number of words of a text without quotes that one passage must have.
_FEWEST_TOKENS = 2
# A text without quotes that more files have is no message but usual words: it gives no exact hit.
_MOST_FILES = 5
_NOTES = ("a message that fits, with other values", "the exact words", "the exact text")


def exact_hits(
    shelf: Shelf, wanted: SearchLiteral | None, *, levels: Sequence[Level], read: ReadTexts, above: float, top: int
) -> list[Hit]:
    """The documents whose source has a query's literal, closest first; scores are higher than `above`."""
    inside = [level for level in levels if level in IN_FILES]
    if wanted is None or not inside:
        return []
    places = list(_places(shelf, wanted, inside, read))
    if len(places) > _MOST_FILES and not wanted.is_quoted:
        return []
    best = sorted(places, key=lambda pair: (-pair[1].closeness, bool(pair[0].index.arrays["is_test"][pair[0].row])))
    count = min(len(best), top)
    return [
        make_hit(
            document,
            score=above + (count - rank) / count,
            why=f"{_NOTES[found.closeness]} in line {found.line}",
            line=found.line,
        )
        for rank, (document, found) in enumerate(best[:count])
    ]


def hit_with_text(hit: Hit, wanted: SearchLiteral, source: str) -> Hit:
    """A ranked hit, with the line where its own source has a literal, if it has."""
    lines = source.split("\n")
    first, last = (1, len(lines)) if hit.start_line is None else (hit.start_line, hit.end_line)
    for number, line in enumerate(lines[first - 1 : last], start=first):
        if hit.type != Level.MODULE and wanted.text in line:
            return replace(hit, why=f"{_NOTES[2]} in line {number}; {hit.why}", line=number)
    return hit


def _places(
    shelf: Shelf, wanted: SearchLiteral, levels: Sequence[Level], read: ReadTexts
) -> Iterator[tuple[IndexedDocument, Occurrence]]:
    """The files that have a literal, each by the document in it that is shown."""
    tokens = list(dict.fromkeys(tokenize(wanted.text)))
    worth = [_worth_reading(index, tokens, shelf.allowed[place]) for place, index in enumerate(shelf.indexes)]
    least = len(tokens) if wanted.is_quoted else min(_FEWEST_TOKENS, len(tokens))
    best = sorted((-most, place) for place, (most, _) in enumerate(worth) if most >= max(1, least))
    for _, place in best[:_INDEXES_READ]:
        index, rows = shelf.indexes[place], worth[place][1]
        texts = read(index, [index.ids[row] for row in rows])
        for row in rows:
            found = occurrence_in(texts.get(index.ids[row], ""), wanted)
            shown = None if found is None else _shown(index, row, found.line, levels)
            if found is not None and shown is not None:
                yield IndexedDocument(index, shown), found


def _worth_reading(index: PublishedIndex, tokens: Sequence[str], allowed: Mask | None) -> tuple[int, list[int]]:
    """The number of words that the best passage has, and the files with most words, then those that score best."""
    passages, words = index.passage_files, index.words[Lane.CODE]
    has, scores = words.counts(tokens)[len(index) :], words.score(tokens)[len(index) :]
    if allowed is not None:
        has, scores = np.where(allowed[passages], has, 0), np.where(allowed[passages], scores, 0)
    most = int(has.max(initial=0))
    if not most:
        return 0, []
    by_words = _best(has + scores / (1 + scores.max()), passages)
    return most, list(dict.fromkeys([*by_words, *_best(scores, passages)]))


def _best(scores: npt.NDArray[np.floating], passages: Numbers) -> list[int]:
    some = highest_above_zero(scores, 4 * _FILES_READ)
    order = some[np.argsort(-scores[some], kind="stable")]
    return list(dict.fromkeys(passages[order].tolist()))[:_FILES_READ]


def _shown(index: PublishedIndex, file: int, line: int, levels: Sequence[Level]) -> int | None:
    inside = find_innermost(index, file, line, levels)
    return file if inside is None and Level.FILE in levels else inside
