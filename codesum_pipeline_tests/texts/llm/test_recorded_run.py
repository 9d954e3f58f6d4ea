"""A build that replays what a real model answered: `recorded_run.py` says how that is recorded."""

import json
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Gate, WrittenBy
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline_tests.support.commands import run_codesum
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.shapes import DOCUMENTS, KEY, KEY_ENV, MODEL, Shapes
from codesum_pipeline_tests.texts.llm.recorded_run import ECHO, RECORDING

RECORD_ANEW = "record anew: python -m codesum_pipeline_tests.texts.llm.recorded_run"


@pytest.fixture(scope="module")
def entries() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(RECORDING.read_text(encoding="utf-8"))["entries"]
    return found


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Shapes:
    """Indexed by the command, whose model's server must not be called."""
    folder = tmp_path_factory.mktemp("replayed")
    shapes = Shapes(folder)
    with ScriptedServer() as server:
        shapes.set(echoed=ECHO, api_base=server.base, backend=BackendName.REPLAY, recording=str(RECORDING))
        done = run_codesum("--home", shapes.home, "index", shapes.repo.path, cwd=folder, env={KEY_ENV: ""})
    assert server.seen == []
    assert "has no answer to" not in done.stderr, RECORD_ANEW
    assert done.returncode == 0, done.stderr
    return shapes


def test_it_answers_the_request_of_each_document(entries: list[dict[str, Any]]) -> None:
    assert sorted(entry["request"]["level"] for entry in entries) == ["file", "file", "function", "function", "module"]


def test_good_answers_are_the_texts_and_an_unusable_one_is_none(
    replayed: Shapes, entries: list[dict[str, Any]]
) -> None:
    rows = table_rows(open_home(replayed.home).workspace(KEY, run_id="reader"))["documents"]
    claims = [entry["response"]["claim"] for entry in entries]
    whole = [json.loads(claim) for claim in claims if claim.endswith("}")]
    by_model = [row for row in rows if row["written_by"] == WrittenBy.LLM]

    assert len(rows) == DOCUMENTS
    assert 0 < len(whole) < DOCUMENTS
    assert sorted(row["summary"] for row in by_model) == sorted(
        answer.get("purpose") or answer["summary"] for answer in whole
    )
    assert [row["gate"] for row in rows if row["written_by"] != WrittenBy.LLM] == [Gate.FAILED] * (
        DOCUMENTS - len(whole)
    )


def test_it_holds_the_servers_own_name_and_counts(entries: list[dict[str, Any]]) -> None:
    responses = [entry["response"] for entry in entries]

    assert {response["model_name_echoed"] for response in responses} == {ECHO}
    assert {entry["request"]["model_name"] for entry in entries} == {MODEL}
    assert all(response["usage"]["prompt_tokens"] > response["usage"]["cached_tokens"] for response in responses)
    assert sum(response["usage"]["cached_tokens"] > 0 for response in responses) >= DOCUMENTS - 1


def test_a_replay_makes_no_call(replayed: Shapes) -> None:
    assert replayed.attempts() == []


def test_it_names_no_place_of_the_machine_that_recorded(entries: list[dict[str, Any]]) -> None:
    text = json.dumps(entries)

    assert "127.0.0.1" not in text
    assert '"/' not in text
