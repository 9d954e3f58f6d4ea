"""The one place where the settings choose a backend, and the form in which a model answers."""

from codesum_pipeline.llm.backend import SummaryBackend, Templates
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.model_list import declares
from codesum_pipeline.llm.pins import AnswerForm
from codesum_pipeline.settings.llm import BackendName, LlmSettings


def build_backend(settings: LlmSettings, templates: Templates) -> SummaryBackend:
    """Return who answers; `noop` and `replay` never load a client, so they ask nobody."""
    # Most builds ask nobody, and import none of them.
    from codesum_pipeline.llm.litellm_backend import LiteLlmBackend
    from codesum_pipeline.llm.noop import NoopBackend
    from codesum_pipeline.llm.record import RecordBackend
    from codesum_pipeline.llm.replay import ReplayBackend

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
