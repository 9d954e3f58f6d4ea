"""Driving the server with the official client."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.ways_in.mcp.mcp_server import make_server

# One call of each tool that answers in both homes of the tests.
CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "feed animals"},
    "grep": {"pattern": "lion", "flags": "i"},
    "read": {"ids": ["digest", "zoo/keeper.py:1-3"]},
    "graph": {"id": "zoo/animals.py::Lion"},
    "overview": {"repo": "zoo"},
    "impact": {"repo": "zoo", "range": "HEAD..HEAD"},
    "status": {},
    "get_codebase_overview": {"repo": "zoo"},
    "get_framework_analysis": {"repo": "zoo"},
    "get_semantic_neighborhoods": {"repo": "zoo"},
    "search_symbols": {"name": "feed"},
    "get_symbol_info": {"id": "Lion"},
    "get_dependencies": {"path": "zoo/keeper.py"},
    "get_file_analysis": {"path": "zoo/animals.py"},
    "watch_changes": {"repo": "zoo"},
}


def catalogue_of(home: Path) -> IndexCatalogue:
    return IndexCatalogue.of(load_settings({"home": home}, environ={}))


def server_of(home: Path, *, every_tool: bool = True) -> Any:
    return make_server(catalogue_of(home), folder=Path("/"), every_tool=every_tool)


def with_client(target: Any, talk: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> Any:
    """What `talk` gives for a client of a server, a transport or an address."""

    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(target, mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


async def ask_everything(client: Client) -> dict[str, Any]:
    """Each tool's answer; the client itself checks structured content against the tool's output schema."""
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    answers = {}
    for name in listed:
        result = await client.call_tool(name, CALLS[name])
        assert not result.is_error, text_of(result)
        assert json.dumps(result.structured_content) not in text_of(result)
        answers[name] = result.structured_content
    return answers


async def ask_and_misbehave(client: Client) -> dict[str, Any]:
    """Each tool's answer, after bad arguments, a long answer in parts, progress, and calls that were cancelled."""
    bad = await client.call_tool("search", {"query": "feed", "limit": "many"})
    assert bad.is_error and "limit = 'many'" in text_of(bad)
    assert await _parts_of(client) > 2
    messages: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message or "")

    await client.call_tool("search", {"query": "feed"}, progress_callback=note)
    assert messages == ["opening shop", "opening zoo"]
    for milliseconds in range(0, 20, 2):
        with anyio.move_on_after(milliseconds / 1000):
            await client.call_tool("overview", {"repo": "zoo"})
    return await ask_everything(client)


async def _parts_of(client: Client) -> int:
    """How many parts a long answer has, each of which goes on where the last one ended."""
    lines, parts, cursor = 0, 0, ""
    while parts == 0 or cursor:
        result = await client.call_tool("read", {"ids": ["zoo/long.py:1-200"], "tokens": 300, "cursor": cursor})
        assert result.structured_content is not None
        (item,) = result.structured_content["items"]
        lines, parts = lines + len(item["lines"]), parts + 1
        cursor = result.structured_content.get("next")
    assert lines == 200
    return parts
