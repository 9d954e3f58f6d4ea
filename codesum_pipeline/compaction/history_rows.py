"""Old rows of `document_history`: those that say nothing of a text that stands now.

What a build reads of the history are the last rows of the documents that
stand, so a compaction changes no later build. The history is one file, which
is replaced as a whole: rows and compaction change in one step.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from fnmatch import translate

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, to_builtins

from codesum_pipeline.compaction.attestation import Attestation, Policy, Selection
from codesum_pipeline.compaction.sources import SourceRow, attested_rows, compacted_ids
from codesum_pipeline.llm.pins import blake3_of
from codesum_pipeline.model.documents import CompactionRecord, HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json, sha1_hex
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import hold_repository
from codesum_pipeline.store.rows import column_names, from_table, to_table
from codesum_pipeline.store.tables import TableStore

TABLE = "document_history"


class HistoryRows(Struct, frozen=True):
    """Those of one repository."""

    tables: TableStore
    layout: HomeLayout
    repository: str
    kind: str = TABLE

    def rows(self, selection: Selection) -> list[SourceRow]:
        _check(selection)
        before, ids = selection.before or "", re.compile(translate(selection.ids or "*"))
        compacted = compacted_ids(self.compactions())
        old = (_source(row) for row in _old(self._history()) if row.written_at < before and ids.fullmatch(row.id))
        return [row for row in old if row.id not in compacted][: selection.limit]

    def compactions(self) -> list[CompactionRecord]:
        return [record for row in self._of_compactions() if (record := row.compaction)]

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """A build would append to the history: it waits, too."""
        key = self.repository
        return hold_repository(self.layout, key, run_id=job_id, called=f"repository {key!r}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        sources = attested_rows(self.rows(attestation.selection), attestation)
        table = self.tables.read(TABLE, self.repository)
        numbers = pa.array([_sequence(row.id) for row in sources], pa.int64())
        are_sources = pc.is_in(table.column("sequence"), value_set=numbers)
        newest = from_table(table.filter(are_sources), HistoryRow)[-1]
        added = _row_of(record, after=pc.max(table.column("sequence")).as_py(), newest=newest, model=attestation.model)
        kept = table.filter(pc.invert(are_sources)) if attestation.policy is Policy.TOMBSTONED else table
        self.tables.write(TABLE, self.repository, pa.concat_tables([kept, to_table([added], HistoryRow)]))

    def of_document(self, doc_id: str) -> list[tuple[CompactionRecord, int]]:
        """The compactions that stand in place of rows of a document, and of how many."""
        found = [
            (
                record,
                sum(_document(source.id) == doc_id for source in Attestation.of(record.attestation.encode()).sources),
            )
            for record in self.compactions()
        ]
        return [(record, count) for record, count in found if count]

    def _history(self) -> list[HistoryRow]:
        return self.tables.read_rows_or_empty(TABLE, self.repository, HistoryRow)

    def _of_compactions(self) -> list[HistoryRow]:
        having = ("event", HistoryEvent.COMPACTED.value)
        parts = self.tables.read_parts(TABLE, self.repository, columns=column_names(HistoryRow), having=having)
        return [row for part in parts for row in from_table(part, HistoryRow)]


def _check(selection: Selection) -> None:
    if selection.prompt_version is not None:
        raise ConfigurationError(f"--prompt-version: rows of {TABLE} have none: leave it out")
    if selection.before is None:
        raise ConfigurationError(f"rows of {TABLE}: say --before DATE, up to which they may be compacted")


def _old(history: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Rows of documents that are gone, and of texts that others took the place of."""
    about_documents = [row for row in history if row.event is not HistoryEvent.COMPACTED]
    last = {row.id: row for row in about_documents}
    standing = {(row.id, row.text_hash) for row in last.values() if row.event is not HistoryEvent.REMOVED}
    return [row for row in about_documents if (row.id, row.text_hash) not in standing]


def _source(row: HistoryRow) -> SourceRow:
    values = to_builtins(row)
    del values["compaction"]
    because = f" because of {row.cause}" if row.cause else ""
    through = f" of {', '.join(row.cause_ids)}" if row.cause_ids and row.cause_ids != (row.id,) else ""
    paid = f", for ${row.cost_usd:.4f}" if row.cost_usd else ""
    text = (
        f"{row.written_at}, commit {row.commit}: {row.level} {row.id}: {row.event}{because}{through}, "
        f"by {row.writer}, text {row.text_hash[:12]}{paid}"
    )
    return SourceRow(f"{row.sequence}:{row.id}", text, blake3_of(canonical_json(values)))


def _sequence(source_id: str) -> int:
    return int(source_id.partition(":")[0])


def _document(source_id: str) -> str:
    return source_id.partition(":")[2]


def _row_of(record: CompactionRecord, *, after: int, newest: HistoryRow, model: str) -> HistoryRow:
    """The row of a compaction: it says nothing of a document, but of the repository."""
    return HistoryRow(
        sequence=after + 1,
        id=record.job_id,
        level=Level.MODULE,
        event=HistoryEvent.COMPACTED,
        cause=None,
        cause_ids=(),
        writer=f"{WrittenBy.LLM}/{model}",
        written_by=WrittenBy.LLM,
        summary_hash=record.request_hash,
        text_hash=sha1_hex(record.claim),
        run_id=record.job_id,
        commit=newest.commit,
        written_at=record.compacted_at,
        cost_usd=record.cost_usd,
        compaction=record,
    )
