"""What a call costs: by the settings first, else by LiteLLM's list; never by guessing.

The list is read from the copy that comes with LiteLLM, without loading LiteLLM: so a price and a capability are the
same on every machine and at any time, and cost a tenth of a second instead of five. Tokens are counted without a
tokenizer, about for plans and at most for caps: those of most providers are not public, and counting would take longer
than planning. The tests hold both figures against the tokenizer that LiteLLM counts with.

The most that all calls for one text can cost is known before the first of them. An answer that cannot be taken goes
back to the model with what is wrong with it, each as a turn of the next request, cut to a length that is known.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.pins import AnswerForm, TokenUsage, forms_from

# Measured on prompts as they are sent: 4.0 in the packaged system prompt, 3.9 in numbered Python.
CHARS_PER_TOKEN = 4.0
# A turn's role, a tool's name and the words that a provider puts around a tool.
TOKENS_AROUND = 600

_WORDS = re.compile(rb"[A-Z]?[a-z]{3,20}|[A-Z]{4,20}| +|\n+")


def predict_tokens(*texts: str) -> int:
    """About how many tokens a prompt of these texts has."""
    return sum(round(len(text) / CHARS_PER_TOKEN) for text in texts)


def tokens_upper(*texts: str) -> int:
    """At most how many tokens a prompt of these texts has, with what a provider puts around them.

    No tokenizer makes more than one token of a byte, and of a word's letters it makes far less than one of two.
    """
    return TOKENS_AROUND + sum(_upper(text) for text in texts)


@lru_cache(maxsize=64)
def _upper(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    spared = sum(len(word) // 2 for word in _WORDS.findall(data))
    return len(data) - spared


_LIST = "model_prices_and_context_window_backup.json"
# Modes in which a model answers in words.
_MODES = ("chat", "completion", "responses")


def find_listed_model(model: str) -> Mapping[str, Any] | None:
    """The entry of a model as LiteLLM names it: `MODEL` or `PROVIDER/MODEL`."""
    entries = _entries()
    provider, _, name = model.partition("/")
    for entry in (entries.get(model), entries.get(name)):
        # Some providers have several kinds: of `bedrock` there is also `bedrock_converse`.
        if (
            entry
            and entry.get("mode") in _MODES
            and (not name or str(entry.get("litellm_provider", "")).startswith(provider))
        ):
            return entry
    return None


def provider_of(model: str) -> str:
    """`openai` of `openai/gpt-4o`, and of `gpt-4o` what the list says; empty where it does not know the model."""
    provider, slash, _ = model.partition("/")
    return provider if slash else str((find_listed_model(model) or {}).get("litellm_provider", ""))


def has_capability(model: str, capability: str) -> bool:
    """Whether the list says that a model has a capability (`supports_…`)."""
    return bool((find_listed_model(model) or {}).get(capability))


@cache
def _entries() -> dict[str, dict[str, Any]]:
    found = find_spec("litellm")
    assert found is not None and found.origin is not None, "litellm is a dependency"
    entries: dict[str, dict[str, Any]] = json.loads((Path(found.origin).parent / _LIST).read_text(encoding="utf-8"))
    return entries


_PER_MILLION = 1_000_000
_LONG = re.compile(r"(?:in|out)put_cost_per_token_above_(\d+)k_tokens")


class Price(Struct, frozen=True):
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
    """The price of a model; raises `ConfigurationError` if it is not known."""
    if price := known_price(model, settings):
        return price
    raise ConfigurationError(
        f"llm.model {model!r}: its price is not known: add it to llm.prices, in dollars per million tokens of "
        "input and output (0 for a model that costs nothing)"
    )


def known_price(model: str, settings: LlmSettings) -> Price | None:
    """The price of a model; None if it is not known."""
    for own in settings.prices:
        if own.model == model:
            cached = own.input if own.cached_input is None else own.cached_input
            plain, output, cached = (value / _PER_MILLION for value in (own.input, own.output, cached))
            return Price(plain, output, cached, plain)
    entry = find_listed_model(model)
    if entry is None or "input_cost_per_token" not in entry:
        return None
    bounds = sorted({int(found[1]) for key in entry if (found := _LONG.fullmatch(key))})
    longer = tuple((bound * 1000, _listed_price(entry, f"_above_{bound}k_tokens")) for bound in bounds)
    return replace(_listed_price(entry, ""), longer=longer)


def compute_cost_usd(price: Price, usage: TokenUsage, *, cache_write_tokens: int = 0) -> float:
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
    """The price at one prompt length; where the list has none for it, that of shorter prompts."""

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


# What is wrong with an answer fits twice: it is a dozen lines.
MAX_COMPLAINT_BYTES = 4000
# An answer of words in any script has fewer bytes a token; one that is longer only repeats blanks or line ends, or is
# by a server that does not keep to `max_tokens`.
MAX_BYTES_PER_TOKEN = 8
# A role mark, a wrapper and the like, per turn: more than any provider adds.
TOKENS_PER_TURN = 100


def repair_turns(answer: str, complaint: str, *, max_tokens: int) -> tuple[str, str]:
    """The turns of the next request: an answer of at most `max_tokens` tokens, and what is wrong with it."""
    return _cut(answer, MAX_BYTES_PER_TOKEN * max_tokens), _cut(complaint, MAX_COMPLAINT_BYTES)


def turns_upper(turns: Iterable[str]) -> int:
    """At most how many tokens these turns have: no tokenizer makes more than one token of a byte."""
    return sum(len(turn.encode("utf-8", "surrogatepass")) + TOKENS_PER_TURN for turn in turns)


class TextCeiling(Struct, frozen=True):
    """What bounds the calls for one text.

    Each model, whose `prices` these are, gives at most `answers` that are read, and before the first of them one in
    each of `other_forms` that its server turns out not to follow. Each answer is asked for up to `sends` times: a
    connection that breaks may have been billed.
    """

    prices: tuple[Price, ...]
    max_tokens: int
    answers: int
    sends: int
    other_forms: int

    @classmethod
    def of(cls, llm: LlmSettings, *, max_tokens: int, retries: int) -> "TextCeiling":
        """Raises `ConfigurationError` for a model without a known price. A recording costs nothing."""
        models = () if llm.asks_nobody else (llm.model, *llm.fallback_models)
        # Under `auto` any form may be the first.
        first = AnswerForm.TOOL if llm.form == "auto" else AnswerForm(llm.form)
        return cls(
            tuple(price_of(model, llm) for model in models),
            max_tokens,
            llm.max_attempts,
            1 + retries,
            len(forms_from(first)) - 1,
        )

    def usd(self, prompt_tokens_upper: int) -> float:
        """US dollars for a text whose first request has at most so many tokens."""
        turns = (MAX_BYTES_PER_TOKEN * self.max_tokens + MAX_COMPLAINT_BYTES) + 2 * TOKENS_PER_TURN
        repaired = [0] * self.other_forms + [number * turns for number in range(self.answers)]
        return self.sends * sum(
            worst_case_usd(price, prompt_tokens_upper + more, self.max_tokens)
            for price in self.prices
            for more in repaired
        )


def _cut(text: str, most_bytes: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= most_bytes else data[:most_bytes].decode("utf-8", "ignore")
