"""Passages become bags of tokens: what is asked, and what should be found."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from benchmarks.static_embedder.pairs import Passage

Integers = npt.NDArray[np.int64]

# The parts of identifiers and the words of prose; marks say nothing that a sum could keep.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PATH_WORDS, _NAME_WORDS, _TOPIC_WORDS, _REST_WORDS, _CODE_WORDS, _FIRST_CODE_WORDS = 5, 12, 40, 60, 90, 20
_FEWEST_WORDS_OF_REST = 6
# How questions begin and end around what they ask for; a third of the queries gets one, so that such words weigh
# little.
_FORMS = (
    "how does {} work", "how {} works", "where is {} implemented", "where is {} handled", "how is {} handled",
    "what does {} do", "{} implementation", "find the code that {}", "how to {}", "{} function", "{} class",
    "{} logic", "which class {}", "{} method", "where does {} happen",
)  # fmt: skip
_FORMS_OF_3 = 3


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as lists of numbers, one behind the other; a text is any stretch."""

    numbers: Integers
    starts: Integers
    ends: Integers

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Integers) -> tuple[Integers, Integers]:
        """The numbers of some texts, one behind the other, and the number of each text's."""
        lengths = self.ends[rows] - self.starts[rows]
        firsts = np.repeat(self.starts[rows] - (np.cumsum(lengths) - lengths), lengths)
        return self.numbers[firsts + np.arange(len(firsts))], lengths

    def replaced(self, lists: Sequence[Sequence[int]]) -> "Bags":
        """The same texts with each number replaced by a list of others."""
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        flat = np.fromiter((number for those in lists for number in those), dtype=np.int64, count=int(lengths.sum()))
        of_lists = Bags(flat, np.cumsum(lengths) - lengths, np.cumsum(lengths))
        numbers, new_lengths = of_lists.take(self.numbers)
        places = np.concatenate(([0], np.cumsum(new_lengths)))
        return Bags(numbers, places[self.starts], places[self.ends])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Query k asks for document k; `groups` says from which package. The numbers of the bags are those of `words`."""

    queries: Bags
    documents: Bags
    groups: Integers
    words: tuple[str, ...]


def pairs_of(packages: Iterable[Sequence[Passage]]) -> Pairs:
    """Each passage as one or two pairs."""
    builder = _Builder()
    for group, passages in enumerate(packages):
        for passage in passages:
            builder.add(passage, group)
    return builder.pairs()


class _Builder:
    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._forms = [self._words(form.replace("{}", " "), 9) for form in _FORMS]
        self._queries: list[list[int]] = []
        self._documents: list[list[int]] = []
        self._groups: list[int] = []

    def add(self, passage: Passage, group: int) -> None:
        topic, rest = self._words(passage.topic, _TOPIC_WORDS), self._words(passage.rest, _REST_WORDS)
        if not passage.code:
            self._add_pair(topic, rest, group, passage)
            return
        path = self._words(passage.path.rpartition(".")[0][-60:], 20)[-_PATH_WORDS:]
        name, code = self._words(passage.name, _NAME_WORDS), self._words(passage.code, _CODE_WORDS)
        self._add_pair(topic, path + name + code, group, passage)
        if len(rest) >= _FEWEST_WORDS_OF_REST:
            self._add_pair(topic, path + name + rest, group, passage)
        elif name and _drawn_number(passage) % 2:
            self._add_pair(topic, path + name + code[:_FIRST_CODE_WORDS], group, passage)
        elif len(name) > 1 and len(code) > len(name) + 8:
            known = set(name)
            self._add_pair(name, [word for word in code if word not in known], group, passage)

    def pairs(self) -> Pairs:
        return Pairs(
            _make_bags(self._queries),
            _make_bags(self._documents),
            np.array(self._groups, dtype=np.int64),
            tuple(self._numbers),
        )

    def _add_pair(self, query: list[int], document: list[int], group: int, passage: Passage) -> None:
        number = _drawn_number(passage)
        if number % _FORMS_OF_3 == 0:
            query = query + self._forms[number // _FORMS_OF_3 % len(_FORMS)]
        self._queries.append(query)
        self._documents.append(document)
        self._groups.append(group)

    def _words(self, text: str, most: int) -> list[int]:
        return [self._numbers[word.lower()] for word in _WORD.findall(text)[:most]]


def _drawn_number(passage: Passage) -> int:
    """A number that looks drawn and is always the same."""
    return int.from_bytes(hashlib.sha256(passage.topic.encode()).digest()[:4])


def _make_bags(lists: Sequence[Sequence[int]]) -> Bags:
    ends = np.cumsum(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
    numbers = np.fromiter((number for those in lists for number in those), dtype=np.int64, count=int(ends[-1]))
    return Bags(numbers, np.concatenate(([0], ends[:-1])), ends)
