"""Files whose names say what is asked for: each word of `retry_budget.py` is a word of the query.

A file that stands for its folder is called as the folder is: `router/index.ts` is the router.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.tokens import tokenize

# What languages call the file that a folder is imported by, or started with.
_STAND_FOR_THEIR_FOLDER = frozenset({"__init__", "__main__", "index", "init", "lib", "main", "mod"})

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FileNames:
    """`places[word]` are the positions in `rows` of the files with a word in their name, `counts` how many each has."""

    rows: Rows
    counts: Rows
    places: Mapping[str, Rows]

    @classmethod
    def of(cls, paths: Iterable[tuple[int, str]]) -> "FileNames":
        """Take the names of files apart, each given as row and path."""
        rows: list[int] = []
        counts: list[int] = []
        places: dict[str, list[int]] = {}
        for row, path in paths:
            words = set(tokenize(name_of_file(path)))
            for word in words:
                places.setdefault(word, []).append(len(rows))
            rows.append(row)
            counts.append(len(words))
        return cls(
            np.array(rows, dtype=np.int64),
            np.array(counts, dtype=np.int64),
            {word: np.array(found, dtype=np.int64) for word, found in places.items()},
        )

    def within(self, words: Iterable[str]) -> Rows:
        """The rows, ascending as given, of the files whose names have some of these words and no other."""
        found = [self.places[word] for word in words if word in self.places]
        if not found:
            return self.rows[:0]
        times = np.bincount(np.concatenate(found), minlength=len(self.rows))
        named: Rows = self.rows[(times > 0) & (times == self.counts)]
        return named


def name_of_file(path: str) -> str:
    """What a file is called: its name up to the first dot, or its folder's."""
    folder, _, file_name = path.rpartition("/")
    stem = file_name.partition(".")[0]
    return folder.rpartition("/")[2] if folder and stem in _STAND_FOR_THEIR_FOLDER else stem
