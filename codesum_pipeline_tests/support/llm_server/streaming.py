"""Messages of a conversation, streamed piece by piece in either format, and the ways in which they break off."""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire

_PIECE = 7
_ANTHROPIC_ENDS = {"length": "max_tokens", "content_filter": "refusal"}


@dataclass(frozen=True)
class Calls:
    """A call of a tool as a model writes it; arguments that are a string are sent as they are."""

    name: str
    arguments: Mapping[str, Any] | str

    @property
    def written(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Streams:
    """A message: reasoning, text, calls, and what was counted.

    `model` is the name under which it comes, where that is not the asked one. After
    `breaks_after` pieces the connection is cut, `hangs_after` so many nothing more is said before `goes_on` is set,
    which may be never; `is_counted` off leaves the usage out. `ends` is the reason of its end in OpenAI's words, where
    that is not the usual one; `refusal` are the words of a model that refuses, and `error` is what a provider sends in
    place of the end when it fails.
    """

    text: str = ""
    calls: Sequence[Calls] = ()
    reasoning: str = ""
    breaks_after: int | None = None
    hangs_after: int | None = None
    goes_on: threading.Event = field(default_factory=threading.Event)
    is_counted: bool = True
    same_ids: bool = False
    pause_s: float = 0.0
    model: str | None = None
    ends: str | None = None
    refusal: str = ""
    error: Mapping[str, Any] | None = None

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(connection)
        is_openai = request.wire is Wire.OPENAI
        for number, piece in enumerate(self._pieces(request) if is_openai else self._events(request)):
            if number == self.breaks_after and connection.transport is not None:
                connection.transport.abort()
                return response
            if number == self.hangs_after:
                while not self.goes_on.is_set():
                    await asyncio.sleep(0.02)
            await response.write(_event(request, piece, self.model or request.model) if is_openai else _named(piece))
            await asyncio.sleep(self.pause_s)
        if is_openai:
            await response.write(b"data: [DONE]\n\n")
        return response

    def _pieces(self, request: ModelRequest) -> list[dict[str, Any]]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _split(self.reasoning)]
        deltas += [{"content": piece} for piece in _split(self.text)]
        deltas += [{"refusal": piece} for piece in _split(self.refusal)]
        for place, call in enumerate(self.calls):
            id_ = "call_same" if self.same_ids else f"call_{request.number}_{place}"
            head = {"index": place, "id": id_, "type": "function", "function": {"name": call.name, "arguments": ""}}
            deltas.append({"tool_calls": [head]})
            deltas += [
                {"tool_calls": [{"index": place, "function": {"arguments": piece}}]} for piece in _split(call.written)
            ]
        pieces: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        if self.error is not None:
            return [*pieces, {"error": self.error}]
        end = self.ends or ("tool_calls" if self.calls else "stop")
        pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
        if self.is_counted:
            prompt = sum(len(str(turn)) for turn in request.body["messages"]) // 4
            written = len(self.text) // 4 + 1
            usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
            pieces.append({"choices": [], "usage": usage})
        return pieces

    def _events(self, request: ModelRequest) -> list[dict[str, Any]]:
        """In Anthropic's format."""
        usage = {"input_tokens": len(str(request.turns)) // 4 + 1, "output_tokens": 1}
        start: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.model or request.model,
        }
        start |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
        texts = [{"type": "text_delta", "text": piece} for piece in _split(self.text)]
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _split(self.reasoning)]
        blocks: list[tuple[dict[str, Any], list[dict[str, str]]]] = [
            *([({"type": "thinking", "thinking": "", "signature": ""}, thoughts)] if self.reasoning else []),
            *([({"type": "text", "text": ""}, texts)] if self.text else []),
        ]
        for place, call in enumerate(self.calls):
            opened: dict[str, Any] = {
                "type": "tool_use",
                "id": f"toolu_{request.number}_{place}",
                "name": call.name,
                "input": {},
            }
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in _split(call.written)]
            blocks.append((opened, pieces))
        for index, (head, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": head})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        if self.error is not None:
            return [*events, {"type": "error", "error": self.error}]
        reason = _ANTHROPIC_ENDS[self.ends] if self.ends else "tool_use" if self.calls else "end_turn"
        stop = {"stop_reason": reason, "stop_sequence": None}
        end = {"type": "message_delta", "delta": stop, "usage": {"output_tokens": len(self.text) // 4 + 1}}
        return [*events, end, {"type": "message_stop"}]


def _split(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _event(request: ModelRequest, piece: Mapping[str, Any], model: str) -> bytes:
    chunk = {"id": f"chatcmpl-{request.number}", "object": "chat.completion.chunk", "created": 0, "model": model}
    return b"data: " + json.dumps({**chunk, **piece}).encode() + b"\n\n"


def _named(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
