"""A plan's price by gate, and what would let a model go on."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanAction, PlanRow
from codesum_pipeline.foundation.settings.llm_settings import ModelPrice, Trust
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup, templates_of
from codesum_pipeline.texts.summaries.by_model.plan_prices import (
    NextBuild,
    PlannedCalls,
    PlanPrice,
    PlanPricing,
    describe_held_back,
    describe_ways_on,
    price_all,
    price_levels,
    price_next_build,
)
from codesum_pipeline.texts.summaries.by_model.predicted_prices import CostHistory, CostScope, Estimator, MeasuredTexts
from codesum_pipeline.texts.summaries.rewrite_plan import plan_summaries
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import shop
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.till import BY_MODEL, TILL


def row(id_: str, action: PlanAction = PlanAction.WRITE, **values: Any) -> PlanRow:
    """A planned call of 100 and 10 tokens for a cent."""
    usual = {
        "level": Level.FUNCTION, "cause": None, "cause_ids": (), "writer": "llm/1", "summary_hash": None,
        "context_changed": False, "predicted_input_tokens": 100, "predicted_output_tokens": 10, "predicted_usd": 0.01,
        "prompt_tokens_upper": 1_000,
    }  # fmt: skip
    return PlanRow(id=id_, action=action, **{**usual, **values})


FREE = {"predicted_input_tokens": 0, "predicted_output_tokens": 0, "predicted_usd": 0.0}
# One answer, sent once: a dollar for a million tokens read or written, of which these may be 1,000 and 500.
LLM = {
    "enabled": True, "model": "some/model", "max_attempts": 1, "max_retries": 0, "max_tokens": 500, "form": "json_text",
    "max_summaries_per_run": 100, "prices": (ModelPrice(model="some/model", input=100.0, output=100.0),),
}  # fmt: skip
# Every second text was repaired, which took half as much again as was predicted.
HISTORY = CostHistory(CostScope.REPOSITORY, {Level.FUNCTION: MeasuredTexts(10, 5, 3.0, 2.0)})
ONE = PlannedCalls(1, 100, 10, 0.01, pytest.approx(0.015), pytest.approx(0.15))


def pricing(**llm: Any) -> PlanPricing:
    return PlanPricing(changed(DEFAULTS, llm={**LLM, **llm}).llm, HISTORY)


def times(number: int) -> PlannedCalls:
    """So many calls like `ONE`."""
    usd = (number * 0.01, number * 0.015, number * 0.15)
    return PlannedCalls(number, number * 100, number * 10, *map(pytest.approx, usd))


def test_what_is_asked_for_found_and_stopped_is_told_apart() -> None:
    rows = [
        row("asked"),
        row("perhaps", PlanAction.MAYBE, level=Level.FILE),
        row("in the cache", **FREE),
        row("as it was", PlanAction.KEEP, **FREE),
        row("by rules", writer="extractive/1", **FREE),
        row("a placeholder", gate=Gate.PLACEHOLDER, **FREE),
        row("capped", PlanAction.KEEP, gate=Gate.CAP),
        row("held", gate=Gate.CONFIRM, level=Level.FILE),
    ]

    assert price_all(rows, pricing()) == PlanPrice(times(2), 1, {Gate.CAP: ONE, Gate.CONFIRM: ONE}, kept=1)
    assert price_levels(rows, pricing()) == {
        Level.FUNCTION: PlanPrice(ONE, 1, {Gate.CAP: ONE}, kept=1),
        Level.CLASS: PlanPrice(),
        Level.FILE: PlanPrice(ONE, 0, {Gate.CONFIRM: ONE}),
        Level.MODULE: PlanPrice(),
    }


def test_what_passes_trust_counts_whatever_else_stops_it() -> None:
    rows = [row("asked"), row("capped", gate=Gate.CAP), row("offline", gate=Gate.OFFLINE), row("no", gate=Gate.TRUST)]

    assert price_all(rows, pricing()).trusted == times(2)


@pytest.mark.parametrize(
    ("gate", "llm", "words"),
    [
        pytest.param(
            Gate.OFFLINE, {}, "1 text (about 110 tokens in one call each, expected $0.0150, at most $0.1500) from",
            id="offline",
        ),
        pytest.param(Gate.CAP, {}, "llm.max_summaries_per_run = 0 asks for nothing", id="a cap of nothing"),
        pytest.param(
            Gate.CAP, {"max_summaries_per_run": 3, "max_cost_usd_per_run": 0.5},
            "the caps (3 texts and $0.50 a run) leave 1 text (about", id="caps",
        ),
        pytest.param(Gate.CONFIRM, {}, "more than 50% of the index again: `codesum index shop --yes`", id="held"),
        pytest.param(
            Gate.TRUST, {"trust": Trust.SCIP},
            "lets 0 texts (about 0 tokens in one call each, expected $0.0000, at most $0.0000) pass, and 1 text "
            "(about 110 tokens in one call each, expected $0.0150, at most $0.1500) wait", id="trust",
        ),
    ],
)  # fmt: skip
def test_each_gate_says_the_way_on(gate: Gate, llm: dict[str, Any], words: str) -> None:
    settings = changed(DEFAULTS, offline=gate is Gate.OFFLINE, llm={"enabled": True, **llm})

    (way,) = describe_ways_on("shop", settings, price_all([row("a", gate=gate)], pricing()))

    assert words in way


@pytest.mark.parametrize(
    ("llm", "usd_left", "most", "bound_by"),
    [
        pytest.param({}, None, 0.45, "", id="no cap binds"),
        pytest.param({"max_cost_usd_per_run": 0.2}, None, 0.2, "llm.max_cost_usd_per_run = 0.2", id="dollars a run"),
        pytest.param({"max_cost_usd_per_run": 9.0}, None, 0.45, "", id="more dollars than it takes"),
        pytest.param({"max_summaries_per_run": 2}, None, 0.3, "llm.max_summaries_per_run = 2", id="texts a run"),
        pytest.param({"max_summaries_per_run": 0}, None, 0.0, "llm.max_summaries_per_run = 0", id="no text"),
        pytest.param(
            {"max_cost_usd_per_run": 0.2}, 0.1, 0.1, "the rest of llm.max_cost_usd_per_day", id="the rest of a day",
        ),
    ],
)  # fmt: skip
def test_no_build_spends_more_than_the_lowest_cap_and_it_is_named(
    llm: dict[str, Any], usd_left: float | None, most: float, bound_by: str
) -> None:
    """What the plan leaves to later runs counts: calls that cost less than predicted make room for it."""
    rows = [row("a"), row("b"), row("later", PlanAction.KEEP, gate=Gate.CAP), row("never", gate=Gate.TESTS)]

    found = price_next_build(rows, pricing(**llm), usd_left=usd_left)

    expected = min(0.03, most)
    assert found == NextBuild(2, pytest.approx(expected), pytest.approx(most), bound_by)


def test_a_plan_of_an_earlier_version_is_bounded_by_the_longest_prompt() -> None:
    (old,) = (pricing(max_prompt_chars=40_000).of_row(row("a", prompt_tokens_upper=None)),)

    assert 4 * 40_000 * 100e-6 < old.at_most_usd < 5 * 40_000 * 100e-6


def spared_of_calls(price: ModelPrice | None, *calls: int, model: str = "some/model") -> list[float]:
    """What the cache takes off the price of so many calls, two at once, in prices of as many prompts' beginnings."""
    prices = (price,) if price else ()
    settings = changed(DEFAULTS, llm={"enabled": True, "model": model, "concurrency": 2, "prices": prices})
    estimator = Estimator(ModelSetup(settings, templates_of(settings)), Level.FUNCTION)
    beginning = estimator.of_prompt("").input_tokens * estimator.price.input
    return [round(estimator.spared_usd(number) / beginning, 6) for number in calls]


