"""Short texts stay whole; the longest give way first, at a line's or a sentence's end."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.budgets import (
    CUT_MARK,
    LEAST_SHOWN,
    Entry,
    body_budget,
    common_cap,
    cut_to_fit,
    fill_entries,
    prompt_chars,
    water_fill,
)
from codesum_pipeline.texts.summaries.by_model.choosing import ModelSetup
from codesum_pipeline.texts.summaries.by_model.prompting import rank_sibling

PROSE = st.text(alphabet="ab .\n", max_size=400)


def test_a_budget_is_what_is_left_of_the_usable_share() -> None:
    assert body_budget(10_000, system="s" * 3_000, wrapper_chars=400, boilerplate_chars=100) == 5_000


def test_a_negative_budget_names_the_setting_and_the_value_that_would_do() -> None:
    with pytest.raises(ConfigurationError, match="llm.max_prompt_chars = 1,000: 850 .* at least 1,177") as raised:
        body_budget(1_000, system="s" * 800, wrapper_chars=200)

    assert "shorten the templates" in str(raised.value)
    assert body_budget(1_177, system="s" * 800, wrapper_chars=200) >= 0


def test_what_fits_stays_as_it_is() -> None:
    assert water_fill(["abc", "", "d"], 4, about="m") == ("abc", "", "d")


def test_only_bodies_above_the_common_cap_are_cut_and_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    long, longer = "Line of the text.\n" * 10, "Line of the text.\n" * 100
    with caplog.at_level(logging.WARNING):
        filled = water_fill(["short", long, longer], 400, about="module src")

    assert filled == ("short", long, "Line of the text.\n" * 11 + CUT_MARK)
    assert caplog.messages == ["module src: 1 of 3 texts cut to 215 characters each to fit the prompt"]


@given(st.lists(PROSE, max_size=12), st.integers(0, 3_000))
def test_filled_bodies_fit_and_none_is_cut_that_is_within_the_cap(bodies: list[str], budget: int) -> None:
    filled = water_fill(bodies, budget, about="m")

    assert sum(map(len, filled)) <= budget
    cap = common_cap([len(body) for body in bodies], budget)
    for body, shown in zip(bodies, filled, strict=True):
        assert shown == body if cap is None or len(body) <= cap else len(shown) <= cap
    if cap is not None:
        assert sum(min(len(body), cap + 1) for body in bodies) > budget


@given(PROSE, st.integers(0, 400))
def test_a_cut_body_is_a_beginning_of_it_and_a_mark(body: str, cap: int) -> None:
    shown = cut_to_fit(body, cap)

    assert len(shown) <= max(cap, 0) or shown == body
    assert shown in ("", body) or body.startswith(shown.removesuffix(CUT_MARK).rstrip())


@pytest.mark.parametrize(
    ("body", "cap", "shown"),
    [
        pytest.param("one\ntwo\nthree\nfour\nfive\nsix", 25, f"one\ntwo\nthree\n{CUT_MARK}", id="at a line's end"),
        pytest.param("One thing. Two things. Three things.", 28, f"One thing.\n{CUT_MARK}", id="at a sentence's end"),
        pytest.param("v1.2.3 of the program is here", 20, f"v1.2.3\n{CUT_MARK}", id="not at a dot within a word"),
        pytest.param("一つ。" * 7, 18, f"一つ。一つ。\n{CUT_MARK}", id="at a full-width stop"),
        pytest.param("x" * 60, 30, f"{'x' * 19}\n{CUT_MARK}", id="a line without any end, where it must be"),
        pytest.param("abcdefghijklmno", 9, "", id="nothing where not even the mark has room"),
    ],
)  # fmt: skip
def test_a_body_is_cut(body: str, cap: int, shown: str) -> None:
    assert cut_to_fit(body, cap) == shown


def test_entries_that_could_show_nothing_are_counted_instead(caplog: pytest.LogCaptureFixture) -> None:
    entries = [Entry(f"child {number}: ", "A sentence about it. " * 20) for number in range(50)]
    with caplog.at_level(logging.WARNING):
        filled, left_out = fill_entries(entries, 1_000, about="module src")

    shown = len(filled)
    assert shown == 1_000 // (len("child 0: ") + LEAST_SHOWN) == 50 - left_out
    assert [entry.head for entry in filled] == [entry.head for entry in entries[:shown]]
    assert all(entry.body.startswith("A sentence about it.") for entry in filled)
    assert sum(len(entry.head) + len(entry.body) for entry in filled) <= 1_000
    assert caplog.messages[0] == "module src: 39 of 50 children left out to fit the prompt"


def test_short_entries_leave_their_room_to_others() -> None:
    entries = [Entry("a: ", "short"), Entry("b: ", "y" * 200), Entry("c: ", "short")]

    filled, left_out = fill_entries(entries, 110, about="m")

    assert left_out == 0
    assert [entry.body for entry in filled] == ["short", f"{'y' * 80}\n{CUT_MARK}", "short"]


def test_children_are_ordered_by_what_they_are_themselves() -> None:
    public = rank_sibling(is_public=True, complexity=1, line_count=2, source_order=9)
    complex_ = rank_sibling(is_public=False, complexity=9, line_count=5, source_order=1)
    long = rank_sibling(is_public=False, complexity=2, line_count=50, source_order=8)
    early = rank_sibling(is_public=False, complexity=2, line_count=5, source_order=2)
    late = rank_sibling(is_public=False, complexity=2, line_count=5, source_order=3)

    assert sorted([late, early, long, complex_, public]) == [public, complex_, long, early, late]


@pytest.mark.parametrize(
    ("model", "fallbacks", "setting", "expected"),
    [
        pytest.param("openai/gpt-4o-mini", (), None, 4 * 128_000, id="the list says"),
        pytest.param("anthropic/claude-haiku-4-5", ("openai/gpt-4",), None, 4 * 8_192, id="the smallest of all models"),
        pytest.param("openai/gpt-4", ("anthropic/claude-haiku-4-5",), None, 4 * 8_192, id="in any order"),
        pytest.param("openai/own", (), None, 200_000, id="nobody says"),
        pytest.param("openai/own", (), 50_000, 50_000, id="the setting alone says"),
        pytest.param("openai/own", (), 500_000, 500_000, id="the setting says more than the default"),
        pytest.param("openai/own", ("openai/gpt-4",), 50_000, 4 * 8_192, id="the list says of one"),
        pytest.param("openai/gpt-4o-mini", ("openai/own",), None, 200_000, id="nobody says of one"),
        pytest.param("openai/gpt-4o-mini", (), 50_000, 50_000, id="the setting says less"),
        pytest.param("openai/gpt-4", (), 500_000, 4 * 8_192, id="no setting makes a model longer"),
    ],
)
def test_a_prompt_is_as_long_as_the_smallest_model_that_may_be_asked_takes_it(
    model: str, fallbacks: tuple[str, ...], setting: int | None, expected: int
) -> None:
    options = LlmSettings(model=model, fallback_models=fallbacks, max_prompt_chars=setting)

    assert prompt_chars(options) == expected


def test_the_key_of_a_text_holds_the_number_and_not_where_it_comes_from() -> None:
    def parameters(**changed: Any) -> str:
        llm = LlmSettings(model="openai/gpt-4o-mini", **changed)
        return ModelSetup(Settings(home="/nowhere", llm=llm), {}).parameters

    assert parameters() == parameters(max_prompt_chars=4 * 128_000) == parameters(max_prompt_chars=10_000_000)
    assert parameters() != parameters(max_prompt_chars=200_000)
    # What texts were written under before the list was asked.
    assert parameters(max_prompt_chars=200_000) == "77468f2fb6f49952a5cb7a05269bae86579bbb18"
