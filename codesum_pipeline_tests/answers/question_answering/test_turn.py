"""A turn: tools, the synthesis and the answer, played by a scripted model over real HTTP."""

import json

import pytest
from pydantic import BaseModel

from codesum_pipeline.answers.question_answering.calls import ModelTool, ToolResult
from codesum_pipeline.answers.question_answering.turn_events import TextVoided
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.played_turns import SYNTHESIS, in_order, is_synthesis, overview_then


def test_a_question_about_the_codebase_is_answered_by_a_synthesis_of_its_overview(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    answer = shop.ask()

    assert (answer.text, answer.failed, answer.is_synthesis) == (ENDINGS["overview"], None, True)
    assert shop.states() == [
        ("user", "complete", None),
        ("assistant", "complete", None),
        ("tool", "complete", None),
        ("assistant", "complete", None),
        ("turn", "complete", None),
    ]
    assert shop.kinds() == ["text", "step_start", "text", "tool_call", "tool_result", "synthesis"]
    assert shop.rows("SELECT answer FROM turns") == [(ENDINGS["overview"],)]
    assert [is_synthesis(request) for request in shop.server.seen] == [False, True]


def test_a_synthesis_logs_ids_tool_files_characters_and_tokens(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    shop.ask()

    (passed,) = shop.parts("synthesis")
    ((message, turn),) = shop.rows("SELECT id, turn_id FROM messages ORDER BY sequence DESC LIMIT 1")
    assert (passed["message"], passed["turn"]) == (message, turn)
    assert passed["tool"] == "get_codebase_overview"
    assert set(passed["files"]) >= {"shop/orders.py", "shop/payment.py"}
    assert passed["documents"] == ["README.md", "AGENTS.md", "shop_roadmap.md", "CONTEXT.md"]
    assert passed["characters"] == len(ENDINGS["overview"])
    assert passed["prompt_tokens"] > 0
    assert passed["completion_tokens"] > 0


def test_a_synthesis_is_shown_the_sources_and_not_the_overview_alone(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    shop.ask("Give me a system overview of how orders are placed")

    prompt = shop.server.seen[1].prompt
    assert "19|         charge_card(card, total)" in prompt
    assert "4| def charge_card(card, amount):" in prompt
    assert "Give me a system overview of how orders are placed" in prompt


def test_what_a_roadmap_defers_is_shown_to_the_synthesis_with_the_rule_to_report_it_as_deferred(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    answer = shop.ask("What is the state of refunds?")

    request = shop.server.seen[1]
    assert "v2: refunds. `shop/refunds.py` is a sketch; nothing calls it." in request.prompt
    assert "Report it as deferred or planned, whatever the code" in request.system
    assert "deferred to v2" in answer.text


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        pytest.param(
            "Find all callers of charge_card",
            [Calls("search_symbols", {"name": "charge_card"}), Calls("get_symbol_info", {"id": "charge_card"})],
            id="callers",
        ),
        pytest.param(
            "Where is total_price defined and called from?",
            [
                Calls("search_symbols", {"name": "total_price"}),
                Calls("get_dependencies", {"path": "shop/orders.py"}),
                Calls("read", {"ids": ["shop/orders.py:24-29"]}),
            ],
            id="a definition and its callers",
        ),
        pytest.param(
            "What changed in the payment?",
            [
                Calls("get_file_analysis", {"path": "shop/payment.py"}),
                Calls("graph", {"id": "charge_card", "relations": ["callers"]}),
                Calls("watch_changes", {}),
                Calls("status", {}),
                Calls("search", {"query": "card"}),
            ],
            id="all others",
        ),
    ],
)
def test_targeted_tools_never_synthesise(shop: Shop, question: str, calls: list[Calls]) -> None:
    shop.server.script = in_order(Streams("", calls), Streams("In `shop/orders.py:20`."))

    answer = shop.ask(question)

    assert (answer.text, answer.is_synthesis, answer.failed) == ("In `shop/orders.py:20`.", False, None)
    assert not any(map(is_synthesis, shop.server.seen))
    assert [result["is_error"] for result in shop.parts("tool_result")] == [False] * len(calls)
    assert "synthesis" not in shop.kinds()


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Calls(name, {"repo": "shop"}), id=name)
        for name in ("get_codebase_overview", "get_framework_analysis", "get_semantic_neighborhoods")
    ],
)
def test_each_overview_tool_is_written_up(shop: Shop, call: Calls) -> None:
    shop.server.script = in_order(Streams("", [call]), SYNTHESIS)

    answer = shop.ask()

    assert answer.is_synthesis
    assert shop.parts("synthesis")[0]["tool"] == call.name


