"""What a server answers to its first requests, written down for `codesum_pipeline/ways_in/mcp/stdio_front.py`.

    python -m codesum_pipeline_tests.support.first_answers

writes it anew: after each change of a tool's name, description or arguments.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.ways_in.mcp.mcp_server import make_server
from codesum_pipeline.ways_in.mcp.stdio_front import FIRST_ANSWERS
from codesum_pipeline_tests.support.mcp_client import catalogue_of

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping")


def first_requests(version: str) -> list[dict[str, Any]]:
    """A handshake, and what a client asks next: the tools first."""
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        *({"jsonrpc": "2.0", "id": 2 + number, "method": method} for number, method in enumerate(LISTS)),
    ]


def answers_of(server: Any, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of a server, as they stand in the lines that it writes."""

    async def talk() -> list[dict[str, Any]]:
        send, read = anyio.create_memory_object_stream[Any](1)
        write, receive = anyio.create_memory_object_stream[Any](1)
        lowlevel, answers = server._lowlevel_server, []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lowlevel.run, read, write, lowlevel.create_initialization_options())
            for request in requests:
                await send.send(SessionMessage(jsonrpc_message_adapter.validate_python(request)))
                answer = (await receive.receive()).message
                answers.append(answer.model_dump(mode="json", by_alias=True, exclude_unset=True)["result"])
            await send.aclose()
        return answers

    return anyio.run(talk)


def first_answers() -> dict[str, Any]:
    """By the newest protocol with a handshake; `versions` are the protocols with the same answers."""
    with tempfile.TemporaryDirectory() as folder:
        server = make_server(catalogue_of(Path(folder)), folder=Path("/"), every_tool=True, is_text_only=True)
        by_version = {each: answers_of(server, first_requests(each)) for each in HANDSHAKE_PROTOCOL_VERSIONS}
    hello, *results = by_version[LATEST_HANDSHAKE_VERSION]
    same = {each: [{**answer, "protocolVersion": ""}, *rest] for each, (answer, *rest) in by_version.items()}
    same_hello = {**hello, "protocolVersion": ""}
    return {
        "versions": [each for each, answers in same.items() if answers == [same_hello, *results]],
        "latest": LATEST_HANDSHAKE_VERSION,
        "initialize": {**same_hello, "serverInfo": {**hello["serverInfo"], "version": ""}},
        "default": [*tools_by_name(every=False)],
        "all": [*tools_by_name()],
        "results": dict(zip(LISTS, results, strict=True)),
    }


if __name__ == "__main__":
    FIRST_ANSWERS.write_text(json.dumps(first_answers(), indent=1) + "\n", encoding="utf-8")
