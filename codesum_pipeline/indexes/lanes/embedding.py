"""Texts become vectors, some at a time. The vectors of a slow or paid model are written down as they are made.

After an interruption the next build of the repository reuses them: it finds them by the model and the hash of the text.
The file is deleted when the table `vectors` is written.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import UnusableVectors
from codesum_pipeline.foundation.data_model.guard import FailureGuard, work_in_halves
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.lanes.lane_texts import LaneText

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
    """The vectors of `count` texts, and how many of them an interrupted build had left. A text that the model cannot
    take has no vector: `guard` gets it as a failure, under its hash."""
    path = ws.layout.finished_vectors(ws.key)
    if ws.force or embedder.save_every is None:
        discard_kept_vectors(path)
    if not count:
        return (), 0
    requests = _EmbeddingRequests(embedder, max_tokens, guard, progress, count)
    if embedder.save_every is None:
        return _embed_as_read(requests, texts), 0
    return _embed_and_keep(path, requests, [*texts], embedder.save_every)


def cost_usd(embedder: Embedder, tokens: int) -> float | None:
    """The provider's price for tokens; None if it is not known. No tokens cost nothing."""
    if not tokens:
        return 0.0
    return None if embedder.usd_per_token is None else tokens * embedder.usd_per_token


def discard_kept_vectors(path: Path) -> None:
    for file in (path, path.with_name(f"{path.name}-journal")):
        file.unlink(missing_ok=True)


class _EmbeddingRequests(Struct):
    """The requests of a build to its model. Of `count` texts `done` are embedded; a text that is tried again after an
    error counts once."""

    embedder: Embedder
    max_tokens: int
    guard: FailureGuard
    progress: Progress
    count: int
    doing: str = "embedding texts"
    done: int = 0

    def cut(self, texts: Sequence[LaneText]) -> dict[int, str]:
        """Each text as it is embedded, by its place; none that cannot be cut."""

        def cut(places: Sequence[int]) -> list[str]:
            """Each text at most `max_tokens` long, but never without what it must keep."""
            some = [texts[place] for place in places]
            found = [text.text for text in some]
            long = [
                row
                for row, text in enumerate(some)
                if text.keep_characters and most_tokens(text.text) > self.max_tokens
            ]
            for row, tokens in zip(long, self.embedder.count_tokens([found[row] for row in long]), strict=True):
                if tokens > self.max_tokens:
                    kept = self.embedder.truncate(found[row], self.max_tokens)
                    found[row] = found[row][: max(len(kept), some[row].keep_characters)]
            return found

        parts = work_in_halves(range(len(texts)), cut, guard=self.guard, name=lambda place: texts[place].text_hash)
        return {place: text for places, found in parts for place, text in zip(places, found, strict=True)}

    def embed(
        self, texts: Sequence[LaneText], cut: Mapping[int, str], order: Sequence[int]
    ) -> Iterator[tuple[Sequence[int], Vectors]]:
        """The vectors of texts in an order, as many together as the model takes, each with its place."""

        def embed(places: Sequence[int]) -> Vectors:
            tried = 0

            def advance(some: int) -> None:
                nonlocal tried
                tried += some
                self.progress(self.doing, self.done + tried, self.count)

            advance(0)
            return self.embedder.embed([cut[place] for place in places], progress=advance)

        # An error that a plain text meets too is about the model, and ends the build.
        parts = work_in_halves(
            order,
            embed,
            guard=self.guard,
            name=lambda place: texts[place].text_hash,
            after_error=lambda: self.embedder.embed([_PLAIN_TEXT]),
        )
        for places, vectors in parts:
            self.done += len(places)
            yield places, vectors


def _embed_as_read(requests: _EmbeddingRequests, texts: Iterator[LaneText]) -> Iterator[Embedded]:
    first = 0
    while some := [*islice(texts, _AT_ONCE)]:
        cut = requests.cut(some)
        for places, vectors in requests.embed(some, cut, [*cut]):
            yield first + np.array(places), vectors
        first += len(some)


def _embed_and_keep(
    path: Path, requests: _EmbeddingRequests, texts: Sequence[LaneText], every: int
) -> tuple[Sequence[Embedded], int]:
    model_id = requests.embedder.model_id
    with explain_refused_writes(path), closing(_open(path)) as connection:
        rows = connection.execute("SELECT text_hash, vector FROM finished WHERE model = ?", (model_id,))
        wanted = {text.text_hash: place for place, text in enumerate(texts)}
        parts = [
            (np.array([wanted.pop(text_hash)]), np.frombuffer(data, dtype="<f4")[np.newaxis])
            for text_hash, data in rows
            if text_hash in wanted
        ]
        left, todo = len(parts), np.array(sorted(wanted.values()), dtype=np.int64)
        some = [texts[place] for place in todo]
        cut, requests.count = requests.cut(some), len(some)
        requests.doing += _price_tag(requests.embedder, [*cut.values()])
        # Short texts go first: texts of one length share a request.
        order = sorted(cut, key=lambda place: (len(cut[place]), some[place].text_hash))
        for start in range(0, len(order), every):
            for places, vectors in requests.embed(some, cut, order[start : start + every]):
                hashes = (some[place].text_hash for place in places)
                finished = [
                    (model_id, text_hash, vector.astype("<f4").tobytes())
                    for text_hash, vector in zip(hashes, vectors, strict=True)
                ]
                # One batch, whole or not at all.
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?, ?)", finished)
                parts.append((todo[np.array(places)], vectors))
    lengths = sorted({vectors.shape[1] for _, vectors in parts})
    if len(lengths) > 1:
        discard_kept_vectors(path)
        raise UnusableVectors(f"embedder {model_id!r}: its vectors changed their length, {lengths}: build again")
    return parts, left


def _open(path: Path, *, is_second_try: bool = False) -> sqlite3.Connection:
    """The file of finished vectors; an unreadable one is replaced by an empty one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS finished "
            "(model TEXT, text_hash TEXT, vector BLOB, PRIMARY KEY (model, text_hash))"
        )
        connection.execute("SELECT count(*), sum(length(vector)) FROM finished").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        if is_second_try:
            raise
        discard_kept_vectors(path)
        return _open(path, is_second_try=True)
    return connection


def _price_tag(embedder: Embedder, texts: Sequence[str]) -> str:
    """A label with the price that is expected; "" if nothing is paid."""
    if embedder.usd_per_token == 0:
        return ""
    counts = work_in_halves(texts, embedder.count_tokens, guard=FailureGuard(), name=str)
    tokens = sum(sum(found) for _, found in counts)
    cost = cost_usd(embedder, tokens)
    return f" (about {tokens:,} tokens, {'price unknown' if cost is None else f'expected ${cost:.4f}'})"


def most_tokens(text: str) -> int:
    """No text has more tokens: one is at least one character long, of a normal form of the text or of its bytes."""
    if text.isascii():
        return len(text)
    # A character beyond ASCII adds a byte or more to the length in UTF-8.
    return len(text) + (_LONGEST_FORM - 1) * (len(text.encode("utf-8", errors="surrogatepass")) - len(text))
