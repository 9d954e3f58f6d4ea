"""What a question may cost, and who may be asked: gates first, caps before every call, books after."""

import asyncio
import json
from pathlib import Path

import pytest

from codesum_pipeline.answers.question_answering.session import NO_MODEL
from codesum_pipeline.foundation.settings.llm_settings import AskSettings
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.llm_requests import KEY, MODEL
from codesum_pipeline_tests.support.llm_server import Fails
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.played_turns import OVERVIEW, SYNTHESIS, in_order, overview_then

PRICES = [{"model": MODEL, "input": 10.0, "output": 10.0}]
ORDINARY = Streams("It is a shop.")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        pytest.param({"offline": True}, "codesum is offline", id="offline"),
        pytest.param({"llm": {"enabled": False}}, "llm.enabled is false", id="switched off"),
        pytest.param({"llm": {"allowlist": ["openai/other"]}}, "is not in llm.allowlist", id="not in the allowlist"),
        pytest.param({"llm": {"model": "openai/nobodys"}}, "its price is not known", id="without a price"),
        pytest.param({"llm": {"backend": "noop"}}, "llm.backend is 'noop'", id="noop"),
    ],
)
def test_where_no_model_may_be_asked_it_says_so_and_the_index_answers(shop: Shop, settings: dict, why: str) -> None:
    found = shop.ask("charge_card", **settings)

    assert found.failed == NO_MODEL
    assert why in found.detail
    assert "shop/payment.py:4" in found.text
    assert shop.server.seen == []


def test_without_a_model_a_question_that_no_hit_fits_is_answered_by_the_overview(shop: Shop) -> None:
    found = shop.ask("quantum chromodynamics lattice", llm={"enabled": False})

    assert "shop/orders.py" in found.text
    assert "shop/payment.py" in found.text


def test_trust_and_the_caps_of_indexing_are_not_those_of_questions(shop: Shop) -> None:
    shop.server.script = in_order(ORDINARY)

    found = shop.ask(llm={"trust": "scip", "max_summaries_per_run": 0, "max_cost_usd_per_run": 0.0})

    assert found.text == "It is a shop."


def test_a_question_that_could_pass_its_cap_is_not_sent(shop: Shop) -> None:
    found = shop.ask("charge_card", llm={"prices": PRICES}, ask={"max_cost_usd_per_question": 0.01})

    assert found.failed == "cost-cap"
    assert "ask.max_cost_usd_per_question = 0.01" in found.detail
    assert "shop/payment.py:4" in found.text
    assert shop.server.seen == []


