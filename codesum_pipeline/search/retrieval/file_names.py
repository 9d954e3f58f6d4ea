"""The files of an index by the words of their names."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.lanes.tokens import tokenize

# What languages call the file that a folder is imported by, or started with.
_STAND_FOR_THEIR_FOLDER = frozenset({"__init__", "__main__", "index", "init", "lib", "main", "mod"})

Rows = npt.NDArray[np.int64]


class FileNames(Struct, frozen=True):
    """Files by the words of their names. `places[word]` are the positions in `rows` of the files that have a word,
    `counts` the number of words that each name has."""

    rows: Rows
    counts: Rows
    places: Mapping[str, Rows]

    @classmethod
    def of(cls, paths: Iterable[tuple[int, str]]) -> "FileNames":
        """`paths` are rows and paths of files."""
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

    def rows_within(self, words: Iterable[str]) -> Rows:
        """The rows, in the order of `of`, of the files whose names consist of some of these words."""
        found = [self.places[word] for word in words if word in self.places]
        if not found:
            return self.rows[:0]
        times = np.bincount(np.concatenate(found), minlength=len(self.rows))
        named: Rows = self.rows[(times > 0) & (times == self.counts)]
        return named


def name_of_file(path: str) -> str:
    """A file's name up to the first dot; its folder's for a file that represents it, such as `router/index.ts`."""
    folder, _, file_name = path.rpartition("/")
    stem = file_name.partition(".")[0]
    return folder.rpartition("/")[2] if folder and stem in _STAND_FOR_THEIR_FOLDER else stem
