"""What every backend promises, which models the settings let it call, and what it refuses of an answer."""

from collections.abc import Mapping

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    ModelNotInAllowlist,
    PromptTemplateMismatch,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.data_model.toml_values import toml_value
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.echoed_names import NO_NAME, is_name_of, is_same_model, shown_name
from codesum_pipeline.texts.llm.pins import (
    FAILURES_BY_END,
    AnswerEnd,
    ChatRequest,
    ChatResponse,
    OnText,
    SummaryRequest,
    SummaryResponse,
)
from codesum_pipeline.texts.llm.prices import price_of
from codesum_pipeline.texts.llm.templates import ResolvedTemplate


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


# Of what an answer said before it ended too early.
_MOST_WORDS = 300

Templates = Mapping[Level, ResolvedTemplate]


class SummaryBackend:
    """Turns one pinned request into one answer as it came. Slow, costs money, may fail.

    This one is the default: it refuses every request, which is no outage. `max_prompt_chars` is how long a whole prompt
    may be.
    """

    def __init__(self, *, max_prompt_chars: int) -> None:
        self.max_prompt_chars = max_prompt_chars

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        """One attempt: answer, or raise `BackendNotConfigured`, `ModelNotInAllowlist`, `PromptTemplateMismatch`,
        `SummaryCallFailed` or `SummaryOutputInvalid`."""
        raise BackendNotConfigured("llm.backend is 'noop': nothing is asked")

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        """One attempt: the next message of a conversation; `on_text` receives its text while it is written.

        Raises `BackendNotConfigured`, `ModelNotInAllowlist`, `SummaryCallFailed` or `SummaryOutputInvalid`.
        """
        raise BackendNotConfigured("llm.backend is 'noop': nothing is asked")

    async def health(self) -> bool:
        """Whether a call could be made now; costs nothing."""
        return False

    async def aclose(self) -> None:
        """Close all connections. No request may follow."""


class RefusedAnswer(SummaryOutputInvalid):
    """A paid answer that is refused before it is read. `response` is kept for the ledger."""

    kind = "refused-answer"

    def __init__(self, detail: str, response: SummaryResponse) -> None:
        super().__init__(detail)
        self.response = response


class AnotherModel(RefusedAnswer):
    """An answer by another model than the pinned one; it would answer the next call too."""

    kind = "another-model"


class EndedEarly(RefusedAnswer):
    """A paid answer that is no text since it ended too early: the same request would end alike."""

    def __init__(self, detail: str, response: SummaryResponse) -> None:
        super().__init__(detail, response)
        self.kind = FAILURES_BY_END[response.ended]


# The context holds the prompt and the answer.
_FULL = "; its server counted only {}: if that filled its context, lower llm.max_prompt_chars"

_ANOTHER = "; way out: another model (llm.model)"


