"""What a call costs: by the settings first, else by LiteLLM's list; never by guessing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.llm.model_list import listed
from codesum_pipeline.llm.pins import TokenUsage
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.llm import LlmSettings

_PER_MILLION = 1_000_000
_LONG = re.compile(r"(?:in|out)put_cost_per_token_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per token. `longer` are the prices of prompts above a number of tokens, in ascending order."""

    input: float
    output: float
    cached_input: float
    cache_write: float
    longer: tuple[tuple[int, "Price"], ...] = ()

    def of_prompt(self, tokens: int) -> "Price":
        """The price that holds for a prompt of that length."""
        return next((price for above, price in reversed(self.longer) if tokens > above), self)


def price_of(model: str, settings: LlmSettings) -> Price:
    """Return the price of a model; raises `ConfigurationError` where nobody says one."""
    for own in settings.prices:
        if own.model == model:
            cached = own.input if own.cached_input is None else own.cached_input
            return _scaled(own.input, own.output, cached)
    entry = listed(model)
    if entry is None or "input_cost_per_token" not in entry:
        raise ConfigurationError(
            f"llm.model {model!r}: its price is not known: add it to llm.prices, in dollars per million tokens of "
            "input and output (0 for a model that costs nothing)"
        )
    bounds = sorted({int(found[1]) for key in entry if (found := _LONG.fullmatch(key))})
    longer = tuple((bound * 1000, _listed_price(entry, f"_above_{bound}k_tokens")) for bound in bounds)
    base = _listed_price(entry, "")
    return Price(base.input, base.output, base.cached_input, base.cache_write, longer)


def cost_usd(price: Price, usage: TokenUsage, *, cache_write_tokens: int = 0) -> float:
    """What a call cost, by its provider's counts; tokens are read from a cache, written to one, or neither."""
    rate = price.of_prompt(usage.prompt_tokens)
    plain = max(0, usage.prompt_tokens - usage.cached_tokens - cache_write_tokens)
    return (
        plain * rate.input
        + usage.cached_tokens * rate.cached_input
        + cache_write_tokens * rate.cache_write
        + usage.completion_tokens * rate.output
    )


def worst_case_usd(price: Price, prompt_tokens_upper: int, max_tokens: int) -> float:
    """The most that one attempt can cost: nothing comes from a cache, all is written to one, the answer is the longest.

    A prompt can be billed at the price of any length up to its own.
    """
    rates = (price, *(longer for above, longer in price.longer if prompt_tokens_upper > above))
    return max(prompt_tokens_upper * max(rate.input, rate.cache_write) + max_tokens * rate.output for rate in rates)


def _listed_price(entry: Mapping[str, Any], suffix: str) -> Price:
    """The price at one length; what the list does not say for it is as for shorter prompts."""

    def of(kind: str, otherwise: float) -> float:
        value = entry.get(f"{kind}{suffix}", entry.get(kind))
        return otherwise if value is None else float(value)

    plain = of("input_cost_per_token", 0.0)
    return Price(
        input=plain,
        output=of("output_cost_per_token", 0.0),
        cached_input=of("cache_read_input_token_cost", plain),
        cache_write=of("cache_creation_input_token_cost", plain),
    )


def _scaled(plain: float, output: float, cached: float) -> Price:
    return Price(plain / _PER_MILLION, output / _PER_MILLION, cached / _PER_MILLION, plain / _PER_MILLION)
