"""What every backend promises, what each refuses before and after a call, and which one the settings choose.

A provider's name for the model that answered is compared with the pinned name. Many names are aliases:
`claude-haiku-4-5` answers as `claude-haiku-4-5-20251001`. Such an echo adds a date or a revision to the name and
nothing else. What could be another model's name is none of these: `-5`, `-mini`, `-8b`, `-v3`, `-preview`.
"""

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Protocol

from msgspec.structs import replace

from codesum_pipeline.ground.model.document import Level
from codesum_pipeline.ground.model.errors import ModelNotInAllowlist, PromptTemplateMismatch, SummaryOutputInvalid
from codesum_pipeline.ground.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.pins import (
    AnswerForm,
    ChatRequest,
    ChatResponse,
    OnText,
    SummaryRequest,
    SummaryResponse,
)
from codesum_pipeline.texts.llm.prices import declares, price_of
from codesum_pipeline.texts.llm.templates import ResolvedTemplate

# The newest dated model of its name.
_ALIAS = "-latest"
_YEAR = r"20[2-9]\d"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_DATES = (
    rf"{_YEAR}{_MONTH}{_DAY}",
    rf"{_YEAR}-{_MONTH}-{_DAY}",
    rf"{_MONTH}-{_YEAR}",
    # Without a century: a day (`gpt-4-0613`), a month (`mistral-large-2411`), both (`doubao-260215`).
    rf"{_MONTH}{_DAY}",
    rf"[2-9]\d{_MONTH}",
    rf"[2-9]\d{_MONTH}{_DAY}",
)
# No size and no version of a family is written in three digits with a zero before them.
_REVISION = r"0\d\d"
# Bedrock's, with or without a date before it.
_NUMBERED = r"v\d+:\d+"
_SUFFIX = re.compile(rf"(?:[-@](?:(?P<date>{'|'.join(_DATES)})|{_REVISION}))?(?:-{_NUMBERED})?")
_HAS_DATE = re.compile(rf"[-@](?:{'|'.join(_DATES)}|{_REVISION})$")
_HAS_NUMBER = re.compile(rf"-{_NUMBERED}$")


def is_name_of(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name byte for byte; providers do not say their own name."""
    return echoed in _names(pinned)


def is_dated_name_of(pinned: str, echoed: str) -> bool:
    """Whether an echo is the pinned name with a date or revision added to it, and nothing else."""
    return any(_is_dated(name, echoed) for name in _names(pinned))


def _names(pinned: str) -> tuple[str, ...]:
    provider, _, name = pinned.partition("/")
    # The interface of Bedrock is no part of a model's name.
    routed = name.removeprefix("converse/").removeprefix("invoke/") if provider == "bedrock" else name
    return (pinned, name or pinned, routed or pinned)


def _is_dated(name: str, echoed: str) -> bool:
    # Vertex AI puts its sign before the date that the model itself writes with a hyphen.
    if "@" in name and name.replace("@", "-") == echoed:
        return True
    base = name.removesuffix(_ALIAS)
    suffix = echoed.removeprefix(base)
    if not echoed.startswith(base) or not suffix:
        return False
    if _HAS_NUMBER.search(base):
        return False
    if _HAS_DATE.search(base):
        # Another date would be another model.
        return _HAS_NUMBER.fullmatch(suffix) is not None
    found = _SUFFIX.fullmatch(suffix)
    return found is not None and _is_in_calendar(found["date"])


def _is_in_calendar(written: str | None) -> bool:
    """Whether a whole date is one; parts of one were checked by their pattern."""
    digits = re.sub(r"\D", "", written or "")
    if len(digits) != len("20251001") or not digits.startswith("20"):
        return True
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


Templates = Mapping[Level, ResolvedTemplate]


class SummaryBackend(Protocol):
    """Turns one pinned request into one answer as it came. Slow, costs money, may fail."""

    @property
    def max_prompt_chars(self) -> int:
        """How long a whole prompt may be."""
        ...

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        """One attempt: answer, or raise `BackendNotConfigured`, `ModelNotInAllowlist`, `PromptTemplateMismatch`,
        `SummaryCallFailed` or `SummaryOutputInvalid`."""
        ...

    async def health(self) -> bool:
        """Whether a call could be made now; costs nothing."""
        ...

    async def aclose(self) -> None:
        """Close all connections. No request may follow."""
        ...


class ModelBackend(SummaryBackend, Protocol):
    """A backend that carries on conversations, too."""

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        """One attempt: the next message; `on_text` receives its text while it is written.

        Raises `BackendNotConfigured`, `ModelNotInAllowlist`, `SummaryCallFailed` or `SummaryOutputInvalid`.
        """
        ...


class RefusedAnswer(SummaryOutputInvalid):
    """A paid answer that is refused before it is read. `response` is kept for the ledger."""

    def __init__(self, detail: str, response: SummaryResponse) -> None:
        super().__init__(detail)
        self.response = response


class AnotherModel(RefusedAnswer):
    """An answer by another model than the pinned one; it would answer the next call too."""


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


def check_allowed(model: str, settings: LlmSettings) -> None:
    """Raise `ModelNotInAllowlist` for a model that is not allowed."""
    allowed = settings.allowlist or (settings.model, *settings.fallback_models)
    if model not in allowed:
        raise ModelNotInAllowlist(f"{model!r} is not in llm.allowlist ({', '.join(allowed) or 'empty'})")


def checked(request: SummaryRequest, response: SummaryResponse, settings: LlmSettings) -> SummaryResponse:
    """The answer, if it is by the pinned model and within the allowed bytes.

    An empty answer to a strict request is refused, since a strict request is sent once.
    """
    pinned = request.model_name
    if not is_by_pinned(request, response.model_name_echoed, settings):
        raise AnotherModel(mismatch(request, response.model_name_echoed), response)
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
    meant = settings.echoed_names.get(echoed)
    return is_dated_name_of(pinned, echoed) or (meant is not None and is_name_of(pinned, meant))


def mismatch(request: SummaryRequest | ChatRequest, echoed: str) -> str:
    """A message for an answer by another model: what to do about it."""
    pinned = request.model_name
    if request.is_strict:
        return f"{pinned!r} was asked and {echoed!r} answered: pin the name that answers"
    provider, slash, _ = pinned.partition("/")
    return (
        f"{pinned!r} was asked and {echoed!r} answered: if you want that model, set llm.model = "
        f"{json.dumps(f'{provider}{slash}{echoed}' if slash else echoed)}; if it is the same one, set "
        f"llm.echoed_names = {{ {json.dumps(echoed)} = {json.dumps(pinned)} }}"
    )


def build_backend(settings: LlmSettings, templates: Templates) -> ModelBackend:
    """The backend of the settings, with the templates of the levels that are summarized.

    `noop` and `replay` never load a client, so they call nobody.
    """
    # Most builds call no model, and import no backend.
    from codesum_pipeline.texts.llm.backends import LiteLlmBackend, NoopBackend, RecordBackend, ReplayBackend

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