def describe_end(request: SummaryRequest, response: SummaryResponse, *, setting: str) -> str:
    """Why an answer ended too early, and what can be done; `setting` bounds the tokens of such an answer."""
    model, words = request.model_name, shorten_text(one_line(response.claim), _MOST_WORDS)
    match response.ended:
        case AnswerEnd.LENGTH:
            spent = ", all of them spent on reasoning" if response.has_reasoning and not words else ""
            cut = f"{model}: the answer was cut at {setting} = {request.max_tokens} tokens{spent}: raise {setting}"
            written = response.usage.completion_tokens if response.usage else request.max_tokens
            return cut + (_FULL.format(written) if written < request.max_tokens // 2 else "")
        case AnswerEnd.FILTERED:
            said = f"; it had said: {words}" if words else ""
            return f"{model}: a filter of its provider ended the answer{said}{_ANOTHER}"
        case AnswerEnd.REFUSED:
            return f"{model} refused to answer" + (f": {words}" if words else "") + _ANOTHER
        case _:
            return f"{model}: its server broke off with an error" + (f": {words}" if words else "")


def refuse_unpinned(request: SummaryRequest, settings: LlmSettings, templates: Templates) -> None:
    """Raise where the request names a model that is not allowed, or a template that would not be sent."""
    check_allowed(request.model_name, settings)
    template = templates.get(request.level)
    found = template.digest if template else "none"
    if request.prompt_template_blake3 != found:
        raise PromptTemplateMismatch(
            f"level {request.level}: the request pins {request.prompt_template_blake3}, "
            f"the template is {found}: plan again"
        )


def check_response(request: SummaryRequest, response: SummaryResponse, settings: LlmSettings) -> SummaryResponse:
    """The answer, if it is by the pinned model and within the allowed bytes.

    An empty answer to a strict request is refused, since a strict request is sent once.
    """
    pinned = request.model_name
    if not is_by_pinned(request, response.model_name_echoed, settings):
        raise AnotherModel(describe_mismatch(request, response.model_name_echoed, settings), response)
    if request.is_strict and response.ended is not AnswerEnd.STOP:
        raise EndedEarly(describe_end(request, response, setting="llm.max_tokens"), response)
    if request.is_strict and not response.claim.strip():
        raise RefusedAnswer(f"{pinned!r} gave an empty answer", response)
    size, most = len(response.claim.encode("utf-8", "replace")), request.max_output_bytes
    if most is not None and size > most:
        # What is too long to be read is too long to be kept.
        short = replace(response, claim=response.claim.encode("utf-8", "replace")[:most].decode("utf-8", "ignore"))
        raise RefusedAnswer(f"{pinned!r} gave an answer of {size} bytes, {most} are allowed", short)
    return response


def is_by_pinned(request: SummaryRequest | ChatRequest, echoed: str, settings: LlmSettings) -> bool:
    """Whether the echoed name is one of the pinned model; a strict request accepts the pinned name alone."""
    pinned = request.model_name
    if is_name_of(pinned, echoed) or request.is_strict:
        return is_name_of(pinned, echoed)
    meant = (*_meant_by(shown_name(echoed), settings), *_meant_by(echoed, settings))
    return is_same_model(pinned, echoed) or any(is_name_of(pinned, name) for name in meant)


def _meant_by(echoed: str, settings: LlmSettings) -> tuple[str, ...]:
    """The models that the settings name for another name."""
    models = settings.echoed_names.get(echoed, ())
    return (models,) if isinstance(models, str) else models


# No name of a model is longer, only paths of files and the like.
_LONGEST_MODEL_NAME = 80


def describe_mismatch(request: SummaryRequest | ChatRequest, echoed: str, settings: LlmSettings) -> str:
    """A message for an answer by another model: what to do about it, as lines of settings."""
    pinned, shown = request.model_name, shown_name(echoed)
    is_named = shown != NO_NAME
    what = f"{pinned!r} was asked and " + (f"{shown!r} answered" if is_named else "the answer names no model")
    taken = _taking(pinned, shown, settings) if is_named and shown == echoed else ""
    if request.is_strict:
        pin = f"pin the name that answers: {taken}" if taken else "ask a server that says which model answers"
        return f"{what}: {pin}"
    # One server may answer for several models under one name, or under none.
    models = (*_meant_by(shown, settings), pinned)
    named = {**settings.echoed_names, shown: pinned if len(models) == 1 else models}
    same = f"if it is the same one, set llm.echoed_names = {toml_value(named)}"
    return f"{what}: {f'if you want that model, {taken}; ' if taken else ''}{same}"


def _taking(pinned: str, echoed: str, settings: LlmSettings) -> str:
    """What to set to ask the model that answered; empty for what is no model's name."""
    if len(echoed) > _LONGEST_MODEL_NAME or not echoed.isprintable():
        return ""
    provider, slash, _ = pinned.partition("/")
    model = f"{provider}{slash}{echoed}" if slash else echoed
    models = [model if one == pinned else one for one in settings.fallback_models]
    is_main = pinned == settings.model
    wanted = f"llm.model = {toml_value(model)}" if is_main else f"llm.fallback_models = {toml_value(models)}"
    return f"set {wanted}" + (", and add it to llm.allowlist" if settings.allowlist else "")
