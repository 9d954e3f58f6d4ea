"""A job that is killed at any moment leaves the old rows or the compaction, and is carried out by its next run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.compaction.attestation import SignedAttestation
from codesum_pipeline.builds.compaction.compactable_rows import CompactionSource
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline_tests.support.compaction_home import CLAIM, MODEL, OldHome, signed
from codesum_pipeline_tests.support.killing import killed_at

# Where something can be half done; what they call is killed with them.
_WATCHED = (
    "builds/compaction/compacting.py", "builds/compaction/compactable_rows.py", "notifications/digests/digest_store.py",
    "texts/llm/paying.py", "texts/llm/ledger.py", "texts/llm/text_cache.py", "foundation/store/tables.py",
    "foundation/store/atomic.py", "foundation/store/sqlite_tables.py", "foundation/store/lease.py",
)  # fmt: skip
# The last lines, among which rows and compaction change, are those to be killed before one by one.
_QUICK, _MANY, _LAST = 4, 60, 80


@dataclass
class Paid(SummaryBackend):
    """A model that writes down each call that it is paid for, where a killed process leaves it."""

    calls: Path
    max_prompt_chars: int = 100_000

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        with self.calls.open("a") as file:
            file.write(f"{request.request_hash}\n")
        return SummaryResponse(CLAIM, False, TokenUsage(100, 20), MODEL, 0.01)

    async def health(self) -> bool:
        return True

    async def aclose(self) -> None:
        pass


class Job:
    """One job in one home, of one kind of rows."""

    def __init__(self, folder: Path, kind: str) -> None:
        folder.mkdir()
        self.home = OldHome.at(folder)
        self.calls = folder / "calls"
        self.home.add_digests()
        self.source: CompactionSource = self.home.source(kind)
        self.signed: SignedAttestation = signed(self.home.attest_kind(kind))

    def run(self) -> None:
        paid = Paid(self.calls)
        replace(self.home.compactor, make_backend=lambda _options, _templates: paid).run(self.signed, self.source)

    def state(self) -> tuple[Any, ...]:
        """Rows and compactions; of these, what does not tell the time."""
        ids = [row.id for row in self.home.digests()]
        return self.home.history(), self.home.texts(), ids, [record.claim for record in self.source.compactions()]

    def killed_at(self, number: int) -> bool:
        """Run in a process that kills itself before the `number`-th line; whether it lived so long."""
        return killed_at(number, self.run, watched=_WATCHED, counted=self.calls.with_name("lines"))

    @property
    def lines(self) -> int:
        """How many lines the run had that was not killed."""
        return int(self.calls.with_name("lines").read_text())


@dataclass
class Undisturbed:
    """A job that nobody killed: what it leaves, and how many lines it has."""

    after: Any
    lines: int

    @classmethod
    def of(cls, folder: Path, kind: str) -> "Undisturbed":
        # The first job of a process has more lines than later ones: the process remembers what it read.
        Job(folder.with_name("first"), kind).run()
        job = Job(folder, kind)
        assert not job.killed_at(0)
        return cls(outline(job.state()), job.lines)


def must_be_carried_out(folder: Path, kind: str, number: int, undisturbed: Undisturbed) -> None:
    """Kill, look, run again, look."""
    job = Job(folder, kind)
    before = outline(job.state())

    assert job.killed_at(number)

    assert outline(job.state()) in (before, undisturbed.after)
    was_paid = "good" in job.home.outcomes(job.signed.attestation.job_id)
    job.run()
    assert outline(job.state()) == undisturbed.after
    calls = job.calls.read_text().splitlines()
    # A call whose answer had not reached the books when the process died is the only one that is made again.
    assert len(calls) == 1 or (len(calls) == 2 and not was_paid)
    assert len(set(calls)) == 1


def outline(state: tuple[Any, ...]) -> Any:
    """Without the job's id, signature and hashes, which differ between two homes."""
    history, texts, digests, claims = state
    rows = [(row.sequence, row.event, row.compaction.claim if row.compaction else row.id) for row in history]
    return rows, texts, digests, claims


@pytest.mark.parametrize("kind", ["history", "texts", "digests"])
def test_a_job_killed_at_some_moments_leaves_the_old_state_or_the_new_one(tmp_path: Path, kind: str) -> None:
    undisturbed = Undisturbed.of(tmp_path / "undisturbed", kind)

    # The last of them is when the rows are others already.
    for place in range(1, _QUICK + 1):
        number = undisturbed.lines * place // _QUICK
        must_be_carried_out(tmp_path / str(number), kind, number, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["history", "texts", "digests"])
def test_a_job_killed_before_any_line_leaves_the_old_state_or_the_new_one(tmp_path: Path, kind: str) -> None:
    undisturbed = Undisturbed.of(tmp_path / "undisturbed", kind)
    last = range(undisturbed.lines - _LAST, undisturbed.lines + 1)

    for number in (*range(1, last[0], max(1, undisturbed.lines // _MANY)), *last):
        must_be_carried_out(tmp_path / str(number), kind, number, undisturbed)
