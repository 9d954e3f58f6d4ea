"""What the first call of a run finds out for all of them, and what is asked for again."""

import asyncio
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Gate
from codesum_pipeline.foundation.data_model.errors import CallFailure
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.backend import AnotherModel
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.writing_run import write_all
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.texts.llm.making import (
    CALL_USD,
    MODEL,
    SETTINGS,
    FakeBackend,
    function_answer,
    price_of,
    respond_well,
    responding,
    task,
)
from codesum_pipeline_tests.texts.llm.test_scheduling import NO_CAP, Home, failing, stopped, written


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("fallbacks", [(), ("openai/second",)], ids=["one model", "a fallback"])
def test_another_models_answer_ends_the_run_at_the_first_call(
    home: Home, concurrency: int, fallbacks: tuple[str, ...]
) -> None:
    def respond(_request: SummaryRequest, _number: int) -> SummaryResponse:
        raise AnotherModel("'a' was asked and 'b' answered", responding(function_answer(), model_name_echoed="b"))

    settings = changed(SETTINGS, concurrency=concurrency, fallback_models=fallbacks)
    outcomes = home.write(*map(task, range(1, 12)), respond=respond, settings=settings)

    assert len(home.backend.requests) == 1
    first = stopped(1, Gate.FAILED, "another-model", cost_usd=CALL_USD, calls=1)
    assert outcomes == [first, *(stopped(number, Gate.FAILED, "another-model") for number in range(2, 12))]


def test_missing_credentials_are_met_by_one_call_however_many_may_be_made_at_once(home: Home) -> None:
    settings = changed(SETTINGS, concurrency=8)

    outcomes = home.write(*map(task, range(1, 12)), respond=failing(CallFailure.CREDENTIALS), settings=settings)

    assert len(home.backend.requests) == 1
    assert {outcome.gate for outcome in outcomes} == {Gate.NO_CREDENTIALS}


def test_once_the_first_call_is_heard_of_the_others_go_together(home: Home) -> None:
    most, now = 0, 0

    class Counting(FakeBackend):
        async def summarize(self, request: SummaryRequest) -> SummaryResponse:
            nonlocal most, now
            self.requests.append(request)
            now += 1
            if len(self.requests) > 1:
                most = max(most, now)
            else:
                assert now == 1
            await asyncio.sleep(0.05)
            now -= 1
            return respond_well(request, len(self.requests))

    backend = Counting()
    with home.ledger() as ledger:
        outcomes = write_all(
            [*map(task, range(1, 12))], new_backend=lambda: backend, ledger=ledger, cache=home.cache, caps=NO_CAP,
            price_of=price_of, settings=changed(SETTINGS, concurrency=5),
        )  # fmt: skip

    assert all(outcome.text for outcome in outcomes)
    assert (most, len(backend.requests)) == (5, 11)


def test_an_empty_answer_does_not_stand_for_the_next_one(home: Home) -> None:
    home.write(task(1), respond=lambda request, _number: responding(" ", has_tool_call=False))

    assert len(home.backend.requests) == SETTINGS.max_attempts
    assert home.write(task(1)) == [written(1)]


def test_each_refused_answer_has_its_row_with_what_is_wrong_and_who_answered(home: Home) -> None:
    echoed = f"{MODEL}-2025-01-01"
    home.write(task(1), respond=lambda request, _number: responding("", model_name_echoed=echoed))

    with home.ledger() as ledger:
        rows = ledger.rows()
    assert [row.attempt for row in rows] == [1, 2, 3]
    assert {(row.outcome, row.failure, row.cost_usd, row.model, row.model_echoed) for row in rows} == {
        (AttemptOutcome.INVALID, "unusable-answer", CALL_USD, MODEL, echoed)
    }
    assert all((row.error or "").startswith("summary_output_validation_failed: ") for row in rows)


def test_the_row_records_the_echoed_name_beside_the_asked_one(home: Home, tmp_path: Path) -> None:
    echoed = f"{MODEL}-2025-01-01"
    outcomes = home.write(task(1), respond=lambda request, _n: responding(function_answer(), model_name_echoed=echoed))

    assert [outcome.model for outcome in outcomes] == [MODEL]
    tables = TableStore(tmp_path / "warehouse")
    with home.ledger() as ledger:
        ledger.compact(tables, "shop")
    (row,) = tables.read_rows("ledger", "shop", LedgerRow)
    assert (row.model, row.model_echoed) == (MODEL, echoed)
