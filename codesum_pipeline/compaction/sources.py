"""What can be compacted: kinds of rows that each keep their compactions in the same transaction as themselves."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from codesum_pipeline.compaction.attestation import Attestation, AttestedSource, Selection
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import SourcesChanged

_SHOWN = 3


class SourceRow(Struct, frozen=True):
    """One row: `text` is what a model is shown of it, `blake3` covers all that it says."""

    id: str
    text: str
    blake3: str

    @property
    def attested(self) -> AttestedSource:
        return AttestedSource(self.id, self.blake3)


class CompactionSource(Protocol):
    """One kind of rows, of one repository or of all."""

    @property
    def kind(self) -> str:
        """The kind's name in attestations."""
        ...

    @property
    def repository(self) -> str | None:
        """Whose rows they are."""
        ...

    def rows(self, selection: Selection) -> list[SourceRow]:
        """The rows that are old and in no compaction, oldest first; raises `ConfigurationError` for a selection that
        says nothing to this kind."""
        ...

    def compactions(self) -> list[CompactionRecord]:
        """What stands in place of rows, oldest first."""
        ...

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Nobody else compacts these rows, or changes them where that can be held off, during the block; raises
        `LeaseHeld`."""
        ...

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        """Add the record, and delete the rows where the policy says so, in one transaction; raises `SourcesChanged`
        where the rows are others by now."""
        ...


def attested_rows(rows: Sequence[SourceRow], attestation: Attestation) -> list[SourceRow]:
    """The attested rows in the attested order, where they are all that the selection finds; raises `SourcesChanged`."""
    now = {row.id: row for row in rows}
    attested = {source.id: source.blake3 for source in attestation.sources}
    gone = [id_ for id_ in attested if id_ not in now]
    new = [row.id for row in rows if row.id not in attested]
    changed = [id_ for id_, hash_ in attested.items() if id_ in now and now[id_].blake3 != hash_]
    for ids, what in (
        (gone, "are no old rows any more: gone, in another compaction, or of a text that stands again"),
        (changed, "say something else than when it was attested"),
        (new, "were found by the selection and not attested"),
    ):
        if ids:
            raise SourcesChanged(
                f"{len(ids):,} of {attestation.kind} {what} ({_named(ids)}): look at them, and attest anew"
            )
    return [now[id_] for id_ in attested]


def compacted_ids(records: Collection[CompactionRecord]) -> frozenset[str]:
    """The rows that compactions stand in place of."""
    return frozenset(source.id for record in records for source in Attestation.of(record.attestation.encode()).sources)


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