def test_the_providers_cache_spares_what_all_prompts_share_but_not_to_the_first_ones() -> None:
    assert spared_of_calls(ModelPrice(model="some/model", input=1.0, output=4.0, cached_input=0.1), 0, 2, 3, 10) == [
        0,
        0,
        0.9,
        7.2,
    ]
    assert spared_of_calls(ModelPrice(model="some/model", input=1.0, output=4.0), 10) == [0]
    # Anthropic's price list: a quarter more for having it kept, a tenth for reading it.
    assert spared_of_calls(None, 2, 10, model="anthropic/claude-haiku-4-5") == [-0.5, 6.7]


def test_a_plan_that_finds_everything_as_it_was_left_says_again_what_is_stopped(tmp_path: Path) -> None:
    with shop(tmp_path, TILL) as found:
        llm = {"max_summaries_per_run": 0}
        build(found.workspace(llm=llm))
        workspace = found.workspace(llm=llm)
        settled = build(workspace)["summary_plan"]
        rows = workspace.tables.read("plan", "shop").to_pylist()
        fresh = plan_summaries(workspace)

    assert sum(level.all_stopped.calls for level in settled.forecast.values()) == BY_MODEL
    assert settled.forecast == fresh.forecast
    assert rows == workspace.tables.read("plan", "shop").to_pylist()


def test_what_an_earlier_version_held_back_is_priced_too(tmp_path: Path) -> None:
    """Its table lacks the column; the next plan is made anew and has it."""
    llm = {"max_prompt_chars": 40_000}
    with shop(tmp_path, TILL) as found:
        build(found.workspace(llm=llm), until="summary_plan")
        workspace = found.workspace(llm=llm)
        path = workspace.tables.path("plan", "shop")
        rows = [row for row in workspace.tables.read_rows("plan", "shop", PlanRow) if row.predicted_input_tokens]
        workspace.tables.write_rows("plan", "shop", [replace(row, gate=Gate.CONFIRM) for row in rows], PlanRow)
        now = describe_held_back(workspace.tables, "shop", workspace.settings)
        pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["prompt_tokens_upper"]), path)
        before = describe_held_back(workspace.tables, "shop", workspace.settings)
        build(found.workspace(llm=llm), until="summary_plan")
        anew = workspace.tables.read_rows("plan", "shop", PlanRow)

    assert f"held: {BY_MODEL} texts (about " in str(now) and f"held: {BY_MODEL} texts (about " in str(before)
    assert most_in(str(now)) < most_in(str(before)) < 20 * most_in(str(now))
    assert all(row.prompt_tokens_upper for row in anew if row.predicted_input_tokens)


def most_in(text: str) -> float:
    return float(text.partition("at most $")[2].partition(")")[0])
