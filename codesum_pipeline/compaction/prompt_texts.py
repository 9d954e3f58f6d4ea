"""Models' texts of prompt versions that are not used any more, as the cache keeps them for all repositories."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from codesum_pipeline.compaction.attestation import Attestation, Policy, Selection
from codesum_pipeline.compaction.sources import SourceRow, attested_rows, compacted_ids
from codesum_pipeline.llm.cache import AnswerCache
from codesum_pipeline.llm.kept_texts import KeptText
from codesum_pipeline.llm.pins import blake3_of
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.store.lease import hold_lease

KIND = "prompt_texts"
# Beside the cache: several homes may share it.
LEASE_FILE = "compaction.sqlite"


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """Those of one cache. `in_use` are the digests of the templates that builds write with."""

    cache: AnswerCache
    in_use: Collection[str]
    kind: str = KIND
    repository: str | None = field(default=None, init=False)

    def rows(self, selection: Selection) -> list[SourceRow]:
        return self._sources(selection, self.cache.texts_of(self._version(selection)), self.compactions())

    def compactions(self) -> list[CompactionRecord]:
        return self.cache.compactions()

    def held(self, job_id: str) -> AbstractContextManager[object]:
        """Builds go on: what they write are other texts, and the transaction looks again."""
        lease = self.cache.path.with_name(LEASE_FILE)
        return hold_lease(lease, key=f"the cache {self.cache.path}", run_id=job_id, way_out=f"delete {lease}")

    def replace(self, record: CompactionRecord, attestation: Attestation) -> None:
        self.cache.compact(
            record,
            self._version(attestation.selection),
            partial(self._leaving, attestation),
        )

    def _leaving(
        self, attestation: Attestation, texts: Sequence[KeptText], records: Sequence[CompactionRecord]
    ) -> list[str]:
        """Which of the texts leave the cache."""
        sources = attested_rows(self._sources(attestation.selection, texts, records), attestation)
        return [row.id for row in sources] if attestation.policy is Policy.TOMBSTONED else []

    def _version(self, selection: Selection) -> str:
        version = selection.prompt_version
        if selection.ids is not None:
            raise ConfigurationError("--ids: models' texts are kept without their documents' ids: leave it out")
        if version is None:
            raise ConfigurationError(f"{KIND}: say which --prompt-version: `codesum cache stats --json` lists them")
        if version in self.in_use:
            raise ConfigurationError(f"--prompt-version {version}: builds write with it now: name an old one")
        return version

    def _sources(
        self, selection: Selection, texts: Sequence[KeptText], records: Sequence[CompactionRecord]
    ) -> list[SourceRow]:
        compacted = compacted_ids(records)
        found = [
            _source(text)
            for text in texts
            if text.exact_key not in compacted and (not selection.before or text.created_at < selection.before)
        ]
        return found[: selection.limit]


def _source(text: KeptText) -> SourceRow:
    written = text.text
    parts = [written.summary, written.business_intent, *written.side_effects, *written.responsibilities]
    shown = f"{text.created_at}, by {text.model}: {' '.join(part for part in parts if part)}"
    return SourceRow(text.exact_key, shown, blake3_of(canonical_json(text.row())))
