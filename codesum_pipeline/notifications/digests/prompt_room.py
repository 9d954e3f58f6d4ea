"""How much of changes or earlier digests a model is shown: what fits into its prompt, and what the cap pays for."""

from collections.abc import Iterable
from itertools import islice

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import DigestSettings, LlmSettings
from codesum_pipeline.notifications.digests.claims import digest_tool
from codesum_pipeline.texts.llm.budgets import LEAST_MATERIAL_CHARS, body_budget, prompt_chars
from codesum_pipeline.texts.llm.prices import price_of, tokens_upper, worst_case_usd

# An answer that cannot be taken is asked for once more.
CALLS = 2
_SAMPLED_TEXTS = 200
# What is shown holds other words than the sample, and names and numbers besides.
_CAUTION = 0.9


def room_for(texts: Iterable[str], system: str, wrapper: str, settings: Settings, *, always_chars: int = 0) -> int:
    """Characters of material that fit into the rest of the prompt, after system and user's turn, and into the cost cap.

    `texts` are the material, `always_chars` the size of the part that is always shown.
    """
    room = room_of_prompt(system, wrapper, settings, always_chars=always_chars)
    fixed = system + wrapper + digest_tool().schema_bytes.decode()
    affordable = affordable_chars(texts, fixed, llm=settings.llm, digests=settings.digests)
    return room if affordable is None else min(room, affordable)


def room_of_prompt(system: str, wrapper: str, settings: Settings, *, always_chars: int = 0) -> int:
    """As `room_for`, without a limit of costs."""
    wrapper_chars = len(wrapper) + len(digest_tool().schema_bytes.decode())
    return body_budget(
        prompt_chars(settings.llm), system=system, wrapper_chars=wrapper_chars, boilerplate_chars=always_chars
    )


def affordable_chars(texts: Iterable[str], fixed: str, *, llm: LlmSettings, digests: DigestSettings) -> int | None:
    """Characters of material beside `fixed`, what is always sent; None where money sets no limit.

    Without it a digest of many changes could never be asked for: its worst case would pass the cap, whatever was spent.
    Never less than what a digest needs: whether such a call may be made is for the caps to say.
    """
    try:
        prices = [price_of(model, llm) for model in (llm.model, *llm.fallback_models)]
    except ConfigurationError:
        # A recording is given again without any price.
        return None
    sample = "\n".join(islice(texts, _SAMPLED_TEXTS)) or "x"
    tokens_a_char = tokens_upper(sample) / len(sample)
    limits = []
    for price in prices:
        # By the dearest of the prices for longer prompts: more of them would be paid for all of it.
        a_token = max(max(each.input, each.cache_write) for each in (price, *(longer for _, longer in price.longer)))
        always = worst_case_usd(price, tokens_upper(fixed), digests.max_tokens)
        if a_token:
            limits.append(int((digests.max_cost_usd_per_digest / CALLS - always) / a_token / tokens_a_char * _CAUTION))
    return max(LEAST_MATERIAL_CHARS, min(limits)) if limits else None
