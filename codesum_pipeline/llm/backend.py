"""Who answers a request: what every backend promises, and what each refuses before and after a call."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from codesum_pipeline.llm.echoes import is_dated_name_of, is_name_of
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ModelNotInAllowlist, PromptTemplateMismatch, SummaryOutputInvalid
from codesum_pipeline.settings.llm import LlmSettings

Templates = Mapping[Level, ResolvedTemplate]


class PinnedRequest(Protocol):
    """A request that names a model; a strict one takes an answer under that very name alone."""

    @property
    def model_name(self) -> str: ...

    @property
    def is_strict(self) -> bool: ...


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
        """Let go of connections. Nothing may be asked afterwards."""
        ...


class RefusedAnswer(SummaryOutputInvalid):
    """An answer that came and is paid for, and is not one to what was asked. `response` is kept for the books."""

    def __init__(self, detail: str, response: SummaryResponse) -> None:
        super().__init__(detail)
        self.response = response


class AnotherModel(RefusedAnswer):
    """An answer by a model that was not asked: the next call would be answered by it, too."""


def refuse_unpinned(request: SummaryRequest, settings: LlmSettings, templates: Templates) -> None:
    """Raise where the request names a model that may not be asked, or a template that would not be sent."""
    check_allowed(request.model_name, settings)
    template = templates.get(request.level)
    found = template.digest if template else "none"
    if request.prompt_template_blake3 != found:
        raise PromptTemplateMismatch(
            f"level {request.level}: the request pins {request.prompt_template_blake3}, "
            f"the template is {found}: plan again"
        )


def check_allowed(model: str, settings: LlmSettings) -> None:
    """Raise `ModelNotInAllowlist` for a model that may not be asked."""
    allowed = settings.allowlist or (settings.model, *settings.fallback_models)
    if model not in allowed:
        raise ModelNotInAllowlist(f"{model!r} is not in llm.allowlist ({', '.join(allowed) or 'empty'})")


def checked(request: SummaryRequest, response: SummaryResponse, settings: LlmSettings) -> SummaryResponse:
    """The answer, if it is one: by the model that was asked, and within the bytes that were allowed.

    An empty answer is refused where there is nobody who asks again.
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


def is_by_pinned(request: PinnedRequest, echoed: str, settings: LlmSettings) -> bool:
    """Whether the echoed name stands for the pinned model; a request that is evidence takes that name alone."""
    pinned = request.model_name
    if is_name_of(pinned, echoed) or request.is_strict:
        return is_name_of(pinned, echoed)
    meant = settings.echoed_names.get(echoed)
    return is_dated_name_of(pinned, echoed) or (meant is not None and is_name_of(pinned, meant))


def mismatch(request: PinnedRequest, echoed: str) -> str:
    """What to do about an answer by a model that was not asked."""
    pinned = request.model_name
    if request.is_strict:
        return f"{pinned!r} was asked and {echoed!r} answered: pin the name that answers"
    provider, slash, _ = pinned.partition("/")
    return (
        f"{pinned!r} was asked and {echoed!r} answered: if you want that model, set llm.model = "
        f"{json.dumps(f'{provider}{slash}{echoed}' if slash else echoed)}; if it is the same one, set "
        f"llm.echoed_names = {{ {json.dumps(echoed)} = {json.dumps(pinned)} }}"
    )
