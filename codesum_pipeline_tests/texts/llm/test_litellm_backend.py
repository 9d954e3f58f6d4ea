"""Requests and answers over the wire: LiteLLM in front of a server on loopback."""

import asyncio
import json
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import (
    ModelNotInAllowlist,
    PromptTemplateMismatch,
    SummaryOutputInvalid,
)
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.backend import AnotherModel, RefusedAnswer
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.pins import AnswerForm, Parameters, SummaryResponse, TokenUsage
from codesum_pipeline_tests.support.llm_requests import (
    CLAUDE,
    KEY,
    KEY_VARIABLE,
    MODEL,
    ask,
    prompt_for,
    request_for,
    settings_for,
    talk,
    templates,
)
from codesum_pipeline_tests.support.llm_server import Answers, Says, ScriptedServer, Wire, answer_of
from codesum_pipeline_tests.support.llm_server.model_requests import text_of

REPAIRED = ('{"purpose":"short"}', "purpose: at least 30 characters")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.mark.parametrize("level", LEVELS)
def test_a_tool_call_is_forced_in_the_schema_of_the_level(level: Level) -> None:
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server), request_for(level))

    (call,) = server.seen
    tool = answer_tool(level)
    assert response == SummaryResponse(
        claim=json.dumps(answer_of(call)),
        has_tool_call=True,
        usage=response.usage,
        model_name_echoed="gpt-4o-mini",
        cost_usd=response.cost_usd,
    )
    assert call.body["tools"][0]["function"] == {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
    }
    assert call.body["tool_choice"] == {"type": "function", "function": {"name": tool.name}}
    assert (call.body["temperature"], call.body["max_tokens"]) == (0.0, 2048)
    assert (call.system, call.prompt) == (templates()[level].system, prompt_for(level))
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_the_schema_goes_out_in_its_canonical_bytes() -> None:
    with ScriptedServer() as server:
        ask(settings_for(server), request_for())

    sent = json.dumps(server.seen[0].schema, ensure_ascii=False, separators=(",", ":")).encode()

    assert sent == answer_tool(Level.FUNCTION).schema_bytes


def test_both_ends_of_the_prefix_are_marked_for_those_who_know_marks() -> None:
    with ScriptedServer() as server:
        ask(settings_for(server), request_for())
        ask(settings_for(server, model=CLAUDE, api_base=server.root), request_for(model_name=CLAUDE))

    assert [(call.wire, call.cache_marks) for call in server.seen] == [
        (Wire.OPENAI, ()),
        (Wire.ANTHROPIC, ("system", "tool")),
    ]
    assert all(isinstance(turn["content"], str) for turn in server.seen[0].body["messages"])


def test_the_prefix_is_the_same_bytes_for_every_document() -> None:
    with ScriptedServer() as server:
        ask(settings_for(server), request_for(), request_for(source="pass\n"))

    first, second = (json.dumps([call.body["messages"][0], call.body["tools"]]) for call in server.seen)

    assert first == second


def test_anthropics_format_asks_and_answers_the_same() -> None:
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server, model=CLAUDE, api_base=server.root), request_for(model_name=CLAUDE))

    (call,) = server.seen
    assert json.loads(response.claim) == answer_of(call)
    assert (response.has_tool_call, response.model_name_echoed) == (True, "claude-haiku-4-5")
    assert call.body["tool_choice"] == {"type": "tool", "name": "emit_symbol_summary"}
    assert call.headers["x-api-key"] == KEY


def test_what_is_written_to_a_cache_and_read_from_it_has_its_own_price() -> None:
    request = request_for(model_name=CLAUDE)
    with ScriptedServer() as server:
        first, second = ask(settings_for(server, model=CLAUDE, api_base=server.root), request, request)

    kept = len(server.seen[0].system) // 4
    plain = first.usage.prompt_tokens - kept
    answer = first.usage.completion_tokens * 5e-6
    assert (first.usage.cached_tokens, second.usage.cached_tokens) == (0, kept)
    assert first.cost_usd == pytest.approx(plain * 1e-6 + kept * 1.25e-6 + answer)
    assert second.cost_usd == pytest.approx(plain * 1e-6 + kept * 0.1e-6 + answer)


@pytest.mark.parametrize(
    ("model", "at_root"), [(MODEL, False), (CLAUDE, True)], ids=["openai's format", "anthropic's format"]
)
def test_a_repair_sends_the_answer_back_as_a_call_and_the_complaint_as_its_result(model: str, at_root: bool) -> None:
    request = request_for(model_name=model, sources=(prompt_for(Level.FUNCTION), *REPAIRED))
    with ScriptedServer() as server:
        ask(settings_for(server, model=model, api_base=server.root if at_root else server.base), request)

    (call,) = server.seen
    assert (call.attempt, call.complaints) == (2, (f"Error: {REPAIRED[1]}",))
    assert _called_with(call.turns[1]) == json.loads(REPAIRED[0])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("I would say: it adds.", id="words"),
        pytest.param('{"purpose": NaN}', id="NaN"),
        pytest.param('{"purpose": "a\nb"}', id="raw line ends"),
        pytest.param('"{\\"purpose\\": 1}"', id="encoded twice"),
        pytest.param('{"purpose": "a"}\n{"purpose": "b"}', id="two calls"),
    ],
)
def test_an_answer_that_is_no_call_goes_back_as_text(answer: str) -> None:
    request = request_for(sources=(prompt_for(Level.FUNCTION), answer, "Call the tool."))
    with ScriptedServer() as server:
        ask(settings_for(server), request)

    assert server.seen[0].turns[1:] == (
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "Call the tool."},
    )


