"""What a search answers with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import Signal

# Of a score that is shown.
DIGITS = 6
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
    id_ = index.ids[row]
    return Hit(
        id=id_,
        type=index.level_of(row).value,
        repo=index.repo,
        file_path=id_.partition(SEPARATOR)[0],
        score=round(score, DIGITS),
        why=explain_ranks(ranks, notes),
        **index.shown.of_row(row),
    )


def explain_ranks(ranks: Mapping[Signal, int], notes: Sequence[str]) -> str:
    """The ranks, best first, then what else counted: `summary #1, code words #3; test code`.

    A file without a rank of its own was found by the documents and passages in it.
    """
    best_first = sorted(ranks.items(), key=lambda item: (item[1], _ORDER[item[0]]))
    ranked = ", ".join(f"{signal} #{rank}" for signal, rank in best_first)
    return "; ".join([ranked or "what stands in it", *notes])
