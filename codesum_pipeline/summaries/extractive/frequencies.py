"""How common a word is in source code at large, by a table that ships with the package."""

import gzip
from functools import cache
from importlib.resources import files

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
