"""Who carries on a conversation: the same backends as those of summaries, streamed."""

import asyncio
from functools import cached_property
from pathlib import Path
from typing import ClassVar
from weakref import WeakKeyDictionary

from codesum_pipeline.llm.backend import AnotherModel, check_allowed, is_by_pinned, mismatch
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.chat import ChatBackend, ChatRequest, ChatResponse, OnText
from codesum_pipeline.llm.litellm_calls import LiteLlmCalls
from codesum_pipeline.llm.pins import SummaryResponse
from codesum_pipeline.llm.recordings import read_chats, write_chat
from codesum_pipeline.model.errors import BackendNotConfigured
from codesum_pipeline.settings.llm import BackendName, LlmSettings


def build_chat(settings: LlmSettings) -> ChatBackend:
    """Return who answers, as the settings say; `noop` and `replay` never load a client."""
    match settings.backend:
        case BackendName.NOOP:
            return NoopChat(max_prompt_chars=prompt_chars(settings))
        case BackendName.REPLAY:
            return ReplayChat(settings)
        case BackendName.RECORD:
            return RecordChat(LiteLlmChat(settings), settings.kept_answers)
        case BackendName.LITELLM:
            return LiteLlmChat(settings)


class LiteLlmChat:
    """A provider's model, through LiteLLM. Making it asks nobody; the first request does."""

    # LiteLLM's connections are those of the event loop: who is the last to leave closes them.
    _open: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, int]] = WeakKeyDictionary()

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._calls = LiteLlmCalls(settings, {})
        self._is_open = False
        self.max_prompt_chars = prompt_chars(settings)

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        check_allowed(request.model_name, self._settings)
        if not self._is_open:
            self._is_open = True
            loop = asyncio.get_running_loop()
            self._open[loop] = self._open.get(loop, 0) + 1
        self._calls.require_named_key(request.model_name)
        response = await self._calls.chat(request, on_text, timeout_s=timeout_s)
        return _checked(request, response, self._settings)

    async def aclose(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        loop = asyncio.get_running_loop()
        self._open[loop] -= 1
        if not self._open[loop]:
            await self._calls.aclose()


class NoopChat:
    """Nobody answers."""

    def __init__(self, *, max_prompt_chars: int) -> None:
        self.max_prompt_chars = max_prompt_chars

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        raise BackendNotConfigured("llm.backend is 'noop': nothing is asked")

    async def aclose(self) -> None:
        """There is nothing to let go of."""


class RecordChat:
    """Asks another backend; a whole message is on the disk before its caller has it."""

    def __init__(self, asked: ChatBackend, folder: Path) -> None:
        self._asked = asked
        self._folder = folder

    @property
    def max_prompt_chars(self) -> int:
        return self._asked.max_prompt_chars

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        response = await self._asked.chat(request, on_text, timeout_s=timeout_s)
        write_chat(self._folder, request, response)
        return response

    async def aclose(self) -> None:
        await self._asked.aclose()


class ReplayChat:
    """Every recorded request has its message, every other one has none; no network, no key, no cost."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._path = settings.kept_answers
        self.max_prompt_chars = prompt_chars(settings)

    @cached_property
    def _messages(self) -> dict[str, ChatResponse]:
        return read_chats(self._path)

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        check_allowed(request.model_name, self._settings)
        response = self._messages.get(request.request_hash)
        if response is None:
            raise BackendNotConfigured(f"{self._path} has no answer to {request.request_hash}: record it first")
        on_text(response.text)
        return _checked(request, response, self._settings)

    async def aclose(self) -> None:
        """There is nothing to let go of."""


def _checked(request: ChatRequest, response: ChatResponse, settings: LlmSettings) -> ChatResponse:
    """The message, if it is by the model that was asked."""
    echoed = response.model_name_echoed
    if is_by_pinned(request, echoed, settings):
        return response
    said = SummaryResponse(response.text, bool(response.calls), response.usage, echoed, response.cost_usd)
    raise AnotherModel(mismatch(request, echoed), said)
