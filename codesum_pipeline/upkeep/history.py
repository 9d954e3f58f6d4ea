"""Which rows of `document_history` stay.

A build reads of the history what each document's last row says, and the last
row that wrote its text; the lift ledger adds up what standing texts cost;
`codesum explain` follows causes to earlier rows. These stay for as long as
their document does. Of all other rows each document keeps the newest few, for
some time. Rows of compactions, and those that an attestation says are kept,
stay for ever.
"""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.compaction.attestation import Attestation, Policy
from codesum_pipeline.model.documents import CompactionRecord, HistoryEvent


class PastRow(Struct, frozen=True):
    """What a row of the history says that decides whether it stays."""

    sequence: int
    id: str
    event: HistoryEvent
    cause_ids: tuple[str, ...]
    text_hash: str
    written_at: str
    cost_usd: float
    compaction: CompactionRecord | None = None


def kept_sequences(history: Sequence[PastRow], *, newest: int, since: str) -> frozenset[int]:
    """The numbers of the rows that stay: the `newest` of each document that were written at `since` or later, and
    whatever is needed. The last row always stays, so that numbers never come back."""
    of_documents = _by_document(history)
    kept = {row.sequence for row in history[-1:]}
    kept |= {row.sequence for row in history if row.event is HistoryEvent.COMPACTED}
    kept |= _attested(history)
    kept |= {row.sequence for rows in of_documents.values() for row in rows[-newest:] if row.written_at >= since}
    for rows in of_documents.values():
        if rows[-1].event is not HistoryEvent.REMOVED:
            kept |= _needed(rows)
            kept |= {row.sequence for row in _chain(of_documents, rows[-1])}
    return frozenset(kept)


def _by_document(history: Sequence[PastRow]) -> dict[str, list[PastRow]]:
    found: dict[str, list[PastRow]] = {}
    for row in history:
        if row.event is not HistoryEvent.COMPACTED:
            found.setdefault(row.id, []).append(row)
    return found


def _needed(rows: Sequence[PastRow]) -> set[int]:
    """Of a document that stands: its last row, the one that wrote its text, and what was paid for that text."""
    last = rows[-1]
    written = [row.sequence for row in rows if row.event is HistoryEvent.WRITTEN]
    paid = [row.sequence for row in rows if row.cost_usd and row.text_hash == last.text_hash]
    return {last.sequence, *written[-1:], *paid}


def _chain(of_documents: dict[str, list[PastRow]], last: PastRow) -> Iterator[PastRow]:
    """The rows that explain a row, as `summaries.explain` follows them, and itself."""
    waiting, seen = [last], {last.sequence}
    while waiting:
        row = waiting.pop()
        yield row
        for cause in _causes(of_documents, row):
            if cause.sequence not in seen:
                seen.add(cause.sequence)
                waiting.append(cause)


def _causes(of_documents: dict[str, list[PastRow]], row: PastRow) -> Iterator[PastRow]:
    is_looked_at = row.event is HistoryEvent.SAME_TEXT
    for id_ in row.cause_ids:
        if id_ == row.id:
            continue
        earlier = (
            found
            for found in reversed(of_documents.get(id_, ()))
            if found.sequence < row.sequence and (is_looked_at or found.event is not HistoryEvent.SAME_TEXT)
        )
        yield from _first(earlier)
    if is_looked_at:
        yield from _first(found for found in reversed(of_documents[row.id]) if found.event is HistoryEvent.WRITTEN)


def _first(rows: Iterator[PastRow]) -> Iterator[PastRow]:
    found = next(rows, None)
    if found is not None:
        yield found


def _attested(history: Sequence[PastRow]) -> set[int]:
    """The sources that compactions stand beside, not in place of."""
    attestations = [Attestation.of(row.compaction.attestation.encode()) for row in history if row.compaction]
    kept: Collection[str] = {
        source.id for found in attestations if found.policy is Policy.KEPT for source in found.sources
    }
    return {int(id_.partition(":")[0]) for id_ in kept}
