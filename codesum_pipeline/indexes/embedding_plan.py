"""What a build would embed, and about what that costs, before a text is written or a provider asked."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from codesum_pipeline.indexes.embedders import embedder_of
from codesum_pipeline.indexes.embedding import cost_usd
from codesum_pipeline.indexes.lane_texts import BODY_CHARACTERS
from codesum_pipeline.indexes.lanes import Lane, dense_lanes
from codesum_pipeline.model.documents import PlanAction, PlanRow
from codesum_pipeline.store.workspace import Workspace

# About what name, intent and summary of a document hold; each of the dense lanes has some of it.
_WORDS_CHARACTERS = 300
# Code has more short tokens than prose, of which four characters a token are said.
_CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """At most `texts` are embedded by `model`, about `tokens` in all.

    `replaces` is the model of the vectors that are there, where it is another:
    then all are made anew. `cost_usd` is None where the price is not known.
    """

    model: str
    replaces: str | None
    texts: int
    tokens: int
    cost_usd: float | None


def plan_embedding(ws: Workspace, rows: Sequence[PlanRow]) -> EmbeddingPlan:
    """Judge a plan by the tables that it was made with."""
    embedder = embedder_of(ws.settings)
    models = ws.tables.read_or_empty("vectors", ws.key, columns=["model"]).column("model").unique().to_pylist()
    replaces = next((model for model in models if model != embedder.model_id), None)
    is_anew = ws.force or replaces is not None or not models
    actions = (PlanAction.WRITE, PlanAction.MAYBE, *((PlanAction.KEEP,) if is_anew else ()))
    ids = [row.id for row in rows if row.action in actions]
    lanes = dense_lanes(ws.settings.extra_lanes)
    reading_bodies = len(lanes) - (Lane.SUMMARY in lanes)
    bodies = _body_lengths(ws) if reading_bodies else {}
    characters = sum(reading_bodies * bodies.get(id_, 0) + len(lanes) * _WORDS_CHARACTERS for id_ in ids)
    tokens = characters // _CHARACTERS_PER_TOKEN
    return EmbeddingPlan(
        model=embedder.model_id,
        replaces=replaces,
        texts=len(ids) * len(lanes),
        tokens=tokens,
        cost_usd=cost_usd(embedder, tokens),
    )


def _body_lengths(ws: Workspace) -> dict[str, int]:
    """How many characters of each document's body a lane reads."""
    found: dict[str, int] = {}
    for table, id_, text in (("symbols", "id", "canonical_source"), ("file_facts", "file_path", "source")):
        rows = ws.tables.read(table, ws.key, columns=[id_, text])
        lengths = pc.min_element_wise(pc.utf8_length(rows.column(text)), BODY_CHARACTERS)
        found.update(zip(rows.column(id_).to_pylist(), lengths.to_pylist(), strict=True))
    return found
