"""The sum of a text's token vectors, without giving the text to its tokenizer.

A tokenizer of BERT's kind cleans and lower-cases character by character, cuts at white space and around every
punctuation mark, and looks up what is left, one word after the other. So a text has the tokens of its words in a
row, and only words that were not seen before need the tokenizer: code has few (networkx: 10,244 in 87,000 distinct
lines). The sum over a text is in the same way the sum over its lines, most of which stand in several texts: in a
function's code, in its fused text, and in those of its class and file. The order of the additions is another than
in the text, which the caller's numbers must stand: they do where float64 holds every sum exactly.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from codesum_pipeline.indexes.embedders.cutting import token_ids

Rows = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Bounds a process that lives long.
_CACHE_SIZE = 1 << 17
# Rows summed at one time: their sums stay in a core's cache.
_BLOCK_ROWS = 256

_WORD = re.compile(r"[a-z0-9]+|[^ a-z0-9]")
_SPACE = re.compile(r"[ \t\r]")


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of numbers, one behind the other."""

    numbers: Integers
    lengths: Integers

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Lists":
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        return cls(np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum())), lengths)

    @property
    def starts(self) -> Integers:
        starts: Integers = np.cumsum(self.lengths) - self.lengths
        return starts

    def totals(self, values: Integers) -> Integers:
        """The sum of the values that each list names."""
        running = np.concatenate(([0], np.cumsum(values[self.numbers])))
        totals: Integers = running[self.starts + self.lengths] - running[self.starts]
        return totals

    def sums(self, rows: Rows) -> Rows:
        """The sum of the rows that each list names: the first ones of all lists are added, then the second ones."""
        sums = np.zeros((len(self.lengths), rows.shape[1]))
        longest_first, starts = np.argsort(-self.lengths, kind="stable"), self.starts
        for first in range(0, len(sums), _BLOCK_ROWS):
            lists = longest_first[first : first + _BLOCK_ROWS]
            block = np.zeros((len(lists), rows.shape[1]))
            places = np.arange(self.lengths[lists[0]])
            lists_longer_than = np.searchsorted(-self.lengths[lists], -places, side="left")
            for place, long in enumerate(lists_longer_than.tolist()):
                block[:long] += rows.take(self.numbers[starts[lists[:long]] + place], axis=0)
            sums[lists] = block
        return sums


@dataclass(frozen=True, slots=True)
class _Words:
    """Texts as lines, distinct lines as words, distinct words as token ids."""

    lines_of_text: Lists
    words_of_line: Lists
    ids_of_word: list[list[int]]

    def token_counts(self) -> Integers:
        """The number of tokens of each text."""
        tokens_of_word = np.fromiter(map(len, self.ids_of_word), dtype=np.int64, count=len(self.ids_of_word))
        return self.lines_of_text.totals(self.words_of_line.totals(tokens_of_word))


class TokenSums:
    """Counts and sums the tokens of texts; `tokens[i]` times `scales[i]` is the vector of token i."""

    def __init__(self, tokenizer: Tokenizer, tokens: npt.NDArray[np.int8], scales: Rows) -> None:
        self._tokenizer = tokenizer
        self._tokens = tokens
        self._scales = scales
        self._unknown_id: int | None = tokenizer.token_to_id("[UNK]")
        # Found in a text as they stand, before it is cut into words.
        special = [re.escape(token.content) for token in tokenizer.get_added_tokens_decoder().values()]
        self._special = re.compile("|".join(special) or r"(?!)")
        self._ids: dict[str, list[int]] = {}

    def count(self, texts: Sequence[str]) -> list[int]:
        """The length of each text in tokens, unknown ones included."""
        counts: list[int] = self._read(texts).token_counts().tolist()
        return counts

    def sums(self, texts: Sequence[str], *, max_tokens: int) -> Rows:
        """One row per text: the sum over its first `max_tokens` tokens, unknown ones left out."""
        words = self._read(texts)
        word_rows = self._sums_of_tokens(words.ids_of_word)
        rows = words.lines_of_text.sums(words.words_of_line.sums(word_rows))
        too_long = np.flatnonzero(words.token_counts() > max_tokens)
        rows[too_long] = self._sums_of_tokens([self._first_tokens(texts[row], max_tokens) for row in too_long.tolist()])
        return rows

    def _read(self, texts: Sequence[str]) -> _Words:
        lines, lines_of_text = _numbered(text.split("\n") for text in texts)
        words, words_of_line = _numbered(map(self._words_of_line, lines))
        return _Words(lines_of_text, words_of_line, self._token_ids(words))

    def _words_of_line(self, line: str) -> list[str]:
        """What can be tokenised apart, in order: words and marks where a part is plain, else what stands between
        white space."""
        if self._is_plain(line):
            return _WORD.findall(line.lower())
        parts = (_WORD.findall(part.lower()) if self._is_plain(part) else [part] for part in _SPACE.split(line))
        return [*chain.from_iterable(parts)]

    def _is_plain(self, text: str) -> bool:
        """True for printable ASCII, which no cleaning changes, without special tokens."""
        return text.isascii() and text.isprintable() and ("[" not in text or not self._special.search(text))

    def _token_ids(self, words: Sequence[str]) -> list[list[int]]:
        known = self._ids
        missing = [word for word in words if word not in known]
        if len(known) + len(missing) > _CACHE_SIZE:
            known.clear()
            missing = list(words)
        known.update(zip(missing, token_ids(self._tokenizer, missing), strict=True))
        return [known[word] for word in words]

    def _first_tokens(self, text: str, max_tokens: int) -> list[int]:
        words = [word for line in text.split("\n") for word in self._words_of_line(line)]
        return [*chain.from_iterable(self._token_ids(words))][:max_tokens]

    def _sums_of_tokens(self, ids: Sequence[Sequence[int]]) -> Rows:
        lists = Lists.of([[token for token in tokens if token != self._unknown_id] for tokens in ids])
        used, numbers = np.unique(lists.numbers, return_inverse=True)
        return Lists(numbers, lists.lengths).sums(self._tokens[used] * self._scales[used, np.newaxis])


def _numbered(lists: Iterable[Sequence[str]]) -> tuple[list[str], Lists]:
    """The distinct strings of all lists, and the lists as their positions."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    numbered = [[numbers[string] for string in strings] for strings in lists]
    return list(numbers), Lists.of(numbered)
