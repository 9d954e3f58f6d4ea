"""Several turns of a conversation: what was said before goes on, within a budget, and each turn has the same rules."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from codesum_pipeline.answers.question_answering.question_store import STORE_FILE, Exchange
from codesum_pipeline.answers.question_answering.session import LATEST
from codesum_pipeline.answers.question_answering.turn import BUDGET_TOKENS, fitting_exchanges
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.texts.llm.prices import CHARS_PER_TOKEN
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.llm_server import Fails
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.played_turns import OVERVIEW, SYNTHESIS, in_order, is_synthesis

ROOM = int(BUDGET_TOKENS * CHARS_PER_TOKEN)


def turns_of(shop: Shop, number: int) -> list[tuple[str, str]]:
    """Who said what in a request, without the system prompt."""
    return [(turn["role"], turn["content"]) for turn in shop.server.seen[number].turns]


def go_on(shop: Shop, text: str, conversation: str = LATEST) -> Any:
    return asyncio.run(shop.question(text, conversation=conversation).answer(shop.heard.append))


@pytest.mark.slow
def test_the_next_turn_is_shown_the_question_and_the_answer_before(shop: Shop) -> None:
    shop.server.script = in_order(
        Streams("", [Calls("search", {"query": "card"})]), Streams("`charge_card` does."), Streams("In `place_order`.")
    )
    first = shop.ask("Who charges cards?")

    second = go_on(shop, "And who calls it?")

    (one, question), (other, answer), (_, latest) = turns_of(shop, 2)
    assert (one, other) == ("user", "assistant")
    assert (question, answer) == ("Who charges cards?", "`charge_card` does.")
    assert latest.startswith("And who calls it?\n\nRepositories")
    assert second.text == "In `place_order`."
    assert first.conversation == second.conversation != ""
    assert shop.rows("SELECT count(*) FROM conversations") == [(1,)]
    assert shop.rows("SELECT question FROM turns WHERE conversation_id IS NOT NULL ORDER BY rowid") == [
        ("Who charges cards?",),
        ("And who calls it?",),
    ]


def test_each_turn_has_a_synthesis_of_its_own_which_is_shown_what_was_said_before(shop: Shop) -> None:
    shop.server.script = in_order(Streams("", [OVERVIEW]), SYNTHESIS, Streams("", [OVERVIEW]), Streams("More of it."))
    shop.ask()

    second = go_on(shop, "Tell me more of it")

    assert second.is_synthesis
    assert [is_synthesis(request) for request in shop.server.seen] == [False, True, False, True]
    assert turns_of(shop, 3)[:2] == [("user", "What is in this codebase?"), ("assistant", ENDINGS["overview"])]
    assert "Tell me more of it" in turns_of(shop, 3)[2][1]


def test_a_question_that_goes_on_with_nothing_begins_anew(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("Yes.")
    shop.ask("Who charges cards?")

    shop.ask("Who calls it?")

    assert [role for role, _ in turns_of(shop, 1)] == ["user"]
    assert shop.rows("SELECT count(*) FROM conversations") == [(2,)]


def test_a_turn_that_failed_is_not_shown(shop: Shop) -> None:
    shop.server.script = in_order(Streams("It sells."), Fails(500), Streams("Cards."))
    shop.ask("What is it?")
    go_on(shop, "How does one pay?")

    go_on(shop, "With what?")

    assert [text.partition("\n")[0] for _, text in turns_of(shop, 2)] == ["What is it?", "It sells.", "With what?"]


def test_a_conversation_is_named_by_its_id(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("Yes.")
    first = shop.ask("Who charges cards?")
    shop.ask("Another one")

    third = go_on(shop, "And?", first.conversation)

    assert third.conversation == first.conversation
    assert turns_of(shop, 2)[0] == ("user", "Who charges cards?")


@pytest.mark.parametrize(
    ("conversation", "message"),
    [(LATEST, "there is no conversation about shop to continue"), ("nobody", "no conversation 'nobody'")],
)
def test_a_conversation_that_is_not_there_is_an_error_and_nothing_is_asked(
    shop: Shop, conversation: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        go_on(shop, "And?", conversation)

    assert shop.server.seen == []
    assert shop.rows("SELECT count(*) FROM turns") == [(0,)]


def test_a_conversation_about_other_repositories_is_refused_with_their_names(shop: Shop) -> None:
    shop.server.script = lambda _request: Streams("Yes.")
    first = shop.ask("Who charges cards?")
    with closing(sqlite3.connect(shop.home / STORE_FILE)) as connection:
        connection.execute("UPDATE conversations SET repositories = '[\"zoo\"]'")
        connection.commit()

    with pytest.raises(ConfigurationError, match="is about zoo, this question about shop: name its repositories"):
        go_on(shop, "And?", first.conversation)


@pytest.mark.parametrize(
    ("exchanges", "kept"),
    [
        pytest.param([Exchange("a", "b"), Exchange("c", "d")], [Exchange("a", "b"), Exchange("c", "d")], id="all fit"),
        pytest.param(
            [Exchange("a", "b" * ROOM), Exchange("c", "d")], [Exchange("c", "d")], id="the oldest gives way first"
        ),
        pytest.param(
            [Exchange("a", "b" * 2 * ROOM)],
            [Exchange("a", "b" * (ROOM - 1 - len("\n[cut here]")) + "\n[cut here]")],
            id="the last answer is cut",
        ),
    ],
)
def test_what_was_said_before_has_a_budget(exchanges: list[Exchange], kept: list[Exchange]) -> None:
    assert fitting_exchanges(exchanges, max_prompt_chars=10**6) == kept


def test_a_small_model_is_shown_less_of_it() -> None:
    (kept,) = fitting_exchanges([Exchange("a", "b" * 5000)], max_prompt_chars=4000)

    assert len(kept) == 1000
