"""A digest by a model whose process is killed at any moment: the next one makes the same digest, and pays once."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.notifications.digests.asking_again import AskAgain
from codesum_pipeline.notifications.digests.digest_by_model import DigestJob, write_by_model
from codesum_pipeline.notifications.digests.digest_rows import DigestDraft
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline_tests.support.digest_items import INTENT, answer, item
from codesum_pipeline_tests.support.killing import killed_at

MODEL = "openai/reporter-1"
CALL_USD = 0.001
_WATCHED = (
    "notifications/digests/digest_by_model.py", "notifications/digests/claims.py", "texts/llm/paying.py",
    "texts/llm/retrying.py", "texts/llm/ledger.py", "foundation/store/sqlite_tables.py",
)  # fmt: skip
_QUICK, _MANY = 6, 80


@dataclass
class Paid(SummaryBackend):
    """A model that writes down each call that it is paid for; its first answer is no JSON."""

    calls: Path
    max_prompt_chars: int = 100_000

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        with self.calls.open("a") as file:
            file.write(f"{request.request_hash}\n")
        text = answer() if len(request.sources) > 1 else "Sessions end sooner."
        return SummaryResponse(text, False, TokenUsage(100, 20), MODEL, CALL_USD)

    async def health(self) -> bool:
        return True

    async def aclose(self) -> None:
        pass


@dataclass
class Job:
    """One digest in one home."""

    folder: Path

    def run(self) -> DigestDraft:
        paid = Paid(self.calls)
        settings = Settings(
            home=self.folder,
            llm=LlmSettings(enabled=True, model=MODEL, prices=(ModelPrice(model=MODEL, input=1.0, output=2.0),)),
        )
        job = DigestJob(
            INTENT,
            "dig-1",
            settings,
            self.folder / "digests.sqlite",
            now=lambda: datetime(2026, 3, 2, 12, tzinfo=UTC),
            again=AskAgain("changes", "ask --again"),
            make_backend=lambda _llm, _templates: paid,
        )
        return write_by_model(job, [item(1), item(2)])

    def killed_at(self, number: int) -> bool:
        return killed_at(number, self.run, watched=_WATCHED, counted=self.folder / "lines")

    @property
    def calls(self) -> Path:
        return self.folder / "calls"

    @property
    def requests(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def answered(self) -> list[str]:
        """The requests whose answers are on the books."""
        books = self.folder / "digests.sqlite"
        if not books.exists():
            return []
        with closing(sqlite3.connect(books)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'llm_attempts'").fetchone():
                return []
            rows = connection.execute("SELECT request_hash FROM llm_attempts WHERE answer IS NOT NULL")
            return [request_hash for (request_hash,) in rows]


def job_in(folder: Path) -> Job:
    folder.mkdir()
    return Job(folder)


def must_pay_once(folder: Path, number: int, undisturbed: DigestDraft) -> None:
    """Kill, look, run again, look."""
    job = job_in(folder)
    assert job.killed_at(number)
    paid_for = job.answered()

    written = job.run()

    assert written.result == undisturbed.result
    again = [each for each in set(job.requests) if job.requests.count(each) > 1]
    # A call whose answer had not reached the books when the process died is the only one that is made again.
    assert len(again) <= 1
    assert not set(again) & set(paid_for)
    # It may have been billed, and counts with the most that it can have cost.
    assert written.cost_usd >= CALL_USD * len(set(job.requests))


@pytest.fixture
def undisturbed(tmp_path: Path) -> tuple[DigestDraft, int]:
    """What a run makes that nobody kills, and how many lines it has."""
    # First, since it makes what the process keeps from then on.
    written = job_in(tmp_path / "undisturbed").run()
    assert written.calls == 2
    counting = job_in(tmp_path / "counting")
    assert not counting.killed_at(0)
    return written, int((counting.folder / "lines").read_text())


def test_a_digest_killed_at_some_moments_is_made_by_the_next_run_and_not_paid_twice(
    tmp_path: Path, undisturbed: tuple[DigestDraft, int]
) -> None:
    written, lines = undisturbed

    for place in range(1, _QUICK + 1):
        number = lines * place // _QUICK
        must_pay_once(tmp_path / str(number), number, written)


def test_a_digest_killed_between_answer_and_result_is_made_without_any_call(
    tmp_path: Path, undisturbed: tuple[DigestDraft, int]
) -> None:
    written, lines = undisturbed
    job = job_in(tmp_path / "killed")
    assert job.killed_at(lines)
    assert len(job.requests) == 2

    again = job.run()

    assert (again.result, again.calls, again.cost_usd) == (written.result, 0, written.cost_usd)
    assert len(job.requests) == 2


@pytest.mark.slow
def test_a_digest_killed_at_any_line_is_made_by_the_next_run_and_not_paid_twice(
    tmp_path: Path, undisturbed: tuple[DigestDraft, int]
) -> None:
    written, lines = undisturbed

    for number in range(1, lines + 1, max(1, lines // _MANY)):
        must_pay_once(tmp_path / str(number), number, written)