@pytest.mark.parametrize("form", [AnswerForm.JSON_SCHEMA, AnswerForm.JSON_TEXT])
def test_a_model_without_tools_answers_in_json(form: AnswerForm) -> None:
    request = request_for(parameters=Parameters(form=form), sources=(prompt_for(Level.FUNCTION), *REPAIRED))
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server), request)

    (call,) = server.seen
    assert (json.loads(response.claim), response.has_tool_call) == (answer_of(call), False)
    assert "tools" not in call.body
    assert ("response_format" in call.body) == (form is AnswerForm.JSON_SCHEMA)
    assert call.schema == answer_tool(Level.FUNCTION).schema
    assert call.turns[1:] == (
        {"role": "assistant", "content": REPAIRED[0]},
        {"role": "user", "content": REPAIRED[1]},
    )


@pytest.mark.parametrize(
    ("behaviour", "claim", "has_tool_call"),
    [
        pytest.param(Says("It adds up."), "It adds up.", False, id="text and no call"),
        pytest.param(Answers('{"purpose": "Adds'), '{"purpose": "Adds', True, id="broken json"),
        pytest.param(Answers({"purpose": 1}), '{"purpose": 1}', True, id="another schema"),
    ],
)
def test_a_wrong_answer_is_handed_on_as_it_came(behaviour: Any, claim: str, has_tool_call: bool) -> None:
    with ScriptedServer(lambda _call: behaviour) as server:
        (response,) = ask(settings_for(server), request_for())

    assert (response.claim, response.has_tool_call) == (claim, has_tool_call)


def test_cost_is_counted_from_the_providers_tokens_at_the_known_price() -> None:
    with ScriptedServer() as server:
        first, second = ask(settings_for(server), request_for(), request_for())

    assert first.usage.cached_tokens == 0
    for response in (first, second):
        usage = response.usage
        plain = usage.prompt_tokens - usage.cached_tokens
        assert response.cost_usd == pytest.approx(
            plain * 0.15e-6 + usage.cached_tokens * 0.075e-6 + usage.completion_tokens * 0.6e-6
        )


