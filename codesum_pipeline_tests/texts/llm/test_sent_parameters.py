"""What `llm.parameters` leaves out and renames, as it goes over the wire."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings, ModelPrice
from codesum_pipeline.foundation.settings.parameter_settings import ParameterName
from codesum_pipeline.texts.llm.backends import LiteLlmBackend, ReplayBackend, build_backend
from codesum_pipeline.texts.llm.pins import AnswerForm, ChatRequest, Parameters, SummaryResponse
from codesum_pipeline.texts.llm.sent_parameters import changes_of
from codesum_pipeline_tests.support.llm_requests import (
    CLAUDE,
    KEY,
    KEY_VARIABLE,
    ask,
    request_for,
    settings_for,
    templates,
)
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.llm_server.own_servers import REASONING_MODEL, TakesNot
from codesum_pipeline_tests.support.llm_server.streaming import Streams

ALIAS = "openai/fast"
# LiteLLM knows this one to have no temperature, and to want the newer name of the limit.
KNOWN = "openai/gpt-5-mini"
FORMS = (AnswerForm.TOOL, AnswerForm.REQUIRED, AnswerForm.JSON_SCHEMA, AnswerForm.JSON_TEXT)
TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
MESSAGES = ({"role": "system", "content": "You help."}, {"role": "user", "content": "What is it?"})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer() as running:
        yield running


def settings(server: ScriptedServer, model: str, changes: dict[str, Any] | None = None, **more: Any) -> LlmSettings:
    """Checked as settings of a file are."""
    base = server.root if model.startswith("anthropic/") else server.base
    found = settings_for(server, model=model, api_base=base, **more)
    values = {**found.model_dump(), "parameters": {model: changes} if changes else {}}
    return LlmSettings.model_validate(values)


def summarize(server: ScriptedServer, llm: LlmSettings, form: AnswerForm = AnswerForm.TOOL) -> dict[str, Any]:
    """The body of one request."""
    parameters = Parameters(form=form, changes=changes_of(llm, llm.model))
    (response,) = ask(llm, request_for(model_name=llm.model, parameters=parameters))
    assert isinstance(response, SummaryResponse), response
    return dict(server.seen[-1].body)


def chat(server: ScriptedServer, llm: LlmSettings) -> dict[str, Any]:
    request = ChatRequest(llm.model, MESSAGES, (TOOL,), changes=changes_of(llm, llm.model))

    async def one() -> None:
        backend = LiteLlmBackend(llm, {})
        await backend.chat(request, lambda _text: None, timeout_s=20.0)
        await backend.aclose()

    server.script = lambda _call: Streams("It sells.")
    asyncio.run(one())
    return dict(server.seen[-1].body)


def test_whatever_is_sent_besides_model_messages_and_tools_can_be_changed(server: ScriptedServer) -> None:
    llm = settings(server, ALIAS)

    bodies = [*(summarize(server, llm, form) for form in FORMS), chat(server, llm)]

    sent = {name for body in bodies for name in body}
    assert sent - {"model", "messages", "tools", "stream"} == {*ParameterName}


@pytest.mark.parametrize("model", [ALIAS, KNOWN, CLAUDE])
def test_a_parameter_can_be_left_out(server: ScriptedServer, model: str) -> None:
    plain = summarize(server, settings(server, model))
    changed = summarize(server, settings(server, model, {"temperature": False, "tool_choice": False}))

    assert "tool_choice" in plain
    assert changed == {name: value for name, value in plain.items() if name not in ("temperature", "tool_choice")}


@pytest.mark.parametrize("written", ["max_tokens", "max_completion_tokens"])
def test_the_limit_of_an_answer_can_have_another_name_under_either_of_its_names(
    server: ScriptedServer, written: str
) -> None:
    plain = summarize(server, settings(server, ALIAS))
    changed = summarize(server, settings(server, ALIAS, {written: "max_new_tokens"}))

    limit = plain.pop("max_tokens")
    assert changed == {**plain, "max_new_tokens": limit}


def test_a_name_that_litellm_would_change_or_leave_out_is_sent_as_the_setting_says(server: ScriptedServer) -> None:
    plain = summarize(server, settings(server, KNOWN))
    changed = summarize(server, settings(server, KNOWN, {"temperature": "temperature", "max_tokens": "max_tokens"}))

    assert ("temperature" in plain, plain["max_completion_tokens"]) == (False, 2048)
    assert (changed["temperature"], changed["max_tokens"]) == (0.0, 2048)
    assert "max_completion_tokens" not in changed


def test_a_conversation_is_changed_too(server: ScriptedServer) -> None:
    plain = chat(server, settings(server, ALIAS))
    llm = settings(
        server,
        ALIAS,
        {"temperature": False, "max_tokens": "max_completion_tokens", "stream_options": False, "tool_choice": False},
    )

    changed = chat(server, llm)

    limit = plain.pop("max_tokens")
    for name in ("temperature", "stream_options", "tool_choice"):
        del plain[name]
    assert changed == {**plain, "max_completion_tokens": limit}


@pytest.mark.parametrize("form", [AnswerForm.JSON_SCHEMA])
def test_a_response_format_can_be_left_out_or_renamed(server: ScriptedServer, form: AnswerForm) -> None:
    plain = summarize(server, settings(server, ALIAS), form)
    renamed = summarize(server, settings(server, ALIAS, {"response_format": "guided_format"}), form)

    assert renamed["guided_format"] == plain["response_format"]
    assert "response_format" not in renamed


def test_other_models_are_sent_what_they_were(server: ScriptedServer) -> None:
    llm = LlmSettings.model_validate(
        {**settings(server, ALIAS, {"temperature": False}).model_dump(), "fallback_models": ("openai/slow",)}
    )

    assert changes_of(llm, "openai/slow") == ()
    assert changes_of(llm, ALIAS) == (("temperature", ""),)


def test_a_reasoning_model_behind_an_alias_answers_once_its_parameters_are_set(server: ScriptedServer) -> None:
    server.script = lambda _request: TakesNot(REASONING_MODEL)
    (refused,) = ask(settings(server, ALIAS), request_for(model_name=ALIAS))

    body = summarize(server, settings(server, ALIAS, {"temperature": False, "max_tokens": "max_completion_tokens"}))

    assert 'way out: set llm.parameters = { "openai/fast" = { "temperature" = false } }' in str(refused)
    assert body["max_completion_tokens"] == 2048


def test_changes_are_in_the_hash_of_a_request_and_none_leave_it_as_it_was() -> None:
    plain = request_for()
    changed = replace(plain, parameters=replace(plain.parameters, changes=(("temperature", ""),)))
    asked = ChatRequest(ALIAS, MESSAGES)

    assert changed.request_hash != plain.request_hash
    assert replace(asked, changes=(("temperature", ""),)).request_hash != asked.request_hash
    assert replace(changed, parameters=replace(changed.parameters, changes=())).request_hash == plain.request_hash


MISTAKES = [
    pytest.param({ALIAS: {"temprature": False}}, "the nearest is 'temperature'", id="a misspelt parameter"),
    pytest.param({ALIAS: {"max_token": False}}, "the nearest is 'max_tokens'", id="another misspelt one"),
    pytest.param({ALIAS: {"parallel_tool_calls": False}}, "no call sends a parameter", id="one that is never sent"),
    pytest.param({ALIAS: {"messages": False}}, "no call sends a parameter", id="what no call can do without"),
    pytest.param({"openai/fats": {"temperature": False}}, "the nearest is 'openai/fast'", id="a misspelt model"),
    pytest.param({ALIAS: {"temperature": True}}, "write false to leave it out", id="true"),
    pytest.param({ALIAS: {"temperature": ""}}, "write false to leave it out", id="an empty name"),
    pytest.param({ALIAS: {"temperature": 0.7}}, "write false to leave it out", id="a number"),
    pytest.param({ALIAS: {"temperature": "a b"}}, "write false to leave it out", id="no name"),
    pytest.param({ALIAS: {"temperature": "x" * 101}}, "write false to leave it out", id="a long name"),
    pytest.param({ALIAS: "temperature"}, "write a table of parameters", id="no table"),
    pytest.param({ALIAS: {"max_tokens": "messages"}}, "another field of this name", id="the name of another field"),
    pytest.param({ALIAS: {"max_tokens": "temperature"}}, "another field of this name", id="another parameter's name"),
    pytest.param({ALIAS: {"max_tokens": "n", "temperature": "n"}}, "both be sent as 'n'", id="one name twice"),
    pytest.param(
        {ALIAS: {"max_tokens": "n", "max_completion_tokens": False}}, "are one parameter", id="one parameter twice"
    ),
    pytest.param(
        {ALIAS: {"max_tokens": "max_completion_token"}}, "the nearest is 'max_completion_tokens'", id="a misspelt name"
    ),
]


@pytest.mark.parametrize(("parameters", "message"), MISTAKES)
def test_a_mistake_in_the_setting_is_named_with_what_is_right(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        LlmSettings(model=ALIAS, parameters=parameters)


def test_where_no_model_is_set_parameters_may_wait_for_one() -> None:
    assert LlmSettings(parameters={ALIAS: {"temperature": False}}).parameters


FREE = (ModelPrice(model=ALIAS, input=0, output=0), ModelPrice(model=CLAUDE, input=0, output=0))
REFUSED = [
    pytest.param(KNOWN, {"max_tokens": False}, (), "is left out, and the model costs money", id="no limit"),
    pytest.param(KNOWN, {"max_tokens": "n"}, (), "is sent as 'n', and the model costs money", id="an unusual limit"),
    pytest.param(CLAUDE, {"temperature": "t"}, (), "format of 'anthropic' are fixed", id="fixed names"),
    pytest.param("claude-haiku-4-5", {"temperature": "t"}, (), "'anthropic' are fixed", id="a name without provider"),
    pytest.param(CLAUDE, {"max_tokens": False}, FREE, "Anthropic's format requires it", id="Anthropic's limit"),
]


@pytest.mark.parametrize(("model", "changes", "prices", "message"), REFUSED)
def test_a_change_that_cannot_be_made_or_would_break_a_cap_is_refused_before_any_call(
    model: str, changes: dict[str, Any], prices: tuple[ModelPrice, ...], message: str
) -> None:
    llm = LlmSettings(model=model, parameters={model: changes}, prices=prices)

    with pytest.raises(ConfigurationError, match=f"^llm.parameters: '{model}'.*{message}"):
        assert isinstance(build_backend(llm, templates()), ReplayBackend)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        pytest.param(KNOWN, {"max_tokens": "max_tokens"}, id="a usual name of a model with a price"),
        pytest.param(ALIAS, {"max_tokens": False}, id="no limit of a model that costs nothing"),
        pytest.param(ALIAS, {"max_tokens": "n_predict"}, id="an unusual name of a model that costs nothing"),
        pytest.param(CLAUDE, {"temperature": False}, id="left out of a translated format"),
    ],
)
def test_other_changes_are_made(model: str, changes: dict[str, Any]) -> None:
    backend = build_backend(LlmSettings(model=model, parameters={model: changes}, prices=FREE), templates())

    assert isinstance(backend, LiteLlmBackend)


def test_a_recording_costs_nothing_without_a_limit() -> None:
    llm = LlmSettings(
        model=KNOWN, parameters={KNOWN: {"max_tokens": False}}, backend=BackendName.REPLAY, recording="answers"
    )

    build_backend(llm, templates())
