"""Who answers a request: what every backend promises, and what each refuses before and after a call."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ModelNotInAllowlist, PromptTemplateMismatch, SummaryOutputInvalid
from codesum_pipeline.model.options import LlmOptions

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
        """Let go of connections. Nothing may be asked afterwards."""
        ...


class RefusedAnswer(SummaryOutputInvalid):
    """An answer that came and is paid for, and is not one to what was asked. `response` is kept for the books."""

    def __init__(self, detail: str, response: SummaryResponse) -> None:
        super().__init__(detail)
        self.response = response


def refuse_unpinned(request: SummaryRequest, options: LlmOptions, templates: Templates) -> None:
    """Raise where the request names a model that may not be asked, or a template that would not be sent."""
    allowed = options.allowlist or (options.model, *options.fallback_models)
    if request.model_name not in allowed:
        raise ModelNotInAllowlist(f"{request.model_name!r} is not in llm.allowlist ({', '.join(allowed) or 'empty'})")
    template = templates.get(request.level)
    found = template.digest if template else "none"
    if request.prompt_template_blake3 != found:
        raise PromptTemplateMismatch(
            f"level {request.level}: the request pins {request.prompt_template_blake3}, "
            f"the template is {found}: plan again"
        )


def checked(request: SummaryRequest, response: SummaryResponse, options: LlmOptions) -> SummaryResponse:
    """The answer, if it is one: by the model that was asked, not empty, and within the bytes that were allowed."""
    pinned, echoed = request.model_name, response.model_name_echoed
    # Providers do not say their own name.
    names = {pinned, pinned.partition("/")[2] or pinned}
    if echoed not in names and names.isdisjoint(known for name, known in options.echoed_names if name == echoed):
        raise RefusedAnswer(
            f"{pinned!r} was asked and {echoed!r} answered: if that is the same model, say so in llm.echoed_names",
            response,
        )
    if not response.claim.strip():
        raise RefusedAnswer(f"{pinned!r} gave an empty answer", response)
    size, most = len(response.claim.encode("utf-8", "replace")), request.max_output_bytes
    if most is not None and size > most:
        # What is too long to be read is too long to be kept.
        short = replace(response, claim=response.claim.encode("utf-8", "replace")[:most].decode("utf-8", "ignore"))
        raise RefusedAnswer(f"{pinned!r} gave an answer of {size} bytes, {most} are allowed", short)
    return response
