"""What is asked of a model's own tokenizer: the tokens of texts, and where to cut a text; and lists of such numbers in
two arrays, so that sums over many short lists need no loop in Python."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from tokenizers import Tokenizer

# An array of int32 or float64.
Rows = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# Rows summed at one time: their sums stay in a core's cache.
_BLOCK_ROWS = 256


class Lists(Struct, frozen=True):
    """Lists of numbers, one behind the other."""

    numbers: Integers
    lengths: Integers

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Lists":
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        return cls(np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum())), lengths)

    def take(self, positions: Sequence[int] | Integers) -> "Lists":
        lengths = self.lengths[positions]
        firsts = np.repeat(self.starts[positions] - (np.cumsum(lengths) - lengths), lengths)
        return Lists(self.numbers[firsts + np.arange(len(firsts))], lengths)

    def joined(self, lists: "Lists") -> "Lists":
        """For each list what the lists that it names hold, one behind the other."""
        return Lists(lists.take(self.numbers).numbers, self.totals(lists.lengths))

    def firsts(self, limit: int) -> "Lists":
        places = np.arange(len(self.numbers)) - np.repeat(self.starts, self.lengths)
        return Lists(self.numbers[places < limit], np.minimum(self.lengths, limit))

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
        """The sum of the rows that each list names, in their type: the first ones of all lists are added, then the
        second ones."""
        sums = np.zeros((len(self.lengths), rows.shape[1]), dtype=rows.dtype)
        longest_first, starts = np.argsort(-self.lengths, kind="stable"), self.starts
        for first in range(0, len(sums), _BLOCK_ROWS):
            lists = longest_first[first : first + _BLOCK_ROWS]
            block = np.zeros((len(lists), rows.shape[1]), dtype=rows.dtype)
            places = np.arange(self.lengths[lists[0]])
            lists_longer_than = np.searchsorted(-self.lengths[lists], -places, side="left")
            for place, long in enumerate(lists_longer_than.tolist()):
                block[:long] += rows.take(self.numbers[starts[lists[:long]] + place], axis=0)
            sums[lists] = block
        return sums


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without those that a model adds around it."""
    encodable_texts = [make_encodable(text) for text in texts]
    encodings = tokenizer.encode_batch_fast(encodable_texts, add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


def cut_to_tokens(tokenizer: Tokenizer, text: str, max_tokens: int) -> str:
    """The longest prefix that ends at a token boundary and has at most `max_tokens` tokens."""
    encoding = tokenizer.encode(make_encodable(text), add_special_tokens=False)
    if len(encoding) <= max_tokens:
        return text
    offsets = encoding.offsets
    kept = max_tokens
    # One character can be several tokens (a Hangul syllable is two or three) and is kept or dropped whole.
    while kept > 0 and offsets[kept - 1][1] > offsets[kept][0]:
        kept -= 1
    return text[: offsets[kept - 1][1]] if kept > 0 else ""


def make_encodable(text: str) -> str:
    """Replace lone surrogates, which file names that are not UTF-8 carry and a tokenizer refuses. Each becomes one
    character, so that offsets stay valid."""
    return text if text.isascii() else text.encode("utf-8", errors="replace").decode("utf-8")
