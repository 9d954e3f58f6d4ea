"""A home with an old history, an operator with a key, and jobs to be carried out in it."""

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.builds.compaction.attestation import (
    NAMESPACE,
    Attestation,
    Policy,
    Selection,
    SignedAttestation,
)
from codesum_pipeline.builds.compaction.compactable_rows import (
    TABLE,
    CompactionSource,
    DigestRows,
    HistoryRows,
    PromptTexts,
)
from codesum_pipeline.builds.compaction.compacting import LEDGER_FILE, Compactor
from codesum_pipeline.builds.compaction.ssh_signatures import sign_data
from codesum_pipeline.foundation.data_model.document import (
    Cause,
    HistoryEvent,
    HistoryRow,
    Level,
    WrittenBy,
    WrittenText,
)
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings, ModelPrice
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, DigestState
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.texts.llm.ledger import open_ledger
from codesum_pipeline.texts.llm.text_cache import AnswerCache, KeptText
from codesum_pipeline_tests.support.digest_making import digest
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.support.ssh_keys import key_in, recorded

OPS = "ops@example.org"
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
MODEL = "openai/archivist-1"
REPO = "shop"
BEFORE_2026 = Selection(before="2026-01-01T00:00:00.000Z")
# A text of the cache was written with the first of these, and now builds write with the second.
OLD_PROMPT, PROMPT_IN_USE = "blake3:old", "blake3:in-use"
OF_OLD_PROMPT = Selection(prompt_version=OLD_PROMPT)
CLAIM = "In 2025 shop/pay.py::pay was rewritten twice, and shop/old.py came and went."


def now() -> datetime:
    return NOW


def history_row(sequence: int, id_: str, day: str, text: str, **changed: Any) -> HistoryRow:
    row = HistoryRow(
        sequence=sequence,
        id=id_,
        level=Level.FUNCTION if "::" in id_ else Level.FILE,
        event=HistoryEvent.WRITTEN,
        cause=Cause.CONTENT,
        cause_ids=(id_,),
        writer="extractive/1",
        written_by=WrittenBy.EXTRACTIVE,
        summary_hash=f"made-from-{text}",
        text_hash=text,
        run_id=f"run-of-{day}",
        commit=f"c0ffee{sequence}",
        written_at=f"{day}T10:00:00Z",
        cost_usd=0.0,
    )
    return replace(row, **changed)


# Of `pay` the third text stands; `old.py` is gone; `util` came back to its first text.
HISTORY = [
    history_row(1, "shop/pay.py::pay", "2025-01-05", "pay-1", cause=Cause.NEW),
    history_row(2, "shop/old.py", "2025-01-05", "old-1", cause=Cause.NEW),
    history_row(3, "shop/util.py::add", "2025-02-01", "add-1", cause=Cause.NEW),
    history_row(4, "shop/pay.py::pay", "2025-03-01", "pay-2", written_by=WrittenBy.LLM, cost_usd=0.25),
    history_row(5, "shop/old.py", "2025-04-01", "old-1", event=HistoryEvent.REMOVED, cause=None, cause_ids=()),
    history_row(6, "shop/util.py::add", "2025-05-01", "add-2"),
    history_row(7, "shop/util.py::add", "2025-06-01", "add-1", cause=Cause.RESTORED),
    history_row(8, "shop/pay.py::pay", "2025-07-01", "pay-3"),
    history_row(9, "shop/pay.py::pay", "2026-02-01", "pay-3", event=HistoryEvent.SAME_TEXT),
    history_row(10, "shop/new.py", "2026-03-01", "new-1", cause=Cause.NEW),
]
OLD_IDS = ["1:shop/pay.py::pay", "2:shop/old.py", "4:shop/pay.py::pay", "5:shop/old.py", "6:shop/util.py::add"]


def kept_text(number: int, *, prompt_version: str = OLD_PROMPT) -> KeptText:
    return KeptText(
        exact_key=f"exact-{prompt_version}-{number}",
        body_key=f"body-{prompt_version}-{number}",
        text=WrittenText(f"Adds the number {number} to a sum.", "Counts what was sold.", ("sum", "add", "count")),
        context=None,
        model="openai/writer-1",
        prompt_version=prompt_version,
        cost_usd=0.01,
        created_at=f"2025-01-0{number}T00:00:00.000Z",
    )


def old_digest(id_: str, day: str, **changed: Any) -> DigestRow:
    """One that is sent, and of which the hooks have heard."""
    moment = f"{day}T07:00:00.000Z"
    return digest(id_, **{"created_at": moment, "told_at": moment, "state": DigestState.QUEUED, **changed})


# Of those that are older than 2026 one is not in the outbox yet, and of one the hooks have not heard.
DIGESTS = [
    old_digest("january", "2025-01-05"),
    old_digest("vetoed", "2025-02-05", intent="billing", state=DigestState.VETOED, told_at=None),
    old_digest("written", "2025-03-05", state=DigestState.WRITTEN),
    old_digest("untold", "2025-04-05", told_at=None),
    old_digest("unsent", "2025-05-05", state=DigestState.UNSENT),
    old_digest("lately", "2026-05-01"),
]
OLD_DIGESTS = ["january", "vetoed", "unsent"]


