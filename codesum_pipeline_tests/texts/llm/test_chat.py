"""A conversation's message: heard piece by piece, by the model that was asked, recorded and found again."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CallFailure,
    ModelNotInAllowlist,
    SummaryCallFailed,
    SummaryError,
)
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backend import AnotherModel
from codesum_pipeline.texts.llm.backends import LiteLlmBackend, ReplayBackend
from codesum_pipeline.texts.llm.litellm_door import _rehearsed
from codesum_pipeline.texts.llm.pins import AnswerEnd, ChatRequest, ChatResponse, TokenUsage, ToolCall
from codesum_pipeline.texts.llm.recordings import read_chats, read_recordings, write_recording
from codesum_pipeline.texts.llm.sent_requests import watch_sending
from codesum_pipeline.texts.llm.wire_answers import StreamedMessage
from codesum_pipeline_tests.support.llm_requests import CLAUDE, KEY, KEY_VARIABLE, MODEL, request_for, settings_for
from codesum_pipeline_tests.support.llm_server import Behaviour, ScriptedServer
from codesum_pipeline_tests.support.llm_server.behaviours import Sends
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.texts.llm.making import function_answer, responding

MESSAGES = ({"role": "system", "content": "You help."}, {"role": "user", "content": "What is it?"})
TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
REQUEST = ChatRequest(MODEL, MESSAGES, (TOOL,))
MESSAGE = ChatResponse("A shop.", "I know.", (ToolCall("c1", "look", "{}"),), TokenUsage(10, 5), "gpt-4o-mini", 0.01)


def chunk(**delta: Any) -> SimpleNamespace:
    return SimpleNamespace(model="m", usage=None, choices=[SimpleNamespace(delta=SimpleNamespace(**delta))])


def call(index: int, id_: str | None, name: str | None, arguments: str | None) -> SimpleNamespace:
    return SimpleNamespace(index=index, id=id_, function=SimpleNamespace(name=name, arguments=arguments))


def chat(
    server: ScriptedServer, behaviour: Behaviour, *, timeout_s: float = 20.0, messages: Any = MESSAGES, **changes: Any
) -> Any:
    """The message, or the error that it ended with; and the text that was heard."""
    request = ChatRequest(changes.get("model", MODEL), messages, (TOOL,))
    server.script = lambda _call: behaviour
    heard: list[str] = []

    async def one() -> ChatResponse | SummaryError:
        backend = LiteLlmBackend(settings_for(server, **changes), {})
        try:
            return await backend.chat(request, heard.append, timeout_s=timeout_s)
        except SummaryError as error:
            return error
        finally:
            await backend.aclose()

    return asyncio.run(one()), "".join(heard)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer() as running:
        yield running


def test_of_a_message_that_is_stopped_before_it_is_sent_nothing_counts_as_sent(server: ScriptedServer) -> None:
    """As while LiteLLM imports what its first call needs, which takes seconds."""

    async def stopped_at_once() -> bool:
        backend = LiteLlmBackend(settings_for(server), {})
        with watch_sending() as sending:
            call = asyncio.create_task(backend.chat(REQUEST, lambda _text: None, timeout_s=20.0))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await backend.aclose()
            return sending.was_sent

    _rehearsed.cache_clear()

    assert not asyncio.run(stopped_at_once())
    assert server.seen == []


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_a_key_is_not_heard_wherever_it_is_cut(cut: int) -> None:
    pieces: list[str] = []
    heard = StreamedMessage([KEY], pieces.append)

    for piece in ("the key ", KEY[:cut], KEY[cut:], " is out"):
        heard.hear(chunk(content=piece))
    heard.end()

    assert "".join(pieces) == heard.text == "the key … is out"


def test_text_is_handed_on_as_soon_as_a_word_is_whole() -> None:
    pieces: list[str] = []
    heard = StreamedMessage([], pieces.append)

    for piece in ("It", " is", " a shop", "."):
        heard.hear(chunk(content=piece))

    assert pieces == ["It ", "is a "]


def test_calls_are_put_together_by_their_index_and_told_apart_by_their_id() -> None:
    heard = StreamedMessage([], lambda _text: None)

    for piece in (
        call(0, "a", "look", ""),
        call(1, None, "read", '{"x":'),
        call(0, None, None, "{}"),
        call(1, None, None, "1}"),
        call(0, "b", "look", "[]"),
    ):
        heard.hear(chunk(tool_calls=[piece]))

    assert heard.calls == (
        ToolCall("a", "look", "{}"),
        ToolCall("call_2", "read", '{"x":1}'),
        ToolCall("b", "look", "[]"),
    )


def test_a_message_comes_with_reasoning_text_calls_tokens_and_cost(server: ScriptedServer) -> None:
    message, heard = chat(server, Streams("A shop.", [Calls("look", {"x": 1})], reasoning="I know."))

    assert (message.text, message.reasoning, heard) == ("A shop.", "I know.", "A shop.")
    assert message.calls == (ToolCall("call_1_0", "look", '{"x": 1}'),)
    assert message.usage.prompt_tokens > 0
    assert message.cost_usd > 0


def test_a_message_that_breaks_off_is_a_failed_call(server: ScriptedServer) -> None:
    message, heard = chat(server, Streams("A shop with many words.", breaks_after=3))

    assert isinstance(message, SummaryCallFailed)
    assert (message.failure, message.was_sent) == (CallFailure.CONNECTION, True)
    assert heard == "A shop with "


BOTH_FORMATS = pytest.mark.parametrize("model", [MODEL, CLAUDE])


def chat_in(server: ScriptedServer, model: str, behaviour: Behaviour) -> Any:
    """The message in the format of a model's provider."""
    found, _ = chat(server, behaviour, model=model, api_base=server.root if model == CLAUDE else server.base)
    return found


