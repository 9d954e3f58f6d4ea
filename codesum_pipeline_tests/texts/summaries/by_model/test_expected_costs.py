"""What a plan expects: by what texts of the model really cost beside what was predicted for one call each."""

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AvoidanceReason, AvoidedRow, LedgerRow
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.summaries.by_model import predicted_prices
from codesum_pipeline.texts.summaries.by_model.predicted_prices import (
    DEFAULT_REPAIR_SHARE,
    CostHistory,
    CostScope,
    MeasuredTexts,
    measure_costs,
)
from codesum_pipeline.texts.summaries.rewrite_plan import PlanReport
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ModelRequest, always_well
from codesum_pipeline_tests.support.model_builds import MODEL, Shop, shop

OTHER = "openai/gpt-4o"


def module(number: int) -> str:
    """Four functions."""
    return "\n\n".join(
        f"def step_{number}_{each}(rows, limit):\n    found = [row for row in rows if row > {each}]\n"
        f"    if len(found) > limit:\n        raise ValueError(found)\n    return found[:limit]\n"
        for each in range(4)
    )


FIRST = {f"steps/part_{number}.py": module(number) for number in range(4)}
LATER = {f"steps/part_{number}.py": module(number) for number in range(4, 9)}


def is_badly_answered(request: ModelRequest) -> bool:
    return crc32(request.prompt.encode()) % 3 == 0


def repairs_a_third(request: ModelRequest) -> Behaviour:
    """A first answer that cannot be taken, for about every third document."""
    return Answers("{}") if request.attempt == 1 and is_badly_answered(request) else Answers()


def plan_of(found: Shop, **llm: Any) -> PlanReport:
    report: PlanReport = build(found.workspace(llm=llm), until="summary_plan")["summary_plan"]
    return report


def spent_in(found: Shop, **llm: Any) -> float:
    """What a build costs, by its ledger."""
    workspace = found.workspace(llm=llm)
    build(workspace)
    rows = workspace.tables.read_rows("ledger", "shop", LedgerRow)
    return sum(row.cost_usd for row in rows if row.run_id == workspace.run_id)


def test_after_a_build_the_next_ones_cost_is_expected_within_a_fifth(tmp_path: Path) -> None:
    with shop(tmp_path, FIRST, repairs_a_third) as found:
        unmeasured = plan_of(found)
        spent_in(found)
        prompts = {request.prompt: request for request in found.server.seen}
        found.repo.commit(LATER)
        planned = plan_of(found)
        spent = spent_in(found)

    assert unmeasured.history == CostHistory(CostScope.NOWHERE)
    assert unmeasured.next_build.expected_usd == pytest.approx(
        sum(price.asked.predicted_usd for price in unmeasured.forecast.values()) * (1 + DEFAULT_REPAIR_SHARE)
    )
    whole = planned.history.whole
    assert (planned.history.scope, whole.texts) == (CostScope.REPOSITORY, len(prompts))
    assert whole.repairs == sum(map(is_badly_answered, prompts.values())) > 0
    assert planned.next_build.expected_usd == pytest.approx(spent, rel=0.2)
    assert planned.next_build.expected_usd < planned.next_build.at_most_usd


def test_a_server_that_needs_no_repair_makes_the_next_build_cheaper_than_one_that_does(tmp_path: Path) -> None:
    expected = {}
    for name, script in {"good": always_well, "bad": repairs_a_third}.items():
        with shop(tmp_path / name, FIRST, script) as found:
            spent_in(found)
            found.repo.commit(LATER)
            expected[name] = plan_of(found).next_build.expected_usd

    assert 1.15 * expected["good"] < expected["bad"]


def test_a_repository_without_calls_takes_the_figure_of_its_home(tmp_path: Path) -> None:
    with shop(tmp_path, FIRST, repairs_a_third) as found:
        spent_in(found)
        measured = plan_of(found).history
        tables = found.workspace().tables

    history = measure_costs(tables, "another repository", (MODEL,))
    assert history == CostHistory(CostScope.HOME, measured.levels)
    assert " by this model in this home: " in history.describe()
    assert measure_costs(tables, "another repository", (OTHER,)) == CostHistory(CostScope.NOWHERE), "of another model"


