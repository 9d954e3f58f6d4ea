import asyncio
import json
import threading
from functools import wraps
from pathlib import Path

import anyio
import pytest
from jsonschema import validate
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.tool_registry import TOOLS, tools_by_name
from codesum_pipeline.ways_in.mcp.mcp_server import IndexTool, make_server
from codesum_pipeline_tests.support.mcp_client import (
    CALLS,
    ask_everything,
    catalogue_of,
    server_of,
    text_of,
    with_client,
)

DEFAULT = ["search", "grep", "read", "graph", "overview", "impact", "status"]
BY_NAME = [
    "get_codebase_overview",
    "get_framework_analysis",
    "get_semantic_neighborhoods",
    "search_symbols",
    "get_symbol_info",
    "get_dependencies",
    "get_file_analysis",
    "watch_changes",
]
MODES = ["auto", "legacy"]


@pytest.fixture(scope="module")
def server(zoo_home):
    return server_of(zoo_home)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("every", "names"), [(False, DEFAULT), (True, DEFAULT + BY_NAME)])
def test_some_tools_are_offered_and_the_others_on_request(zoo_home, every, names, mode):
    async def listed(client):
        return [tool.name for tool in (await client.list_tools()).tools]

    assert with_client(server_of(zoo_home, every_tool=every), listed, mode=mode) == names


def test_what_an_agent_pays_for_the_default_tools_is_bounded(zoo_home):
    async def characters(client):
        tools = (await client.list_tools()).tools
        assert all(tool.output_schema is None for tool in tools)
        return [len(tool.name) + len(tool.description) + len(json.dumps(tool.input_schema)) for tool in tools]

    server = make_server(catalogue_of(zoo_home), folder=Path("/"), is_text_only=True)
    found = with_client(server, characters)
    assert sum(found) <= 6000


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_with_text_and_with_content_of_its_schema(server, mode):
    answers = with_client(server, ask_everything, mode=mode)

    assert [*answers] == [tool.name for tool in TOOLS]
    assert all(answer["as_of"][0]["commit"] for answer in answers.values())


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_would_show_its_model_structured_content_can_have_text_alone(zoo_home, mode):
    async def ask(client):
        (listed, *_) = (await client.list_tools()).tools
        return listed.output_schema, await client.call_tool("search", CALLS["search"])

    server = make_server(catalogue_of(zoo_home), folder=Path("/"), is_text_only=True)
    schema, result = with_client(server, ask, mode=mode)

    assert (schema, result.structured_content) == (None, None)
    assert "zoo/keeper.py:6-8  function  feed" in text_of(result)


def test_the_schemas_describe_the_answers(server):
    async def ask(client):
        tools = (await client.list_tools()).tools
        return [(tool, (await client.call_tool(tool.name, CALLS[tool.name])).structured_content) for tool in tools]

    answered = with_client(server, ask)

    assert [tool.name for tool, _ in answered] == [tool.name for tool in TOOLS]
    for tool, content in answered:
        validate(content, tool.output_schema)
        validate(CALLS[tool.name], tool.input_schema)


def test_tools_say_that_they_only_read(server):
    async def annotations(client):
        return [tool.annotations for tool in (await client.list_tools()).tools]

    assert all(each.read_only_hint and not each.destructive_hint for each in with_client(server, annotations))


