"""Every document gets a vector per dense lane, and keeps it as long as the lane's text stays the same.

Only the hash of the text and the model decide: a moved file, a copy or a reverted edit finds its vector again under
whatever id it has. A plan says before a build how many texts it would embed, and about at what price.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import PlanAction, PlanRow
from codesum_pipeline.foundation.data_model.errors import MissingTable, UnusableVectors
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.made_from import changed_paths
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.file_formats.version_folder import DENSE_LANES
from codesum_pipeline.indexes.lanes.embedding import Embedded, cost_usd, discard_kept_vectors, embed_texts
from codesum_pipeline.indexes.lanes.lane_texts import (
    BODY_CHARACTERS,
    LaneText,
    dense_texts,
    hashes_unless,
    in_parts,
    lane_sources,
    read_heads,
)
from codesum_pipeline.indexes.lanes.text_origins import differing_paths, lane_origins, with_children
from codesum_pipeline.texts.summaries.text_changes import is_in_files

Rows = npt.NDArray[np.int64]
# Vectors copied at one time: bounds the memory.
_AT_ONCE = 1 << 15
_CARRIED_AT_ONCE = 1 << 13
# Documents whose texts are made at one time: bounds the memory too.
_TEXTS_AT_ONCE = 1 << 12


class DenseReport(Struct, frozen=True):
    """`embedded` counts distinct texts, `carried` rows that kept or shared a vector; `lanes` counts rows. `resumed` are
    texts whose vector an interrupted build had left. A provider counted `billed_tokens`, which cost `cost_usd`: None
    where the price is not known."""

    embedded: int
    resumed: int
    carried: int
    rows: int
    lanes: dict[str, int]
    model: str
    dimensions: int
    billed_tokens: int
    cost_usd: float | None
    table_hash: str
    failed: int = 0
    failures: tuple[Failure, ...] = ()


def embed_documents(ws: Workspace, *, progress: Progress = no_progress) -> DenseReport:
    """Write the table `vectors`: one row per dense lane of each document that is no placeholder."""
    embedder = embedder_of(ws.settings)
    billed_before = embedder.billed_tokens
    max_tokens = min(ws.settings.summary_embed_max_tokens, embedder.max_tokens)
    now = cache(partial(lane_origins, ws))
    paths = changed_paths(ws, "vectors", now)
    heads = read_heads(ws, paths, around=with_children(paths, now))
    heads = heads.filter(pc.invert(heads.column("is_placeholder"))).combine_chunks()
    ids, sources = heads.column("id").combine_chunks(), _sources(ws, heads)
    hashes = _hashes_of(sources, max_tokens)
    wanted, resumed, guard = np.empty(0, dtype=np.int64), 0, FailureGuard()
    is_touched, replaced = _touched(ws, embedder, paths, [*_rows_of(ids), hashes])
    if not replaced and ws.tables.content_hash("vectors", ws.key) is not None:
        written, dimensions = ws.tables.keep("vectors", ws.key), vector_length(ws, embedder)
    else:
        known = _known_hashes(ws, embedder)
        wanted = _wanted(hashes, known)
        texts = _texts(sources, hashes, wanted, max_tokens)
        fresh, resumed = embed_texts(
            ws, embedder, texts, len(wanted), max_tokens=max_tokens, guard=guard, progress=progress
        )
        rows = np.flatnonzero(is_touched)
        some = hashes.take(pa.array(rows))
        length = None if paths is None and len(rows) == len(hashes) else vector_length(ws, embedder)
        vectors = _join(ws, embedder, some, known, np.searchsorted(rows, wanted), fresh, length)
        del sources, texts
        of_rows = [*(column.filter(pa.array(is_touched)) for column in _rows_of(ids)), some]
        table, dimensions = _table_of(embedder, of_rows, vectors, guard), vectors.shape[1]
        written = ws.tables.replace_files("vectors", ws.key, table, replaced)
    if not guard.failed and not ws.tables.is_scratch:
        now().keep(ws, "vectors")
    discard_kept_vectors(ws.layout.finished_vectors(ws.key))
    billed, failures = embedder.billed_tokens - billed_before, _failures(ids, hashes, guard)
    return DenseReport(
        embedded=len(wanted) - resumed - len(guard.failed),
        resumed=resumed,
        carried=written.rows - len(wanted),
        rows=written.rows,
        lanes={str(lane): written.rows // len(DENSE_LANES) for lane in DENSE_LANES if written.rows},
        model=embedder.model_id,
        dimensions=dimensions,
        billed_tokens=billed,
        cost_usd=cost_usd(embedder, billed),
        table_hash=written.table_hash,
        failed=len(failures),
        failures=failures,
    )


def vector_length(ws: Workspace, embedder: Embedder) -> int:
    """The length of the present vectors, else of the model's: a slow model is not loaded only for this number."""
    with suppress(MissingTable):
        first = ws.tables.read_at("vectors", ws.key, np.zeros(1, dtype=np.int64), columns=["vector"])
        if len(first):
            return _length_of(first)
    return embedder.dimensions


