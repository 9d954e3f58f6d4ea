"""A conversation in which a model may call tools: pinned requests, and answers that arrive while they are written.

As with summaries, equal requests have equal hashes, so that an answer can be recorded and found again.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct

from codesum_pipeline.llm.pins import TokenUsage, blake3_of
from codesum_pipeline.model.hashing import canonical_json

_DOMAIN = "codesum.llm.chat.request.v1"


class ToolChoice(StrEnum):
    """Whether the model may call tools in its next message."""

    AUTO = "auto"
    NONE = "none"


class ToolCall(Struct, frozen=True):
    """One call as the model wrote it: `arguments` is its JSON, not yet read."""

    id: str
    name: str
    arguments: str


class ChatRequest(Struct, frozen=True, dict=True):
    """The next message of a conversation. `messages` and `tools` are in OpenAI's format, the system prompt first."""

    model_name: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    max_tokens: int = 4096
    temperature: float = 0.0

    # An echo with a date is the pinned model, as when indexing.
    is_strict = False

    @cached_property
    def request_hash(self) -> str:
        """BLAKE3 over the canonical JSON of the fields, with a domain of its own."""
        return blake3_of(
            canonical_json(
                {
                    "domain": _DOMAIN,
                    "model_name": self.model_name,
                    "messages": self.messages,
                    "tools": self.tools,
                    "tool_choice": self.tool_choice,
                    "max_tokens": self.max_tokens,
                    "temperature": self.temperature,
                }
            )
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent, for counting tokens."""
        return tuple(canonical_json(part) for part in (*self.messages, *self.tools))


class ChatResponse(Struct, frozen=True):
    """A whole message of the model. `cost_usd` is None where the price or the tokens are not known."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: TokenUsage | None
    model_name_echoed: str
    cost_usd: float | None = None


OnText = Callable[[str], None]


class ChatBackend(Protocol):
    """Carries on one conversation. Slow, costs money, may fail."""

    @property
    def max_prompt_chars(self) -> int:
        """How long all messages together may be."""
        ...

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        """One attempt: the next message, of which `on_text` hears the text while it is written.

        Raises `BackendNotConfigured`, `ModelNotInAllowlist`, `SummaryCallFailed` or `SummaryOutputInvalid`.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections. No request may follow."""
        ...
