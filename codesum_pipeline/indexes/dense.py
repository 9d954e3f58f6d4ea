"""Every document gets a vector per dense lane, and keeps it as long as the lane's text stays the same.

What decides is the hash of the text and the model, nothing else: a moved file,
a copy or a reverted edit finds its vector again under whatever id it has.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.embedders import Embedder, Vectors, load_embedder
from codesum_pipeline.indexes.lane_texts import LaneText, dense_texts, read_lane_sources
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DenseReport:
    """`embedded` counts distinct texts, `carried` rows that kept or shared a vector; `lanes` counts rows."""

    embedded: int
    carried: int
    rows: int
    lanes: dict[str, int]
    model: str
    dimensions: int
    table_hash: str


def embed_documents(ws: Workspace, *, progress: Progress = no_progress) -> DenseReport:
    """Write the table `vectors`: one row per dense lane of each document that is no placeholder."""
    embedder = load_embedder(ws.options.index.embedder)
    max_tokens = min(ws.options.index.summary_embed_max_tokens, embedder.max_tokens)
    texts = [text for source in read_lane_sources(ws) for text in dense_texts(source, max_tokens=max_tokens)]
    hashes = pa.array([text.text_hash for text in texts], type=pa.string())
    vectors, known = _carry_over(ws, hashes, embedder)

    wanted: dict[str, LaneText] = {}
    for row in np.flatnonzero(~known).tolist():
        wanted.setdefault(texts[row].text_hash, texts[row])
    fresh = _embed(embedder, list(wanted.values()), max_tokens=max_tokens, progress=progress)
    position = {text_hash: row for row, text_hash in enumerate(wanted)}
    vectors[~known] = fresh[[position[texts[row].text_hash] for row in np.flatnonzero(~known).tolist()]]

    written = ws.tables.write("vectors", ws.key, _table(texts, hashes, vectors, embedder.model_id))
    return DenseReport(
        embedded=len(wanted),
        carried=len(texts) - len(wanted),
        rows=written.rows,
        lanes=dict(sorted(Counter(str(text.lane) for text in texts).items())),
        model=embedder.model_id,
        dimensions=embedder.dimensions,
        table_hash=written.table_hash,
    )


def matrix_of(vectors: pa.Table, dimensions: int) -> Vectors:
    """The column `vector` as float32 (rows, dimensions), without a Python object per row."""
    column = vectors.column("vector")
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)
    return flat.reshape(vectors.num_rows, dimensions)


def _carry_over(ws: Workspace, hashes: pa.Array, embedder: Embedder) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """The vectors to be, filled where the last build has one for the text, and which rows those are."""
    columns = ["text_hash", "model", "vector"]
    previous = ws.tables.read_or_empty("vectors", ws.key, columns=columns)
    is_usable = pc.and_(pc.equal(previous.column("model"), embedder.model_id), not ws.force)
    previous = previous.filter(is_usable)
    found = pc.index_in(hashes, value_set=previous.column("text_hash").combine_chunks())
    known = pc.is_valid(found).to_numpy(zero_copy_only=False)
    vectors = np.zeros((len(hashes), embedder.dimensions), dtype=np.float32)
    vectors[known] = matrix_of(previous, embedder.dimensions)[found.drop_null().to_numpy()]
    return vectors, known


def _embed(embedder: Embedder, texts: Sequence[LaneText], *, max_tokens: int, progress: Progress) -> Vectors:
    """One vector per text, in order."""
    if not texts:
        return np.empty((0, embedder.dimensions), dtype=np.float32)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress("embedding texts", done, len(texts))

    progress("embedding texts", 0, len(texts))
    return embedder.embed([_cut(embedder, text, max_tokens) for text in texts], progress=advance)


def _cut(embedder: Embedder, text: LaneText, max_tokens: int) -> str:
    """The text at most `max_tokens` long, but never without what it must keep."""
    # A token of an ASCII text is at least one character long.
    if not text.keep_characters or (text.text.isascii() and len(text.text) <= max_tokens):
        return text.text
    cut = embedder.truncate(text.text, max_tokens)
    return text.text[: max(len(cut), text.keep_characters)]


def _table(texts: Sequence[LaneText], hashes: pa.Array, vectors: Vectors, model: str) -> pa.Table:
    count, dimensions = vectors.shape
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * np.int32(dimensions))
    columns = [
        pa.array([text.id for text in texts], type=pa.string()),
        pa.array([str(text.lane) for text in texts], type=pa.string()),
        hashes,
        pa.repeat(pa.scalar(model, type=pa.string()), count),
        pa.ListArray.from_arrays(offsets, pa.array(vectors.reshape(-1))),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["vectors"].schema)