def matrix_of(vectors: pa.Table, dimensions: int) -> Vectors:
    """The column `vector` as float32 (rows, dimensions), without a Python object per row."""
    column = vectors.column("vector")
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)
    return flat.reshape(vectors.num_rows, dimensions)


def _length_of(vectors: pa.Table) -> int:
    return len(vectors.column("vector")[0])


def _sources(ws: Workspace, heads: pa.Table) -> pa.Table:
    return pa.concat_tables(lane_sources(ws, heads, body_characters=BODY_CHARACTERS)).combine_chunks()


def _hashes_of(sources: pa.Table, max_tokens: int) -> pa.Array:
    """The hashes of all texts, lane after lane."""
    parts = [[texts.hash_all() for texts in dense_texts(some, max_tokens=max_tokens)] for some in in_parts(sources)]
    return pa.concat_arrays(part for of_lane in zip(*parts, strict=True) for part in of_lane)


def _rows_of(ids: pa.Array) -> tuple[pa.Array, pa.Array]:
    lanes = [pa.repeat(str(lane), len(ids)) for lane in DENSE_LANES]
    return pa.concat_arrays([ids] * len(lanes)), pa.concat_arrays(lanes)


def _touched(
    ws: Workspace, embedder: Embedder, paths: Collection[str] | None, columns: Sequence[pa.Array]
) -> tuple[npt.NDArray[np.bool_], set[str]]:
    """Which rows are of files in which a document or one of its texts is new or gone, and these files. Rows have ids,
    lanes and hashes of texts; of other files than those of `paths` all rows stay."""
    now = pa.table([*columns], names=["id", "lane", "text_hash"])
    last = ws.tables.read_files("vectors", ws.key, paths, columns=[*now.column_names, "model"])
    may_stay = pc.and_(pc.equal(last.column("model"), embedder.model_id), not ws.force)
    replaced = differing_paths(last.filter(may_stay), now)
    replaced.update(paths_of(last["id"].filter(pc.invert(may_stay))).to_pylist())
    return is_in_files(now["id"], replaced).to_numpy(), replaced


def _table_of(embedder: Embedder, of_rows: Sequence[pa.Array], vectors: Vectors, guard: FailureGuard) -> pa.Table:
    """Rows of the table `vectors` from ids, lanes and hashes of texts, and their vectors."""
    *names, hashes = of_rows
    known_by = hashes_unless(pc.is_in(hashes, value_set=pa.array(sorted(guard.failed), pa.string())), hashes)
    count, dimensions = vectors.shape
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * np.int32(dimensions))
    model = pa.repeat(pa.scalar(embedder.model_id, type=pa.string()), count)
    columns = [*names, known_by, model, pa.ListArray.from_arrays(offsets, pa.array(vectors.reshape(-1)))]
    return pa.Table.from_arrays(columns, schema=TABLES["vectors"].schema)


def _known_hashes(ws: Workspace, embedder: Embedder) -> pa.Array:
    """The hash of the text of each vector of the last build; null if it may not be used again."""
    last = ws.tables.read_or_empty("vectors", ws.key, columns=["text_hash", "model"])
    may_be_used = pc.and_(pc.equal(last.column("model"), embedder.model_id), not ws.force)
    return pc.if_else(may_be_used, last.column("text_hash"), pa.scalar(None, pa.string())).combine_chunks()


def _wanted(hashes: pa.Array, known: pa.Array) -> Rows:
    """The first row of each distinct text without a vector; rows of one document, whose texts are alike, are
    adjacent."""
    by_document: Rows = np.arange(len(hashes)).reshape(len(DENSE_LANES), -1).T.reshape(-1)
    is_known: npt.NDArray[np.bool_] = pc.is_in(hashes, value_set=known).to_numpy(zero_copy_only=False)
    rows = by_document[~is_known[by_document]]
    names = hashes.take(pa.array(rows)).dictionary_encode().indices.to_numpy()
    # Names are numbered as they come.
    firsts = np.flatnonzero(np.diff(np.maximum.accumulate(names), prepend=-1))
    return rows[firsts]


