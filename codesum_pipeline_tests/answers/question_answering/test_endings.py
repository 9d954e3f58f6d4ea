"""Why a message ended, and what comes of it: cut, filtered, refused, or ended by an error."""

import pytest

from codesum_pipeline.answers.question_answering.citations import end_of_cut
from codesum_pipeline.answers.question_answering.turn_events import BlockWritten, TextVoided
from codesum_pipeline.texts.llm.pins import AnswerEnd
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.llm_server import Behaviour, Fails
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.played_turns import OVERVIEW, SYNTHESIS, in_order, overview_then

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LIMIT = (
    "an answer has at most ask.max_tokens = 300 tokens; raise it, or the limit of the model's server if that is lower"
)
NOTE = f"(The answer was cut here: {LIMIT}.)"
CITED = "Orders are placed in `shop/orders.py:8`. Then the card is"


def test_a_cut_answer_whose_citation_holds_says_at_its_end_that_it_was_cut_and_names_the_setting(shop: Shop) -> None:
    shop.server.script = in_order(Streams(CITED, ends="length"))

    answer = shop.ask(ask={"max_tokens": 300})

    assert (answer.text, answer.failed, answer.citations) == (f"{CITED}\n\n{NOTE}", None, 1)
    assert answer.ended is AnswerEnd.LENGTH
    assert [event.text for event in shop.heard if isinstance(event, BlockWritten)] == [CITED, NOTE]
    assert shop.rows("SELECT answer, status FROM turns") == [(answer.text, "complete")]
    assert shop.rows("SELECT outcome, failure FROM llm_attempts") == [("good", "cut-off")]


def test_a_whole_answer_says_nothing_of_it(shop: Shop) -> None:
    shop.server.script = in_order(Streams(CITED))

    answer = shop.ask()

    assert (answer.text, answer.ended) == (CITED, AnswerEnd.STOP)


@pytest.mark.parametrize(
    ("behaviour", "reason", "detail"),
    [
        pytest.param(
            Streams("It is a shop, and then", ends="length"),
            "length",
            f"the answer was cut, and what there is of it cites no line of the sources: {LIMIT}",
            id="cut, and nothing is cited",
        ),
        pytest.param(
            Streams("See `shop/nowhere.py:3` and then", ends="length"),
            "length",
            f"the answer was cut, and what there is of it cites no line of the sources: {LIMIT}",
            id="cut, and no citation holds",
        ),
        pytest.param(
            Streams("It is in `shop/orders.py:8", ends="length"),
            "length",
            f"the answer was cut, and what there is of it cites no line of the sources: {LIMIT}",
            id="cut within its only citation",
        ),
        pytest.param(
            Streams(reasoning="First I shall", ends="length"),
            "length",
            f"the model was cut before it wrote a word of its answer: {LIMIT}",
            id="nothing but reasoning",
        ),
        pytest.param(
            Streams(ends="length"),
            "length",
            f"the model was cut before it wrote a word of its answer: {LIMIT}",
            id="cut before the first word",
        ),
        pytest.param(
            Streams("", [Calls("search", '{"query": "ca')], ends="length"),
            "length",
            f"the model was cut while it called search: {LIMIT}",
            id="cut within a call",
        ),
        pytest.param(
            Streams("Orders `shop/orders.py:8`", ends="content_filter"),
            "content-filter",
            "a content filter of the provider ended the answer: ask in other words, or choose another model "
            "(llm.model); it wrote: Orders `shop/orders.py:8`",
            id="a content filter",
        ),
        pytest.param(
            Streams(refusal=f"I cannot speak of {SECRET}."),
            "refusal",
            "the model refuses to answer; it wrote: I cannot speak of «masked github-token».",
            id="a refusal",
        ),
        pytest.param(
            Streams("Half of", ends="error"),
            "error-in-answer",
            "the provider ended the answer with an error: ask again; it wrote: Half of",
            id="an error as the reason",
        ),
    ],
)
def test_a_message_that_is_no_answer_fails_with_its_own_reason_after_one_call(
    shop: Shop, behaviour: Streams, reason: str, detail: str
) -> None:
    shop.server.script = in_order(behaviour)

    answer = shop.ask("charge_card", ask={"max_tokens": 300}, llm={"max_retries": 2})

    assert (answer.failed, answer.detail, answer.is_fallback) == (reason, detail, True)
    assert "shop/payment.py:4" in answer.text
    assert len(shop.server.seen) == 1
    assert shop.rows("SELECT status, reason FROM turns") == [("failed", reason)]
    assert shop.rows("SELECT count(*) FROM messages WHERE status = 'streaming'") == [(0,)]


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        pytest.param(
            Fails(429, "slow", headers={"Retry-After": "3600"}), "the provider asks to wait 3,600 s", id="a long wait"
        ),
        pytest.param(Streams("In", hangs_after=2), "no whole answer in 1 s (llm.timeout_s)", id="a time-out"),
    ],
)
def test_a_failed_call_says_how_long_to_wait_or_what_to_set(shop: Shop, behaviour: Behaviour, words: str) -> None:
    shop.server.script = in_order(behaviour)

    answer = shop.ask("charge_card", llm={"max_retries": 0, "timeout_s": 1.0})

    assert answer.is_fallback
    assert words in (answer.detail or "")
    assert len(shop.server.seen) == 1