@BOTH_FORMATS
@pytest.mark.parametrize(
    ("behaviour", "end", "text"),
    [
        pytest.param(Streams("A shop."), AnswerEnd.STOP, "A shop.", id="the model is done"),
        pytest.param(Streams("A sh", ends="length"), AnswerEnd.LENGTH, "A sh", id="cut"),
        pytest.param(Streams(reasoning="Hm", ends="length"), AnswerEnd.LENGTH, "", id="cut while it reasons"),
    ],
)
def test_why_a_message_ended_is_read(
    server: ScriptedServer, model: str, behaviour: Streams, end: AnswerEnd, text: str
) -> None:
    message = chat_in(server, model, behaviour)

    assert (message.ended, message.text, message.reasoning) == (end, text, behaviour.reasoning)


@pytest.mark.parametrize(
    ("model", "behaviour", "end", "text"),
    [
        pytest.param(MODEL, Streams("A sh", ends="content_filter"), AnswerEnd.FILTERED, "A sh", id="a filter"),
        pytest.param(MODEL, Streams(refusal=f"No {KEY}."), AnswerEnd.REFUSED, "No ….", id="a refusal in its own field"),
        pytest.param(CLAUDE, Streams("No.", ends="content_filter"), AnswerEnd.REFUSED, "No.", id="Anthropic's refusal"),
        pytest.param(MODEL, Streams("A sh", ends="error"), AnswerEnd.ERROR, "A sh", id="an error as the reason"),
    ],
)
def test_filters_refusals_and_errors_are_told_apart(
    server: ScriptedServer, model: str, behaviour: Streams, end: AnswerEnd, text: str
) -> None:
    message = chat_in(server, model, behaviour)

    assert (message.ended, message.text) == (end, text)


@BOTH_FORMATS
@pytest.mark.parametrize("text", ["", "A shop with many words."])
def test_an_error_inside_a_stream_is_an_outcome_of_its_own_with_the_providers_words(
    server: ScriptedServer, model: str, text: str
) -> None:
    message = chat_in(server, model, Streams(text, error={"message": f"Overloaded by {KEY}", "type": "api_error"}))

    assert isinstance(message, SummaryCallFailed)
    assert (message.failure, message.was_sent, message.is_passing) == (CallFailure.IN_ANSWER, True, True)
    assert str(message) == (
        f"summary_call_failed: {model}: its provider sent an error instead of the answer: Overloaded by …"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param('{"error": {"message": "Upstream died", "code": 502}}', "Upstream died", id="an object"),
        pytest.param('{"error": "Upstream died"}', "Upstream died", id="a text"),
        pytest.param('{"error": {"code": "x"}}', '{"code": "x"}', id="an object without a message"),
    ],
)
@BOTH_FORMATS
def test_an_error_in_a_body_of_status_200_is_the_same_outcome(
    server: ScriptedServer, body: str, words: str, model: str
) -> None:
    message = chat_in(server, model, Sends(body))

    assert isinstance(message, SummaryCallFailed)
    assert message.failure is CallFailure.IN_ANSWER
    assert words in str(message)


@pytest.mark.parametrize(
    ("code", "failure"), [(401, CallFailure.CREDENTIALS), (429, CallFailure.RATE_LIMIT), (400, CallFailure.REFUSED)]
)
def test_an_error_inside_a_stream_with_a_code_is_what_its_code_says(
    server: ScriptedServer, code: int, failure: CallFailure
) -> None:
    message, _ = chat(server, Streams("A shop", error={"message": "no", "code": code}))

    assert message.failure is failure


