"""Many texts as lines and words, with no Python string for any but the distinct words."""

import string
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from tokenizers import Tokenizer

from codesum_pipeline.indexes.file_formats.arrow_texts import byte_kinds, has_bytes, split_words, utf8_and_offsets

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


_KINDS = byte_kinds(parts=string.ascii_lowercase + string.digits, marks=string.punctuation)
_NO_PART, _LOWER, _UPPER, _DIGIT = range(4)
_PARTS = np.array(
    [
        _LOWER if byte in string.ascii_lowercase.encode() else
        _UPPER if byte in string.ascii_uppercase.encode() else
        _DIGIT if byte in string.digits.encode() else _NO_PART
        for byte in range(256)
    ],
    dtype=np.uint8,
)  # fmt: skip
# White space within a line is never part of a word.
_IS_UNPRINTABLE = np.isin(np.arange(256), [*range(ord(" "), ord("~") + 1), *b"\t\r"], invert=True)


def split_texts(
    texts: Sequence[str], *, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[Lists, list[str], Lists]:
    """The texts as positions of distinct lines; the distinct words; the distinct lines as positions of words. Lines of
    printable ASCII without `special` strings are cut into the parts of identifiers and marks, in lower case; the others
    are given to `words_of_line`."""
    split = pc.split_pattern(_strings(texts), "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy().astype(np.int64)
    words, found = _split_lines(lines.dictionary, special, words_of_line)
    return Lists(lines.indices.to_numpy().astype(np.int64), lengths), words, found


def _strings(texts: Sequence[str]) -> pa.LargeStringArray:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array(map(make_encodable, texts), pa.large_string())


def _split_lines(
    lines: pa.LargeStringArray, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[list[str], Lists]:
    is_other = has_bytes(lines, _IS_UNPRINTABLE)
    for text in special:
        is_other |= pc.match_substring(lines, text).to_numpy(zero_copy_only=False)
    plain = split_words(pc.ascii_lower(_with_cut_identifiers(lines)), _KINDS, leave_out=is_other)
    numbers = {word: number for number, word in enumerate(plain.vocabulary.to_pylist())}
    others = np.flatnonzero(is_other)
    named = map(words_of_line, lines.take(pa.array(others)).to_pylist())
    added = Lists.of([[numbers.setdefault(word, len(numbers)) for word in words] for words in named])
    starts = np.cumsum(plain.lengths) - plain.lengths
    all_numbers = np.insert(plain.numbers, np.repeat(starts[others], added.lengths), added.numbers)
    lengths = plain.lengths.copy()
    lengths[others] = added.lengths
    return list(numbers), Lists(all_numbers, lengths)


def _with_cut_identifiers(lines: pa.LargeStringArray) -> pa.LargeStringArray:
    """The lines with a space wherever an identifier's next part begins: between a lower-case letter and a capital,
    before the last capital of several with a lower-case letter behind it, and between letters and digits."""
    content, offsets = utf8_and_offsets(lines)
    parts = _PARTS[content]
    before, behind = np.roll(parts, 1), np.roll(parts, -1)
    begins, ends = offsets[:-1][np.diff(offsets) > 0], offsets[1:][np.diff(offsets) > 0]
    before[begins], behind[ends - 1] = _NO_PART, _NO_PART
    is_digit = parts == _DIGIT
    cut = (parts != _NO_PART) & (before != _NO_PART) & (is_digit != (before == _DIGIT))
    is_upper = parts == _UPPER
    cut |= is_upper & ((before == _LOWER) | ((before == _UPPER) & (behind == _LOWER)))
    places = np.flatnonzero(cut)
    spaced = np.insert(content, places, ord(" "))
    moved = offsets + np.searchsorted(places, offsets)
    return pa.LargeStringArray.from_buffers(len(lines), pa.py_buffer(moved), pa.py_buffer(spaced))