def ledger_row(run: str, sequence: int, id_: str, outcome: str, usd: float, model: str = MODEL) -> LedgerRow:
    return LedgerRow(
        sequence, run, id_, "function", "", model, 1, "2026-01-01T00:00:00.000Z", 1.0, outcome, None, None, 10, 10, 0,
        usd, False, 1.0, None,
    )  # type: ignore[arg-type] # fmt: skip


def noted(run: str, usd: float, at: str = "2026-01-01") -> AvoidedRow:
    return AvoidedRow(run, at, Level.FUNCTION, AvoidanceReason.NOT_AVOIDED, 1, 10, 10, usd)


def store(folder: Path, calls: list[LedgerRow], predicted: list[AvoidedRow]) -> TableStore:
    tables = TableStore(folder)
    tables.write_rows("ledger", "shop", calls, LedgerRow)
    tables.write_rows("avoided", "shop", predicted, AvoidedRow)
    return tables


def test_all_calls_for_a_text_count_and_only_answers_beyond_the_first_are_repairs(tmp_path: Path) -> None:
    calls = [
        ledger_row("one", 1, "a", "invalid", 0.2),
        ledger_row("one", 2, "a", "good", 0.3),
        ledger_row("one", 3, "b", "failed", 0.5),
        ledger_row("one", 4, "b", "good", 0.2),
        ledger_row("unfinished", 5, "c", "good", 9.0),
        replace(ledger_row("2026-01", 6, "", "good", 8.0), attempts=50),
    ]
    predicted = [noted("one", 0.6), noted("2026-01", 1.0)]

    found = measure_costs(store(tmp_path, calls, predicted), "shop", (MODEL,))

    assert found.levels == {Level.FUNCTION: MeasuredTexts(2, 1, pytest.approx(1.2), 0.6)}
    assert (found.whole.repair_share, found.whole.factor) == (0.5, pytest.approx(2.0))


def test_runs_of_another_model_do_not_count_and_the_newest_count_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predicted_prices, "NEWEST_TEXTS", 1)
    calls = [
        ledger_row("old", 1, "a", "good", 9.0),
        ledger_row("new", 2, "a", "good", 0.5),
        ledger_row("another's", 3, "a", "good", 7.0, OTHER),
    ]
    predicted = [noted("old", 1.0), noted("new", 1.0, "2026-01-02"), noted("another's", 1.0, "2026-01-03")]

    found = measure_costs(store(tmp_path, calls, predicted), "shop", (MODEL,))

    assert found.whole == MeasuredTexts(1, 0, 0.5, 1.0)


def test_a_level_with_enough_texts_is_judged_by_its_own() -> None:
    few, many = MeasuredTexts(5, 0, 1.0, 1.0), MeasuredTexts(20, 10, 40.0, 20.0)
    history = CostHistory(CostScope.REPOSITORY, {Level.FUNCTION: many, Level.FILE: few})

    assert history.factor_of(Level.FUNCTION) == 2.0
    assert history.factor_of(Level.FILE) == history.factor_of(Level.MODULE) == pytest.approx(41 / 21)


def test_texts_that_cost_nothing_are_expected_by_their_repairs_alone() -> None:
    assert MeasuredTexts(4, 1, 0.0, 0.0).factor == 1.25
    assert MeasuredTexts().factor == 1 + DEFAULT_REPAIR_SHARE


def test_where_an_expected_price_comes_from_is_said() -> None:
    assert CostHistory().describe() == (
        "expected: a guess that 10% of the texts take a second call; no text by this model was measured in this home "
        "yet"
    )
    assert CostHistory(CostScope.REPOSITORY, {Level.FILE: MeasuredTexts(1_200, 300, 0.7, 1.0)}).describe() == (
        "expected: measured on the last 1,200 texts by this model in this repository: 300 repairs (25%), and 0.70 "
        "times the price predicted for one call each"
    )
