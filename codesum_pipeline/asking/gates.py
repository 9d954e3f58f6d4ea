"""Whether a model may be asked at all; else in a line why not."""

from codesum_pipeline.llm.backend import check_allowed
from codesum_pipeline.llm.model_list import declares, listed
from codesum_pipeline.llm.prices import price_of
from codesum_pipeline.model.errors import ConfigurationError, ModelNotInAllowlist
from codesum_pipeline.model.options import BackendName, LlmOptions


def why_no_model(llm: LlmOptions, *, is_offline: bool) -> str | None:
    """The first gate that is shut: offline, `llm.enabled`, the allowlist, the price."""
    if is_offline and not llm.asks_nobody:
        return "codesum is offline"
    if not llm.enabled:
        return "no model is set up (llm.enabled is false)"
    if llm.backend is BackendName.NOOP:
        return "llm.backend is 'noop'"
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
