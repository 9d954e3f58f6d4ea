"""Answers that were recorded, given again: no network, no key, no cost."""

from functools import cached_property

from codesum_pipeline.llm.backend import Templates, checked, refuse_unpinned
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.recordings import read_recordings
from codesum_pipeline.model.errors import BackendNotConfigured
from codesum_pipeline.settings.llm import LlmSettings


class ReplayBackend:
    """Every recorded request has its answer, every other one has none. What a recording cost was paid then."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        self._settings = settings
        self._templates = templates
        self._path = settings.kept_answers
        self.max_prompt_chars = prompt_chars(settings)

    @cached_property
    def _answers(self) -> dict[str, SummaryResponse]:
        return read_recordings(self._path)

    def holds(self, request: SummaryRequest) -> bool:
        """Whether there is an answer to this request."""
        return request.request_hash in self._answers

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        refuse_unpinned(request, self._settings, self._templates)
        response = self._answers.get(request.request_hash)
        if response is None:
            raise BackendNotConfigured(f"{self._path} has no answer to {request.request_hash}: record it first")
        return checked(request, response, self._settings)

    async def health(self) -> bool:
        return self._path.exists()

    async def aclose(self) -> None:
        """There is nothing to let go of."""
