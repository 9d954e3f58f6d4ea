"""Nobody answers: every request fails, and the extractive text stands."""

from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.model.errors import BackendNotConfigured


class NoopBackend:
    """The backend of a build that must reach nobody: each request is refused, which is no outage."""

    def __init__(self, *, max_prompt_chars: int) -> None:
        self.max_prompt_chars = max_prompt_chars

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        raise BackendNotConfigured("llm.backend is 'noop': nothing is asked")

    async def health(self) -> bool:
        return False

    async def aclose(self) -> None:
        """There is nothing to let go of."""