def _texts(sources: pa.Table, hashes: pa.Array, wanted: Rows, max_tokens: int) -> Iterator[LaneText]:
    if not len(wanted):
        return
    numbers, documents = np.divmod(wanted, len(hashes) // len(DENSE_LANES))
    some = documents[np.diff(documents, prepend=-1) > 0]
    places = np.searchsorted(some, documents)
    names = hashes.take(pa.array(wanted))
    first = 0
    for start in range(0, len(some), _TEXTS_AT_ONCE):
        part = sources.take(pa.array(some[start : start + _TEXTS_AT_ONCE]))
        span = slice(*np.searchsorted(places, (first, first + part.num_rows)).tolist())
        # The rows of the part's texts, lane after lane.
        rows = pa.array(numbers[span] * part.num_rows + places[span] - first)
        texts = dense_texts(part, max_tokens=max_tokens)
        columns = (
            pa.concat_arrays([found.texts for found in texts]).take(rows).to_pylist(),
            names[span].to_pylist(),
            pa.concat_arrays([found.keep_characters for found in texts]).take(rows).to_pylist(),
        )
        yield from map(LaneText, *columns)
        first += part.num_rows


def _join(
    ws: Workspace,
    embedder: Embedder,
    hashes: pa.Array,
    known: pa.Array,
    wanted: Rows,
    fresh: Iterable[Embedded],
    length: int | None,
) -> Vectors:
    """One vector per text, from the last build or this one, of zeros for one that cannot be embedded; raises
    `UnusableVectors` where they differ in length, which is `length` if other rows stay."""
    vectors: Vectors | None = None if length is None else np.zeros((len(hashes), length), dtype=np.float32)
    placed = ((wanted[places], some) for places, some in fresh)
    for rows, some in chain(_carried(ws, hashes, known), placed):
        if vectors is None:
            vectors = np.zeros((len(hashes), some.shape[1]), dtype=np.float32)
        elif vectors.shape[1] != some.shape[1]:
            raise UnusableVectors(
                f"embedder {embedder.model_id!r}: its vectors had {vectors.shape[1]} numbers and have {some.shape[1]} "
                "now: run `codesum index KEY --force`"
            )
        vectors[rows] = some
    if vectors is None:
        return np.zeros((len(hashes), embedder.dimensions), dtype=np.float32)
    # Equal texts were embedded once.
    firsts = pc.index_in(hashes, value_set=hashes.take(pa.array(wanted)))
    twins = np.setdiff1d(np.flatnonzero(firsts.is_valid()), wanted)
    for rows in np.split(twins, range(_AT_ONCE, len(twins), _AT_ONCE)):
        vectors[rows] = vectors[wanted[firsts.take(pa.array(rows)).to_numpy()]]
    return vectors


def _carried(ws: Workspace, hashes: pa.Array, known: pa.Array) -> Iterator[tuple[Rows, Vectors]]:
    """Vectors of the last build, and the rows that they belong to."""
    places: Rows = pc.fill_null(pc.index_in(hashes, value_set=known), -1).to_numpy().astype(np.int64)
    order = np.argsort(places, kind="stable")
    order = order[np.searchsorted(places[order], 0) :]
    if not len(order):
        return
    last = ws.tables.reader("vectors", ws.key, columns=["vector"])
    for start in range(0, len(order), _CARRIED_AT_ONCE):
        rows = order[start : start + _CARRIED_AT_ONCE]
        wanted, back = np.unique(places[rows], return_inverse=True)
        part = last.at(wanted)
        yield rows, matrix_of(part, _length_of(part))[back]


def _failures(ids: pa.Array, hashes: pa.Array, by_text: FailureGuard) -> tuple[Failure, ...]:
    """The documents that have a text which failed, in whatever lane, each with its first failure."""
    rows = pc.indices_nonzero(pc.is_in(hashes, value_set=pa.array(sorted(by_text.failed), pa.string())))
    of_text = {failure.item: failure for failure in by_text.failures}
    guard = FailureGuard()
    for row, text_hash in zip(rows.to_pylist(), hashes.take(rows).to_pylist(), strict=True):
        guard.add([replace(of_text[text_hash], item=ids[row % len(ids)].as_py())])
    return guard.failures


# About what name, intent and summary of a document hold; each of the dense lanes has some of it.
_WORDS_CHARACTERS = 300
# Code has more short tokens than prose, which has about four characters a token.
_CHARACTERS_PER_TOKEN = 3


class EmbeddingPlan(Struct, frozen=True):
    """At most `texts` are embedded by `model`, about `tokens` in all. `replaces` is the model of the vectors that are
    there, where it is another: then all are made anew. `expected_usd` is None if the price is not known."""

    model: str
    replaces: str | None
    texts: int
    tokens: int
    expected_usd: float | None


def plan_embedding(ws: Workspace, rows: Sequence[PlanRow]) -> EmbeddingPlan:
    """The embedding of a planned build, from the tables that the plan was made with."""
    embedder = embedder_of(ws.settings)
    models = ws.tables.read_or_empty("vectors", ws.key, columns=["model"]).column("model").unique().to_pylist()
    replaces = next((model for model in models if model != embedder.model_id), None)
    is_anew = ws.force or replaces is not None or not models
    actions = (PlanAction.WRITE, PlanAction.MAYBE, *((PlanAction.KEEP,) if is_anew else ()))
    ids = [row.id for row in rows if row.action in actions]
    bodies = _body_lengths(ws)
    # One of the dense lanes reads bodies.
    characters = sum(bodies.get(id_, 0) + len(DENSE_LANES) * _WORDS_CHARACTERS for id_ in ids)
    tokens = characters // _CHARACTERS_PER_TOKEN
    return EmbeddingPlan(
        model=embedder.model_id,
        replaces=replaces,
        texts=len(ids) * len(DENSE_LANES),
        tokens=tokens,
        expected_usd=cost_usd(embedder, tokens),
    )


def _body_lengths(ws: Workspace) -> dict[str, int]:
    rows = ws.tables.read("symbols", ws.key, columns=["id", "canonical_source"])
    lengths = pc.min_element_wise(pc.utf8_length(rows.column("canonical_source")), BODY_CHARACTERS)
    return dict(zip(rows.column("id").to_pylist(), lengths.to_pylist(), strict=True))
