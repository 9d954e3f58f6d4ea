"""What a call costs, and the most that it can."""

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.texts.llm.litellm_door import litellm_client
from codesum_pipeline.texts.llm.pins import TokenUsage
from codesum_pipeline.texts.llm.prices import Price, compute_cost_usd, find_listed_model, price_of, worst_case_usd

PLAIN = Price(input=1.0, output=10.0, cached_input=0.25, cache_write=1.5)
LONGER = Price(input=2.0, output=20.0, cached_input=0.5, cache_write=3.0)
STEADY = ("anthropic", "bedrock", "bedrock_converse", "gemini", "groq", "mistral", "openai", "xai")
TIERED = Price(1.0, 10.0, 0.25, 1.5, longer=((100, LONGER),))


def test_the_list_is_used_where_the_settings_say_nothing() -> None:
    price = price_of("anthropic/claude-haiku-4-5", LlmSettings())

    assert price == Price(input=1e-06, output=5e-06, cached_input=1e-07, cache_write=1.25e-06)


def test_the_settings_come_before_the_list() -> None:
    own = ModelPrice(model="anthropic/claude-haiku-4-5", input=3.0, output=4.0)

    assert price_of(own.model, LlmSettings(prices=(own,))) == Price(3e-06, 4e-06, 3e-06, 3e-06)


def test_a_price_of_nothing_is_a_price() -> None:
    own = ModelPrice(model="openai/own", input=0.0, output=0.0)

    assert price_of("openai/own", LlmSettings(prices=(own,))) == Price(0.0, 0.0, 0.0, 0.0)


def test_a_model_without_a_price_is_refused_by_name() -> None:
    with pytest.raises(
        ConfigurationError, match="llm.model 'openai/own': its price is not known: add it to llm.prices"
    ):
        price_of("openai/own", LlmSettings())


def test_long_prompts_have_the_price_of_their_length() -> None:
    price = price_of("gemini/gemini-2.5-pro", LlmSettings())

    assert [bound for bound, _ in price.longer] == [200_000]
    assert price.of_prompt(200_000).input < price.of_prompt(200_001).input


@pytest.mark.parametrize(
    ("usage", "written", "cost"),
    [
        pytest.param(TokenUsage(100, 5), 0, 100 * 1.0 + 5 * 10.0, id="nothing kept"),
        pytest.param(TokenUsage(100, 5, cached_tokens=40), 0, 60 * 1.0 + 40 * 0.25 + 5 * 10.0, id="a part read"),
        pytest.param(TokenUsage(100, 5), 40, 60 * 1.0 + 40 * 1.5 + 5 * 10.0, id="a part written"),
        pytest.param(TokenUsage(101, 5, 40), 0, 61 * 2.0 + 40 * 0.5 + 5 * 20.0, id="a longer prompt"),
    ],
)
def test_cost_is_the_sum_over_kinds_of_tokens(usage: TokenUsage, written: int, cost: float) -> None:
    assert compute_cost_usd(TIERED, usage, cache_write_tokens=written) == pytest.approx(cost)


@pytest.mark.parametrize("prompt_tokens", [1, 100, 101, 1000])
def test_no_call_costs_more_than_the_worst_case(prompt_tokens: int) -> None:
    worst = worst_case_usd(TIERED, prompt_tokens, 50)

    for used in range(1, prompt_tokens + 1, 7):
        for cached, written in ((0, 0), (used, 0), (0, used)):
            assert compute_cost_usd(TIERED, TokenUsage(used, 50, cached), cache_write_tokens=written) <= worst


@pytest.mark.slow
def test_the_list_is_read_as_litellm_reads_it() -> None:
    """Of providers whose prices hold at any hour, and of whom LiteLLM knows them without asking."""
    litellm = litellm_client()
    differing = {}
    for model, entry in litellm.model_cost.items():
        found = find_listed_model(model)
        if found is None or "input_cost_per_token" not in found or entry["litellm_provider"] not in STEADY:
            continue
        prompt, answer = litellm.cost_per_token(
            model=model,
            custom_llm_provider=entry["litellm_provider"],
            prompt_tokens=1000,
            completion_tokens=100,
        )
        ours = compute_cost_usd(price_of(model, LlmSettings()), TokenUsage(1000, 100))
        # Some free trials have a price in the list, and LiteLLM takes them for free.
        if prompt + answer and ours != pytest.approx(prompt + answer):
            differing[model] = prompt + answer

    assert differing == {}
