"""A backend of which worker processes make all calls but the first, and what can be seen of them."""

import asyncio

import psutil

from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backend import Templates
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.call_workers import CallLoad
from codesum_pipeline.texts.llm.pins import SummaryRequest, SummaryResponse

MODULE = "codesum_pipeline.texts.llm.call_workers"


class SharingBackend(LiteLlmBackend):
    """As the real one once its process is busy; who asks before all workers are ready waits for them."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        super().__init__(settings, templates, CallLoad(busy=0.0, pays_after_s=0.0, cores=2))

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        while self._workers and not self._workers.starting.done():
            await asyncio.sleep(0.01)
        return await super().summarize(request)


def workers_of(pid: int | None = None) -> list[psutil.Process]:
    """The worker processes of a process (default: this one), in the order of their start."""
    found = [child for child in psutil.Process(pid).children() if MODULE in " ".join(child.cmdline())]
    return sorted(found, key=lambda child: (child.create_time(), child.pid))
