"""A provider's models, asked through LiteLLM: one request, one attempt.

Only the pinned form of a request is sent, as many at a time as the rates allow.
Calls are made in this process until they keep a core busy; from then on worker
processes make them, and this one decides and remembers: pins, rates, checks,
and with its callers queue, caps and books.
"""

import asyncio
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from codesum_pipeline.llm.backend import Templates, checked, refuse_unpinned
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.call_load import CallLoad
from codesum_pipeline.llm.call_workers import CallWorkers
from codesum_pipeline.llm.litellm_calls import LiteLlmCalls
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.rates import Rates
from codesum_pipeline.llm.tokens import predict_tokens
from codesum_pipeline.model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.settings.llm import LlmSettings

_CONNECT_TIMEOUT_S = 5.0


class LiteLlmBackend:
    """All models that the settings allow. Making it asks nobody; the first request does."""

    def __init__(self, settings: LlmSettings, templates: Templates, load: CallLoad | None = None) -> None:
        """`load` says from when on workers pay; by default from what is measured."""
        self._settings = settings
        self._templates = templates
        self._calls = LiteLlmCalls(settings, templates)
        self._load = load or CallLoad()
        self._workers: CallWorkers | None = None
        self._rates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Rates]] = WeakKeyDictionary()
        self.max_prompt_chars = prompt_chars(settings)

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        refuse_unpinned(request, self._settings, self._templates)
        self._calls.require_named_key(request.model_name)
        rates = self._rates_of(request.model_name)
        system = self._templates[request.level].system
        await rates.admit(predict_tokens(system, *request.sources) + request.parameters.max_tokens)
        try:
            response = await self._ask(request)
        except SummaryCallFailed as failure:
            if failure.failure is CallFailure.RATE_LIMIT:
                rates.refused(failure.retry_after_s)
            raise
        rates.answered()
        return checked(request, response, self._settings)

    async def health(self) -> bool:
        """Whether keys are there and, of a server of one's own, whether something listens."""
        if any(map(self._calls.missing_key, (self._settings.model, *self._settings.fallback_models))):
            return False
        if not self._settings.api_base:
            return True
        place = urlsplit(self._settings.api_base)
        port = place.port or (443 if place.scheme == "https" else 80)
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(place.hostname, port), _CONNECT_TIMEOUT_S)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    async def aclose(self) -> None:
        if self._workers:
            await self._workers.aclose()
        await self._calls.aclose()

    async def _ask(self, request: SummaryRequest) -> SummaryResponse:
        if self._workers and self._workers.are_ready:
            return await self._workers.ask(request)
        try:
            return await self._calls.ask(request)
        finally:
            if self._workers is None and self._load.needs_workers():
                self._workers = CallWorkers(self._settings, self._templates)

    def _rates_of(self, model: str) -> Rates:
        limits = self._rates.setdefault(asyncio.get_running_loop(), {})
        if model not in limits:
            limits[model] = Rates(
                requests_per_minute=self._settings.requests_per_minute,
                tokens_per_minute=self._settings.tokens_per_minute,
            )
        return limits[model]
