"""Whether a model may be asked at all; else in a line why not."""

from codesum_pipeline.llm.backend import check_allowed
from codesum_pipeline.llm.factory import why_shut
from codesum_pipeline.llm.prices import declares, listed, price_of
from codesum_pipeline.model.errors import ConfigurationError, ModelNotInAllowlist
from codesum_pipeline.settings.llm import LlmSettings


def why_no_model(llm: LlmSettings, *, is_offline: bool) -> str | None:
    """The first gate that is shut: offline, `llm.enabled`, the allowlist, the price."""
    if shut := why_shut(llm, is_offline=is_offline):
        return shut
    for model in (llm.model, *llm.fallback_models):
        try:
            check_allowed(model, llm)
            if not llm.asks_nobody:
                price_of(model, llm)
        except (ModelNotInAllowlist, ConfigurationError) as error:
            return str(error)
        if listed(model) is not None and not declares(model, "supports_function_calling"):
            return f"{model} cannot call tools: choose one that can"
    return None
