"""The settings choose who answers and in which form."""

import asyncio
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import BackendNotConfigured, CallFailure, SummaryCallFailed
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.answer_forms import AnswerForms
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.backends import LiteLlmBackend, RecordBackend, ReplayBackend, build_backend
from codesum_pipeline.texts.llm.pins import AnswerForm
from codesum_pipeline_tests.support.llm_requests import MODEL, ask_backend, request_for, templates
from codesum_pipeline_tests.support.llm_server import Fails, ScriptedServer


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (BackendName.NOOP, SummaryBackend),
        (BackendName.REPLAY, ReplayBackend),
        (BackendName.RECORD, RecordBackend),
        (BackendName.LITELLM, LiteLlmBackend),
    ],
)
def test_each_name_builds_its_backend_with_the_longest_prompt_of_the_settings(
    name: BackendName, kind: type, tmp_path: Path
) -> None:
    settings = LlmSettings(model=MODEL, backend=name, recording=tmp_path, max_prompt_chars=1234)

    backend = build_backend(settings, templates())

    assert (type(backend), backend.max_prompt_chars) == (kind, 1234)


def test_noop_answers_nothing_and_is_not_well() -> None:
    backend = build_backend(LlmSettings(backend=BackendName.NOOP), templates())

    (error,) = ask_backend(backend, request_for())

    assert isinstance(error, BackendNotConfigured)
    assert not asyncio.run(backend.health())


@pytest.mark.parametrize("found", ["", None], ids=["empty", "not there"])
@pytest.mark.parametrize("name", [None, "OWN_NAME"], ids=["the provider's name", "a name of the settings"])
def test_a_missing_key_is_said_by_the_first_request_and_names_its_variable(
    found: str | None, name: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    variable = name or "OPENAI_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    if found is not None:
        monkeypatch.setenv(variable, found)
    with ScriptedServer(lambda _call: Fails(401)) as server:
        backend = build_backend(LlmSettings(model=MODEL, api_key_env=name, api_base=server.base), templates())
        (error,) = ask_backend(backend, request_for())

    assert isinstance(error, SummaryCallFailed)
    assert (error.failure, error.was_sent) == (CallFailure.CREDENTIALS, False)
    assert variable in str(error)
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("model", "form", "expected"),
    [
        pytest.param(MODEL, "auto", AnswerForm.TOOL, id="declares tools"),
        pytest.param("anthropic/claude-haiku-4-5", "auto", AnswerForm.TOOL, id="another provider"),
        pytest.param(
            "anyscale/mistralai/Mixtral-8x7B-Instruct-v0.1", "auto", AnswerForm.JSON_TEXT, id="cannot be forced"
        ),
        pytest.param("deepseek/deepseek-reasoner", "auto", AnswerForm.JSON_SCHEMA, id="declares a format alone"),
        pytest.param("perplexity/sonar-deep-research", "auto", AnswerForm.JSON_TEXT, id="declares neither"),
        pytest.param("openai/own", "auto", AnswerForm.JSON_TEXT, id="nobody knows it"),
        pytest.param("openai/own", "tool", AnswerForm.TOOL, id="the settings know it"),
        pytest.param(MODEL, "json_schema", AnswerForm.JSON_SCHEMA, id="the settings want another"),
    ],
)
def test_the_form_is_that_of_the_settings_or_of_what_the_model_declares(
    model: str, form: str, expected: AnswerForm
) -> None:
    assert AnswerForms(LlmSettings(form=form)).of(model) is expected
