"""Vectors that were computed in a build that may not end.

A slow model's vectors are kept as they are made, and given back to the next
build of the same repository, which holds the lease as this one does. What they
are known by is what carrying over looks at: the model and the hash of the text.
The file goes when the table `vectors` is written.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.store.refusals import writing


class FinishedVectors:
    """The file of one repository."""

    def __init__(self, connection: sqlite3.Connection, model_id: str) -> None:
        self._connection = connection
        self._model_id = model_id

    def find(self, text_hashes: Iterable[str]) -> dict[str, Vectors]:
        """The vectors that an interrupted build left for these texts."""
        rows = self._connection.execute("SELECT text_hash, vector FROM finished WHERE model = ?", (self._model_id,))
        wanted = set(text_hashes)
        return {text_hash: np.frombuffer(data, dtype="<f4") for text_hash, data in rows if text_hash in wanted}

    def keep(self, text_hashes: Sequence[str], vectors: Vectors) -> None:
        """Write down one batch, whole or not at all."""
        rows = [
            (self._model_id, text_hash, vector.astype("<f4").tobytes())
            for text_hash, vector in zip(text_hashes, vectors, strict=True)
        ]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?, ?)", rows)


@contextmanager
def finished_vectors(path: Path, model_id: str) -> Iterator[FinishedVectors]:
    """The open file; one that cannot be read is begun anew."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = _open(path)
        except sqlite3.DatabaseError:
            discard(path)
            connection = _open(path)
        with closing(connection):
            yield FinishedVectors(connection, model_id)


def discard(path: Path) -> None:
    """Forget what is kept."""
    for file in (path, path.with_name(f"{path.name}-journal")):
        file.unlink(missing_ok=True)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS finished "
            "(model TEXT, text_hash TEXT, vector BLOB, PRIMARY KEY (model, text_hash))"
        )
        connection.execute("SELECT count(*), sum(length(vector)) FROM finished").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
