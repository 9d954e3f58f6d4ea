"""The one place where the options choose a backend, and the form in which a model answers."""

from pathlib import Path

from codesum_pipeline.llm.backend import SummaryBackend, Templates
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.litellm_backend import LiteLlmBackend
from codesum_pipeline.llm.model_list import declares
from codesum_pipeline.llm.noop import NoopBackend
from codesum_pipeline.llm.pins import AnswerForm
from codesum_pipeline.llm.record import RecordBackend
from codesum_pipeline.llm.replay import ReplayBackend
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.options import BackendName, LlmOptions


def build_backend(options: LlmOptions, templates: Templates) -> SummaryBackend:
    """Return who answers; `noop` and `replay` never load a client, so they ask nobody."""
    match options.backend:
        case BackendName.NOOP:
            return NoopBackend(max_prompt_chars=prompt_chars(options))
        case BackendName.REPLAY:
            _require_recording(options)
            return ReplayBackend(options, templates)
        case BackendName.RECORD:
            _require_recording(options)
            return RecordBackend(LiteLlmBackend(options, templates), Path(options.recording))
        case BackendName.LITELLM:
            return LiteLlmBackend(options, templates)


def form_of(options: LlmOptions, model: str) -> AnswerForm:
    """How a model is made to answer: as `llm.form` says, or under `auto` by what LiteLLM's list declares of it.

    A model that the list does not have is asked for JSON in its text, which every model can give.
    """
    if options.form != "auto":
        return AnswerForm(options.form)
    if declares(model, "supports_function_calling") and declares(model, "supports_tool_choice"):
        return AnswerForm.TOOL
    if declares(model, "supports_response_schema"):
        return AnswerForm.JSON_SCHEMA
    return AnswerForm.JSON_TEXT


def _require_recording(options: LlmOptions) -> None:
    if not options.recording:
        raise ConfigurationError(f"llm.backend is {options.backend.value!r}: name its folder in llm.recording")
