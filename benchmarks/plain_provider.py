"""A provider that costs next to nothing: `python -m benchmarks.plain_provider DELAY` on loopback, in OpenAI's format.

A real provider's processor is on another machine; one that shares these cores
must not take them from what is measured. So no request is read beyond its
length, and every answer is the same bytes, made before the first request
comes. The first line of output is the port; it ends with its standard input.
"""

import asyncio
import json
import subprocess
import sys
from types import TracebackType
from typing import Self

from codesum_pipeline.texts.llm.answer_shapes import TOOL_NAME

MODEL = "gpt-4o-mini"
_ARGUMENTS = {
    "purpose": "Adds up the given prices by their amounts, in one pass over both lists.",
    "business_intent": "Keeps the totals of a shop in order.",
    "keywords": ["checkout", "prices", "shop"],
    "inputs": [],
    "returns": {"type": "int", "type_summary": "the total found", "details": "What the prices add up to, in order."},
    "side_effects": ["reads the prices it is given"],
    "invariants": None,
    "citations": [
        {"field": field, "start_line": 1, "end_line": 2} for field in ("purpose", "returns", "side_effects")
    ],
}  # fmt: skip
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


def make_answer() -> bytes:
    """A whole answer to any request, head and body."""
    call = {"id": "call_1", "type": "function", "function": {"name": TOOL_NAME, "arguments": json.dumps(_ARGUMENTS)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 6000, "completion_tokens": 150, "total_tokens": 6150},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(asyncio.Protocol):
    """One client's connection, on which it asks for one thing after another."""

    def __init__(self, delay_s: float, answer: bytes) -> None:
        self._delay_s = delay_s
        self._answer = answer
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head_end = self._received.find(_HEAD_END)
        if head_end < 0:
            return
        length = self._received[:head_end].lower().partition(_LENGTH)[2].partition(b"\r\n")[0]
        if len(self._received) >= head_end + len(_HEAD_END) + int(length):
            self._received.clear()
            asyncio.get_running_loop().call_later(self._delay_s, self._transport.write, self._answer)


async def _serve(delay_s: float) -> None:
    loop, made = asyncio.get_running_loop(), make_answer()
    server = await loop.create_server(lambda: _Connection(delay_s, made), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


class PlainProvider:
    """The provider as a process, for the time of a `with` block."""

    def __init__(self, *, delay_s: float) -> None:
        self._delay_s = delay_s

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.plain_provider", str(self._delay_s)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.base = f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.communicate(timeout=30)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
