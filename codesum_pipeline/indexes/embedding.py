"""Texts become vectors, some at a time. The vectors of a slow or paid model are written down as they are made.

They are given back to the next build of the repository, which holds the lease as this one does. They are known by the
model and the hash of the text, and the file goes when the table `vectors` is written.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder, Vectors
from codesum_pipeline.indexes.lane_texts import LaneText
from codesum_pipeline.model.errors import UnusableVectors
from codesum_pipeline.model.guard import FailureGuard, in_halves
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.workspace import Workspace


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
    """The open file; an unreadable one is replaced by an empty one."""
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
    """Delete the kept vectors."""
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


# Texts of a fast model that are held at one time: bounds the memory.
_AT_ONCE = 1 << 13
# What a single character can become in a normal form of Unicode (U+FDFA).
_LONGEST_FORM = 18
# A text that every model accepts.
_PLAIN_TEXT = "text"

# Vectors, and the places of their texts.
Embedded = tuple[npt.NDArray[np.int64], Vectors]


def embed_texts(
    ws: Workspace,
    embedder: Embedder,
    texts: Iterator[LaneText],
    count: int,
    *,
    max_tokens: int,
    guard: FailureGuard,
    progress: Progress,
) -> tuple[Iterable[Embedded], int]:
    """The vectors of `count` texts, and how many of them an interrupted build had left.

    A text that the model cannot take has no vector: `guard` gets it as a failure, under its hash.
    """
    if ws.force or embedder.save_every is None:
        discard(ws.layout.finished_vectors(ws.key))
    if not count:
        return (), 0
    asking = _EmbeddingRequests(embedder, max_tokens, guard, progress)
    if embedder.save_every is None:
        return _embed_as_read(asking, texts, count), 0
    return _embed_and_keep(ws.layout.finished_vectors(ws.key), asking, [*texts])


def cost_usd(embedder: Embedder, tokens: int) -> float | None:
    """The provider's price for tokens; None where it is not known. No tokens cost nothing."""
    if not tokens:
        return 0.0
    return None if embedder.usd_per_token is None else tokens * embedder.usd_per_token


class _EmbeddingRequests(Struct, frozen=True):
    embedder: Embedder
    max_tokens: int
    guard: FailureGuard
    progress: Progress

    def cut(self, texts: Sequence[LaneText]) -> dict[int, str]:
        """Each text as it is embedded, by its place; none that cannot be cut."""
        places = range(len(texts))
        cut: dict[int, str] = {}
        for some, found in in_halves(places, lambda some: self._cut(texts, some), guard=self.guard, name=_hash(texts)):
            cut.update(zip(some, found, strict=True))
        return cut

    def embed(
        self, texts: Sequence[LaneText], cut: Mapping[int, str], order: Sequence[int], tell: "_Tell"
    ) -> Iterator[tuple[Sequence[int], Vectors]]:
        """The vectors of texts in an order, as many together as the model takes, each with its place."""

        def embed(places: Sequence[int]) -> Vectors:
            tell.begin()
            return self.embedder.embed([cut[place] for place in places], progress=tell.advance)

        # An error that a plain text meets too is about the model, and ends the build.
        for places, vectors in in_halves(
            order,
            embed,
            guard=self.guard,
            name=_hash(texts),
            after_error=lambda: self.embedder.embed([_PLAIN_TEXT]),
        ):
            tell.end(len(places))
            yield places, vectors

    def _cut(self, texts: Sequence[LaneText], places: Sequence[int]) -> list[str]:
        return _cut([texts[place] for place in places], self.embedder, self.max_tokens)


class _Tell(Struct):
    """Reports how many texts are embedded; a text that is tried again after an error counts once."""

    progress: Progress
    doing: str
    count: int
    done: int = 0
    tried: int = 0

    def begin(self) -> None:
        self.tried = 0
        self.progress(self.doing, self.done, self.count)

    def advance(self, texts: int) -> None:
        self.tried += texts
        self.progress(self.doing, self.done + self.tried, self.count)

    def end(self, texts: int) -> None:
        self.done += texts


