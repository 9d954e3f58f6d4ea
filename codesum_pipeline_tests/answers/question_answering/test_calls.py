"""Tool calls of one message: at the same time, in the order of the calls."""

import asyncio
import threading

import pytest

from codesum_pipeline.answers.question_answering.calls import ToolResult, first_overview, run_calls
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.texts.llm.pins import ToolCall
from codesum_pipeline_tests.support.played_turns import tool_giving


def test_the_first_overview_counts_by_the_order_of_calls_and_not_of_answers() -> None:
    is_second_done = threading.Event()
    tools = {
        "slow": tool_giving("slow", ToolResult("slow"), is_overview=True, first=lambda: is_second_done.wait(30)),
        "quick": tool_giving("quick", ToolResult("quick"), is_overview=True, first=is_second_done.set),
    }
    calls = [ToolCall("1", "slow", "{}"), ToolCall("2", "quick", "{}")]

    entries = asyncio.run(run_calls(calls, tools))

    assert [entry.result.text for entry in entries] == ["slow", "quick"]
    assert first_overview(entries) is entries[0]


def test_a_tool_that_fails_unforeseen_gives_an_error_and_the_others_their_results() -> None:
    def fail() -> None:
        raise ZeroDivisionError("of all things")

    tools = {
        "broken": tool_giving("broken", ToolResult(""), is_overview=True, first=fail),
        "whole": tool_giving("whole", ToolResult("fine"), is_overview=True),
    }

    entries = asyncio.run(run_calls([ToolCall("1", "broken", ""), ToolCall("2", "whole", "")], tools))

    assert entries[0].result == ToolResult("Error: the tool failed: ZeroDivisionError: of all things", is_error=True)
    assert first_overview(entries) is entries[1]


def test_a_result_is_without_secrets_and_what_is_not_seen() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    tools = {"read": tool_giving("read", ToolResult(f"token = '{secret}'\u202e"))}

    (entry,) = asyncio.run(run_calls([ToolCall("1", "read", "{}")], tools))

    assert entry.result.text == "token = '«masked github-token»'"


def test_tools_whose_caller_has_cancelled_end_at_their_next_step() -> None:
    begun, cancelled, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        assert cancelled.wait(30)
        try:
            stop_if_cancelled()
        except asyncio.CancelledError as error:
            ended.append(error)
            raise

    async def ask_and_cancel() -> None:
        tools = {"slow": tool_giving("slow", ToolResult("late"), first=work)}
        asking = asyncio.create_task(run_calls([ToolCall("1", "slow", "{}")], tools))
        await asyncio.to_thread(begun.wait)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        cancelled.set()

    asyncio.run(ask_and_cancel())

    assert len(ended) == 1
