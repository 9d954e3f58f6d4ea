"""The one place where the settings choose a backend, and the form in which a model answers."""

from typing import TYPE_CHECKING

from codesum_pipeline.llm.backend import Templates, check_allowed
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.pins import AnswerForm
from codesum_pipeline.llm.prices import declares, price_of
from codesum_pipeline.settings.llm import BackendName, LlmSettings

if TYPE_CHECKING:
    from codesum_pipeline.llm.backends import ModelBackend


def build_backend(settings: LlmSettings, templates: Templates) -> "ModelBackend":
    """The backend of the settings, with the templates of the levels that are summarized.

    `noop` and `replay` never load a client, so they call nobody.
    """
    # Most builds call no model, and import no backend.
    from codesum_pipeline.llm.backends import LiteLlmBackend, NoopBackend, RecordBackend, ReplayBackend

    match settings.backend:
        case BackendName.NOOP:
            return NoopBackend(max_prompt_chars=prompt_chars(settings))
        case BackendName.REPLAY:
            return ReplayBackend(settings, templates)
        case BackendName.RECORD:
            return RecordBackend(LiteLlmBackend(settings, templates), settings.kept_answers)
        case BackendName.LITELLM:
            return LiteLlmBackend(settings, templates)


def form_of(settings: LlmSettings, model: str) -> AnswerForm:
    """How a model is made to answer: as `llm.form` says, or under `auto` by what LiteLLM's list declares of it.

    A model that the list does not have is asked for JSON in its text, which every model can give.
    """
    if settings.form != "auto":
        return AnswerForm(settings.form)
    if declares(model, "supports_function_calling") and declares(model, "supports_tool_choice"):
        return AnswerForm.TOOL
    if declares(model, "supports_response_schema"):
        return AnswerForm.JSON_SCHEMA
    return AnswerForm.JSON_TEXT


def why_shut(llm: LlmSettings, *, is_offline: bool) -> str | None:
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
