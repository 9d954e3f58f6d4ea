"""Texts become vectors, some at a time; what a slow or paid model made is written down at once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from codesum_pipeline.indexes.embedders import Embedder, Vectors
from codesum_pipeline.indexes.finished_vectors import FinishedVectors, discard, finished_vectors
from codesum_pipeline.indexes.lane_texts import LaneText
from codesum_pipeline.model.errors import UnusableVectors
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.workspace import Workspace

# Texts of a fast model that are held at one time: bounds the memory.
_AT_ONCE = 1 << 13
# What a single character can become in a normal form of Unicode (U+FDFA).
_LONGEST_FORM = 18


def embed_texts(
    ws: Workspace,
    embedder: Embedder,
    texts: Iterator[LaneText],
    count: int,
    *,
    max_tokens: int,
    progress: Progress,
) -> tuple[Iterable[Vectors], int]:
    """The vectors of `count` texts, in order, and how many of them an interrupted build had left."""
    if ws.force or embedder.save_every is None:
        discard(ws.layout.finished_vectors(ws.key))
    if not count:
        return (), 0
    if embedder.save_every is None:
        return _embed_as_read(embedder, texts, count, max_tokens=max_tokens, progress=progress), 0
    vectors, resumed = _embed_and_keep(ws, embedder, [*texts], max_tokens=max_tokens, progress=progress)
    return [vectors], resumed


def cost_usd(embedder: Embedder, tokens: int) -> float | None:
    """What a provider takes for tokens; None where its price is not known. No tokens cost nothing."""
    if not tokens:
        return 0.0
    return None if embedder.usd_per_token is None else tokens * embedder.usd_per_token


def _embed_as_read(
    embedder: Embedder, texts: Iterator[LaneText], count: int, *, max_tokens: int, progress: Progress
) -> Iterator[Vectors]:
    """Embed with a fast model that costs nothing."""
    done = 0

    def advance(number: int) -> None:
        nonlocal done
        done += number
        progress("embedding texts", done, count)

    progress("embedding texts", 0, count)
    while cut := _cut([*islice(texts, _AT_ONCE)], embedder, max_tokens):
        yield embedder.embed(cut, progress=advance)


def _embed_and_keep(
    ws: Workspace, embedder: Embedder, texts: Sequence[LaneText], *, max_tokens: int, progress: Progress
) -> tuple[Vectors, int]:
    """Embed what an interrupted build did not."""
    path = ws.layout.finished_vectors(ws.key)
    with finished_vectors(path, embedder.model_id) as finished:
        left = finished.find(text.text_hash for text in texts)
        todo = [text for text in texts if text.text_hash not in left]
        made = _embed(embedder, todo, finished, max_tokens=max_tokens, progress=progress)
    vectors = left | dict(zip((text.text_hash for text in todo), made, strict=True))
    lengths = sorted({len(vector) for vector in vectors.values()})
    if len(lengths) > 1:
        discard(path)
        raise UnusableVectors(
            f"embedder {embedder.model_id!r}: its vectors changed their length, {lengths}: build again"
        )
    return np.stack([vectors[text.text_hash] for text in texts]), len(left)


def _embed(
    embedder: Embedder,
    texts: Sequence[LaneText],
    finished: FinishedVectors,
    *,
    max_tokens: int,
    progress: Progress,
) -> Vectors:
    """One vector per text, in order. Short texts go first, so that texts of one length share a request."""
    cut = _cut(texts, embedder, max_tokens)
    doing = f"embedding texts{_price_tag(embedder, cut)}"
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(doing, done, len(texts))

    progress(doing, 0, len(texts))
    order = sorted(range(len(cut)), key=lambda row: (len(cut[row]), texts[row].text_hash))
    vectors: Vectors | None = None
    every = embedder.save_every or len(order)
    for start in range(0, len(order), every):
        rows = order[start : start + every]
        part = embedder.embed([cut[row] for row in rows], progress=advance)
        finished.keep([texts[row].text_hash for row in rows], part)
        if vectors is None:
            vectors = np.zeros((len(texts), part.shape[1]), dtype=np.float32)
        vectors[rows] = part
    return np.empty((0, 0), dtype=np.float32) if vectors is None else vectors


def _price_tag(embedder: Embedder, texts: Sequence[str]) -> str:
    """About what is going to be paid, where anything is: said before it is."""
    if embedder.usd_per_token == 0:
        return ""
    tokens = sum(embedder.count_tokens(texts))
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
