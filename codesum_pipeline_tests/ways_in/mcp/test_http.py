"""`codesum mcp --http`: a real process on loopback, and who may ask it."""

import json
import os

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.http_serving.access_tokens import parse_address
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.mcp_client import ask_and_misbehave, ask_everything, with_client
from codesum_pipeline_tests.support.serving import served

TOKEN = "a-token-that-nobody-guesses"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def serving(home, folder, *arguments, env=None):
    """The address of a server that runs as long as the block does."""
    return served(home, folder, "mcp", "--http", *arguments, env=env)


@pytest.fixture(scope="module")
def address(zoo_home, tmp_path_factory):
    with serving(zoo_home, tmp_path_factory.mktemp("http"), "0", "--tools", "all", "--structured") as found:
        yield found


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def test_every_tool_answers_over_http_whatever_a_client_did_before(address, mode):
    assert len(with_client(address, ask_and_misbehave, mode=mode)) == 15


def posted(address, **headers):
    return httpx.post(address, json=INITIALIZE, headers={**HEADERS, **headers}, timeout=60)


def test_it_listens_on_loopback(address):
    assert address.startswith("http://127.0.0.1:")
    assert posted(address).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"]
)
def test_another_host_name_is_refused(address, host):
    port = address.rpartition(":")[2].partition("/")[0]

    assert posted(address, Host=host.format(port=port)).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:1", "null"])
def test_a_page_of_another_origin_is_refused(address, origin):
    assert posted(address, Origin=origin).status_code == 403


def test_what_is_no_message_is_refused_and_the_server_goes_on(address):
    assert httpx.post(address, content=b"{[", headers=HEADERS).status_code == 400
    assert httpx.post(address, content=b"x" * 6_000_000, headers=HEADERS, timeout=60).status_code == 413
    assert httpx.post(address, content=b"[" * 100_000, headers=HEADERS, timeout=60).status_code == 400
    assert posted(address).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        rb'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\ud800"}}',
        rb'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"\udfff":1}}',
        b'{"jsonrpc":"2.0","id":5,"method":"ping","x":"\xed\xa0\x80"}',
        b'{"jsonrpc":"2.0","id":5}',
        b'{"jsonrpc":"1.0","id":5,"method":"ping"}',
    ],
    ids=["half of a character", "half of one as a name", "half of one in bytes", "no method", "another protocol"],
)
@pytest.mark.parametrize("protocol", ["2025-06-18", "2026-07-28"])
def test_a_malformed_message_gets_an_error_of_the_protocol_at_once(address, body, protocol):
    answer = httpx.post(address, content=body, headers={**HEADERS, "MCP-Protocol-Version": protocol}, timeout=60)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in (-32700, -32600, -32602, -32020)
    assert posted(address).status_code == 200


def test_a_token_is_asked_for_where_there_is_one(zoo_home, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    with serving(zoo_home, tmp_path, "0", "--token-file", str(file)) as address:
        missing, wrong = posted(address), posted(address, Authorization=f"Bearer {TOKEN}x")
        right = posted(address, Authorization=f"Bearer {TOKEN}")

        client = httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
        answers = with_client(streamable_http_client(address, http_client=client), ask_everything)

    assert (missing.status_code, wrong.status_code, right.status_code) == (401, 401, 200)
    assert missing.headers["WWW-Authenticate"] == "Bearer"
    assert len(answers) == 7


def test_a_token_may_come_from_the_environment(zoo_home, tmp_path):
    with serving(zoo_home, tmp_path, "0", env={"CODESUM_MCP_TOKEN": TOKEN}) as address:
        assert posted(address).status_code == 401
        assert posted(address, Authorization=f"bearer {TOKEN}").status_code == 200


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"])
def test_no_other_machine_is_served_without_a_token(zoo_home, tmp_path, address):
    result = fork_codesum("--home", zoo_home, "mcp", "--http", address, cwd=tmp_path)

    assert result.returncode == 2
    assert "can be reached from other machines: give a token with --token-file" in result.stderr


def test_with_a_token_all_addresses_may_be_served_under_the_names_that_are_given(zoo_home, tmp_path):
    env = {"CODESUM_MCP_TOKEN": TOKEN}
    with serving(zoo_home, tmp_path, "0.0.0.0:0", "--host-name", "code.example", env=env) as address:
        port = address.rpartition(":")[2].partition("/")[0]
        local, headers = f"http://127.0.0.1:{port}/mcp", {"Authorization": f"Bearer {TOKEN}"}

        assert posted(local, Host=f"code.example:{port}", **headers).status_code == 200
        assert posted(local, Host=f"other.example:{port}", **headers).status_code == 421


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (TOKEN, 0o644, "others may read it: run `chmod 600 "),
        ("short", 0o600, "a token has at least 16 letters and digits"),
        (None, 0o600, "No such file"),
    ],
    ids=["open to others", "short", "missing"],
)
def test_a_bad_token_file_is_refused(zoo_home, tmp_path, content, mode, message):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
        os.chmod(file, mode)

    result = fork_codesum("--home", zoo_home, "mcp", "--http", "0", "--token-file", file, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_taken_port_is_named(zoo_home, tmp_path, address):
    taken = address.removeprefix("http://").partition("/")[0]
    result = fork_codesum("--home", zoo_home, "mcp", "--http", taken, cwd=tmp_path)

    assert result.returncode == 2
    assert f"--http {taken}: Address already in use: choose another address" in result.stderr


@pytest.mark.parametrize("text", ["", "x", "host", "1:2:3", "127.0.0.1:99999", ":80"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ConfigurationError, match="give PORT, HOST:PORT or"):
        parse_address(text, option="--http")


def test_the_answers_are_json_of_the_protocol(address):
    events = [line for line in posted(address).text.splitlines() if line.startswith("data: {")]

    assert json.loads(events[0].removeprefix("data: "))["result"]["serverInfo"]["name"] == "codesum"
