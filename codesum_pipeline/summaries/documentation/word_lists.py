"""Words that ship with the package as data: lists and tables in `word_lists.toml`, each with what it is for, and how
common a word is in source code at large.
"""

import gzip
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def word_set(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_lists()[name].split())


def word_table(name: str) -> dict[str, str]:
    """A table of names and their meanings."""
    return dict(_lists()[name])


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "word_lists.toml").read_text("utf-8"))


UNKNOWN_BUCKET = 9


def word_bucket(word: str) -> int:
    """k where about one source file in 2**k holds the word; an unknown one counts as rather rare."""
    return _buckets().get(word, UNKNOWN_BUCKET)


def frequent_words(*, rarest: int) -> list[str]:
    """The words that at least one source file in `2 ** rarest` holds."""
    return [word for word, bucket in _buckets().items() if bucket <= rarest]


@cache
def _buckets() -> dict[str, int]:
    table = gzip.decompress((files(__package__) / "word_frequencies.txt.gz").read_bytes()).decode()
    buckets = {}
    for line in table.splitlines():
        bucket, *words = line.split(" ")
        buckets.update(dict.fromkeys(words, int(bucket)))
    return buckets
