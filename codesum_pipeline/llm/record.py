"""A backend whose answers are written down as they come, so that they can be replayed."""

from pathlib import Path

from codesum_pipeline.llm.backend import SummaryBackend
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.recordings import write_recording


class RecordBackend:
    """Asks another backend. An answer is on the disk before anybody sees it; what fails is not recorded."""

    def __init__(self, asked: SummaryBackend, folder: Path) -> None:
        self._asked = asked
        self._folder = folder

    @property
    def max_prompt_chars(self) -> int:
        return self._asked.max_prompt_chars

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        response = await self._asked.summarize(request)
        # Not in a thread: between a paid answer and its record nothing may be cancelled.
        write_recording(self._folder, request, response)
        return response

    async def health(self) -> bool:
        return await self._asked.health()

    async def aclose(self) -> None:
        await self._asked.aclose()
