"""The ledger: nothing is asked that is not written down, and nothing paid that is lost."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.data_model.document import (
    Citation,
    ContextNeighbour,
    InputSpec,
    Level,
    Returns,
    TextContext,
    WrittenText,
)
from codesum_pipeline.foundation.data_model.errors import SummaryOutputInvalid
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.lease import current_holder, hold_lease
from codesum_pipeline.foundation.store.schemas import BOOKS
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.ledger import (
    KEEP_DAYS,
    AttemptResult,
    CallAttempt,
    Ledger,
    erase_ledger,
    open_ledger,
)
from codesum_pipeline.texts.llm.ledger_readings import unusable_answers
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, AnswerEnd, TokenUsage
from codesum_pipeline.texts.llm.text_cache import KeptText
from codesum_pipeline_tests.texts.llm.making import NOON

TEXT = WrittenText(
    summary="Adds up the prices of an order.",
    business_intent="Tells what an order costs.",
    keywords=("price", "order"),
    returns=Returns("int", "an amount", "The sum of all prices."),
    inputs=(InputSpec("order", "Order", "Whose prices are added up."),),
    side_effects=("reads prices",),
    invariants=("never below 0",),
    responsibilities=("add: adds up",),
    citations=(Citation("summary", 1, 3),),
)
CONTEXT = TextContext(
    (ContextNeighbour("a.py::g", "1"),), (ContextNeighbour("b.py::h", "2"),), ("a.py::g",), ("b.py::h",)
)
UNUSABLE = SummaryOutputInvalid.kind
KEPT = KeptText("exact", "body", TEXT, CONTEXT, "m", "blake3:p", 0.02, "2026-03-01T12:00:00.000Z")
GOOD = AttemptResult(AttemptOutcome.GOOD, 0.01, 1.5, TokenUsage(100, 20, 80), answer="{}", has_tool_call=True)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self):
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "shop.sqlite"


@contextmanager
def opened(state: Path, clock: Clock, run_id: str = "run 1") -> Iterator[Ledger]:
    with open_ledger(state, run_id=run_id, now=clock) as ledger:
        yield ledger


def attempt(id_: str = "a.py::f", *, usd: float = 0.5, request: str = "blake3:r", number: int = 1) -> CallAttempt:
    return CallAttempt(id_, Level.FUNCTION, request, "m", number, usd)


def row(sequence: int = 1, **changed) -> LedgerRow:
    values = {
        "sequence": sequence, "run_id": "run 1", "id": "a.py::f", "level": Level.FUNCTION, "request_hash": "blake3:r",
        "model": "m", "attempt": 1, "started_at": "2026-03-01T12:00:00.000Z", "reserved_usd": 0.5,
        "outcome": AttemptOutcome.GOOD, "failure": None, "error": None, "prompt_tokens": 100, "completion_tokens": 20,
        "cached_tokens": 80, "cost_usd": 0.01, "is_estimated": False, "latency_s": 1.5, "answer": None,
    }  # fmt: skip
    return LedgerRow(**{**values, **changed})


def test_a_settled_attempt_is_one_row_with_all_that_is_known_of_it(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)

        assert ledger.rows() == [row(answer="{}")]


def test_an_open_attempt_counts_with_the_most_that_it_can_cost(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        first = ledger.reserve(attempt())
        ledger.reserve(attempt(usd=0.25))
        before = ledger.spent()
        ledger.settle(first, GOOD)

        assert (before, ledger.spent()) == (0.75, 0.26)


def test_what_nobody_can_price_counts_with_the_most_that_it_can_be(state: Path, clock: Clock) -> None:
    timed_out = AttemptResult(AttemptOutcome.FAILED, None, 60.0, failure="timeout", error="no answer in 60 s")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), timed_out)

        assert ledger.rows() == [
            row(outcome=AttemptOutcome.FAILED, failure="timeout", error="no answer in 60 s", prompt_tokens=0,
                completion_tokens=0, cached_tokens=0, cost_usd=0.5, is_estimated=True, latency_s=60.0)
        ]  # fmt: skip


def test_an_attempt_of_a_dead_run_is_interrupted_and_its_worst_price_counted(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        ledger.reserve(attempt())
        ledger.settle(ledger.reserve(attempt()), GOOD)
    with opened(state, clock, "run 2") as ledger:
        recovered = ledger.recover()

        assert (recovered, ledger.recover()) == (1, 0)
        assert [(each.outcome, each.cost_usd, each.is_estimated) for each in ledger.rows("run 1")] == [
            (AttemptOutcome.INTERRUPTED, 0.5, True),
            (AttemptOutcome.GOOD, 0.01, False),
        ]
        assert (ledger.spent(), ledger.spent("run 1"), ledger.spent_today()) == (0.0, 0.51, 0.51)


def test_a_day_ends_at_midnight_utc(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)
        clock.now += timedelta(hours=12)
        ledger.settle(ledger.reserve(attempt()), GOOD)

        assert (ledger.spent_today(), ledger.spent()) == (0.01, 0.02)


def test_a_paid_text_waits_until_it_was_handed_over(state: Path, clock: Clock) -> None:
    taken: list[KeptText] = []

    def fail(_texts) -> None:
        raise OSError("the cache is on a disk that is gone")

    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD, KEPT)
        with pytest.raises(OSError):
            ledger.deliver(fail)
    with opened(state, clock, "run 2") as ledger:
        counts = (ledger.deliver(taken.extend), ledger.deliver(taken.extend))

    assert counts == (1, 0)
    assert taken == [KEPT]


def test_an_answer_that_could_not_be_taken_is_known_for_some_days(state: Path, clock: Clock) -> None:
    bad = AttemptResult(AttemptOutcome.INVALID, 0.01, 1.0, failure=UNUSABLE, answer="{", has_tool_call=True)
    other = AttemptResult(AttemptOutcome.INVALID, 0.01, 1.0, failure="refused-answer", answer="{")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), bad)
        ledger.settle(ledger.reserve(attempt(request="blake3:other")), other)
        known = ledger.refused_answers()
        clock.now += timedelta(days=KEEP_DAYS, seconds=1)

        assert ledger.refused_answers() == {}
    ((request, (response, is_form_ignored)),) = known.items()
    assert (request, response.claim, response.has_tool_call, response.cost_usd) == ("blake3:r", "{", True, 0.0)
    assert not is_form_ignored


def test_an_answer_that_an_error_of_the_server_ended_is_asked_for_again(state: Path, clock: Clock) -> None:
    bad = AttemptResult(AttemptOutcome.INVALID, 0.01, 1.0, failure=UNUSABLE, error="no field", answer="{")
    broken = AttemptResult(AttemptOutcome.INVALID, 0.01, 1.0, failure=FAILURES_BY_END[AnswerEnd.ERROR], answer="died")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), bad)
        ledger.settle(ledger.reserve(attempt(request="blake3:broken")), broken)
        (to_write,), (to_read,) = ledger.refused_answers(), unusable_answers(state, now=clock.now)

    assert to_write == to_read == "blake3:r"


def test_an_unusable_answer_is_kept_up_to_the_same_moment_by_all_that_look_for_one(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        ledger.settle(
            ledger.reserve(attempt()), AttemptResult(AttemptOutcome.INVALID, 0.0, 1.0, failure=UNUSABLE, answer="{")
        )
        clock.now += timedelta(days=KEEP_DAYS)

        assert ledger.refused_answers() == unusable_answers(state, now=clock.now) == {}


def test_a_settlement_is_whole_or_not_at_all(state: Path, clock: Clock) -> None:
    with opened(state, clock) as ledger:
        sequence = ledger.reserve(attempt())
        with sqlite3.connect(state) as other:
            other.execute("DROP TABLE llm_outbox")
        with pytest.raises(sqlite3.OperationalError):
            ledger.settle(sequence, GOOD, KEPT)

        assert ledger.rows() == []
        assert ledger.spent() == 0.5


def test_the_table_gets_each_row_once_and_no_answer_that_was_taken(state: Path, clock: Clock, tmp_path: Path) -> None:
    tables = TableStore(tmp_path / "warehouse")
    bad = AttemptResult(AttemptOutcome.INVALID, 0.02, 1.0, failure=UNUSABLE, error="no", answer="{")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)
        waiting = ledger.reserve(attempt(number=2))
        first = ledger.compact(tables, "shop")
        ledger.settle(waiting, bad)
        second, third = ledger.compact(tables, "shop"), ledger.compact(tables, "shop")

        assert (first, second, third) == (1, 1, 0)
        assert tables.read_rows("ledger", "shop", LedgerRow) == [
            row(),
            row(2, attempt=2, outcome=AttemptOutcome.INVALID, failure=UNUSABLE, error="no", prompt_tokens=0,
                completion_tokens=0, cached_tokens=0, cost_usd=0.02, latency_s=1.0, answer="{"),
        ]  # fmt: skip
        assert [each.answer for each in ledger.rows()] == [None, "{"]


def test_a_kill_between_table_and_ledger_adds_no_row_twice(state: Path, clock: Clock, tmp_path: Path) -> None:
    tables = TableStore(tmp_path / "warehouse")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)
        tables.write_rows("ledger", "shop", [row()], LedgerRow)

        assert ledger.compact(tables, "shop") == 0
        assert tables.read_rows("ledger", "shop", LedgerRow) == [row()]


def test_what_is_in_the_table_leaves_the_ledger_after_some_days(state: Path, clock: Clock, tmp_path: Path) -> None:
    tables = TableStore(tmp_path / "warehouse")
    with opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)
        ledger.compact(tables, "shop")
        clock.now += timedelta(days=KEEP_DAYS, seconds=1)
        ledger.settle(ledger.reserve(attempt()), GOOD)
        ledger.compact(tables, "shop")

        assert [each.sequence for each in ledger.rows()] == [2]
        assert [each.sequence for each in tables.read_rows("ledger", "shop", LedgerRow)] == [1, 2]


def test_the_lease_and_the_ledger_share_a_file(state: Path, clock: Clock) -> None:
    with hold_lease(state, key="shop", run_id="run 1"), opened(state, clock) as ledger:
        ledger.settle(ledger.reserve(attempt()), GOOD)
    with hold_lease(state, key="shop", run_id="run 2"), opened(state, clock, "run 2") as ledger:
        assert ledger.spent("run 1") == 0.01


def test_an_erased_ledger_is_empty_and_the_lease_is_still_held(state: Path, clock: Clock) -> None:
    with hold_lease(state, key="shop", run_id="run 1") as holder:
        with opened(state, clock) as ledger:
            ledger.settle(ledger.reserve(attempt()), GOOD, KEPT)
        erase_ledger(state)

        assert current_holder(state) == holder
        with opened(state, clock) as ledger:
            assert (ledger.rows(), ledger.spent(), ledger.deliver(lambda _texts: None)) == ([], 0.0, 0)


def test_there_is_nothing_to_erase_where_nothing_was_asked(state: Path) -> None:
    erase_ledger(state)

    assert not state.exists()


def test_books_of_before_are_read_and_gone_on_with_and_survive_a_rebuild(
    state: Path, clock: Clock, tmp_path: Path
) -> None:
    tables = TableStore(tmp_path / "warehouse")
    with opened(state, clock, "before") as ledger:
        ledger.settle(ledger.reserve(attempt()), AttemptResult(AttemptOutcome.GOOD, 0.5, 1.0))
        ledger.compact(tables, "shop")
    with sqlite3.connect(state) as connection:
        connection.execute("ALTER TABLE llm_attempts DROP COLUMN model_echoed")
    path = tables.path("ledger", "shop")
    before = pq.read_table(path)
    hashes = json.loads(before.schema.metadata[b"codesum.columns"])
    del hashes["model_echoed"]
    metadata = {**before.schema.metadata, b"codesum.columns": json.dumps(hashes).encode()}
    pq.write_table(before.drop_columns("model_echoed").replace_schema_metadata(metadata), path)

    tables.drop("shop", keeping=BOOKS)
    with opened(state, clock, "now") as ledger:
        settled = AttemptResult(AttemptOutcome.GOOD, 0.25, 1.0, model_echoed="m-001")
        ledger.settle(ledger.reserve(attempt()), settled)
        (kept,) = tables.read_rows("ledger", "shop", LedgerRow)
        ledger.compact(tables, "shop")

    rows = tables.read_rows("ledger", "shop", LedgerRow)
    assert (kept.cost_usd, kept.model_echoed) == (0.5, None)
    assert [(row.cost_usd, row.model_echoed) for row in rows] == [(0.5, None), (0.25, "m-001")]