def test_first_sentences_and_instructions_say_when_this_beats_grep(server):
    async def talk(client):
        return client.instructions, {tool.name: tool.description for tool in (await client.list_tools()).tools}

    instructions, descriptions = with_client(server, talk)
    assert "before grep" in instructions
    for name in ("search", "graph", "search_symbols"):
        assert "grep" in descriptions[name].partition(". ")[0].partition(":")[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "search: query is missing"),
        ("search", {"query": "x", "limit": "many"}, "limit = 'many': Input should be a valid integer"),
        ("search", {"query": "x", "limit": 10**12}, "Input should be less than or equal to 100"),
        ("search", {"query": "x" * 100_000}, "query has 100,000 characters"),
        ("search", {"query": "x " * 50_000}, "query has 100,000 characters"),
        (
            "search",
            {"query": "x", "paths": ["*?" * 500]},
            "paths.0 has 1,000 characters: String should have at most 500",
        ),
        (
            "search",
            {"query": "x", "paths": ["*"] * 5000},
            "paths = ['*', '*', '*', '*', '*', '*', ...]: Value should have at most 20 items",
        ),
        (
            "search",
            {"query": "x", "paths": json.loads("[" * 150 + "]" * 150)},
            "paths.0 = [[[[[[[...]]]]]]]: Input should be a valid string",
        ),
        ("search", {"query": "x", "cursor": "1." * 100_000}, "is damaged"),
        ("search", {"query": "x", "languages": ["y" * 2001]}, "languages.0 has 2,001 characters"),
        ("read", {"ids": ["zoo/keeper.py"] * 51}, "Value should have at most 50 items"),
        ("search", {"query": "x", "nope": 1}, "unknown argument 'nope'"),
        ("search", {"query": "x", "repos": ["zooo"]}, "no repository 'zooo'; the nearest is 'zoo'"),
        ("search", {"query": "x", "cursor": "%%%"}, "cursor '%%%' is damaged"),
        ("search", {"query": "x", "limit": -1}, "limit = -1: Input should be greater than or equal to 1"),
        ("search", {"query": "x", "tokens": 10**9}, "tokens = 1000000000: Input should be less than or equal to 50000"),
        ("search", {"query": "x", "levels": ["klass"]}, "level 'klass' is unknown; levels are: function, class"),
        ("search", {"query": "   "}, "the query is empty"),
        ("search", {"query": ["x"]}, "query = ['x']: Input should be a valid string"),
        ("graph", {"id": "nobody_knows_it"}, "no document 'nobody_knows_it'"),
        ("graph", {"id": "Lion", "relations": ["friends"]}, "relation 'friends' is unknown; relations are: part_of"),
        ("graph", {"id": "Lion", "depth": 99}, "depth = 99: Input should be less than or equal to 6"),
        ("status", {"repos": ["zooo"]}, "no repository 'zooo'; the nearest is 'zoo'"),
        ("overview", {"repo": "zooo"}, "no repository 'zooo'; the nearest is 'zoo'"),
        ("read", {"ids": ["zoo/keper.py"]}, "nearest: zoo/keeper.py"),
        ("read", {"ids": [["a"]]}, "ids.0 = ['a']: Input should be a valid string"),
        ("nothing", {}, "nothing"),
    ],
)
def test_bad_arguments_come_back_as_errors_of_the_tool_and_the_server_goes_on(server, mode, tool, arguments, message):
    async def talk(client):
        try:
            result = await client.call_tool(tool, arguments)
            bad = (result.is_error, text_of(result))
        except MCPError as error:
            bad = (True, str(error))
        return bad, await client.call_tool("status", {})

    (is_error, text), after = with_client(server, talk, mode=mode)
    assert is_error
    assert message in text
    assert len(text) < 1500
    assert not after.is_error


@pytest.mark.parametrize("pattern", ["*?*?*?*?*?*?*?*?*?*z9", "*?" * 240 + "z9", "**/a*/" * 80 + "z", "[z-a]"])
def test_a_pattern_that_was_made_to_freeze_the_server_is_answered_and_so_are_others(server, pattern):
    async def talk(client):
        answers = {}

        async def ask(name, tool, arguments):
            answers[name] = await client.call_tool(tool, arguments)

        async with anyio.create_task_group() as calls:
            for number in range(4):
                calls.start_soon(ask, number, "search", {"query": "feed", "paths": [pattern] * 20})
            calls.start_soon(ask, "other", "status", {})
        return answers

    answers = with_client(server, talk)
    assert len(answers) == 5 and not any(answer.is_error for answer in answers.values())
    assert "filter left out: path" in text_of(answers[0])


def test_texts_are_taken_for_what_they_mean(server):
    async def talk(client):
        return await client.call_tool("search", {"query": "feed", "limit": "2", "repos": '["zoo"]', "levels": "class"})

    assert len(with_client(server, talk).structured_content["hits"]) <= 2