@dataclass
class OldHome:
    """The home; its settings can be changed before a job is attested or run."""

    folder: Path
    settings: Settings
    clock: Callable[[], datetime] = now

    @classmethod
    def at(cls, folder: Path, api_base: str = "http://127.0.0.1:9/v1") -> "OldHome":
        """One that asks a server; nobody listens at the default one."""
        home = folder / "home"
        home.mkdir()
        signers = home / "allowed_signers"
        signers.write_text(f'{OPS} valid-before="20990101Z" {recorded("plain_key.pub")}')
        llm = LlmSettings(
            enabled=True,
            model=MODEL,
            api_base=api_base,
            api_key_env="ARCHIVE_KEY",
            prices=(ModelPrice(model=MODEL, input=1.0, output=2.0),),
            max_retries=1,
            timeout_s=20.0,
        )
        found = cls(home, Settings(home=home, llm=llm))
        found.tables.write_rows(TABLE, REPO, HISTORY, HistoryRow)
        texts = [kept_text(number) for number in (1, 2, 3)]
        found.cache.put_many([*texts, kept_text(1, prompt_version=PROMPT_IN_USE)])
        return found

    @property
    def tables(self) -> TableStore:
        return TableStore(HomeLayout(self.folder).warehouse)

    @property
    def cache(self) -> AnswerCache:
        return AnswerCache(self.settings.summary_cache_dir, now=self.clock)

    @property
    def history_rows(self) -> HistoryRows:
        return HistoryRows(self.tables, HomeLayout(self.folder), REPO)

    @property
    def prompt_texts(self) -> PromptTexts:
        return PromptTexts(self.cache, in_use=frozenset({PROMPT_IN_USE}))

    @property
    def digest_rows(self) -> DigestRows:
        return DigestRows(HomeLayout(self.folder).digests, self.clock)

    def source(self, kind: str) -> CompactionSource:
        found: dict[str, CompactionSource] = {"history": self.history_rows, "texts": self.prompt_texts}
        return {**found, "digests": self.digest_rows}[kind]

    @property
    def compactor(self) -> Compactor:
        return Compactor(self.settings, self.folder, self.clock)

    def history(self) -> list[HistoryRow]:
        return self.tables.read_rows(TABLE, REPO, HistoryRow)

    def texts(self) -> list[KeptText]:
        return [*self.cache.texts_of(OLD_PROMPT), *self.cache.texts_of(PROMPT_IN_USE)]

    def attest(self, *, policy: Policy = Policy.TOMBSTONED, max_output_bytes: int = 1000) -> Attestation:
        return self.compactor.attest(
            self.history_rows, BEFORE_2026, policy=policy, attested_by=OPS, max_output_bytes=max_output_bytes
        )

    def attest_texts(self, *, policy: Policy = Policy.TOMBSTONED) -> Attestation:
        return self.compactor.attest(
            self.prompt_texts, OF_OLD_PROMPT, policy=policy, attested_by=OPS, max_output_bytes=1000
        )

    def attest_digests(self, *, policy: Policy = Policy.TOMBSTONED) -> Attestation:
        return self.compactor.attest(
            self.digest_rows, BEFORE_2026, policy=policy, attested_by=OPS, max_output_bytes=1000
        )

    def attest_kind(self, kind: str) -> Attestation:
        return {"history": self.attest, "texts": self.attest_texts, "digests": self.attest_digests}[kind]()

    def add_digests(self, rows: Sequence[DigestRow] = DIGESTS) -> None:
        with open_digests(HomeLayout(self.folder).digests, now=self.clock) as store:
            for row in rows:
                store.record(None, row)

    def digests(self) -> list[DigestRow]:
        with open_digests(HomeLayout(self.folder).digests, now=self.clock) as store:
            return store.digests()

    def outcomes(self, job: str) -> Sequence[str]:
        """How the calls of a job ended."""
        with open_ledger(self.folder / LEDGER_FILE, run_id="reader", now=self.clock):
            pass
        with closing(sqlite3.connect(self.folder / LEDGER_FILE)) as connection:
            rows = connection.execute("SELECT outcome FROM llm_attempts WHERE run_id = ? ORDER BY sequence", (job,))
            return [outcome for (outcome,) in rows]

    def spent(self) -> float:
        with open_ledger(self.folder / LEDGER_FILE, run_id="reader", now=self.clock) as ledger:
            return ledger.spent_today()

    def set(self, **llm: Any) -> None:
        self.settings = changed(self.settings, llm=llm)

    def replay(self, recording: Path) -> None:
        self.set(backend=BackendName.REPLAY, recording=recording)


def signed(attestation: Attestation, *, data: bytes | None = None, key: str = "plain_key") -> SignedAttestation:
    """An attestation as the operator signs it; `data` instead of its own bytes."""
    with tempfile.TemporaryDirectory() as folder:
        signature = sign_data(attestation.to_bytes(), key_in(Path(folder), key), namespace=NAMESPACE)
    return SignedAttestation(attestation, data or attestation.to_bytes(), signature)
