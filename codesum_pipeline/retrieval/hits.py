"""What a search answers with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import Signal

_ORDER = {signal: place for place, signal in enumerate(Signal)}


@dataclass(frozen=True, slots=True)
class Hit:
    """One document found. `why` names the ranks that brought it here; files and modules have no lines."""

    id: str
    type: str
    repo: str
    file_path: str
    start_line: int | None
    end_line: int | None
    qualified_name: str | None
    score: float
    summary: str
    signature_summary: str | None
    why: str


def make_hit(
    index: PublishedIndex, row: int, *, score: float, ranks: Mapping[Signal, int], notes: Sequence[str]
) -> Hit:
    """Read a document and say why it was found."""
    document = _shown_fields(index.line(row))
    return Hit(
        id=document["id"],
        type=document["type"],
        repo=index.repo,
        file_path=document["file_path"],
        start_line=document["start_line"],
        end_line=document["end_line"],
        qualified_name=document["qualified_name"],
        score=round(score, 6),
        summary=document["summary"],
        signature_summary=document["signature_summary"],
        why=explain_ranks(ranks, notes),
    )


def _shown_fields(line: bytes) -> dict[str, Any]:
    """The fields of a document that a hit shows, without reading what stands between and behind them.

    Lines are JSON without spaces, their fields in one order. Quotes within a text have backslashes before them, so what
    looks like a field is one.
    """
    described = line.index(b',"business_intent":')
    placed = line.index(b',"start_line":', described)
    fields: dict[str, Any] = json.loads(line[:described] + line[placed : line.index(b',"returns":', placed)] + b"}")
    return fields


def explain_ranks(ranks: Mapping[Signal, int], notes: Sequence[str]) -> str:
    """The ranks, best first, then what else counted: `summary #1, code words #3; test code`.

    A file without a rank of its own was found by the documents and passages in it.
    """
    best_first = sorted(ranks.items(), key=lambda item: (item[1], _ORDER[item[0]]))
    ranked = ", ".join(f"{signal} #{rank}" for signal, rank in best_first)
    return "; ".join([ranked or "what stands in it", *notes])
