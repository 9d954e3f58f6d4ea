"""A server of the SDK on the lines of `StdioFront`.

The SDK drops a line that is no message, and its sender waits forever. Here such a line gets an error, with the id of
its request where it has one.
"""

import json
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp_types import JSONRPCNotification, jsonrpc_message_adapter
from msgspec import Struct
from pydantic import ValidationError

from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.ways_in.mcp.stdio_front import HANDSHAKE_ID, INVALID_REQUEST, PARSE_ERROR, StdioFront

_WAY_OUT = "send one message of JSON-RPC 2.0 a line, in UTF-8"


def serve_stdio(server: MCPServer[Any], front: StdioFront) -> None:
    """Serve until stdin ends."""

    async def serve() -> None:
        front.take_over()
        # The SDK reads and writes both as files of text.
        lines, answers = cast(Any, MessageLines(front)), cast(Any, AnswerLines(front))
        lowlevel = server._lowlevel_server
        async with stdio_server(stdin=lines, stdout=answers) as (read, write):
            await lowlevel.run(read, write, lowlevel.create_initialization_options())

    anyio.run(serve)


class MessageLines(Struct):
    """The lines that are messages; all others are refused on the way."""

    front: StdioFront

    def __aiter__(self) -> "MessageLines":
        return self

    async def __anext__(self) -> str:
        while (line := await anyio.to_thread.run_sync(self.front.lines.get, abandon_on_cancel=True)) is not None:
            refusal = refusal_of(line)
            if refusal is None:
                return line
            await anyio.to_thread.run_sync(self.front.refuse, *refusal)
        raise StopAsyncIteration


class AnswerLines(Struct):
    """The lines of the server, without its answer to the `initialize` that was answered before."""

    front: StdioFront

    async def write(self, text: str) -> None:
        if HANDSHAKE_ID not in text or json.loads(text).get("id") != HANDSHAKE_ID:
            await anyio.to_thread.run_sync(self.front.send, text.rstrip("\n"))

    async def flush(self) -> None:
        """Each line is written at once."""


def refusal_of(line: str) -> tuple[int | str | None, int, str] | None:
    """The id, code and message of the error for a line; None for a message of the protocol."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        code = PARSE_ERROR if found["type"] == "json_invalid" else INVALID_REQUEST
        return _id_of(line), code, f"{one_line(found['msg'])}: {_WAY_OUT}"
    if isinstance(message, JSONRPCNotification) and "id" in json.loads(line):
        return None, INVALID_REQUEST, f"id is neither a text nor a whole number: {_WAY_OUT}"
    return None


def _id_of(line: str) -> int | str | None:
    """Python's parser reads more than the protocol allows, halves of characters among it."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if type(found) in (int, str) else None