def test_results_stand_in_the_order_of_the_calls_whichever_comes_first(shop: Shop) -> None:
    names = ["get_framework_analysis", "read", "search", "get_codebase_overview", "search_symbols"]
    arguments = [{}, {"ids": ["shop/orders.py"]}, {"query": "card"}, {"limit": 5}, {"query": "order"}]
    calls = [Calls(name, values) for name, values in zip(names, arguments, strict=True)]
    shop.server.script = in_order(Streams("", calls), SYNTHESIS)

    shop.ask()

    assert [result["name"] for result in shop.parts("tool_result")] == names
    assert shop.parts("synthesis")[0]["call"] == "call_1_0"


def test_calls_that_share_an_id_are_told_apart(shop: Shop) -> None:
    calls = [Calls("search", {"query": "card"}), Calls("search", {"query": "order"})]
    shop.server.script = in_order(Streams("", calls, same_ids=True), Streams("Done."))

    shop.ask()

    calling, *results = shop.server.seen[1].turns[1:]
    ids = [call["id"] for call in calling["tool_calls"]]
    assert len(set(ids)) == 2
    assert [result["tool_call_id"] for result in results] == ids


def test_reasoning_is_kept_apart_from_the_text(shop: Shop) -> None:
    shop.server.script = in_order(Streams("It sells.", reasoning="The readme says it."))

    answer = shop.ask()

    assert answer.text == "It sells."
    assert shop.parts("reasoning") == ["The readme says it."]


class StatsArguments(BaseModel):
    repo: str = ""
    include_stats: bool = False


def test_booleans_written_as_words_of_python_are_booleans(shop: Shop) -> None:
    taken: list[StatsArguments] = []

    def run(arguments: StatsArguments) -> ToolResult:
        taken.append(arguments)
        return ToolResult("shop/orders.py:8")

    shop.make_tools = lambda *_: [ModelTool("overview", "What it is.", StatsArguments, run, is_overview=True)]
    shop.server.script = in_order(
        Streams("", [Calls("overview", '{"repo": "shop", "include_stats": "True"}')]), SYNTHESIS
    )

    answer = shop.ask()

    assert answer.is_synthesis
    assert taken == [StatsArguments(repo="shop", include_stats=True)]


CARD = '{"query": "card"}'


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Calls("Search", CARD), id="another case"),
        pytest.param(Calls("functions.search", CARD), id="a prefix"),
        pytest.param(Calls("default_api:search", CARD), id="another prefix"),
        pytest.param(Calls(" search\n", CARD), id="blanks"),
        pytest.param(Calls("search", json.dumps(CARD)), id="encoded twice"),
        pytest.param(Calls("search", f"```json\n{CARD}\n```"), id="a fence"),
        pytest.param(Calls("search", f"{CARD}}}"), id="an extra brace"),
        pytest.param(Calls("search", f"{CARD}</tool_call>"), id="a tag"),
        pytest.param(Calls("search", {"arguments": {"query": "card"}}), id="in arguments"),
        pytest.param(Calls("search", {"arguments": CARD}), id="a string in arguments"),
        pytest.param(Calls("search", {"name": "search", "parameters": {"query": "card"}}), id="in name and parameters"),
        pytest.param(Calls("search", '{"query": "card",}'), id="a comma too much"),
    ],
)
def test_a_call_is_understood_however_its_name_and_arguments_are_wrapped(shop: Shop, call: Calls) -> None:
    shop.server.script = in_order(Streams("", [call]), Streams("In `shop/payment.py:4`."))

    answer = shop.ask()

    (result,) = shop.parts("tool_result")
    assert (answer.text, result["name"], result["is_error"]) == ("In `shop/payment.py:4`.", "search", False)
    assert "charge_card" in result["text"]
    repeated = shop.server.seen[1].turns[1]["tool_calls"][0]["function"]
    assert (repeated["name"], json.loads(repeated["arguments"])) == ("search", {"query": "card"})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<tool_call>\n{"name": "search", "arguments": {"query": "card"}}\n</tool_call>', id="<tool_call>"),
        pytest.param('[TOOL_CALLS] [{"name": "search", "arguments": {"query": "card"}}]', id="[TOOL_CALLS]"),
        pytest.param("[TOOL_CALLS]search[ARGS]" + CARD, id="[TOOL_CALLS] and a name"),
        pytest.param(f"<function=search>{CARD}</function>", id="<function=>"),
        pytest.param(
            '<tool_call>\n<function=search>\n<parameter=query>\ncard\n</parameter>\n<parameter=repos>\n["shop"]\n'
            "</parameter>\n</function>\n</tool_call>",
            id="<function=> with parameters",
        ),
        pytest.param('<|python_tag|>{"name": "search", "parameters": {"query": "card"}}', id="<|python_tag|>"),
        pytest.param('<think>Where is {it}?</think>\n{"name": "search", "arguments": {"query": "card"}}', id="bare"),
        pytest.param('```json\n{"name": "search", "arguments": {"query": "card"}}\n```', id="a fence"),
    ],
)
def test_a_call_that_the_server_left_in_the_text_is_made_and_is_no_answer(shop: Shop, text: str) -> None:
    shop.server.script = in_order(Streams(text), Streams("In `shop/payment.py:4`."))

    answer = shop.ask()

    (result,) = shop.parts("tool_result")
    assert (answer.text, result["name"], result["is_error"]) == ("In `shop/payment.py:4`.", "search", False)
    assert "charge_card" in result["text"]
    assert TextVoided("the model calls a tool") in shop.heard
    assert shop.server.seen[1].turns[1].get("content") is None


