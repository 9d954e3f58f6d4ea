"""A fault at each point of a turn: which state it leaves, which rows, and which answer."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.question_answering.calls import HEAD_CHARACTERS, ModelTool, ToolResult, index_tools
from codesum_pipeline.answers.question_answering.question_store import STORE_FILE, open_store
from codesum_pipeline.answers.question_answering.session import LONGEST_QUESTION
from codesum_pipeline.answers.question_answering.turn_events import SynthesisBegan, TextAdded, ToolCalled
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import AskSettings
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.llm_requests import KEY
from codesum_pipeline_tests.support.llm_server import Behaviour, Fails, Hangs, Resets
from codesum_pipeline_tests.support.llm_server.streaming import Streams
from codesum_pipeline_tests.support.played_turns import (
    OVERVIEW,
    SYNTHESIS,
    in_order,
    is_synthesis,
    overview_then,
    tool_giving,
)

ORDINARY = Streams("It is a shop, see `shop/orders.py:8`.")


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        pytest.param(Fails(500), "server", id="the provider fails before the first token"),
        pytest.param(Resets(), "connection", id="the connection breaks before the first token"),
        pytest.param(
            Streams(ENDINGS["overview"], breaks_after=5), "connection", id="the connection breaks in mid-stream"
        ),
        pytest.param(Hangs(), "timeout", id="nothing is said for too long", marks=pytest.mark.slow),
        pytest.param(Streams(ENDINGS["overview"], hangs_after=5), "timeout", id="it hangs in mid-stream"),
        pytest.param(Streams(""), "empty", id="the synthesis is empty"),
        pytest.param(Fails(429), "rate-limit", id="the provider has enough"),
    ],
)
def test_a_failed_synthesis_falls_through_to_the_ordinary_turn(
    shop: Shop, behaviour: Behaviour, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AskSettings, "synthesis_timeout_s", 1.5)
    shop.server.script = overview_then(behaviour, ORDINARY)

    answer = shop.ask()

    assert (answer.text, answer.failed, answer.is_synthesis) == (ORDINARY.text, None, False)
    assert shop.states() == [
        ("user", "complete", None),
        ("assistant", "complete", None),
        ("tool", "complete", None),
        ("assistant", "failed", reason),
        ("assistant", "complete", None),
        ("turn", "complete", None),
    ]
    assert "synthesis" not in shop.kinds()
    assert [is_synthesis(request) for request in shop.server.seen] == [False, True, False]


def test_a_synthesis_is_tried_once_a_turn(shop: Shop) -> None:
    shop.server.script = overview_then(Fails(500), Streams("Again.", [OVERVIEW]), ORDINARY)

    answer = shop.ask()

    assert answer.text == ORDINARY.text
    assert [is_synthesis(request) for request in shop.server.seen] == [False, True, False, False]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        pytest.param(Fails(500), "server", id="the provider fails"),
        pytest.param(Streams("Half of", breaks_after=2), "connection", id="the connection breaks in mid-stream"),
        pytest.param(Streams(""), "empty", id="an empty answer"),
        pytest.param(Fails(401), "credentials", id="the key is refused"),
    ],
)
def test_a_turn_without_a_models_answer_ends_with_what_the_index_has(
    shop: Shop, behaviour: Behaviour, reason: str
) -> None:
    shop.server.script = in_order(behaviour)

    answer = shop.ask("charge_card")

    assert answer.failed == reason
    assert answer.detail
    assert "shop/payment.py:4" in answer.text
    assert shop.rows("SELECT status, reason FROM turns") == [("failed", reason)]
    assert shop.rows("SELECT count(*) FROM messages WHERE status = 'streaming'") == [(0,)]
    assert shop.rows("SELECT count(*) FROM llm_attempts WHERE outcome IS NULL") == [(0,)]


def cancel_when(shop: Shop, is_time: Callable[[object], bool]) -> None:
    """Ask, and cancel at an event; raises `CancelledError`."""

    async def asking() -> None:
        task: asyncio.Task[object] | None = None

        def hear(event: object) -> None:
            if is_time(event) and task is not None:
                task.cancel()

        task = asyncio.create_task(shop.question("What is in this codebase?").answer(hear))
        await task

    asyncio.run(asking())


def test_a_caller_who_cancels_the_synthesis_finds_it_failed_as_cancelled(shop: Shop) -> None:
    shop.server.script = overview_then(Streams(ENDINGS["overview"], hangs_after=4))

    with pytest.raises(asyncio.CancelledError):
        cancel_when(shop, lambda event: isinstance(event, SynthesisBegan))

    assert shop.states() == [
        ("user", "complete", None),
        ("assistant", "complete", None),
        ("tool", "complete", None),
        ("assistant", "failed", "cancelled"),
        ("turn", "failed", "cancelled"),
    ]
    assert len(shop.server.seen) <= 2


def test_a_caller_who_cancels_an_ordinary_message_finds_it_and_the_turn_cancelled(shop: Shop) -> None:
    shop.server.script = in_order(Streams("It is a shop with many words.", hangs_after=3))

    with pytest.raises(asyncio.CancelledError):
        cancel_when(shop, lambda event: isinstance(event, TextAdded))

    assert shop.states() == [
        ("user", "complete", None),
        ("assistant", "failed", "cancelled"),
        ("turn", "failed", "cancelled"),
    ]
    # What may have been answered is counted as if it had been.
    ((outcome, cost, reserved),) = shop.rows("SELECT outcome, cost_usd, reserved_usd FROM llm_attempts")
    assert (outcome, cost) == ("interrupted", reserved)


def test_a_caller_who_cancels_while_tools_run_leaves_nothing_open(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    with pytest.raises(asyncio.CancelledError):
        cancel_when(shop, lambda event: isinstance(event, ToolCalled))

    assert shop.rows("SELECT status, reason FROM turns") == [("failed", "cancelled")]
    assert shop.rows("SELECT count(*) FROM messages WHERE status = 'streaming'") == [(0,)]


def spoil(shop: Shop, *statements: str) -> None:
    """Let the store refuse, by triggers of its own."""
    with open_store(shop.home, now=shop.question("x").now), closing(sqlite3.connect(shop.home / STORE_FILE)) as raw:
        for statement in statements:
            raw.execute(statement)
        raw.commit()


REFUSE_ANSWER = (
    "CREATE TRIGGER refuse BEFORE UPDATE ON turns WHEN NEW.status = 'complete' "
    "BEGIN SELECT RAISE(ABORT, 'no more room'); END"
)
REFUSE_END = (
    "CREATE TRIGGER refuse BEFORE UPDATE ON turns WHEN NEW.status <> 'streaming' "
    "BEGIN SELECT RAISE(ABORT, 'no more room'); END"
)


def test_an_answer_outlives_a_store_that_fails_on_the_last_write(shop: Shop) -> None:
    spoil(shop, REFUSE_ANSWER)
    shop.server.script = overview_then(SYNTHESIS)

    answer = shop.ask()

    assert (answer.text, answer.failed, answer.is_fallback) == (ENDINGS["overview"], "store", False)
    assert "no more room" in answer.problems[0]
    assert shop.rows("SELECT status, reason FROM turns") == [("failed", "store")]


def test_a_turn_that_cannot_be_closed_is_closed_by_a_sweep_after_five_minutes(shop: Shop) -> None:
    spoil(shop, REFUSE_END)
    shop.server.script = in_order(ORDINARY)

    answer = shop.ask()
    left = shop.rows("SELECT status FROM turns")
    with closing(sqlite3.connect(shop.home / STORE_FILE)) as raw:
        raw.executescript("DROP TRIGGER refuse; UPDATE turns SET touched_at = '2026-01-01T00:00:00.000Z'")
    spoil(shop)

    assert answer.text == ORDINARY.text
    assert left == [("streaming",)]
    assert shop.rows("SELECT status, reason FROM turns") == [("failed", "abandoned")]


@pytest.fixture
def long(shop: Shop) -> Shop:
    """A shop whose overview is longer than what a model is shown: the file that it names most stands at its end."""
    lines = ["shop/payment.py:4 charges", *("nothing of note" * 10 for _ in range(300)), "shop/refunds.py:1 " * 3]

    def make(call: ToolContext, repos: Sequence[str]) -> list[ModelTool]:
        others = [tool for tool in index_tools(call, repos) if not tool.is_overview]
        return [tool_giving("get_codebase_overview", ToolResult("\n".join(lines)), is_overview=True), *others]

    shop.make_tools = make
    return shop


def test_files_are_taken_from_the_whole_result_and_not_from_its_head(long: Shop) -> None:
    long.server.script = overview_then(SYNTHESIS)

    long.ask()

    (result,) = long.parts("tool_result")
    (passed,) = long.parts("synthesis")
    assert result["characters"] > HEAD_CHARACTERS
    assert len(result["text"]) <= HEAD_CHARACTERS + 100
    assert "shop/refunds.py" not in result["text"]
    assert passed["files"] == ["shop/refunds.py", "shop/payment.py"]
    # What the model is shown of the overview stays its head.
    assert long.server.seen[1].prompt.count("nothing of note") == result["text"].count("nothing of note")


def test_an_answer_by_another_model_is_refused(shop: Shop) -> None:
    shop.server.script = in_order(Streams("It is a shop.", model="gpt-3.5-turbo"))

    answer = shop.ask("charge_card")

    assert answer.failed == "another-model"
    assert "shop/payment.py:4" in answer.text
    assert shop.rows("SELECT outcome, model_echoed FROM llm_attempts") == [("invalid", "gpt-3.5-turbo")]


def test_no_key_is_handed_on_stored_or_answered(shop: Shop) -> None:
    shop.server.script = in_order(Streams(f"The key is {KEY} and no other.", reasoning=f"I know {KEY}."))

    answer = shop.ask()

    heard = "".join(event.text for event in shop.heard if isinstance(event, TextAdded))
    stored = b"".join(file.read_bytes() for file in shop.home.glob(f"{STORE_FILE}*"))
    assert answer.text == "The key is … and no other."
    assert heard == answer.text
    assert KEY.encode() not in stored


def test_secrets_of_a_question_and_of_sources_do_not_leave_the_machine(shop: Shop) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    shop.server.script = in_order(ORDINARY)

    shop.ask(f"Who uses the token {secret}?")

    assert secret not in str(shop.server.seen[0].body)
    assert shop.rows("SELECT question FROM turns")[0][0] == "Who uses the token «masked github-token»?"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        pytest.param("x" * 100_000, f"at most {LONGEST_QUESTION:,}", id="a question of 100 kB"),
        pytest.param("  ", "is empty", id="an empty question"),
        pytest.param("???", "has no word", id="no word"),
    ],
)
def test_a_question_that_is_none_is_refused_with_the_way_out(shop: Shop, question: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        shop.ask(question)

    assert shop.server.seen == []
