"""`codesum mcp` as an agent starts it: a process of its own, driven over its pipes."""

import json
import subprocess

import pytest
from mcp.client.stdio import StdioServerParameters

from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum
from codesum_pipeline_tests.support.mcp_client import ask_and_misbehave, text_of, with_client


def parameters(home, folder, *arguments):
    program, *rest = COMMAND
    return StdioServerParameters(
        command=program,
        args=[*rest, "--home", str(home), "mcp", *arguments],
        env=environment({"CODESUM_MCP_TOKEN": "not used over stdio"}),
        cwd=folder,
    )


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def test_every_tool_answers_over_stdio_whatever_a_client_did_before(zoo_home, tmp_path, mode):
    answers = with_client(
        parameters(zoo_home, tmp_path, "--tools", "all", "--structured"), ask_and_misbehave, mode=mode
    )

    assert len(answers) == 15
    assert answers["search"]["hits"]


def test_in_a_checkout_its_repository_is_asked(zoo_home):
    async def talk(client):
        return await client.call_tool("status", {})

    result = with_client(parameters(zoo_home, zoo_home.parent / "zoo", "--structured"), talk)
    assert [each["repo"] for each in result.structured_content["repositories"]] == ["zoo"]


@pytest.mark.parametrize("written_earlier", [[], ["--text-only"]], ids=["by default", "--text-only"])
def test_an_answer_is_its_text_alone(zoo_home, tmp_path, written_earlier):
    async def talk(client):
        return await client.call_tool("search", {"query": "charge a card"})

    result = with_client(parameters(zoo_home, tmp_path, *written_earlier), talk)
    assert result.structured_content is None
    assert "shop/payment.py:4-9  function  charge_card" in text_of(result)


def test_where_one_repository_is_served_there_are_no_others(zoo_home, tmp_path):
    async def talk(client):
        found = await client.call_tool("search", {"query": "charge a card", "limit": 50})
        named = await client.call_tool("search", {"query": "charge a card", "repos": ["shop"]})
        status = await client.call_tool("status", {})
        read = await client.call_tool("read", {"ids": ["shop/payment.py::charge_card"]})
        return found, named, status, read

    found, named, status, read = with_client(parameters(zoo_home, tmp_path, "--repo", "zoo", "--structured"), talk)
    assert {hit["repo"] for hit in found.structured_content["hits"]} == {"zoo"}
    assert text_of(named) == "no repository 'shop' is served here; those are: zoo"
    assert [each["repo"] for each in status.structured_content["repositories"]] == ["zoo"]
    assert named.is_error and read.is_error


def test_what_is_written_for_an_agent_runs_nothing_of_its_checkout(zoo_home, tmp_path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for name in ("typer.py", "json.py", "codesum_pipeline.py"):
        (hostile / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    program, *rest = COMMAND
    printed = subprocess.run(
        [program, "-P", *rest, "--home", str(zoo_home), "mcp", "--install", "claude"],
        cwd=hostile, env=environment({}), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    written = json.loads((hostile / ".mcp.json").read_text())["mcpServers"]["codesum"]

    async def talk(client):
        return await client.call_tool("status", {})

    started = StdioServerParameters(command=written["command"], args=written["args"], env=environment({}), cwd=hostile)
    assert not with_client(started, talk).is_error, printed
    assert not (tmp_path / "ran").exists()


def test_nothing_but_the_protocol_is_written_to_stdout(zoo_home, tmp_path):
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}}
    server = subprocess.Popen(
        [*COMMAND, "--home", str(zoo_home), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    with server:
        assert server.stdin and server.stdout and server.stderr
        answers = []
        for message in ("this is no JSON", json.dumps(begin), json.dumps(ready), "\x00{[", json.dumps(call)):
            server.stdin.write(f"{message}\n")
            server.stdin.flush()
        while not answers or answers[-1].get("id") != 2:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        rest, _ = server.stdout.read(), server.wait(60)

    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert not answers[-1]["result"]["isError"]
    assert rest == ""
    assert server.returncode == 0


def test_http_options_without_http_are_refused(zoo_home, tmp_path):
    result = fork_codesum("--home", zoo_home, "mcp", "--host-name", "x", cwd=tmp_path)

    assert result.returncode == 2
    assert "--token-file and --host-name go with --http" in result.stderr
