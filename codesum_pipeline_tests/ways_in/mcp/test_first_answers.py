"""What a client asks first over stdio is answered before the tools are imported, as the server itself would answer."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.ways_in.cli.cli_app import load_command
from codesum_pipeline.ways_in.mcp import stdio_front
from codesum_pipeline.ways_in.mcp.stdio_front import FIRST_ANSWERS, served_version
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.first_answers import first_answers, first_requests

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
STATUS = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "status", "arguments": {}}}
OURS_AT_THE_START = {
    "codesum_pipeline",
    "codesum_pipeline.foundation",
    "codesum_pipeline.foundation.data_model",
    "codesum_pipeline.foundation.data_model.installed_version",
    "codesum_pipeline.foundation.store",
    "codesum_pipeline.foundation.store.memory",
    "codesum_pipeline.ways_in",
    "codesum_pipeline.ways_in.mcp",
    "codesum_pipeline.ways_in.mcp.stdio_front",
}
# What an installation of Python adds to its start.
OF_PYTHON = {"imported package", "_distutils_hack", "sitecustomize", "usercustomize", "_virtualenv", "nt", "_winapi"}


@contextmanager
def started(home, folder, *arguments, is_ended_early=False):
    """A server over stdio: a function that sends messages, or lines, in one piece, and one that reads an answer. It
    need not be waited for where only what it answers first is asked."""
    process = subprocess.Popen(
        [*COMMAND, "--home", str(home), "mcp", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment(),
    )  # fmt: skip
    with process:
        assert process.stdin and process.stdout

        def send(*messages):
            lines = [each if isinstance(each, str) else json.dumps(each) for each in messages]
            process.stdin.write("".join(f"{line}\n" for line in lines))
            process.stdin.flush()

        yield send, lambda: json.loads(process.stdout.readline())
        if is_ended_early:
            process.kill()
            return
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0


def test_what_is_written_down_is_what_the_server_answers():
    assert json.loads(FIRST_ANSWERS.read_text()) == first_answers(), (
        "python -m codesum_pipeline_tests.support.first_answers writes it anew"
    )


def test_all_protocols_with_a_handshake_have_the_same_answers():
    assert tuple(json.loads(FIRST_ANSWERS.read_text())["versions"]) == HANDSHAKE_PROTOCOL_VERSIONS


def test_nothing_but_the_standard_library_is_imported_before_the_first_answer(zoo_home, tmp_path):
    """Both streams go into one pipe, so the answer stands behind the modules that were imported before it."""
    process = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], "--home", str(zoo_home), "mcp"],
        input=json.dumps(first_requests("2025-06-18")[0]) + "\n",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, env=environment(), timeout=60,
    )  # fmt: skip
    lines = process.stdout.splitlines()
    answered = next(number for number, line in enumerate(lines) if line.startswith("{"))
    before, after = (
        {line.rpartition("|")[2].strip() for line in part} for part in (lines[:answered], lines[answered:])
    )

    assert {name for name in before if name.partition(".")[0] not in sys.stdlib_module_names | OF_PYTHON} == (
        OURS_AT_THE_START
    )
    assert {"pydantic", "mcp", "numpy", "typer"} <= after


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-11-25", "2099-01-01"])
def test_a_client_gets_the_protocol_that_it_asks_for_or_the_newest(zoo_home, tmp_path, asked):
    with started(zoo_home, tmp_path, is_ended_early=True) as (send, read):
        send(first_requests(asked)[0])
        answer = read()

    known = asked in HANDSHAKE_PROTOCOL_VERSIONS
    assert answer["result"]["protocolVersion"] == (asked if known else LATEST_HANDSHAKE_VERSION)
    assert answer["result"]["serverInfo"] == {"name": "codesum", "version": served_version()}


@pytest.mark.parametrize("every", [False, True], ids=["default", "all"])
def test_messages_sent_at_once_get_one_answer_each(zoo_home, tmp_path, every):
    hello, listing, *others = first_requests("2025-06-18")
    with started(zoo_home, tmp_path, *(["--tools", "all"] if every else [])) as (send, read):
        send(hello, READY, listing, STATUS, *others)
        answers = {answer["id"]: answer["result"] for answer in (read() for _ in range(3 + len(others)))}
        send({**listing, "id": "from the server"})
        last = read()

    assert [*answers] == [1, 2, *(each["id"] for each in others), 9]
    assert [tool["name"] for tool in answers[2]["tools"]] == [*tools_by_name(every=every)]
    assert not answers[9]["isError"]
    assert last == {"jsonrpc": "2.0", "id": "from the server", "result": answers[2]}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, -32602),
        ("{", -32700),
    ],
    ids=["no handshake", "no params", "no JSON"],
)
def test_what_begins_otherwise_is_left_to_the_server(zoo_home, tmp_path, message, code):
    with started(zoo_home, tmp_path) as (send, read):
        send(message, first_requests("2025-06-18")[0])
        answers = [read(), read()]

    assert answers[0]["error"]["code"] == code
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"


def test_with_structure_the_list_has_the_schemas_of_answers(zoo_home, tmp_path):
    with started(zoo_home, tmp_path, "--structured") as (send, read):
        send(*first_requests("2025-06-18")[:2], STATUS)
        answers = [read() for _ in range(3)]

    assert all("outputSchema" in tool for tool in answers[1]["result"]["tools"])
    assert answers[2]["result"]["structuredContent"]["repositories"]


def test_a_wrong_option_is_reported_without_waiting_for_a_client(zoo_home, tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "--home", str(zoo_home), "mcp", "--tools", "none"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=environment(),
    )  # fmt: skip
    with process:
        assert process.wait(60) == 2
        assert process.stderr and "'none'" in process.stderr.read()


def test_the_words_that_are_known_early_are_options_of_the_command():
    named = {name for parameter in load_command("mcp").params for name in (*parameter.opts, *parameter.secondary_opts)}

    assert {*stdio_front._WORDS_OF_MCP} <= named


MALFORMED = {
    "half of a character": (r'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\ud800"}}', 5, -32700),
    "half of one in a query": (
        r'{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"search","arguments":{"query":"a\udfff"}}}',
        "q",
        -32700,
    ),
    "no JSON": ("{[", None, -32700),
    "no object": ("[]", None, -32600),
    "deep": ("[" * 100_000, None, -32700),
    "a list as method": ('{"jsonrpc":"2.0","id":5,"method":["ping"]}', 5, -32600),
    "no method": ('{"jsonrpc":"2.0","id":5}', 5, -32600),
    "another protocol": ('{"jsonrpc":"1.0","id":5,"method":"ping"}', 5, -32600),
    "a fraction as id": ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
    "an object as id": ('{"jsonrpc":"2.0","id":{},"method":"ping"}', None, -32600),
    "a huge number": ('{"jsonrpc":"2.0","id":' + "9" * 5000 + ',"method":"ping"}', None, -32700),
    "a null byte": ("\x00", None, -32700),
}


def test_each_malformed_line_gets_an_error_and_later_calls_are_answered(zoo_home, tmp_path):
    with started(zoo_home, tmp_path) as (send, read):
        send(*first_requests("2025-06-18")[:2], READY, *(line for line, _, _ in MALFORMED.values()), STATUS)
        answers = [read() for _ in range(3 + len(MALFORMED))]

    refused = [answer for answer in answers if "error" in answer]
    assert [(each["id"], each["error"]["code"]) for each in refused] == [
        (id_, code) for _, id_, code in MALFORMED.values()
    ]
    assert all("send one message of JSON-RPC 2.0 a line" in each["error"]["message"] for each in refused)
    assert all(len(each["error"]["message"]) < 300 for each in refused)
    assert [answer["id"] for answer in answers if "result" in answer] == [1, 2, 9]


def test_a_line_that_is_too_long_is_refused_and_the_next_one_answered(zoo_home, tmp_path, monkeypatch):
    with started(zoo_home, tmp_path) as (send, read):
        send(first_requests("2025-06-18")[0], "x" * (stdio_front.MOST_LINE_BYTES + 1), STATUS)
        answers = [read(), read(), read()]

    assert answers[1]["error"] == {"code": -32600, "message": "a line has more than 16 MB: ask for less at once"}
    assert answers[2]["id"] == 9
