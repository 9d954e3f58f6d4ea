"""Streams in the forms of other providers, and in the ways in which they differ from their own documentation."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed, SummaryError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.pins import ChatRequest, ChatResponse, TokenUsage, ToolCall
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, MODEL
from codesum_pipeline_tests.support.llm_server.played import Played, amazon_events, calling, chunk, events, lines, piece
from codesum_pipeline_tests.support.llm_server.serving import start
from codesum_pipeline_tests.texts.llm.test_chat import MESSAGES, TOOL

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
TEXT = chunk({"role": "assistant", "content": "A shop."})
END = chunk({}, end="stop", model="gpt-4o-mini")
END_OF_CALLS = chunk({}, end="tool_calls", model="gpt-4o-mini")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")


def heard(played: Played, *, model: str = MODEL, base: str = "/v1") -> tuple[ChatResponse | SummaryError, str]:
    """The message, or the error that it ended with; and the text that was heard."""
    pieces: list[str] = []

    async def ask() -> ChatResponse | SummaryError:
        runner, port = await start(played.application(), 0)
        root = f"http://127.0.0.1:{port}"
        backend = LiteLlmBackend(
            LlmSettings(enabled=True, model=model, api_base=f"{root}{base}", api_key_env=KEY_VARIABLE, timeout_s=20.0),
            {},
        )
        try:
            return await backend.chat(ChatRequest(model, MESSAGES, (TOOL,)), pieces.append, timeout_s=20)
        except SummaryError as error:
            return error
        finally:
            await backend.aclose()
            await runner.cleanup()

    return asyncio.run(ask()), "".join(pieces)


def openai(*chunks: Any, done: bool = True, is_cut: bool = False) -> Played:
    # Each chunk under the name that was asked for.
    named = [one if isinstance(one, str) else {**one, "model": "gpt-4o-mini"} for one in chunks]
    return Played(events(*named, done=done), is_cut=is_cut)


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        pytest.param(
            [calling(piece(0, "a", "look", '{"x": 1}'))], [ToolCall("a", "look", '{"x": 1}')], id="in one chunk"
        ),
        pytest.param(
            [
                calling(piece(0, "a", "look", "")),
                calling(piece(0, None, None, '{"x"')),
                calling(piece(0, None, None, ": 1}")),
            ],
            [ToolCall("a", "look", '{"x": 1}')],
            id="in pieces",
        ),
        pytest.param([calling(piece(0, None, "look", "{}"))], [ToolCall("call_1", "look", "{}")], id="without an id"),
        pytest.param(
            [calling(piece(0, None, "look", '{"x": 1}')), calling(piece(0, None, "look", '{"x": 2}'))],
            [ToolCall("call_1", "look", '{"x": 1}'), ToolCall("call_2", "look", '{"x": 2}')],
            id="two without ids under one index",
        ),
        pytest.param(
            [calling(piece(None, "a", "look", '{"x": 1}'), piece(None, "b", "look", '{"x": 2}'))],
            [ToolCall("a", "look", '{"x": 1}'), ToolCall("b", "look", '{"x": 2}')],
            id="without an index",
        ),
        pytest.param(
            [
                chunk({"role": "assistant", "function_call": {"name": "look", "arguments": ""}}),
                chunk({"function_call": {"arguments": '{"x"'}}),
                chunk({"function_call": {"arguments": ": 1}"}}),
            ],
            [ToolCall("call_1", "look", '{"x": 1}')],
            id="as a function_call",
        ),
        pytest.param(
            [chunk({"role": "assistant", "tool_calls": piece(0, "a", "look", '{"x": 1}')})],
            [ToolCall("a", "look", '{"x": 1}')],
            id="one in place of a list",
        ),
        pytest.param([calling(piece(0, "a", "look", ""))], [ToolCall("a", "look", "")], id="empty arguments"),
        pytest.param([calling(piece(0, "a", "look", None))], [ToolCall("a", "look", "")], id="no arguments"),
        pytest.param(
            [calling(piece(0, "a", "look", {"x": 1}))], [ToolCall("a", "look", '{"x": 1}')], id="arguments as an object"
        ),
        pytest.param(
            [
                calling(piece(0, "a", "look", '{"x"')),
                calling(piece(0, "a", "look", ": 1}")),
            ],
            [ToolCall("a", "look", '{"x": 1}')],
            id="id and name in every piece",
        ),
        pytest.param(
            [calling(piece(0, "a", "look", '{"x": 1}')), calling(piece(1, "a", "look", '{"x": 2}'))],
            [ToolCall("a", "look", '{"x": 1}'), ToolCall("a", "look", '{"x": 2}')],
            id="two with one id",
        ),
        pytest.param(
            [calling(piece(0, "a", "look", "[")), *[calling(piece(0, None, None, "[" * 10))] * 200],
            [ToolCall("a", "look", "[" * 2001)],
            id="brackets without an end",
        ),
        pytest.param(
            [calling(piece(0, None, "look", "[" * 2000)), calling(piece(0, None, "look", "["))],
            [ToolCall("call_1", "look", "[" * 2001)],
            id="brackets without an end and without an id",
        ),
    ],
)
def test_calls_are_heard_however_they_are_cut(chunks: Sequence[Any], calls: Sequence[ToolCall]) -> None:
    found, _ = heard(openai(*chunks, END_OF_CALLS))

    assert isinstance(found, ChatResponse), found
    assert found.calls == tuple(calls)


@pytest.mark.parametrize(
    ("chunks", "tokens"),
    [
        pytest.param([TEXT, END, chunk(usage=USAGE)], 10, id="usage behind the end"),
        pytest.param([TEXT, chunk({}, end="stop", usage=USAGE)], 10, id="usage with the end"),
        pytest.param([": keep-alive", TEXT, ": keep-alive", END, chunk(usage=USAGE)], 10, id="comments between"),
        pytest.param([chunk(prompt_filter_results=[]), TEXT, END, chunk(usage=USAGE)], 10, id="a first one of nothing"),
    ],
)
def test_a_text_is_heard_with_its_tokens(chunks: Sequence[Any], tokens: int) -> None:
    found, text = heard(openai(*chunks))

    assert isinstance(found, ChatResponse), found
    assert (found.text, text) == ("A shop.", "A shop.")
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (tokens, 5)


def test_a_provider_that_does_not_count_is_counted_for() -> None:
    found, _ = heard(openai(TEXT, END))

    assert isinstance(found, ChatResponse), found
    assert found.text == "A shop."
    assert found.usage is None or found.usage.prompt_tokens > 0


def test_reasoning_is_heard_apart() -> None:
    chunks = [
        chunk({"role": "assistant", "reasoning_content": "I know "}),
        chunk({"reasoning_content": "it."}),
        TEXT,
        END,
    ]

    found, text = heard(openai(*chunks))

    assert isinstance(found, ChatResponse), found
    assert (found.reasoning, found.text, text) == ("I know it.", "A shop.", "A shop.")


MESSAGE = {"role": "assistant", "content": "A shop."}


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([TEXT, END, {**chunk(usage=USAGE), "choices": None}], id="null for choices"),
        pytest.param(
            [{**TEXT, "choices": [{"index": 0, "delta": None}]}, TEXT, END, chunk(usage=USAGE)], id="null for a delta"
        ),
        pytest.param(
            [chunk({"content": [{"type": "text", "text": "A shop."}]}), END, chunk(usage=USAGE)],
            id="a list as content",
        ),
    ],
)
def test_a_stream_is_read_in_the_forms_of_servers_that_differ(chunks: Sequence[Any]) -> None:
    found, text = heard(openai(*chunks))

    assert isinstance(found, ChatResponse), found
    assert (found.text, text, found.usage) == ("A shop.", "A shop.", TokenUsage(10, 5))


@pytest.mark.parametrize(
    ("message", "end", "calls"),
    [
        pytest.param(MESSAGE, "stop", (), id="a text"),
        pytest.param(
            {**MESSAGE, "tool_calls": [piece(None, "a", "look", "{}")]},
            "tool_calls",
            (ToolCall("a", "look", "{}"),),
            id="a call",
        ),
    ],
)
def test_of_a_server_that_does_not_stream_the_whole_message_is_read(
    message: dict[str, Any], end: str, calls: tuple[ToolCall, ...]
) -> None:
    choices = [{"index": 0, "message": message, "finish_reason": end}]
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "gpt-4o-mini", "usage": USAGE}

    found, text = heard(Played(lines({**body, "choices": choices}), content_type="application/json"))

    assert isinstance(found, ChatResponse), found
    assert (found.text, text, found.calls, found.usage) == ("A shop.", "A shop.", calls, TokenUsage(10, 5))


@pytest.mark.parametrize(
    ("played", "failure"),
    [
        pytest.param(
            openai({"error": {"message": "no", "code": "insufficient_quota"}}, done=False),
            CallFailure.CREDENTIALS,
            id="a quota that is used up",
        ),
        pytest.param(
            openai(
                TEXT, {**TEXT, "choices": [1]}, {**TEXT, "choices": [{"index": 0, "delta": {"tool_calls": 5}}]}, END
            ),
            CallFailure.UNREADABLE,
            id="what cannot be read",
        ),
        pytest.param(
            openai(TEXT, {"error": {"message": "overloaded", "type": "server_error", "code": 500}}, done=False),
            CallFailure.IN_ANSWER,
            id="an error in mid-stream",
        ),
        pytest.param(openai(TEXT, done=False, is_cut=True), CallFailure.CONNECTION, id="a cut connection"),
        pytest.param(openai(TEXT, done=False), CallFailure.CONNECTION, id="an end without a reason"),
    ],
)
def test_a_stream_that_does_not_end_well_is_a_failed_call(played: Played, failure: CallFailure) -> None:
    found, _ = heard(played)

    assert isinstance(found, SummaryCallFailed), found
    assert (found.failure, found.was_sent) == (failure, True)
    assert KEY not in str(found)


GEMINI = Played(
    events(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "A shop."}]}, "index": 0}]},
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"functionCall": {"name": "look", "args": {"x": 1}}},
                            {"functionCall": {"name": "look", "args": {}}},
                        ],
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
            "modelVersion": "gemini-2.5-flash",
        },
        done=False,
    )
)
OLLAMA = Played(
    lines(
        {"model": "llama3.1", "message": {"role": "assistant", "content": "A shop."}, "done": False},
        {
            "model": "llama3.1",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"function": {"name": "look", "arguments": {"x": 1}}},
                    {"function": {"name": "look", "arguments": {}}},
                ],
            },
            "done": False,
        },
        {
            "model": "llama3.1",
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 10,
            "eval_count": 5,
        },
    ),
    "application/x-ndjson",
)
MISTRAL = Played(
    events(
        {**chunk({"role": "assistant", "content": "A shop."}), "model": "mistral-small-latest"},
        {
            **calling(
                {"id": "D681PevKs", "index": 0, "function": {"name": "look", "arguments": '{"x": 1}'}},
                {"id": "E681PevKs", "index": 1, "function": {"name": "look", "arguments": "{}"}},
                end="tool_calls",
                usage=USAGE,
            ),
            "model": "mistral-small-latest",
        },
    )
)
AZURE = Played(
    events(
        {**chunk(prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]), "model": ""},
        {**TEXT, "model": "gpt-4o-mini-2024-07-18"},
        {**calling(piece(0, "a", "look", '{"x": 1}')), "model": "gpt-4o-mini-2024-07-18"},
        {**calling(piece(1, "b", "look", "{}")), "model": "gpt-4o-mini-2024-07-18"},
        {**END_OF_CALLS, "model": "gpt-4o-mini-2024-07-18"},
        {**chunk(usage=USAGE), "model": "gpt-4o-mini-2024-07-18"},
    )
)
BEDROCK = Played(
    amazon_events(
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "A shop."}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "a", "name": "look"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"x": '}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "1}"}}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        ("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "b", "name": "look"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": "{}"}}}),
        ("contentBlockStop", {"contentBlockIndex": 2}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, "metrics": {"latencyMs": 1}}),
    ),
    "application/vnd.amazon.eventstream",
)


@pytest.mark.parametrize(
    ("model", "base", "played"),
    [
        pytest.param("gemini/gemini-2.5-flash", "", GEMINI, id="Gemini"),
        pytest.param("ollama_chat/llama3.1", "", OLLAMA, id="Ollama"),
        pytest.param("mistral/mistral-small-latest", "/v1", MISTRAL, id="Mistral"),
        pytest.param("azure/gpt-4o-mini", "", AZURE, id="Azure"),
        pytest.param("bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0", "", BEDROCK, id="Bedrock"),
    ],
)
def test_a_message_of_each_provider_is_heard_alike(model: str, base: str, played: Played) -> None:
    found, text = heard(played, model=model, base=base)

    assert isinstance(found, ChatResponse), found
    assert (found.text, text) == ("A shop.", "A shop.")
    assert [(call.name, json.loads(call.arguments or "{}")) for call in found.calls] == [
        ("look", {"x": 1}),
        ("look", {}),
    ]
    assert len({call.id for call in found.calls}) == 2
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (10, 5)


def test_a_message_of_gemini_that_breaks_off_is_a_failed_call() -> None:
    found, _ = heard(Played(GEMINI.pieces[:1], is_cut=True), model="gemini/gemini-2.5-flash", base="")

    assert isinstance(found, SummaryCallFailed), found
    assert found.failure is CallFailure.CONNECTION
