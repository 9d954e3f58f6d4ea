"""Old digests and roll-ups, as `digests.sqlite` keeps them for all repositories.

A digest of this month or the one before is not old: the monthly roll-up is made
of it. So a compaction changes nothing that is still to be told.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import translate
from functools import partial
from pathlib import Path

from msgspec import to_builtins

from codesum_pipeline.compaction.attestation import Attestation, Policy, Selection
from codesum_pipeline.compaction.sources import SourceRow, attested_rows, compacted_ids
from codesum_pipeline.digests.rows import DigestRow, DigestState
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.llm.pins import blake3_of
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.lease import hold_lease

DIGESTS = "digests"
_LEASE_FILE = "digests.compaction.sqlite"
# A month of a time zone begins up to so much earlier than that of UTC.
_EARLIEST_MIDNIGHT = timedelta(hours=14)


@dataclass(frozen=True, slots=True)
class DigestRows:
    """Those of one home; nothing is created where it has none."""

    path: Path
    now: Callable[[], datetime]
    kind: str = DIGESTS
    repository: str | None = field(default=None, init=False)

    def rows(self, selection: Selection) -> list[SourceRow]:
        _check(selection)
        if not self.path.exists():
            return []
        with open_digests(self.path, now=self.now) as store:
            return self._sources(selection, store.digests(), store.compactions())

    def compactions(self) -> list[CompactionRecord]:
        if not self.path.exists():
            return []
        with open_digests(self.path, now=self.now) as store:
            return store.compactions()

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Digests go on being written: they are new ones, and the transaction looks again."""
        lease = self.path.with_name(_LEASE_FILE)
        return hold_lease(lease, key=f"the digests in {self.path}", run_id=job_id, way_out=f"delete {lease}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        with open_digests(self.path, now=self.now) as store:
            store.compact(record, partial(self._leaving, attestation))

    def _leaving(
        self, attestation: Attestation, digests: Sequence[DigestRow], records: Sequence[CompactionRecord]
    ) -> list[str]:
        """Which digests are deleted."""
        sources = attested_rows(self._sources(attestation.selection, digests, records), attestation)
        return [row.id for row in sources] if attestation.policy is Policy.TOMBSTONED else []

    def _sources(
        self, selection: Selection, digests: Sequence[DigestRow], records: Sequence[CompactionRecord]
    ) -> list[SourceRow]:
        _check(selection)
        before = min(selection.before or "", iso_moment(_still_told_from(self.now())))
        intents = re.compile(translate(selection.ids or "*"))
        compacted = compacted_ids(records)
        found = [
            _source(row)
            for row in digests
            if row.created_at < before and _is_final(row) and intents.fullmatch(row.intent_name)
        ]
        return [row for row in found if row.id not in compacted][: selection.limit]


def _check(selection: Selection) -> None:
    if selection.prompt_version is not None:
        raise ConfigurationError(f"--prompt-version: {DIGESTS} have none: leave it out")
    if selection.before is None:
        raise ConfigurationError(f"rows of {DIGESTS}: say --before DATE, up to which they may be compacted")


def _still_told_from(now: datetime) -> datetime:
    """The beginning of the month before this one, in the time zone where that comes first."""
    # On its first day a month has not begun everywhere.
    somewhere = now.astimezone(UTC) - timedelta(days=1)
    this_month = somewhere.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (this_month - timedelta(days=1)).replace(day=1) - _EARLIEST_MIDNIGHT


def _is_final(row: DigestRow) -> bool:
    """Whether nothing is left to be done about it: it is in the outbox or goes nowhere, and the hooks have heard."""
    return row.state is DigestState.VETOED or (row.state is not DigestState.WRITTEN and row.told_at is not None)


def _source(row: DigestRow) -> SourceRow:
    sources = "; ".join(
        f"[{number}] {each.name}, {each.place}, {each.repository}"
        for number, each in enumerate(row.result.citations, start=1)
    )
    text = (
        f"{row.created_at}, {row.kind} of {row.intent_name!r} about {', '.join(row.repositories)}: "
        f"{row.result.summary}\nSources: {sources or 'none'}"
    )
    return SourceRow(row.id, text, blake3_of(canonical_json(to_builtins(row))))
