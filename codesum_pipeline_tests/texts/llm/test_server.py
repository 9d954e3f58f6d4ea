"""The server that stands for providers: its answers are such as a good model gives, and always the same."""

import json
import urllib.request
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.texts.llm.checking import AnswerBounds, read_answer
from codesum_pipeline.texts.llm.pins import AnswerForm
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, ask, request_for, settings_for
from codesum_pipeline_tests.support.llm_server import ScriptedServer, ServerProcess, read_log


@pytest.mark.parametrize("level", LEVELS)
def test_its_answers_pass_every_check(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server), request_for(level))

    bounds = AnswerBounds(level, 2 if level is Level.FUNCTION else None, ("total", "Basket.add"), ("checkout_all",))
    written = read_answer(response, AnswerForm.TOOL, bounds)

    assert written.summary
    assert bool(written.citations) == (level is Level.FUNCTION)
    assert bool(written.responsibilities) == (level is not Level.FUNCTION)


def test_its_answer_is_a_function_of_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    same, other = request_for(), request_for(source="def empty():\n    return not orders()\n")

    with ScriptedServer() as server:
        first, second, third = ask(settings_for(server), same, other, same)
    with ScriptedServer() as server:
        (again,) = ask(settings_for(server), same)

    assert first.claim == third.claim == again.claim != second.claim


def test_as_a_process_it_writes_down_every_request_and_answer(tmp_path: Path) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "system", "content": 's {"properties": {}}'}, {"role": "user", "content": "x"}],
    }
    with ServerProcess(log=tmp_path / "log.jsonl") as server:
        request = urllib.request.Request(
            f"{server.base}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            answered = json.load(answer)

    (logged,) = read_log(tmp_path / "log.jsonl")

    assert (logged.number, logged.body, logged.status, logged.answer) == (1, body, 200, answered)
