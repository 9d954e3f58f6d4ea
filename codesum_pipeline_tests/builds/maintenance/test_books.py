"""Books that are added up still give the same sums."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.maintenance.appended_tables import add_up_avoided, add_up_ledger
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, AvoidanceReason, AvoidedRow, LedgerRow
from codesum_pipeline.texts.llm.ledger_readings import Totals, add_up_calls, add_up_calls_by, avoided_by_cause

BEFORE = "2026-03-01T00:00:00.000Z"


def attempt(number: int, outcome: AttemptOutcome = AttemptOutcome.GOOD) -> LedgerRow:
    """Of the months from January to April in turn, by two models in turn."""
    return LedgerRow(
        sequence=number,
        run_id=f"run {number // 3}",
        id=f"a.py::f{number}",
        level=list(Level)[number % 2],
        request_hash=f"hash {number}",
        model=f"some/model-{number % 2}",
        attempt=1,
        started_at=f"2026-{1 + number % 4:02d}-{1 + number % 28:02d}T10:00:00.000Z",
        reserved_usd=0.5,
        outcome=outcome,
        failure=None if outcome is AttemptOutcome.GOOD else "time-out",
        error=None,
        prompt_tokens=100 + number,
        completion_tokens=10,
        cached_tokens=7,
        cost_usd=0.001 * number,
        is_estimated=outcome is AttemptOutcome.FAILED,
        latency_s=2.0,
        answer=None,
    )


LEDGER = [
    attempt(number, outcome)
    for number, outcome in enumerate([AttemptOutcome.GOOD, AttemptOutcome.FAILED, AttemptOutcome.NOT_SENT] * 20, 1)
]


@pytest.mark.parametrize(
    "by",
    [
        pytest.param(lambda row: row.started_at[:7], id="month"),
        pytest.param(lambda row: row.model, id="model"),
        pytest.param(lambda row: row.level.value, id="level"),
    ],
)
def test_the_totals_of_the_ledger_stay_the_same(by: Callable[[LedgerRow], str]) -> None:
    kept = add_up_ledger(LEDGER, before=BEFORE)

    assert len(kept) < len(LEDGER)
    assert _rounded(kept, by) == _rounded(LEDGER, by)


def test_rows_of_the_last_days_stay_as_they_are() -> None:
    kept = add_up_ledger(LEDGER, before=BEFORE)

    young = [row for row in LEDGER if row.started_at >= BEFORE]
    assert [row for row in kept if row.attempts is None] == young


def test_adding_up_again_changes_nothing_and_goes_on_with_later_months() -> None:
    once = add_up_ledger(LEDGER, before=BEFORE)

    assert add_up_ledger(once, before=BEFORE) == once
    later = add_up_ledger(once, before="2026-05-01T00:00:00.000Z")
    assert {row.run_id for row in later} == {"2026-01", "2026-02", "2026-03", "2026-04"}
    assert add_up_calls(later).calls == add_up_calls(LEDGER).calls


def test_what_a_dead_build_may_bring_in_again_is_not_added_up() -> None:
    waiting = (LEDGER[3].run_id, LEDGER[3].sequence)

    kept = add_up_ledger(LEDGER, before="2027", besides={waiting})

    assert LEDGER[3] in kept


def test_the_meter_of_avoided_work_stays_the_same_by_day_and_cause() -> None:
    rows = [
        AvoidedRow(f"run {run:02d}", f"2026-03-{1 + run // 10:02d}T10:{run:02d}:00.000Z", level, cause, 2, 30, 4, 0.01)
        for run in range(40)
        for level in (Level.FUNCTION, Level.FILE)
        for cause in (AvoidanceReason.UNCHANGED, AvoidanceReason.CACHE)
    ]

    kept = add_up_avoided(rows, runs=5, before=BEFORE)

    assert len(kept) == 5 * 4 + 4 * 4
    assert [row for row in kept if row.run_id.startswith("run")] == [row for row in rows if row.run_id >= "run 35"]
    assert {cause: saving.calls for cause, saving in avoided_by_cause(kept).items()} == {
        cause: saving.calls for cause, saving in avoided_by_cause(rows).items()
    }
    assert _calls_by_day(kept) == _calls_by_day(rows)
    assert add_up_avoided(kept, runs=5, before=BEFORE) == kept


def _calls_by_day(rows: list[AvoidedRow]) -> dict[str, int]:
    days = {row.noted_at[:10] for row in rows}
    return {day: sum(row.calls for row in rows if row.noted_at.startswith(day)) for day in days}


def _rounded(rows: list[LedgerRow], by: Callable[[LedgerRow], str]) -> dict[str, Totals]:
    totals = add_up_calls_by((by(row), row) for row in rows)
    return {
        key: replace(found, cost_usd=round(found.cost_usd, 9), estimated_usd=round(found.estimated_usd, 9))
        for key, found in totals.items()
    }