def test_calls_in_a_text_are_made_together_and_one_without_arguments_is_a_call(shop: Shop) -> None:
    text = f'<tool_call>{{"name": "status", "arguments": {{}}}}</tool_call><function=search>{CARD}</function>'
    shop.server.script = in_order(Streams(text), Streams("In `shop/payment.py:4`."))

    shop.ask()

    assert {(result["name"], result["is_error"]) for result in shop.parts("tool_result")} == {
        ("status", False),
        ("search", False),
    }


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Servers write `<tool_call>{CARD}</tool_call>`, see `shop/payment.py:4`.", id="an example"),
        pytest.param('<tool_call>{"name": "delete", "arguments": {"query": "card"}}</tool_call>', id="no tool of ours"),
        pytest.param('<tool_call>{"name": "search", "arguments": {"query": "ca', id="cut"),
        pytest.param('```json\n{"name": "charge_card"}\n```\nstands in `shop/payment.py:4`.', id="JSON"),
        pytest.param('```json\n{"name": "pay", "parameters": [{"name": "card"}]}\n```', id="JSON of a function"),
    ],
)
def test_a_text_that_is_no_call_of_a_tool_is_the_answer(shop: Shop, text: str) -> None:
    shop.server.script = in_order(Streams(text))

    assert shop.ask().text.startswith(text[:9])
    assert shop.parts("tool_result") == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(Calls("search", {"query": "card", "limit": "many"}), "limit", id="a value of another type"),
        pytest.param(Calls("search", {"question": "card"}), "query", id="another name"),
        pytest.param(Calls("search", '{"query": '), "no JSON", id="no JSON"),
        pytest.param(Calls("search", "[1]"), "JSON object", id="no object"),
        pytest.param(Calls("search", f'{CARD} {{"query": "cart"}}'), "no JSON", id="two different objects"),
        pytest.param(
            Calls("search", json.dumps({"name": "read", "arguments": {"query": "card"}})), "name", id="another"
        ),
        pytest.param(Calls("find", {}), "there is no tool 'find'", id="an unknown tool"),
        pytest.param(Calls("read", {"ids": ["nowhere.py"]}), "nowhere.py", id="an unknown document"),
    ],
)
def test_arguments_that_stay_invalid_go_back_as_the_tools_error(shop: Shop, call: Calls, message: str) -> None:
    shop.server.script = in_order(Streams("", [call]), Streams("I see."))

    answer = shop.ask()

    assert answer.text == "I see."
    (result,) = shop.parts("tool_result")
    assert result["is_error"]
    back = shop.server.seen[1].turns[-1]
    assert back["role"] == "tool"
    assert back["content"].startswith("Error: ")
    assert message in back["content"]


def test_of_two_overviews_the_first_good_one_is_written_up(shop: Shop) -> None:
    calls = [Calls("get_codebase_overview", {"repo": "nowhere"}), Calls("get_codebase_overview", {"repo": "shop"})]
    shop.server.script = in_order(Streams("", calls), SYNTHESIS)

    answer = shop.ask()

    assert answer.is_synthesis
    assert [result["is_error"] for result in shop.parts("tool_result")] == [True, False]
    assert shop.parts("synthesis")[0]["call"] == "call_1_1"


def test_after_the_last_step_the_model_has_to_answer(shop: Shop) -> None:
    search = Streams("", [Calls("search", {"query": "card"})])
    shop.server.script = lambda request: Streams("Enough.") if request.body["tool_choice"] == "none" else search

    answer = shop.ask()

    assert (answer.text, answer.steps, answer.failed) == ("Enough.", 50, None)
    assert len(shop.server.seen) == 51


def test_a_model_that_never_answers_is_replaced_by_the_index_after_the_last_step(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("", [Calls("search", {"query": "card"})])

    answer = shop.ask("charge_card", ask={"max_steps": 2})

    assert (answer.failed, answer.steps, len(shop.server.seen)) == ("steps", 2, 3)
    assert "shop/payment.py:4" in answer.text
    assert shop.rows("SELECT status, reason FROM turns") == [("failed", "steps")]


def test_citations_that_do_not_resolve_are_taken_out_and_counted(shop: Shop) -> None:
    shop.server.script = in_order(
        Streams("Cards (`shop/payment.py:4`) and coins (`shop/coins.py:3`), see shop/orders.py:999. At 10:30 it ends.")
    )

    answer = shop.ask()

    assert answer.text == "Cards (`shop/payment.py:4`) and coins, see. At 10:30 it ends."
    assert (answer.citations, answer.citations_dropped) == (1, 2)
