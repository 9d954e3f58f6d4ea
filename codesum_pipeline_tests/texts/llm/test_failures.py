"""What goes wrong with a call, and what of it may be said."""

import asyncio
import logging
import socket
import time
import traceback

import pytest

from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.litellm_door import read_retry_after
from codesum_pipeline_tests.support.llm_requests import (
    CLAUDE,
    KEY,
    KEY_VARIABLE,
    ask,
    request_for,
    settings_for,
    templates,
)
from codesum_pipeline_tests.support.llm_server import (
    Answers,
    Behaviour,
    Drips,
    Fails,
    Hangs,
    Resets,
    ScriptedServer,
    Sends,
)

QUOTA = "You exceeded your current quota (insufficient_quota)"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        pytest.param(Fails(401), CallFailure.CREDENTIALS, id="401"),
        pytest.param(Fails(402), CallFailure.CREDENTIALS, id="402"),
        pytest.param(Fails(403, "you have no access to this model"), CallFailure.CREDENTIALS, id="403 of the caller"),
        pytest.param(Fails(403), CallFailure.REFUSED, id="403"),
        pytest.param(Fails(403, "flagged by moderation"), CallFailure.FILTERED, id="403 of what was sent"),
        pytest.param(Fails(429, QUOTA), CallFailure.CREDENTIALS, id="429 of who has not paid"),
        pytest.param(Fails(429), CallFailure.RATE_LIMIT, id="429"),
        pytest.param(
            Fails(403, "Key limit exceeded (total limit)"), CallFailure.CREDENTIALS, id="403 of a key's limit"
        ),
        pytest.param(Fails(400, "Budget has been exceeded!"), CallFailure.CREDENTIALS, id="400 of who has not paid"),
        pytest.param(Fails(400, "API key not valid."), CallFailure.CREDENTIALS, id="400 of a wrong key"),
        pytest.param(Fails(400, "Blocked by content filter"), CallFailure.FILTERED, id="400 of what was sent"),
        pytest.param(Fails(429, "Limit of requests per day"), CallFailure.CREDENTIALS, id="429 until tomorrow"),
        pytest.param(Fails(429, f"{QUOTA}. Please retry in 2.07s."), CallFailure.RATE_LIMIT, id="429 of a minute"),
        pytest.param(Fails(500), CallFailure.SERVER, id="500"),
        pytest.param(Fails(502), CallFailure.SERVER, id="502"),
        pytest.param(Fails(503), CallFailure.SERVER, id="503"),
        pytest.param(Fails(529), CallFailure.SERVER, id="529"),
        pytest.param(Fails(408), CallFailure.TIMEOUT, id="408"),
        pytest.param(Fails(504), CallFailure.TIMEOUT, id="504"),
        pytest.param(Fails(400), CallFailure.REFUSED, id="400"),
        pytest.param(Fails(404), CallFailure.REFUSED, id="404"),
        pytest.param(Fails(422), CallFailure.REFUSED, id="422"),
        pytest.param(Resets(), CallFailure.CONNECTION, id="reset before the answer"),
        pytest.param(Resets(after_bytes=100), CallFailure.CONNECTION, id="reset inside the answer"),
        pytest.param(Resets(is_hard=True), CallFailure.CONNECTION, id="killed before the answer"),
        pytest.param(Resets(after_bytes=100, is_hard=True), CallFailure.CONNECTION, id="killed inside the answer"),
    ],
)
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_each_failure_has_its_kind_and_costs_one_call(wire: str, behaviour: Behaviour, failure: CallFailure) -> None:
    with ScriptedServer(lambda _call: behaviour) as server:
        of_wire = {"model": CLAUDE, "api_base": server.root} if wire == "anthropic" else {}
        settings = settings_for(server, **of_wire)
        (error,) = ask(settings, request_for(model_name=settings.model))

    assert isinstance(error, SummaryCallFailed)
    assert (error.failure, error.was_sent, len(server.seen)) == (failure, True, 1)


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(Sends("<html>Please log in</html>", "text/html"), id="a page"),
        pytest.param(Sends("{"), id="half a body"),
        pytest.param(Sends(""), id="nothing"),
        pytest.param(Sends("{}"), id="no choices"),
        pytest.param(Sends('{"model": "gpt-4o-mini", "choices": [{"index": 0}]}'), id="a choice without a message"),
        pytest.param(Sends('["x"]'), id="a list"),
    ],
)
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_body_that_is_no_answer_is_unreadable(wire: str, behaviour: Behaviour) -> None:
    with ScriptedServer(lambda _call: behaviour) as server:
        of_wire = {"model": CLAUDE, "api_base": server.root} if wire == "anthropic" else {}
        settings = settings_for(server, **of_wire)
        (error,) = ask(settings, request_for(model_name=settings.model))

    assert isinstance(error, SummaryCallFailed)
    assert (error.failure, error.was_sent, len(server.seen)) == (CallFailure.UNREADABLE, True, 1)


@pytest.mark.parametrize(
    "behaviour", [pytest.param(Hangs(), id="hangs"), pytest.param(Drips(bytes_each=20, pause_s=0.05), id="drips")]
)
def test_an_answer_that_does_not_come_whole_in_time_is_given_up(behaviour: Behaviour) -> None:
    with ScriptedServer(lambda _call: behaviour) as server:
        (error,) = ask(settings_for(server, timeout_s=0.5), request_for())

    assert (error.failure, error.is_passing, len(server.seen)) == (CallFailure.TIMEOUT, True, 1)