def test_a_model_without_a_price_has_an_unknown_cost() -> None:
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server, model="openai/own"), request_for(model_name="openai/own"))

    assert isinstance(response.usage, TokenUsage)
    assert response.cost_usd is None


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        pytest.param(Answers(model="gpt-4o"), "'gpt-4o' answered", id="another model"),
        pytest.param(Answers(model="gpt-4o-mini-turbo"), "llm.echoed_names", id="a name nobody mapped"),
        pytest.param(Answers("x" * 1_000_000), "1000000 bytes, 65536 are allowed", id="a megabyte"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_still_accounted_for(behaviour: Any, message: str) -> None:
    with ScriptedServer(lambda _call: behaviour) as server:
        (error,) = ask(settings_for(server), request_for())

    assert isinstance(error, RefusedAnswer)
    assert str(error).startswith("summary_output_validation_failed: ")
    assert message in str(error)
    assert error.response.usage.prompt_tokens > 0
    assert error.response.cost_usd > 0
    assert len(error.response.claim) <= 65536


def test_a_name_is_taken_for_the_pinned_model_when_the_settings_say_so() -> None:
    other = "our-deployment"
    with ScriptedServer(lambda _call: Answers(model=other)) as server:
        (response,) = ask(settings_for(server, echoed_names={other: MODEL}), request_for())

    assert response.model_name_echoed == other


@pytest.mark.parametrize(
    ("model", "echo", "at_root"),
    [
        pytest.param(CLAUDE, "claude-haiku-4-5-20251001", True, id="Anthropic"),
        pytest.param(CLAUDE, "claude-haiku-4-5@20251001", True, id="Vertex AI"),
        pytest.param(MODEL, "gpt-4o-mini-2024-07-18", False, id="OpenAI"),
        pytest.param("openai/gpt-4", "gpt-4-0613", False, id="OpenAI, years ago"),
        pytest.param("openai/gemini-2.0-flash", "gemini-2.0-flash-001", False, id="Gemini"),
        pytest.param("openai/anthropic.claude-haiku-4-5", "anthropic.claude-haiku-4-5-20251001-v1:0", False, id="AWS"),
        pytest.param(
            "openrouter/anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4.5-20251001", False, id="OpenRouter"
        ),
    ],
)
def test_when_indexing_a_dated_echo_is_the_pinned_model_and_in_compaction_it_is_not(
    model: str, echo: str, at_root: bool
) -> None:
    indexing, compacting = request_for(model_name=model), request_for(model_name=model, job_id="compact 1")
    with ScriptedServer(lambda _call: Answers(model=echo)) as server:
        base = server.root if at_root else server.base
        settings = settings_for(server, model=model, api_base=base, echoed_names={echo: model})
        taken, refused = ask(settings, indexing, compacting)

    assert isinstance(taken, SummaryResponse)
    assert taken.model_name_echoed.endswith(echo)
    assert isinstance(refused, AnotherModel)
    assert "pin the name that answers" in str(refused)


def test_in_compaction_the_very_name_is_taken_and_an_empty_answer_is_not() -> None:
    with ScriptedServer(lambda call: Answers() if call.number == 1 else Says("")) as server:
        taken, refused = ask(settings_for(server), request_for(job_id="1"), request_for(job_id="2"))

    assert isinstance(taken, SummaryResponse)
    assert isinstance(refused, RefusedAnswer)


def test_another_models_answer_says_what_was_asked_and_answered_and_how_to_go_on() -> None:
    with ScriptedServer(lambda _call: Answers(model="gpt-4o")) as server:
        (error,) = ask(settings_for(server), request_for())

    assert str(error) == (
        "summary_output_validation_failed: 'openai/gpt-4o-mini' was asked and 'gpt-4o' answered: if you want that "
        'model, set llm.model = "openai/gpt-4o"; if it is the same one, set llm.echoed_names = { "gpt-4o" = '
        '"openai/gpt-4o-mini" }'
    )


@pytest.mark.parametrize("at_root", [False, True], ids=["openai's format", "anthropic's format"])
@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        pytest.param(Says(""), "Your answer was empty.", id="no content and no call"),
        pytest.param(Says(" \n\t "), "Your answer was empty.", id="white space"),
        pytest.param(Says("", is_listed=False), "Your answer was empty.", id="no choice or block at all"),
        pytest.param(Answers("{}"), "purpose: Field required", id="empty arguments"),
        pytest.param(Answers(tool="show_weather"), "You called another tool.", id="another tool"),
    ],
)
def test_an_empty_answer_or_another_tools_call_goes_into_the_repair_loop_and_ends_as_invalid_output(
    behaviour: Any, complaint: str, at_root: bool
) -> None:
    model = CLAUDE if at_root else MODEL
    with ScriptedServer(lambda _call: behaviour) as server:
        settings = settings_for(server, model=model, api_base=server.root if at_root else server.base)
        error = talk(settings, request_for(model_name=model))

    assert [call.attempt for call in server.seen] == [1, 2, 3]
    assert complaint in server.seen[-1].complaints[0]
    assert "emit_symbol_summary" in server.seen[-1].complaints[0] or "Field required" in complaint
    assert all(
        text_of(turn.get("content")) or turn.get("tool_calls") or turn["content"] for turn in server.seen[-1].turns
    )
    assert isinstance(error, SummaryOutputInvalid)
    assert str(error).startswith("summary_output_validation_failed: ")


def test_what_is_not_pinned_is_refused_before_any_call() -> None:
    with ScriptedServer() as server:
        errors = ask(
            settings_for(server),
            request_for(model_name="openai/gpt-4o"),
            request_for(prompt_template_blake3="blake3:00"),
        )
        narrowed = ask(settings_for(server, allowlist=("openai/other",)), request_for())

    assert [type(error) for error in (*errors, *narrowed)] == [
        ModelNotInAllowlist,
        PromptTemplateMismatch,
        ModelNotInAllowlist,
    ]
    assert server.seen == []


def test_health_says_whether_a_key_is_there_and_somebody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as server:
        backend = LiteLlmBackend(settings_for(server), templates())
        listening = asyncio.run(backend.health())
    gone = asyncio.run(backend.health())
    monkeypatch.setenv(KEY_VARIABLE, "")
    keyless = asyncio.run(backend.health())

    assert (listening, gone, keyless) == (True, False, False)
    assert server.seen == []


def test_one_backend_serves_one_event_loop_after_another() -> None:
    with ScriptedServer() as server:
        backend = LiteLlmBackend(settings_for(server, requests_per_minute=600), templates())
        claims = {asyncio.run(backend.summarize(request_for())).claim for _ in range(2)}

    assert len(claims) == 1


def test_a_model_that_has_no_temperature_is_told_none() -> None:
    reasoning = "openai/gpt-5-mini"
    with ScriptedServer() as server:
        (response,) = ask(settings_for(server, model=reasoning), request_for(model_name=reasoning))

    (call,) = server.seen
    assert response.has_tool_call
    assert "temperature" not in call.body
    assert call.tool_name == "emit_symbol_summary"


def _called_with(turn: dict[str, Any]) -> Any:
    """The arguments of the call in an assistant's turn."""
    if "tool_calls" in turn:
        return json.loads(turn["tool_calls"][0]["function"]["arguments"])
    (block,) = turn["content"]
    return block["input"]