def test_a_huge_result_is_cut_and_goes_on(server):
    async def talk(client):
        parts, cursor = [], ""
        while True:
            result = await client.call_tool("read", {"ids": ["zoo/long.py:1-200"], "tokens": 300, "cursor": cursor})
            parts.append(len(text_of(result)))
            cursor = result.structured_content.get("next")
            if not cursor:
                return parts

    parts = with_client(server, talk)
    assert len(parts) > 2
    assert max(parts) < 300 * 4 + 600


@pytest.mark.parametrize("mode", MODES)
def test_a_document_is_a_resource(server, mode):
    async def talk(client):
        (template,) = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource("codesum://zoo/zoo/animals.py::Lion::roar")
        with pytest.raises(MCPError, match="no document 'zoo/nope' in zoo"):
            await client.read_resource("codesum://zoo/zoo/nope")
        with pytest.raises(MCPError, match="no repository 'zooo'; the nearest is 'zoo'"):
            await client.read_resource("codesum://zooo/README.md")
        return template.uri_template, read.contents[0].text

    template, text = with_client(server, talk, mode=mode)
    assert template == "codesum://{repo}/{+id}"
    assert text.startswith("17-19  function  Lion.roar\n")
    assert '"""Make a noise."""' in text


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_told_to_whoever_asks_for_it(server, mode):
    steps = []

    async def note(progress, total, message):
        steps.append((progress, message))

    async def talk(client):
        return await client.call_tool("search", {"query": "feed"}, progress_callback=note)

    with_client(server, talk, mode=mode)
    assert [message for _, message in steps] == ["opening shop", "opening zoo"]
    assert steps[0][0] < steps[1][0]


def test_a_cancelled_call_ends_at_once_and_the_server_goes_on(zoo_home):
    catalogue = catalogue_of(zoo_home)
    server = make_server(catalogue, folder=Path("/"))

    async def talk(client):
        with catalogue._opened._lock, anyio.move_on_after(0.3) as scope:
            await client.call_tool("search", {"query": "feed"})
        return scope.cancelled_caught, await client.call_tool("search", {"query": "feed"})

    was_cancelled, after = with_client(server, talk)
    assert was_cancelled
    assert not after.is_error


def test_an_error_of_ours_is_told_without_its_text_and_the_server_goes_on(zoo_home):
    status = tools_by_name()["status"]

    @wraps(status.answer)
    def fail(call, arguments):
        raise RuntimeError("secret")

    broken = replace(status, name="broken", answer=fail)
    tools = [IndexTool(tool, catalogue_of(zoo_home), Path("/")) for tool in (status, broken)]

    async def talk(client):
        return await client.call_tool("broken", {}), await client.call_tool("status", {})

    result, after = with_client(MCPServer("test", tools=tools), talk)
    assert result.is_error
    assert text_of(result) == "broken met an error of codesum: the server's log has it"
    assert not after.is_error


# Of a named repository, so that no progress is told either.
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {**CALLS["search"], "repos": ["zoo"]}),
        ("read", {**CALLS["read"], "repo": "zoo"}),
        ("graph", {**CALLS["graph"], "repo": "zoo", "depth": 3}),
        ("overview", CALLS["overview"]),
        ("status", CALLS["status"]),
    ],
)
def test_the_work_of_a_cancelled_call_ends_at_its_next_step(zoo_home, name, arguments):
    tool, ended = tools_by_name()[name], []
    begun, cancelled = threading.Event(), threading.Event()

    @wraps(tool.answer)
    def answer(call, arguments):
        begun.set()
        assert cancelled.wait(30)
        try:
            return tool.answer(call, arguments)
        except BaseException as error:
            ended.append(error)
            raise

    server = MCPServer("test", tools=[IndexTool(replace(tool, answer=answer), catalogue_of(zoo_home), Path("/"))])

    async def talk(client):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, name, arguments)
            await anyio.to_thread.run_sync(begun.wait)
            group.cancel_scope.cancel()
        with anyio.fail_after(30):
            # The server hears of it by a message.
            await anyio.sleep(0.2)
            cancelled.set()
            while not ended:
                await anyio.sleep(0.01)

    with_client(server, talk)
    assert [isinstance(error, asyncio.CancelledError) for error in ended] == [True]
