"""What was recorded is replayed: by the same request, to the same answer, with the network closed."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CallFailure,
    ModelNotInAllowlist,
    PromptTemplateMismatch,
    SummaryCallFailed,
)
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.pins import ChatRequest, Parameters, SummaryRequest, SummaryResponse, TokenUsage
from codesum_pipeline.texts.llm.recordings import read_recordings, write_recording
from codesum_pipeline_tests.support.llm_requests import (
    KEY,
    KEY_VARIABLE,
    MODEL,
    ask_backend,
    request_for,
    settings_for,
    templates,
)
from codesum_pipeline_tests.support.llm_server import Answers, Fails, ScriptedServer
from codesum_pipeline_tests.support.settings import changed

RESPONSE = SummaryResponse("{}", True, TokenUsage(10, 5, 2), "gpt-4o-mini", 0.25)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def replaying(recording: Path, **changes: Any) -> LlmSettings:
    return changed(LlmSettings(model=MODEL, backend=BackendName.REPLAY, recording=recording), **changes)


def replay(recording: Path, *requests: SummaryRequest, **changes: Any) -> list[Any]:
    return ask_backend(build_backend(replaying(recording, **changes), templates()), *requests)


def test_a_replay_gives_what_was_recorded(tmp_path: Path) -> None:
    requests = [request_for(level) for level in LEVELS]
    with ScriptedServer() as server:
        settings = settings_for(server, backend=BackendName.RECORD, recording=tmp_path / "answers")
        recorded = ask_backend(build_backend(settings, templates()), *requests)

    assert replay(tmp_path / "answers", *reversed(requests)) == recorded[::-1]
    assert len(server.seen) == len(requests)


def test_a_recording_holds_the_pins_and_the_answer_and_nothing_of_the_transport(tmp_path: Path) -> None:
    request = request_for()
    with ScriptedServer() as server:
        settings = settings_for(server, backend=BackendName.RECORD, recording=tmp_path)
        (response,) = ask_backend(build_backend(settings, templates()), request)

    (file,) = tmp_path.iterdir()
    assert file.name == f"{request.request_hash.removeprefix('blake3:')}.json"
    assert json.loads(file.read_text()) == json.loads(
        json.dumps({"version": 1, "request": to_builtins(request), "response": to_builtins(response)})
    )
    assert KEY not in file.read_text()
    assert str(server.port) not in file.read_text()


def test_the_same_request_recorded_twice_is_one_entry(tmp_path: Path) -> None:
    write_recording(tmp_path, request_for(), RESPONSE)
    before = [(file.name, file.read_bytes()) for file in tmp_path.iterdir()]
    write_recording(tmp_path, request_for(), RESPONSE)

    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == before


def test_of_two_recordings_the_later_one_stands(tmp_path: Path) -> None:
    write_recording(tmp_path, request_for(), RESPONSE)
    write_recording(tmp_path, request_for(), replace(RESPONSE, claim='{"purpose": "other"}'))

    assert [response.claim for response in read_recordings(tmp_path).values()] == ['{"purpose": "other"}']


def test_what_fails_is_not_recorded(tmp_path: Path) -> None:
    for behaviour in (Fails(500), Answers(model="gpt-4o")):
        with ScriptedServer(lambda _call, behaviour=behaviour: behaviour) as server:
            settings = settings_for(server, backend=BackendName.RECORD, recording=tmp_path)
            ask_backend(build_backend(settings, templates()), request_for())

    assert list(tmp_path.iterdir()) == []


def test_a_file_with_entries_replays_as_a_folder_does(tmp_path: Path) -> None:
    entries = [{"request": to_builtins(request_for(level)), "response": to_builtins(RESPONSE)} for level in LEVELS]
    (tmp_path / "fixture.json").write_text(json.dumps({"entries": entries}))

    assert replay(tmp_path / "fixture.json", *map(request_for, LEVELS)) == [RESPONSE] * len(LEVELS)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda request: replace(request, sources=("other",)), id="prompt"),
        pytest.param(lambda request: replace(request, sources=(*request.sources, "a", "b")), id="one more turn"),
        pytest.param(lambda request: replace(request, schema_blake3="blake3:00"), id="schema"),
        pytest.param(lambda request: replace(request, max_output_bytes=1), id="bound"),
        pytest.param(lambda request: replace(request, job_id="another"), id="job"),
        pytest.param(
            lambda request: replace(request, parameters=replace(request.parameters, temperature=0.5)), id="parameters"
        ),
    ],
)
def test_another_request_has_no_answer(changed: Callable[[SummaryRequest], SummaryRequest], tmp_path: Path) -> None:
    write_recording(tmp_path, request_for(), RESPONSE)

    (error,) = replay(tmp_path, changed(request_for()))

    assert isinstance(error, BackendNotConfigured)
    assert str(error).startswith("summary_backend_not_configured: ")


def test_a_replay_refuses_what_is_not_pinned(tmp_path: Path) -> None:
    other_model, other_template = request_for(model_name="openai/o"), request_for(prompt_template_blake3="blake3:00")
    for request in (other_model, other_template):
        write_recording(tmp_path, request, RESPONSE)

    errors = replay(tmp_path, other_model, other_template)

    assert [type(error) for error in errors] == [ModelNotInAllowlist, PromptTemplateMismatch]


def test_a_recording_that_is_there_is_healthy(tmp_path: Path) -> None:
    write_recording(tmp_path, request_for(), RESPONSE)

    assert asyncio.run(build_backend(replaying(tmp_path), templates()).health())


ENTRY = {"request": to_builtins(request_for()), "response": to_builtins(RESPONSE)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("{", "Expecting property name", id="not json"),
        pytest.param("[]", "no list of 'entries'", id="no entries"),
        pytest.param(json.dumps({"entries": [{"request": 1}]}), "entry 1: not a request", id="not an entry"),
        pytest.param(
            json.dumps({"entries": [{**ENTRY, "response": {"claim": "{}"}}]}), "has_tool_call", id="half a response"
        ),
        pytest.param(json.dumps({"entries": [ENTRY, ENTRY]}), "entry 2: a second answer to blake3:", id="twice"),
        pytest.param(
            json.dumps({"entries": [ENTRY, {**ENTRY, "version": 2}]}),
            "entry 2: it is a recording of version 2, and this codesum reads version 1: record again",
            id="an entry of another version",
        ),
        pytest.param(
            json.dumps({"version": "0.9", "entries": []}),
            "it is a recording of version '0.9', and this codesum reads version 1: record again",
            id="a list of another version",
        ),
        pytest.param(json.dumps({"entries": [{**ENTRY, "version": True}]}), "of version True", id="no number"),
        pytest.param(
            json.dumps({"entries": [{**ENTRY, "version": "9" * 10_000}]}), "9…, and this codesum", id="a long version"
        ),
        pytest.param(
            json.dumps({"entries": [{**ENTRY, "request": {**ENTRY["request"], "max_output_byte": 9}}]}),
            "unknown field `max_output_byte` (the nearest known field is 'max_output_bytes'): record again",
            id="a field of another version",
        ),
        pytest.param(
            json.dumps({"entries": [{**ENTRY, "request": {**ENTRY["request"], "parameters": {"seed": 1}}}]}),
            "unknown field `seed` - at `$.parameters`",
            id="an inner field of another version",
        ),
    ],
)
def test_a_recording_that_cannot_be_read_says_where(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "fixture.json").write_text(content)

    (error,) = replay(tmp_path / "fixture.json", request_for())

    assert isinstance(error, SummaryCallFailed)
    assert (error.failure, error.was_sent) == (CallFailure.UNREADABLE, False)
    assert f"{tmp_path}/fixture.json" in str(error)
    assert message in str(error)


def test_entries_without_a_version_are_read_and_those_of_this_version_too(tmp_path: Path) -> None:
    for version in ({}, {"version": 1}):
        (tmp_path / "fixture.json").write_text(json.dumps({**version, "entries": [{**version, **ENTRY}]}))

        assert replay(tmp_path / "fixture.json", request_for()) == [RESPONSE]


def test_requests_of_earlier_versions_have_the_hashes_that_they_had() -> None:
    summary = SummaryRequest(
        level=Level.FUNCTION,
        model_name="openai/own",
        prompt_template_blake3="blake3:00",
        schema_blake3="blake3:01",
        parameters=Parameters(),
        sources=("a", "b", "c"),
        max_output_bytes=9,
    )
    message = ChatRequest("openai/own", ({"role": "user", "content": "x"},), ({"type": "function"},))

    assert [summary.request_hash, message.request_hash] == [
        "blake3:1ac33ea2e14aeb86d36a46e75ecf3eb3ffe284d19432ef20614b398d4dd7a29e",
        "blake3:c666e9edd13c6b4992966e86f1499e68cbb0d914c436025b2db3ed60bb887524",
    ]


def test_what_was_recorded_with_changed_parameters_is_replayed_with_them_alone(tmp_path: Path) -> None:
    plain = request_for()
    changed = replace(plain, parameters=replace(plain.parameters, changes=(("temperature", ""),)))
    write_recording(tmp_path, changed, RESPONSE)

    found, missing = replay(tmp_path, changed, plain)

    assert found == RESPONSE
    assert isinstance(missing, BackendNotConfigured)


def test_a_missing_recording_is_unreadable(tmp_path: Path) -> None:
    (error,) = replay(tmp_path / "nowhere", request_for())

    assert "nowhere" in str(error)
    assert not asyncio.run(build_backend(replaying(tmp_path / "nowhere"), templates()).health())


def test_a_replay_loads_no_client(tmp_path: Path) -> None:
    write_recording(tmp_path, request_for(), RESPONSE)
    program = (
        "import sys, pathlib\n"
        "from codesum_pipeline_tests.texts.llm.test_record_replay import replay, request_for\n"
        f"print(replay(pathlib.Path({str(tmp_path)!r}), request_for())[0].claim, 'litellm' in sys.modules)\n"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed == "{} False\n"
