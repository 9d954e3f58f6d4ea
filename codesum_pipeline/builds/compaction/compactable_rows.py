"""What can be compacted: kinds of rows that each keep their compactions in the same transaction as themselves.

| kind | which rows are old |
|---|---|
| `document_history` | those that say nothing about a current text: no later build reads them |
| `prompt_texts` | models' texts in the cache, of prompt versions that are not used any more |
| `digests` | those before the last month, of which the monthly roll-up is made, that are sent and reported |
"""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from fnmatch import translate
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, to_builtins

from codesum_pipeline.builds.compaction.attestation import Attestation, AttestedSource, Policy, Selection
from codesum_pipeline.foundation.data_model.document import CompactionRecord, HistoryEvent, HistoryRow, Level, WrittenBy
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, SourcesChanged
from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha1_hex
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import hold_lease, hold_repository
from codesum_pipeline.foundation.store.rows import column_names, from_table, to_table
from codesum_pipeline.foundation.store.tables import TableStore, tables_of
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, DigestState
from codesum_pipeline.notifications.digests.digest_store import kept_digests, open_digests
from codesum_pipeline.texts.llm.pins import blake3_of
from codesum_pipeline.texts.llm.text_cache import AnswerCache, KeptText
from codesum_pipeline.texts.summaries.by_model.choosing import templates_of

TABLE, PROMPT_TEXTS, DIGESTS = "document_history", "prompt_texts", "digests"
KINDS = (TABLE, PROMPT_TEXTS, DIGESTS)
# Beside the cache, which several homes may share, and beside the digests.
_CACHE_LEASE, _DIGESTS_LEASE = "compaction.sqlite", "digests.compaction.sqlite"
# A month of a time zone begins up to so much earlier than that of UTC.
_EARLIEST_MIDNIGHT = timedelta(hours=14)
_SHOWN = 3


class SourceRow(Struct, frozen=True):
    """One row: `text` is what a model is shown of it, `blake3` covers all that it says."""

    id: str
    text: str
    blake3: str

    @property
    def attested(self) -> AttestedSource:
        return AttestedSource(self.id, self.blake3)


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
            named = some_of(ids, _SHOWN)
            raise SourcesChanged(f"{len(ids):,} of {attestation.kind} {what} ({named}): look at them, and attest anew")
    return [now[id_] for id_ in attested]


def _leaving(rows: Sequence[SourceRow], attestation: Attestation) -> list[str]:
    """The ids of the rows that are deleted."""
    attested = attested_rows(rows, attestation)
    return [row.id for row in attested] if attestation.policy is Policy.TOMBSTONED else []


def _open(rows: Sequence[SourceRow], records: Collection[CompactionRecord], limit: int | None) -> list[SourceRow]:
    """The rows that no compaction has replaced, `limit` at most."""
    compacted = {source.id for record in records for source in Attestation.of_record(record).sources}
    return [row for row in rows if row.id not in compacted][:limit]


def _check(selection: Selection, kind: str) -> None:
    if selection.prompt_version is not None:
        raise ConfigurationError(f"--prompt-version: rows of {kind} have none: leave it out")
    if selection.before is None:
        raise ConfigurationError(f"rows of {kind}: say --before DATE, up to which they may be compacted")


