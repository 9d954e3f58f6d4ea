"""Which models the settings let a build call, and why they let none."""

from codesum_pipeline.foundation.data_model.errors import ModelNotInAllowlist
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.prices import price_of


def check_allowed(model: str, settings: LlmSettings) -> None:
    """Raise `ModelNotInAllowlist` for a model that is not allowed."""
    allowed = settings.allowlist or (settings.model, *settings.fallback_models)
    if model not in allowed:
        raise ModelNotInAllowlist(f"{model!r} is not in llm.allowlist ({', '.join(allowed) or 'empty'})")


def why_no_calls(llm: LlmSettings, *, is_offline: bool) -> str | None:
    """Why no model may be called, in a line: offline, switched off, or a backend that gives no answer; else None."""
    if is_offline and not llm.asks_nobody:
        return "codesum is offline"
    if not llm.enabled:
        return "no model is set up (llm.enabled is false)"
    if llm.backend is BackendName.NOOP:
        return "llm.backend is 'noop'"
    return None


def check_models(llm: LlmSettings) -> None:
    """Raise `ModelNotInAllowlist`, or `ConfigurationError` where a price is not known."""
    for model in (llm.model, *llm.fallback_models):
        check_allowed(model, llm)
        if not llm.asks_nobody:
            price_of(model, llm)