def test_the_words_of_a_refusal_are_kept(shop: Shop) -> None:
    shop.server.script = in_order(Streams(refusal="I cannot help with that."))

    shop.ask()

    assert shop.parts("text")[-1] == "I cannot help with that."
    assert shop.states()[1] == ("assistant", "failed", "refusal")
    assert shop.rows("SELECT outcome, failure FROM llm_attempts") == [("invalid", "model-refused")]


def test_whole_calls_of_a_message_that_was_cut_are_carried_out(shop: Shop) -> None:
    shop.server.script = in_order(
        Streams("", [Calls("search", {"query": "card"})], ends="length"), Streams("In `shop/orders.py:8`.")
    )

    assert shop.ask().text == "In `shop/orders.py:8`."


def test_a_cut_synthesis_whose_citation_holds_is_the_answer_and_says_that_it_was_cut(shop: Shop) -> None:
    shop.server.script = overview_then(Streams(CITED, ends="length"))

    answer = shop.ask(ask={"max_tokens": 300})

    assert (answer.text, answer.is_synthesis, answer.ended) == (f"{CITED}\n\n{NOTE}", True, AnswerEnd.LENGTH)


@pytest.mark.parametrize(
    ("behaviour", "reason", "said"),
    [
        pytest.param(Streams("A shop, and", ends="length"), "length", "ask.max_tokens = 300", id="cut"),
        pytest.param(Streams(reasoning="Hm", ends="length"), "length", "a word of its answer", id="reasoning"),
        pytest.param(Streams("A", ends="content_filter"), "content-filter", "a content filter", id="filtered"),
        pytest.param(Streams(refusal="I will not."), "refusal", "it wrote: I will not.", id="refused"),
        pytest.param(Streams("A", error={"message": "died"}), "error-in-answer", "error-in-answer", id="an error"),
    ],
)
def test_a_synthesis_that_is_no_answer_says_why_and_the_turn_goes_on(
    shop: Shop, behaviour: Streams, reason: str, said: str
) -> None:
    shop.server.script = overview_then(behaviour, Streams("See `shop/orders.py:8`."))

    answer = shop.ask(ask={"max_tokens": 300})

    assert (answer.text, answer.failed, answer.is_synthesis) == ("See `shop/orders.py:8`.", None, False)
    assert ("assistant", "failed", reason) in shop.states()
    (voided,) = [event.reason for event in shop.heard if isinstance(event, TextVoided)]
    assert voided.startswith(f"the overview was not written up: {reason}") and said in voided
    assert len(shop.server.seen) == 3


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("See `shop/orders.py:1", "See"),
        ("See `shop/orders.py:8-1", "See"),
        ("See `shop/orders.py:8`", "See `shop/orders.py:8`"),
        ("See (shop/a.py:3), (shop/b.py:4", "See (shop/a.py:3),"),
        ("So:\n\n```python\nx = 1", "So:\n\n```python\nx = 1\n```"),
        ("At 10:30", "At"),
        ("注文は `shop/orders.py:8` に", "注文は `shop/orders.py:8` に"),
    ],
)
def test_a_cut_text_ends_before_half_a_citation_and_with_its_fence_closed(text: str, kept: str) -> None:
    assert end_of_cut(text) == kept


def test_an_error_inside_an_answer_is_asked_again_and_then_fails_with_the_providers_words(shop: Shop) -> None:
    shop.server.script = lambda request: (
        Streams("Half of", error={"message": "Overloaded"}) if request.number == 1 else Streams("`shop/orders.py:8`")
    )

    assert shop.ask(llm={"max_retries": 1}).text == "`shop/orders.py:8`"
    # What the first call may have cost is on the books.
    ((outcome, failure, cost, reserved), _) = shop.rows(
        "SELECT outcome, failure, cost_usd, reserved_usd FROM llm_attempts ORDER BY sequence"
    )
    assert (outcome, failure, cost) == ("failed", "error-in-answer", reserved)


def test_a_synthesis_that_is_whole_is_as_before(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    assert shop.ask().ended is AnswerEnd.STOP
    assert OVERVIEW.name == shop.parts("synthesis")[0]["tool"]