def test_the_cap_of_a_question_counts_all_its_calls(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("", [Calls("search", {"query": "card"})])

    found = shop.ask("charge_card", llm={"prices": PRICES}, ask={"max_cost_usd_per_question": 0.2})

    ((spent,),) = shop.rows("SELECT sum(cost_usd) FROM llm_attempts")
    assert found.failed == "cost-cap"
    assert 1 <= len(shop.server.seen) < 50
    assert 0 < spent <= 0.2
    assert found.usd == pytest.approx(spent)


def test_the_cap_of_a_day_counts_all_questions(shop: Shop) -> None:
    shop.server.script = lambda _request: ORDINARY
    shop.ask(llm={"prices": PRICES})
    ((worst, cost),) = shop.rows("SELECT reserved_usd, cost_usd FROM llm_attempts")
    caps = {"max_cost_usd_per_day": worst + 2.5 * cost}

    answers = [shop.ask(llm={"prices": PRICES}, ask=caps) for _ in range(3)]

    assert [found.failed for found in answers] == [None, None, "cost-cap"]
    assert "ask.max_cost_usd_per_day" in answers[-1].detail
    assert len(shop.server.seen) == 3


def test_questions_at_once_do_not_pass_the_cap_of_a_day_together(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("It is a shop.", pause_s=0.05)
    settings = {"llm": {"prices": PRICES}, "ask": {"max_cost_usd_per_day": 0.2}}

    async def ask_at_once() -> list:
        questions = [shop.question("What is it?", **settings) for _ in range(6)]
        return await asyncio.gather(*(question.answer(shop.heard.append) for question in questions))

    answers = asyncio.run(ask_at_once())

    reserved = shop.rows("SELECT sum(reserved_usd) FROM llm_attempts")[0][0]
    assert {answer.failed for answer in answers} == {None, "cost-cap"}
    assert reserved <= 0.2


def test_questions_one_after_another_and_at_once_in_one_process_do_not_close_each_others_connections(
    shop: Shop,
) -> None:
    shop.server.script = lambda request: Streams("It is a shop.", pause_s=0.01 * (request.number % 3))

    async def ask_again_and_again() -> list:
        async def ask_one() -> str | None:
            return (await shop.question("What is it?").answer(shop.heard.append)).failed

        return [await asyncio.gather(*(ask_one() for _ in range(4))), await ask_one(), await ask_one()]

    assert asyncio.run(ask_again_and_again()) == [[None] * 4, None, None]


def test_a_synthesis_that_could_pass_the_cap_is_not_sent_and_falls_through(shop: Shop) -> None:
    messages = [Streams("", [OVERVIEW]), SYNTHESIS, Streams("", [OVERVIEW]), ORDINARY]
    shop.server.script = in_order(*messages)
    shop.ask(llm={"prices": PRICES})
    (_, cost), (worst, _) = shop.rows("SELECT reserved_usd, cost_usd FROM llm_attempts ORDER BY sequence")

    found = shop.ask(llm={"prices": PRICES}, ask={"max_cost_usd_per_question": worst + cost * 0.9})

    assert ("assistant", "failed", "cost-cap") in shop.states()
    assert found.text
    assert not found.is_synthesis


def test_each_attempt_is_on_the_books_with_its_cost(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    found = shop.ask()

    rows = shop.rows("SELECT run_id, level, model, outcome, cost_usd > 0, is_estimated FROM llm_attempts")
    assert rows == [(found.turn, "ask", MODEL, "good", 1, 0)] * 2
    assert found.usd == pytest.approx(shop.rows("SELECT sum(cost_usd) FROM llm_attempts")[0][0])
    assert found.prompt_tokens > 0


def test_a_message_that_breaks_off_counts_as_the_most_that_it_can_have_cost(shop: Shop) -> None:
    shop.server.script = in_order(Streams("It is", breaks_after=2))

    found = shop.ask("charge_card")

    ((cost, worst, is_estimated),) = shop.rows("SELECT cost_usd, reserved_usd, is_estimated FROM llm_attempts")
    assert (cost, is_estimated) == (worst, 1)
    assert found.usd == pytest.approx(worst)


def test_the_caps_are_small_and_not_zero_and_a_synthesis_has_ninety_seconds() -> None:
    defaults = AskSettings()

    assert 0 < defaults.max_cost_usd_per_question <= 1
    assert 0 < defaults.max_cost_usd_per_day <= 10
    assert (defaults.max_steps, defaults.synthesis_timeout_s, defaults.primary_document) == (50, 90.0, "README")


def test_a_call_that_failed_in_a_way_that_passes_is_made_again(shop: Shop) -> None:
    shop.server.script = in_order(Fails(503), ORDINARY)

    found = shop.ask(llm={"max_retries": 1})

    assert found.text == "It is a shop."
    assert shop.rows("SELECT outcome FROM llm_attempts ORDER BY sequence") == [("failed",), ("good",)]


def test_where_the_first_model_fails_the_next_one_answers(shop: Shop) -> None:
    shop.server.script = lambda request: Fails(500) if request.model == "gpt-4o-mini" else ORDINARY

    found = shop.ask(llm={"fallback_models": ["openai/gpt-4.1-mini"]})

    assert found.text == "It is a shop."


def test_a_recorded_question_is_answered_again_with_the_network_closed(shop: Shop, tmp_path: Path) -> None:
    recording = {"recording": str(tmp_path / "kept")}
    shop.server.script = overview_then(SYNTHESIS)

    recorded = shop.ask(llm={**recording, "backend": "record"})
    replayed = shop.ask(llm={**recording, "backend": "replay", "api_base": None}, offline=True)

    files = [json.loads(file.read_text()) for file in (tmp_path / "kept").iterdir()]
    assert (recorded.text, replayed.text) == (ENDINGS["overview"], ENDINGS["overview"])
    assert replayed.is_synthesis
    assert replayed.usd == 0.0
    assert len(shop.server.seen) == 2
    assert [file["kind"] for file in files] == ["chat", "chat"]
    assert KEY not in json.dumps(files)
