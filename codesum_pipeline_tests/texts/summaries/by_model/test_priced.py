"""A plan's price by gate, and what would let a model go on."""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanAction, PlanRow
from codesum_pipeline.foundation.data_model.model_call import CallTotals
from codesum_pipeline.foundation.settings.llm_settings import ModelPrice, Trust
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup, templates_of
from codesum_pipeline.texts.summaries.by_model.predicted_prices import (
    Estimator,
    PlanPrice,
    describe_ways_on,
    price_all,
    price_levels,
)
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
    }  # fmt: skip
    return PlanRow(id=id_, action=action, **{**usual, **values})


FREE = {"predicted_input_tokens": 0, "predicted_output_tokens": 0, "predicted_usd": 0.0}
ONE = CallTotals(1, 100, 10, 0.01)


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

    assert price_all(rows) == PlanPrice(ONE + ONE, 1, {Gate.CAP: ONE, Gate.CONFIRM: ONE}, kept=1)
    assert price_levels(rows) == {
        Level.FUNCTION: PlanPrice(ONE, 1, {Gate.CAP: ONE}, kept=1),
        Level.CLASS: PlanPrice(),
        Level.FILE: PlanPrice(ONE, 0, {Gate.CONFIRM: ONE}),
        Level.MODULE: PlanPrice(),
    }


def test_what_passes_trust_counts_whatever_else_stops_it() -> None:
    rows = [row("asked"), row("capped", gate=Gate.CAP), row("offline", gate=Gate.OFFLINE), row("no", gate=Gate.TRUST)]

    assert price_all(rows).trusted == ONE + ONE


@pytest.mark.parametrize(
    ("gate", "llm", "words"),
    [
        pytest.param(Gate.OFFLINE, {}, "offline = true keeps 1 texts, about 110 tokens, $0.0100", id="offline"),
        pytest.param(Gate.CAP, {}, "llm.max_summaries_per_run = 0 asks for nothing", id="a cap of nothing"),
        pytest.param(
            Gate.CAP, {"max_summaries_per_run": 3, "max_cost_usd_per_run": 0.5},
            "the caps (3 texts and $0.50 a run) leave 1 texts", id="caps",
        ),
        pytest.param(Gate.CONFIRM, {}, "more than 50% of the index again: `codesum index shop --yes`", id="held"),
        pytest.param(
            Gate.TRUST, {"trust": Trust.SCIP},
            "lets 0 texts, about 0 tokens, $0.0000 pass, and 1 texts, about 110 tokens, $0.0100 wait", id="trust",
        ),
    ],
)  # fmt: skip
def test_each_gate_says_the_way_on(gate: Gate, llm: dict[str, Any], words: str) -> None:
    settings = changed(DEFAULTS, offline=gate is Gate.OFFLINE, llm={"enabled": True, **llm})

    (way,) = describe_ways_on("shop", settings, price_all([row("a", gate=gate)]))

    assert words in way


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