@BOTH_FORMATS
@pytest.mark.parametrize(
    ("type_", "failure"),
    [
        ("authentication_error", CallFailure.CREDENTIALS),
        ("rate_limit_error", CallFailure.RATE_LIMIT),
        ("invalid_request_error", CallFailure.REFUSED),
        ("overloaded_error", CallFailure.IN_ANSWER),
    ],
)
def test_an_error_inside_a_stream_without_a_code_is_what_its_type_says(
    server: ScriptedServer, model: str, type_: str, failure: CallFailure
) -> None:
    message = chat_in(server, model, Streams("A shop", error={"message": "no", "type": type_}))

    assert message.failure is failure


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"choices": [None]}, id="an empty choice"),
        pytest.param({"choices": "none"}, id="choices that are a text"),
        pytest.param({"choices": [{"delta": [], "finish_reason": {}}]}, id="a delta that is a list"),
        pytest.param({"delta": "stop", "error": None}, id="a delta that is a text"),
    ],
)
def test_an_event_that_is_none_of_a_format_says_nothing(event: Any) -> None:
    heard = StreamedMessage([], lambda _text: None)

    heard.hear_raw(event)

    assert (heard.ended, heard.text, heard.error) == (AnswerEnd.STOP, "", "")


def test_a_recording_of_before_the_reason_was_read_is_a_whole_message(tmp_path: Path) -> None:
    path = write_recording(tmp_path, REQUEST, MESSAGE)
    entry = json.loads(path.read_text())
    del entry["response"]["ended"]
    path.write_text(json.dumps(entry))

    assert read_chats(tmp_path) == {REQUEST.request_hash: MESSAGE}


@pytest.mark.parametrize("behaviour", [Streams("A shop with it.", [Calls("look", {"x": 1})])])
def test_a_message_in_anthropics_format_is_heard_alike(server: ScriptedServer, behaviour: Streams) -> None:
    message, heard = chat(server, behaviour, model=CLAUDE, api_base=server.root)

    assert (message.text, heard) == ("A shop with it.", "A shop with it.")
    assert message.calls == (ToolCall("toolu_1_0", "look", '{"x": 1}'),)
    assert message.usage.prompt_tokens > 1
    assert message.cost_usd > 0
    assert server.seen[0].cache_marks == ("system", "tool")


def test_a_message_in_anthropics_format_that_breaks_off_is_a_failed_call(server: ScriptedServer) -> None:
    message, _ = chat(server, Streams("A shop with it.", breaks_after=4), model=CLAUDE, api_base=server.root)

    assert isinstance(message, SummaryCallFailed)
    assert message.failure is CallFailure.CONNECTION


def test_a_result_goes_back_in_anthropics_format(server: ScriptedServer) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "A shop."}
    messages = (*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [called]}, result)

    message, _ = chat(server, Streams("I see."), messages=messages, model=CLAUDE, api_base=server.root)

    assert message.text == "I see."
    assert "A shop." in str(server.seen[0].turns[-1])


def test_a_message_that_hangs_is_given_up(server: ScriptedServer) -> None:
    message, _ = chat(server, Streams("A shop.", hangs_after=2), timeout_s=0.5)

    assert isinstance(message, SummaryCallFailed)
    assert message.failure is CallFailure.TIMEOUT


def test_a_message_by_another_model_is_refused_and_kept_for_the_books(server: ScriptedServer) -> None:
    message, _ = chat(server, Streams("A shop.", model="gpt-3.5-turbo"))

    assert isinstance(message, AnotherModel)
    assert message.response.claim == "A shop."


def test_a_model_off_the_allowlist_is_not_asked(server: ScriptedServer) -> None:
    message, _ = chat(server, Streams("A shop."), allowlist=("openai/other",))

    assert isinstance(message, ModelNotInAllowlist)
    assert server.seen == []


def test_messages_and_summaries_can_be_recorded_in_one_folder(tmp_path: Path) -> None:
    summary = request_for()
    write_recording(tmp_path, summary, responding(function_answer()))
    write_recording(tmp_path, REQUEST, MESSAGE)

    assert read_chats(tmp_path) == {REQUEST.request_hash: MESSAGE}
    assert list(read_recordings(tmp_path)) == [summary.request_hash]


def test_a_replay_gives_what_was_recorded_and_refuses_the_rest(tmp_path: Path) -> None:
    write_recording(tmp_path, REQUEST, MESSAGE)
    heard: list[str] = []
    replay = ReplayBackend(LlmSettings(enabled=True, model=MODEL, recording=tmp_path), {})

    found = asyncio.run(replay.chat(REQUEST, heard.append, timeout_s=1))

    assert (found, heard) == (MESSAGE, ["A shop."])
    with pytest.raises(BackendNotConfigured, match="record it first"):
        asyncio.run(replay.chat(ChatRequest(MODEL, MESSAGES), heard.append, timeout_s=1))


@pytest.mark.parametrize(
    "other",
    [
        ChatRequest("openai/gpt-4.1", MESSAGES, (TOOL,)),
        ChatRequest(MODEL, MESSAGES[:1], (TOOL,)),
        ChatRequest(MODEL, MESSAGES),
        ChatRequest(MODEL, MESSAGES, (TOOL,), max_tokens=99),
    ],
)
def test_a_request_that_differs_has_another_hash(other: ChatRequest) -> None:
    assert ChatRequest(MODEL, MESSAGES, (TOOL,)).request_hash == REQUEST.request_hash != other.request_hash
