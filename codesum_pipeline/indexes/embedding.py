"""Texts become vectors, some at a time; what a slow or paid model made is written down at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Embedder, Vectors
from codesum_pipeline.indexes.finished_vectors import FinishedVectors, discard, finished_vectors
from codesum_pipeline.indexes.lane_texts import LaneText
from codesum_pipeline.model.errors import UnusableVectors
from codesum_pipeline.model.guard import FailureGuard, in_halves
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.workspace import Workspace

# Texts of a fast model that are held at one time: bounds the memory.
_AT_ONCE = 1 << 13
# What a single character can become in a normal form of Unicode (U+FDFA).
_LONGEST_FORM = 18
# Every model takes it.
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
    """What a provider takes for tokens; None where its price is not known. No tokens cost nothing."""
    if not tokens:
        return 0.0
    return None if embedder.usd_per_token is None else tokens * embedder.usd_per_token


@dataclass(frozen=True, slots=True)
class _EmbeddingRequests:
    """What every request to the model of a build shares."""

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


@dataclass(slots=True)
class _Tell:
    """Tells how many texts are embedded; what is tried again after an error counts once."""

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
    """Embed with a fast model that costs nothing."""
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
    """Embed what an interrupted build did not."""
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
    """About what is going to be paid, where anything is: said before it is."""
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
