"""The most that all calls for a text can cost, and what keeps the turns of a repair within it."""

import json
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, SummaryOutputInvalid
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings, ModelPrice
from codesum_pipeline.texts.llm.checking import AnswerProblem, raise_complaints
from codesum_pipeline.texts.llm.prices import (
    MAX_BYTES_PER_TOKEN,
    MAX_COMPLAINT_BYTES,
    TOKENS_PER_TURN,
    TextCeiling,
    repair_turns,
    turns_upper,
)
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, request_for, settings_for, talk
from codesum_pipeline_tests.support.llm_server import Answers, Says, ScriptedServer
from codesum_pipeline_tests.support.settings import changed

# A millionth of a dollar for each token.
LLM = LlmSettings(
    model="some/model", max_attempts=1, max_retries=0, form="json_text",
    prices=(ModelPrice(model="some/model", input=1.0, output=1.0), ModelPrice(model="b/dear", input=10.0, output=10.0)),
)  # fmt: skip
TURNS = 8 * 500 + 4_000 + 200


def tokens(**llm: Any) -> float:
    """What a text with a first request of 1,000 tokens costs at most, in millionths of a dollar."""
    settings = changed(LLM, **llm)
    return TextCeiling.of(settings, max_tokens=500, retries=settings.max_retries).usd(1_000) * 1e6


@pytest.mark.parametrize(
    ("llm", "most"),
    [
        pytest.param({}, 1_500, id="one call"),
        pytest.param({"max_attempts": 3}, 3 * 1_500 + TURNS + 2 * TURNS, id="a repair has what was said before"),
        pytest.param({"max_retries": 4}, 5 * 1_500, id="a call that broke may have been billed"),
        pytest.param({"max_attempts": 2, "max_retries": 1}, 2 * (2 * 1_500 + TURNS), id="also a repair"),
        pytest.param({"fallback_models": ("b/dear",)}, 11 * 1_500, id="each model"),
        pytest.param({"backend": BackendName.REPLAY, "recording": "answers"}, 0, id="a recording costs nothing"),
    ],
)
def test_all_calls_that_the_settings_allow_count_at_their_highest_price(llm: dict[str, Any], most: float) -> None:
    assert tokens(**llm) == pytest.approx(most)


@pytest.mark.parametrize(
    ("form", "others"), [("auto", 3), ("tool", 3), ("required", 2), ("json_schema", 1), ("json_text", 0)]
)
def test_a_server_may_follow_no_form_from_the_first_one_on_but_the_last(form: str, others: int) -> None:
    assert tokens(form=form) == pytest.approx((1 + others) * 1_500)


def test_answers_before_another_form_was_taken_count_among_the_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer(lambda request: Says("" if request.number == 1 else "It adds up.")) as server:
        ended = talk(settings_for(server, form="tool"), request_for())
        seen = server.seen

    assert isinstance(ended, SummaryOutputInvalid)
    assert [len(request.turns) for request in seen] == [1, 3, 1, 1, 1, 3]


def test_a_model_without_a_price_has_no_bound() -> None:
    with pytest.raises(ConfigurationError, match="'c/unknown': its price is not known"):
        tokens(fallback_models=("c/unknown",))


def test_what_goes_back_to_the_model_is_cut_at_a_character_and_short_turns_are_whole() -> None:
    assert repair_turns("{}", "No field.", max_tokens=500) == ("{}", "No field.")

    answer, complaint = repair_turns("é" * 9_000, "🙂" * 9_000, max_tokens=500)

    assert answer == "é" * (MAX_BYTES_PER_TOKEN * 500 // 2)
    assert complaint == "🙂" * (MAX_COMPLAINT_BYTES // 4)
    assert turns_upper((answer, complaint)) == MAX_BYTES_PER_TOKEN * 500 + MAX_COMPLAINT_BYTES + 2 * TOKENS_PER_TURN


def test_a_dozen_complaints_in_plain_words_go_back_whole() -> None:
    with pytest.raises(AnswerProblem) as raised:
        raise_complaints([f"responsibilities.{number}.children: {'n' * 80!r} is no part" for number in range(99)])

    complaint = str(raised.value)
    assert complaint.count("\n- ") == 12
    assert repair_turns("", complaint, max_tokens=500) == ("", complaint)


def test_an_endless_answer_makes_no_dear_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not keep to the limit: what it said is sent back only in part, as words."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    endless = json.dumps({"purpose": "blank " * 10_000})
    with ScriptedServer(lambda request: Answers(endless)) as server:
        ended = talk(settings_for(server), request_for())
        seen = server.seen

    assert isinstance(ended, SummaryOutputInvalid)
    assert [len(request.turns) for request in seen] == [1, 3, 5]
    limit = MAX_BYTES_PER_TOKEN * request_for().max_tokens
    assert [turn["content"] for turn in seen[2].turns[1::2]] == [endless[:limit]] * 2
