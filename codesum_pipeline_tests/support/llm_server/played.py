"""A provider that answers every request with the same bytes, in a form of its own, at whatever address it is asked."""

import asyncio
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Played:
    """Pieces of an answer, each sent by itself; then the connection ends, or is cut."""

    pieces: Sequence[bytes]
    content_type: str = "text/event-stream"
    is_cut: bool = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": self.content_type})
        await response.prepare(request)
        for piece in self.pieces:
            await response.write(piece)
            await asyncio.sleep(0)
        if self.is_cut and request.transport is not None:
            request.transport.abort()
        return response

    def application(self) -> web.Application:
        app = web.Application()
        app.add_routes([web.post("/{path:.*}", self.handle)])
        return app


def events(*values: Any, done: bool = True) -> list[bytes]:
    """Server-sent events: of a text as it stands, of anything else its JSON."""
    lines = [one if isinstance(one, str) else f"data: {json.dumps(one)}" for one in values]
    return [f"{line}\n\n".encode() for line in (*lines, *(["data: [DONE]"] if done else []))]


def chunk(delta: Mapping[str, Any] | None = None, *, end: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk in OpenAI's format; without a delta it has no choice."""
    choices = [] if delta is None else [{"index": 0, "delta": dict(delta), "finish_reason": end}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices, **more}


def calling(*calls: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A chunk with pieces of calls."""
    return chunk({"role": "assistant", "tool_calls": [dict(call) for call in calls]}, **more)


def piece(index: int | None, id_: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    """A piece of a call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    found = {"index": index, "id": id_, "type": "function", "function": function}
    return {key: value for key, value in found.items() if value is not None}


def lines(*values: Any) -> list[bytes]:
    """JSON, one value a line."""
    return [f"{json.dumps(one)}\n".encode() for one in values]


def amazon_events(*values: tuple[str, Any]) -> list[bytes]:
    """Messages of Amazon's event stream: the name of each event, and its JSON."""
    return [_amazon_event(name, json.dumps(value).encode()) for name, value in values]


def _amazon_event(name: str, payload: bytes) -> bytes:
    headers = b"".join(
        _amazon_header(key, value)
        for key, value in ((":event-type", name), (":content-type", "application/json"), (":message-type", "event"))
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def _amazon_header(key: str, value: str) -> bytes:
    return bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
