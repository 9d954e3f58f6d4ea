"""How long a prompt may be for its call to stay within the cap of a digest.

Without it a digest of many changes could never be asked for: its worst case
would pass the cap, whatever was spent. So less is shown of the changes, as
where a model takes less.
"""

from collections.abc import Sequence
from itertools import chain, islice

from codesum_pipeline.digests.material import Item
from codesum_pipeline.llm.budgets import LEAST_MATERIAL_CHARS
from codesum_pipeline.llm.prices import Price, price_of, tokens_upper, worst_case_usd
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.llm import DigestSettings, LlmSettings

# An answer that cannot be taken is asked for once more.
_CALLS = 2
_SAMPLED_TEXTS = 200
# What is shown holds other words than the sample, and names and numbers besides.
_CAUTION = 0.9


def affordable_chars(items: Sequence[Item], fixed: str, *, llm: LlmSettings, digests: DigestSettings) -> int | None:
    """Characters of material beside `fixed`, what is always sent; None where money sets no limit.

    Never less than what a digest needs: whether such a call may be made is for the caps to say.
    """
    try:
        prices = [price_of(model, llm) for model in dict.fromkeys((llm.model, *llm.fallback_models))]
    except ConfigurationError:
        # A recording is given again without any price.
        return None
    sample = "\n".join(islice(chain.from_iterable(map(_texts, items)), _SAMPLED_TEXTS)) or "x"
    tokens_a_char = tokens_upper(sample) / len(sample)
    found = [_affordable(price, tokens_upper(fixed), tokens_a_char, digests) for price in prices]
    limits = [limit for limit in found if limit is not None]
    return max(LEAST_MATERIAL_CHARS, min(limits)) if limits else None


def _affordable(price: Price, fixed_tokens: int, tokens_a_char: float, digests: DigestSettings) -> int | None:
    always = worst_case_usd(price, fixed_tokens, digests.max_tokens)
    # By the dearest of the prices for longer prompts: more of them would be paid for all of it.
    a_token = max(max(each.input, each.cache_write) for each in (price, *(longer for _, longer in price.longer)))
    if a_token == 0:
        return None
    return int((digests.max_cost_usd_per_digest / _CALLS - always) / a_token / tokens_a_char * _CAUTION)


def _texts(item: Item) -> list[str]:
    return [text for text in (item.after, item.before, item.hunk.text if item.hunk else None, *item.subjects) if text]