class PromptTexts(Struct, frozen=True):
    """The texts of one cache. `in_use` are the digests of the templates that builds write with."""

    cache: AnswerCache
    in_use: Collection[str]
    kind: str = PROMPT_TEXTS
    repository: str | None = None

    def rows(self, selection: Selection) -> list[SourceRow]:
        return self._rows(selection, self.cache.texts_of(self._version(selection)), self.compactions())

    def compactions(self) -> list[CompactionRecord]:
        return self.cache.compactions()

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Builds are not held off: they write other texts, and the transaction reads the texts again."""
        lease = self.cache.path.with_name(_CACHE_LEASE)
        return hold_lease(lease, key=f"the cache {self.cache.path}", run_id=job_id, way_out=f"delete {lease}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        selection = attestation.selection
        self.cache.compact(
            record,
            self._version(selection),
            lambda texts, records: _leaving(self._rows(selection, texts, records), attestation),
        )

    def _version(self, selection: Selection) -> str:
        version = selection.prompt_version
        if selection.ids is not None:
            raise ConfigurationError("--ids: models' texts are kept without their documents' ids: leave it out")
        if version is None:
            raise ConfigurationError(
                f"{self.kind}: name the old one with --prompt-version: `codesum cache stats --json` lists them"
            )
        if version in self.in_use:
            raise ConfigurationError(f"--prompt-version {version}: builds write with it now: name an old one")
        return version

    def _rows(
        self, selection: Selection, texts: Sequence[KeptText], records: Sequence[CompactionRecord]
    ) -> list[SourceRow]:
        old = [text for text in texts if not selection.before or text.created_at < selection.before]
        return _open([_of_text(text) for text in old], records, selection.limit)


def _of_text(text: KeptText) -> SourceRow:
    written = text.text
    parts = [written.summary, written.business_intent, *written.side_effects, *written.responsibilities]
    shown = f"{text.created_at}, by {text.model}: {' '.join(part for part in parts if part)}"
    return SourceRow(text.exact_key, shown, blake3_of(canonical_json(text.row())))


class DigestRows(Struct, frozen=True):
    """The digests and roll-ups of one home; nothing is created where it has none."""

    path: Path
    now: Callable[[], datetime]
    kind: str = DIGESTS
    repository: str | None = None

    def rows(self, selection: Selection) -> list[SourceRow]:
        _check(selection, self.kind)
        with kept_digests(self.path, now=self.now) as store:
            return self._rows(selection, store.digests(), store.compactions()) if store else []

    def compactions(self) -> list[CompactionRecord]:
        with kept_digests(self.path, now=self.now) as store:
            return store.compactions() if store else []

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Writing digests is not held off: they are new ones, and the transaction reads the old ones again."""
        lease = self.path.with_name(_DIGESTS_LEASE)
        return hold_lease(lease, key=f"the digests in {self.path}", run_id=job_id, way_out=f"delete {lease}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        selection = attestation.selection
        _check(selection, self.kind)
        with open_digests(self.path, now=self.now) as store:
            store.compact(
                record, lambda digests, records: _leaving(self._rows(selection, digests, records), attestation)
            )

    def _rows(
        self, selection: Selection, digests: Sequence[DigestRow], records: Sequence[CompactionRecord]
    ) -> list[SourceRow]:
        # On its first day a month has not begun everywhere; of the one before it a roll-up is still to be made.
        somewhere = self.now().astimezone(UTC) - timedelta(days=1)
        this_month = somewhere.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        earliest_to_roll_up = (this_month - timedelta(days=1)).replace(day=1) - _EARLIEST_MIDNIGHT
        before = min(selection.before or "", iso_moment(earliest_to_roll_up))
        intents = re.compile(translate(selection.ids or "*"))
        old = [
            _of_digest(row)
            for row in digests
            if row.created_at < before and _is_final(row) and intents.fullmatch(row.intent_name)
        ]
        return _open(old, records, selection.limit)


def _is_final(row: DigestRow) -> bool:
    """Whether nothing is left to be done about it: it is in the outbox or goes nowhere, and the hooks have heard."""
    return row.state is DigestState.VETOED or (row.state is not DigestState.WRITTEN and row.told_at is not None)


def _of_digest(row: DigestRow) -> SourceRow:
    sources = "; ".join(
        f"[{number}] {each.name}, {each.place}, {each.repository}"
        for number, each in enumerate(row.result.citations, start=1)
    )
    text = (
        f"{row.created_at}, {row.kind} of {row.intent_name!r} about {', '.join(row.repositories)}: "
        f"{row.result.summary}\nSources: {sources or 'none'}"
    )
    return SourceRow(row.id, text, blake3_of(canonical_json(to_builtins(row))))


class HistoryRows(Struct, frozen=True):
    """The history of one repository: one file, which is replaced as a whole, so that rows and compaction change in one
    step."""

    tables: TableStore
    layout: HomeLayout
    repository: str
    kind: str = TABLE

    def rows(self, selection: Selection) -> list[SourceRow]:
        _check(selection, self.kind)
        before, ids = selection.before or "", re.compile(translate(selection.ids or "*"))
        history = self.tables.read_rows_or_empty(TABLE, self.repository, HistoryRow)
        # Old are rows of documents that are gone, and of texts that others took the place of.
        about_documents = [row for row in history if row.event is not HistoryEvent.COMPACTED]
        last = {row.id: row for row in about_documents}
        standing = {(row.id, row.text_hash) for row in last.values() if row.event is not HistoryEvent.REMOVED}
        old = [row for row in about_documents if (row.id, row.text_hash) not in standing]
        found = [_of_history(row) for row in old if row.written_at < before and ids.fullmatch(row.id)]
        return _open(found, self.compactions(), selection.limit)

    def compactions(self) -> list[CompactionRecord]:
        having = ("event", HistoryEvent.COMPACTED.value)
        parts = self.tables.read_parts(TABLE, self.repository, columns=column_names(HistoryRow), having=having)
        return [record for part in parts for row in from_table(part, HistoryRow) if (record := row.compaction)]

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Builds are held off, since they append to the history."""
        key = self.repository
        return hold_repository(self.layout, key, run_id=job_id, called=f"repository {key!r}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        sources = attested_rows(self.rows(attestation.selection), attestation)
        table = self.tables.read(TABLE, self.repository)
        numbers = pa.array([int(row.id.partition(":")[0]) for row in sources], pa.int64())
        are_sources = pc.is_in(table.column("sequence"), value_set=numbers)
        added = HistoryRow(
            sequence=pc.max(table.column("sequence")).as_py() + 1,
            # It says nothing of a document, but of the repository.
            id=record.job_id,
            level=Level.MODULE,
            event=HistoryEvent.COMPACTED,
            cause=None,
            cause_ids=(),
            writer=f"{WrittenBy.LLM}/{attestation.model}",
            written_by=WrittenBy.LLM,
            summary_hash=record.request_hash,
            text_hash=sha1_hex(record.claim),
            run_id=record.job_id,
            commit=from_table(table.filter(are_sources), HistoryRow)[-1].commit,
            written_at=record.compacted_at,
            cost_usd=record.cost_usd,
            compaction=record,
        )
        kept = table.filter(pc.invert(are_sources)) if attestation.policy is Policy.TOMBSTONED else table
        self.tables.write(TABLE, self.repository, pa.concat_tables([kept, to_table([added], HistoryRow)]))

    def of_document(self, doc_id: str) -> list[tuple[CompactionRecord, int]]:
        """The compactions of a document's rows, each with the number of its rows."""
        found = []
        for record in self.compactions():
            sources = Attestation.of_record(record).sources
            if count := sum(source.id.partition(":")[2] == doc_id for source in sources):
                found.append((record, count))
        return found


def _of_history(row: HistoryRow) -> SourceRow:
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


# One kind of rows, of one repository or of all. `rows` gives those that are old and in no compaction, oldest first, and
# raises `ConfigurationError` for a selection that says nothing to this kind. `compactions` gives what replaced rows,
# oldest first. During the block `held` nobody else compacts these rows, or changes them where that can be held off; it
# raises `LeaseHeld`. `replace` adds the record, and deletes the rows where the policy says so, in one transaction; it
# raises `SourcesChanged` if the rows are others by now.
CompactionSource = PromptTexts | DigestRows | HistoryRows


def source_of(
    kind: str, repository: str | None, *, layout: HomeLayout, settings: Settings, now: Callable[[], datetime]
) -> CompactionSource:
    """The rows that an attestation speaks of; raises `ConfigurationError`."""
    if kind not in KINDS:
        raise ConfigurationError(f"kind {kind!r}: rows of these kinds can be compacted: {', '.join(KINDS)}")
    if kind != TABLE and repository is not None:
        raise ConfigurationError(f"{kind} are those of all repositories: leave --repo out")
    if kind == DIGESTS:
        return DigestRows(layout.digests, now)
    if kind == PROMPT_TEXTS:
        in_use = frozenset(template.digest for template in templates_of(settings).values())
        return PromptTexts(AnswerCache(settings.summary_cache_dir, now=now), in_use)
    if repository is None:
        raise ConfigurationError(f"rows of {kind} are a repository's: say --repo KEY")
    return HistoryRows(tables_of(layout), layout, repository)


def all_sources(
    repositories: Sequence[str], *, layout: HomeLayout, settings: Settings, now: Callable[[], datetime]
) -> list[CompactionSource]:
    """Every kind of rows, of each repository."""
    kinds = [*((TABLE, key) for key in repositories), (PROMPT_TEXTS, None), (DIGESTS, None)]
    return [source_of(kind, key, layout=layout, settings=settings, now=now) for kind, key in kinds]