def _hash(texts: Sequence[LaneText]) -> Callable[[int], str]:
    return lambda place: texts[place].text_hash


def _embed_as_read(asking: _EmbeddingRequests, texts: Iterator[LaneText], count: int) -> Iterator[Embedded]:
    tell = _Tell(asking.progress, "embedding texts", count)
    first = 0
    while some := [*islice(texts, _AT_ONCE)]:
        cut = asking.cut(some)
        for places, vectors in asking.embed(some, cut, [*cut], tell):
            yield first + np.array(places), vectors
        first += len(some)


def _embed_and_keep(
    path: Path, asking: _EmbeddingRequests, texts: Sequence[LaneText]
) -> tuple[Sequence[Embedded], int]:
    model_id = asking.embedder.model_id
    with finished_vectors(path, model_id) as finished:
        left = finished.find(text.text_hash for text in texts)
        done = [place for place, text in enumerate(texts) if text.text_hash in left]
        todo = [place for place, text in enumerate(texts) if text.text_hash not in left]
        parts = [(np.array([place]), left[texts[place].text_hash][np.newaxis]) for place in done]
        for places, vectors in _embed(asking, [texts[place] for place in todo], finished):
            parts.append((np.array(todo)[np.array(places)], vectors))
    lengths = sorted({vectors.shape[1] for _, vectors in parts})
    if len(lengths) > 1:
        discard(path)
        raise UnusableVectors(f"embedder {model_id!r}: its vectors changed their length, {lengths}: build again")
    return parts, len(left)


def _embed(
    asking: _EmbeddingRequests, texts: Sequence[LaneText], finished: FinishedVectors
) -> Iterator[tuple[Sequence[int], Vectors]]:
    """The vectors of texts by place, kept as they come. Short texts go first: texts of one length share a request."""
    embedder, cut = asking.embedder, asking.cut(texts)
    tell = _Tell(asking.progress, f"embedding texts{_price_tag(embedder, [*cut.values()])}", len(texts))
    order = sorted(cut, key=lambda place: (len(cut[place]), texts[place].text_hash))
    every = embedder.save_every or len(order)
    for start in range(0, len(order), every):
        for places, vectors in asking.embed(texts, cut, order[start : start + every], tell):
            finished.keep([texts[place].text_hash for place in places], vectors)
            yield places, vectors


def _price_tag(embedder: Embedder, texts: Sequence[str]) -> str:
    """A label with about the price that will be paid; "" where nothing is paid."""
    if embedder.usd_per_token == 0:
        return ""
    counts = in_halves(texts, embedder.count_tokens, guard=FailureGuard(), name=str)
    tokens = sum(sum(found) for _, found in counts)
    cost = cost_usd(embedder, tokens)
    return f" (about {tokens:,} tokens, {'price unknown' if cost is None else f'${cost:.4f}'})"


def _cut(texts: Sequence[LaneText], embedder: Embedder, max_tokens: int) -> list[str]:
    """Each text at most `max_tokens` long, but never without what it must keep."""
    asked = [row for row, text in enumerate(texts) if text.keep_characters and most_tokens(text.text) > max_tokens]
    cut = [text.text for text in texts]
    for row, tokens in zip(asked, embedder.count_tokens([cut[row] for row in asked]), strict=True):
        if tokens > max_tokens:
            kept = embedder.truncate(cut[row], max_tokens)
            cut[row] = cut[row][: max(len(kept), texts[row].keep_characters)]
    return cut


def most_tokens(text: str) -> int:
    """No text has more tokens: one is at least one character long, of a normal form of the text or of its bytes."""
    if text.isascii():
        return len(text)
    # A character beyond ASCII adds a byte or more to the length in UTF-8.
    return len(text) + (_LONGEST_FORM - 1) * (len(text.encode("utf-8", errors="surrogatepass")) - len(text))
