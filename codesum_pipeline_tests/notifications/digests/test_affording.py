"""How much of the changes a digest can pay to have read, so that its worst case stays within its cap."""

from typing import Any

import pytest

from codesum_pipeline.foundation.settings.llm_settings import DigestSettings, LlmSettings, ModelPrice
from codesum_pipeline.notifications.digests.prompt_room import affordable_chars
from codesum_pipeline.texts.llm.budgets import LEAST_MATERIAL_CHARS
from codesum_pipeline.texts.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline_tests.support.digest_items import NEW_LINES, OLD_LINES, item

MODEL = "openai/reporter-1"
TEXTS = [text for number in range(1, 50) for text in item(number).texts]
FIXED = "Write a digest. " * 200


def affordable(cap_usd: float = 0.05, *, prices: tuple[ModelPrice, ...] | None = None, **llm: Any) -> int | None:
    prices = (ModelPrice(model=MODEL, input=1.0, output=2.0),) if prices is None else prices
    settings = LlmSettings(enabled=True, model=MODEL, prices=prices, **llm)
    return affordable_chars(TEXTS, FIXED, llm=settings, digests=DigestSettings(max_cost_usd_per_digest=cap_usd))


def test_two_calls_about_material_of_that_length_stay_within_the_cap_of_a_digest() -> None:
    found = affordable()

    assert found is not None
    material = ((OLD_LINES + NEW_LINES) * found)[:found]
    price = price_of(MODEL, LlmSettings(prices=(ModelPrice(model=MODEL, input=1.0, output=2.0),)))
    worst = worst_case_usd(price, tokens_upper(FIXED) + tokens_upper(material), DigestSettings().max_tokens)
    assert 0.035 < 2 * worst <= 0.05


@pytest.mark.parametrize(
    "prices",
    [
        pytest.param((ModelPrice(model=MODEL, input=0.0, output=0.0),), id="a model that costs nothing"),
        pytest.param((), id="a recording, whose model has no price"),
    ],
)
def test_without_a_price_money_sets_no_limit(prices: tuple[ModelPrice, ...]) -> None:
    assert affordable(prices=prices) is None


def test_the_dearest_of_the_models_that_may_be_asked_sets_the_limit() -> None:
    prices = (
        ModelPrice(model=MODEL, input=0.0, output=0.0),
        ModelPrice(model="openai/reporter-2", input=1.0, output=2.0),
    )

    assert affordable(prices=prices, fallback_models=("openai/reporter-2",)) == affordable()


def test_never_less_is_shown_than_a_digest_needs_for_the_caps_say_whether_it_is_asked() -> None:
    assert affordable(0.001) == LEAST_MATERIAL_CHARS