def test_a_slow_answer_that_comes_whole_in_time_is_taken() -> None:
    with ScriptedServer(lambda _call: Drips(bytes_each=100, pause_s=0.01)) as server:
        (response,) = ask(settings_for(server), request_for())

    assert response.has_tool_call


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        pytest.param({"Retry-After": "7"}, 7.0, id="seconds"),
        pytest.param({"Retry-After": "0.5"}, 0.5, id="a part of one"),
        pytest.param({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0, id="a date that is over"),
        pytest.param({"Retry-After": "soon"}, None, id="a word"),
        pytest.param({"Retry-After": "-3"}, None, id="a negative number"),
        pytest.param({"Retry-After": "1" + "0" * 12}, 1e12, id="more seconds than anybody waits"),
        pytest.param({"Retry-After": "9" * 400}, None, id="more digits than a number has"),
        pytest.param({"Retry-After-Ms": "250", "Retry-After": "7"}, 0.25, id="milliseconds"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_how_long_to_wait_is_what_the_provider_says(headers: dict[str, str], wait_s: float | None) -> None:
    with ScriptedServer(lambda _call: Fails(429, headers=headers)) as server:
        (error,) = ask(settings_for(server), request_for())

    assert error.retry_after_s == wait_s


@pytest.mark.parametrize("status", [408, 429, 503, 504])
def test_how_long_to_wait_is_heard_with_each_status_of_a_busy_server(status: int) -> None:
    with ScriptedServer(lambda _call: Fails(status, headers={"Retry-After": "7"})) as server:
        (error,) = ask(settings_for(server), request_for())

    assert error.retry_after_s == 7


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_date_without_a_zone_is_one_of_greenwich(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert read_retry_after({"retry-after": "Thu Jan  1 00:01:00 1970"}, now=0.0) == 60
    finally:
        monkeypatch.undo()
        time.tzset()


def test_of_a_message_about_a_wrong_key_the_key_alone_is_left_out() -> None:
    with ScriptedServer(lambda _call: Fails(401, "Incorrect API key provided: sk-proj-0123****cdef.")) as server:
        (error,) = ask(settings_for(server), request_for())

    assert "Incorrect API key provided: …" in str(error)
    assert "0123" not in str(error)


def test_where_nobody_listens_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with ScriptedServer() as server:
        (error,) = ask(settings_for(server, api_base=f"http://127.0.0.1:{port}/v1"), request_for())

    assert (error.failure, error.was_sent) == (CallFailure.CONNECTION, False)


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server, caplog.at_level(logging.WARNING):
        (error,) = ask(settings_for(server), request_for())

    assert (error.failure, error.was_sent, server.seen) == (CallFailure.CREDENTIALS, False, [])
    assert f"the variable {KEY_VARIABLE} (llm.api_key_env) is empty: put the key into it" in str(error)
    assert caplog.text == ""


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_key_that_a_proxy_repeats_is_nowhere(
    wire: str, status: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda _call: Fails(status, "you sent", echoes_key=True)) as server:
        of_wire = {"model": CLAUDE, "api_base": server.root} if wire == "anthropic" else {}
        settings = settings_for(server, **of_wire)
        with caplog.at_level(logging.DEBUG):
            (error,) = ask(settings, request_for(model_name=settings.model))

    everything = "".join(traceback.format_exception(error)) + repr(error) + caplog.text + "".join(capfd.readouterr())
    assert "you sent" in str(error)
    assert KEY not in everything


def test_a_key_that_looks_like_none_is_nowhere_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "correct horse battery")
    with ScriptedServer(lambda _call: Fails(401, echoes_key=True)) as server:
        (error,) = ask(settings_for(server), request_for())

    assert "horse" not in str(error)


def test_a_key_in_an_answer_is_taken_out() -> None:
    with ScriptedServer(lambda _call: Answers({"purpose": f"Sends {KEY}."})) as server:
        (response,) = ask(settings_for(server), request_for())

    assert response.claim == '{"purpose": "Sends …."}'


def test_a_word_that_stands_for_a_key_blots_out_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "key")
    with ScriptedServer(lambda _call: Answers({"keywords": ["key"]})) as server:
        (response,) = ask(settings_for(server), request_for())

    assert response.claim == '{"keywords": ["key"]}'


def test_a_cancelled_call_leaves_the_backend_as_it_was() -> None:
    with ScriptedServer(lambda call: Hangs() if call.number == 1 else Answers()) as server:

        async def cancel_and_ask_again() -> bool:
            backend = LiteLlmBackend(settings_for(server), templates())
            call = asyncio.create_task(backend.summarize(request_for()))
            while not server.seen:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            response = await backend.summarize(request_for())
            await backend.aclose()
            return response.has_tool_call

        assert asyncio.run(cancel_and_ask_again())


def test_a_key_that_expires_in_mid_run_fails_from_there_on() -> None:
    with ScriptedServer(lambda call: Answers() if call.number < 3 else Fails(401)) as server:
        answers = ask(settings_for(server), *[request_for(source=f"pass  # {number}\n") for number in range(4)])

    assert [getattr(answer, "failure", "answered") for answer in answers] == [
        "answered",
        "answered",
        CallFailure.CREDENTIALS,
        CallFailure.CREDENTIALS,
    ]


def test_another_variables_key_does_not_stand_in_for_the_named_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ScriptedServer() as server:
        (error,) = ask(settings_for(server), request_for())

    assert (error.failure, server.seen) == (CallFailure.CREDENTIALS, [])


def test_a_provider_that_wants_a_key_and_gets_none_bills_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer(lambda _call: Fails(401, "You did not provide an API key")) as server:
        (error,) = ask(settings_for(server, api_key_env=None), request_for())

    assert (error.failure, error.was_sent) == (CallFailure.CREDENTIALS, False)
