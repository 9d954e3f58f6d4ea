"""The backends: each answers requests for summaries and carries on conversations; the settings choose one of them.

Through LiteLLM only the pinned form of a request is sent, as many at a time as the rates allow. Calls are made in this
process until they keep a core busy; from then on worker processes make them, and this one decides and remembers: pins,
rates, checks, and with its callers queue, caps and books.
"""

import asyncio
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from codesum_pipeline.foundation.data_model.errors import BackendNotConfigured, CallFailure, SummaryCallFailed
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.backend import (
    AnotherModel,
    SummaryBackend,
    Templates,
    check_allowed,
    check_response,
    describe_mismatch,
    is_by_pinned,
    refuse_unpinned,
)
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.call_workers import CallLoad, CallWorkers
from codesum_pipeline.texts.llm.litellm_calls import CONNECTIONS, LiteLlmCalls
from codesum_pipeline.texts.llm.pins import ChatRequest, ChatResponse, OnText, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.prices import predict_tokens
from codesum_pipeline.texts.llm.recordings import read_chats, read_recordings, write_recording
from codesum_pipeline.texts.llm.retrying import Rates
from codesum_pipeline.texts.llm.sent_parameters import check_parameters
from codesum_pipeline.texts.llm.sent_requests import note_unsent

_CONNECT_TIMEOUT_S = 5.0


class RecordBackend(SummaryBackend):
    """Calls another backend. An answer is on the disk before the caller has it; failures are not recorded."""

    def __init__(self, recorded: SummaryBackend, folder: Path) -> None:
        super().__init__(max_prompt_chars=recorded.max_prompt_chars)
        self._recorded = recorded
        self._folder = folder

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        response = await self._recorded.summarize(request)
        # Not in a thread: between a paid answer and its record nothing may be cancelled.
        write_recording(self._folder, request, response)
        return response

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        response = await self._recorded.chat(request, on_text, timeout_s=timeout_s)
        write_recording(self._folder, request, response)
        return response

    async def health(self) -> bool:
        return await self._recorded.health()

    async def aclose(self) -> None:
        await self._recorded.aclose()


class ReplayBackend(SummaryBackend):
    """Answers recorded requests and refuses all others: no network, no key, no cost.

    The recording is read at the first request and remembered.
    """

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        super().__init__(max_prompt_chars=prompt_chars(settings))
        self._settings = settings
        self._templates = templates
        self._path = settings.kept_answers

    @cached_property
    def _answers(self) -> dict[str, SummaryResponse]:
        return read_recordings(self._path)

    @cached_property
    def _messages(self) -> dict[str, ChatResponse]:
        return read_chats(self._path)

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        refuse_unpinned(request, self._settings, self._templates)
        response = self._answers.get(request.request_hash)
        if response is None:
            raise self._missing(request.request_hash)
        return check_response(request, response, self._settings)

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        check_allowed(request.model_name, self._settings)
        response = self._messages.get(request.request_hash)
        if response is None:
            raise self._missing(request.request_hash)
        on_text(response.text)
        return _checked_message(request, response, self._settings)

    async def health(self) -> bool:
        return self._path.exists()

    def _missing(self, request_hash: str) -> BackendNotConfigured:
        return BackendNotConfigured(f"{self._path} has no answer to {request_hash}: record it first")


class LiteLlmBackend(SummaryBackend):
    """All models that the settings allow, through LiteLLM. Making it calls nobody; the first request does."""

    def __init__(self, settings: LlmSettings, templates: Templates, load: CallLoad | None = None) -> None:
        """`load` says from when on workers pay; by default from what is measured."""
        super().__init__(max_prompt_chars=prompt_chars(settings))
        self._settings = settings
        self._templates = templates
        self._calls = LiteLlmCalls(settings, templates)
        self._load = load or CallLoad()
        self._workers: CallWorkers | None = None
        self._rates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Rates]] = WeakKeyDictionary()
        self._is_open = False

    async def summarize(self, request: SummaryRequest) -> SummaryResponse:
        refuse_unpinned(request, self._settings, self._templates)
        self._calls.require_named_key(request.model_name)
        self._note_use()
        model = request.model_name
        limits = self._rates.setdefault(asyncio.get_running_loop(), {})
        rates = limits.get(model) or limits.setdefault(model, Rates(self._settings))
        system = self._templates[request.level].system
        note_unsent()
        await rates.admit(predict_tokens(system, *request.sources) + request.parameters.max_tokens)
        try:
            response = await self._ask(request)
        except SummaryCallFailed as failure:
            if failure.failure is CallFailure.RATE_LIMIT:
                rates.note_refusal(failure.retry_after_s)
            raise
        rates.note_answer()
        return check_response(request, response, self._settings)

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        check_allowed(request.model_name, self._settings)
        self._note_use()
        self._calls.require_named_key(request.model_name)
        note_unsent()
        response = await self._calls.chat(request, on_text, timeout_s=timeout_s)
        return _checked_message(request, response, self._settings)

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
        if self._is_open:
            self._is_open = False
            await CONNECTIONS.leave()

    def _note_use(self) -> None:
        if not self._is_open:
            self._is_open = True
            CONNECTIONS.enter()

    async def _ask(self, request: SummaryRequest) -> SummaryResponse:
        if self._workers and self._workers.are_ready:
            return await self._workers.ask(request)
        try:
            return await self._calls.ask(request)
        finally:
            if self._workers is None and self._load.needs_workers():
                self._workers = CallWorkers(self._settings, self._templates)


def _checked_message(request: ChatRequest, response: ChatResponse, settings: LlmSettings) -> ChatResponse:
    """The message, if it is by the model that was called."""
    echoed = response.model_name_echoed
    if is_by_pinned(request, echoed, settings):
        return response
    refused = SummaryResponse(response.text, bool(response.calls), response.usage, echoed, response.cost_usd)
    raise AnotherModel(describe_mismatch(request, echoed, settings), refused)


def build_backend(settings: LlmSettings, templates: Templates) -> SummaryBackend:
    """The backend of the settings, with the templates of the levels that are summarized.

    `noop` and `replay` never load a client, so they call nobody. Raises `ConfigurationError` for `llm.parameters` that
    cannot be used.
    """
    check_parameters(settings)
    match settings.backend:
        case BackendName.NOOP:
            return SummaryBackend(max_prompt_chars=prompt_chars(settings))
        case BackendName.REPLAY:
            return ReplayBackend(settings, templates)
        case BackendName.RECORD:
            return RecordBackend(LiteLlmBackend(settings, templates), settings.kept_answers)
        case BackendName.LITELLM:
            return LiteLlmBackend(settings, templates)
