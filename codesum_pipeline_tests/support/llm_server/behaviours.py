"""What the server does with a request: answer well, or in one of the ways that providers fail."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from codesum_pipeline_tests.support.llm_server.answers import answer_of, usage_of
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire

# Anthropic's words for why an answer ends, and OpenAI's.
_STOPS = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}


# In place of a value that is left out.
ABSENT = object()


class Behaviour(Protocol):
    """One way to treat a request."""

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        """Answer, fail, or never come to an end."""
        ...


Script = Callable[[ModelRequest], Behaviour]


@dataclass(frozen=True)
class Answers:
    """In the form that was asked for. `arguments` instead of the good ones: a string is sent as it is, right or not.

    `tool` is called instead of the one that was forced. `echoes_key` puts the key that came with the request, as it is
    or as `written` gives it, into the texts of the answer.
    """

    arguments: Mapping[str, Any] | str | None = None
    model: str | None = None
    delay_s: float = 0.0
    tool: str | None = None
    echoes_key: bool = False
    written: Callable[[str], str] = str

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self.delay_s)
        arguments = self.arguments
        if self.echoes_key:
            arguments = _with_words(answer_of(request), self.written(key_of(connection)))
        body = body_of(request, arguments, model=self.model)
        return web.json_response(_with_tool(body, self.tool) if self.tool else body)


@dataclass(frozen=True)
class Says:
    """Words and no tool call; `stop` is why they end, in Anthropic's words. With `is_listed` off there is no place for
    an answer in the body at all. `model` is echoed instead of the one that was asked."""

    text: str
    stop: str = "end_turn"
    is_listed: bool = True
    model: str | None = None

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        body = _body(request, None, self.text, model=self.model)
        if request.wire is Wire.ANTHROPIC:
            body |= {"stop_reason": self.stop} | ({} if self.text and self.is_listed else {"content": []})
        else:
            body["choices"][0]["finish_reason"] = _STOPS[self.stop]
            body |= {} if self.is_listed else {"choices": []}
        return web.json_response(body)


@dataclass(frozen=True)
class Sends:
    """A body that is no answer, with the status of one: a proxy's page, for instance."""

    body: str
    content_type: str = "application/json"

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        return web.Response(text=self.body, content_type=self.content_type)


@dataclass(frozen=True)
class Fails:
    """An error of a status. `echoes_key` repeats the Authorization header in the message, as some proxies do."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)
    echoes_key: bool = False

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        message = f"{self.message}: {key_of(connection)}" if self.echoes_key else self.message
        body = {"error": {"message": message, "type": "error", "code": str(self.status)}}
        return web.json_response(body, status=self.status, headers=dict(self.headers))


@dataclass(frozen=True)
class Hangs:
    """Nothing is said for a long time."""

    for_s: float = 3600.0

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self.for_s)
        return web.json_response(body_of(request, None, model=None))


@dataclass(frozen=True)
class Drips:
    """A good answer, a few bytes at a time: each read succeeds and the whole takes for ever."""

    bytes_each: int = 1
    pause_s: float = 0.05

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        data = json.dumps(body_of(request, None, model=None)).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
        await response.prepare(connection)
        for start in range(0, len(data), self.bytes_each):
            await response.write(data[start : start + self.bytes_each])
            await asyncio.sleep(self.pause_s)
        return response


@dataclass(frozen=True)
class Resets:
    """The connection breaks: before anything is said, or after some bytes of the answer. `is_hard`: by a reset, as of a
    server that was killed, in place of an orderly end."""

    after_bytes: int = 0
    is_hard: bool = False

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000000"})
        if self.after_bytes:
            await response.prepare(connection)
            await response.write(b"{" + b" " * (self.after_bytes - 1))
        if connection.transport is not None:
            if self.is_hard:
                at_once = struct.pack("ii", 1, 0)
                connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            connection.transport.abort()
        return response


@dataclass(frozen=True)
class Counts:
    """A good answer with another count of tokens; ABSENT leaves it out."""

    usage: Any

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        body = body_of(request, None, model=None)
        if self.usage is ABSENT:
            del body["usage"]
        else:
            body["usage"] = self.usage
        return web.json_response(body)


@dataclass(frozen=True)
class Ends:
    """An answer in OpenAI's format that ended as `finish_reason` says, with this message, and with what a server adds
    to its choice."""

    finish_reason: str
    message: Mapping[str, Any]
    choice: Mapping[str, Any] = field(default_factory=dict)

    async def treat(self, request: ModelRequest, connection: web.Request) -> web.StreamResponse:
        body = _body(request, None, "x", model=None)
        message = {"role": "assistant", "content": None, **self.message}
        body["choices"] = [{"index": 0, "message": message, "finish_reason": self.finish_reason, **self.choice}]
        return web.json_response(body)


def key_of(request: web.Request) -> str:
    """The key that came with a request."""
    credentials = request.headers.get("Authorization") or request.headers.get("x-api-key") or ""
    return credentials.removeprefix("Bearer ")


def _with_words(answer: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    """A good answer that repeats a word in its texts and keywords."""
    marked = {name: f"{text} ({word})" for name, text in answer.items() if isinstance(text, str)}
    return {**answer, **marked, "keywords": [*answer["keywords"], f"key {word}"]}


def _with_tool(body: dict[str, Any], tool: str) -> dict[str, Any]:
    if "content" in body:
        body["content"][0]["name"] = tool
    else:
        body["choices"][0]["message"]["tool_calls"][0]["function"]["name"] = tool
    return body


def always_well(request: ModelRequest) -> Behaviour:
    """The script of a provider that never fails."""
    return Answers()


def body_of(request: ModelRequest, arguments: Mapping[str, Any] | str | None, *, model: str | None) -> dict[str, Any]:
    """The body of an answer: as a tool call where one is forced, otherwise as text."""
    content = arguments if arguments is not None else answer_of(request)
    text = content if isinstance(content, str) else json.dumps(content)
    if request.tool_name is None:
        return _body(request, None, text, model=model)
    return _body(request, text, "", model=model)


def _body(request: ModelRequest, arguments: str | None, text: str, *, model: str | None) -> dict[str, Any]:
    usage = usage_of(request, arguments or text)
    write = _anthropic_body if request.wire is Wire.ANTHROPIC else _openai_body
    return write(request, arguments, text, model or request.model, usage)


def _openai_body(
    request: ModelRequest, arguments: str | None, text: str, model: str, usage: Mapping[str, int]
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if arguments is not None:
        function = {"name": request.tool_name, "arguments": arguments}
        message["tool_calls"] = [{"id": f"call_{request.number}", "type": "function", "function": function}]
    return {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if arguments else "stop"}],
        "usage": {
            "prompt_tokens": usage["prompt"],
            "completion_tokens": usage["completion"],
            "total_tokens": usage["prompt"] + usage["completion"],
            "prompt_tokens_details": {"cached_tokens": usage["cached"]},
        },
    }


def _anthropic_body(
    request: ModelRequest, arguments: str | None, text: str, model: str, usage: Mapping[str, int]
) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if arguments is not None:
        call = {"type": "tool_use", "id": f"toolu_{request.number}", "name": request.tool_name}
        content = [{**call, "input": json.loads(arguments)}]
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if arguments else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt"] - usage["cached"] - usage["written"],
            "output_tokens": usage["completion"],
            "cache_read_input_tokens": usage["cached"],
            "cache_creation_input_tokens": usage["written"],
        },
    }
