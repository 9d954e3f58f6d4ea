import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.answers.agent_tools.tool_answers import Cursor, take_fitting, tokens_of
from codesum_pipeline.foundation.data_model.errors import ConfigurationError


@given(st.lists(st.text(max_size=80)), st.integers(1, 20), st.integers(0, 100))
def test_what_fits_is_a_beginning_within_both_bounds(texts, limit, tokens):
    kept = take_fitting(texts, str, limit=limit, tokens=tokens)

    assert kept == texts[: len(kept)]
    assert len(kept) <= limit
    assert len(kept) == 1 or sum(tokens_of(f"{text}\n") for text in kept) <= tokens
    assert bool(kept) == bool(texts)


@given(st.lists(st.integers(0, 10**6), max_size=3), st.dictionaries(st.text(max_size=8), st.text(max_size=70)))
def test_a_cursor_comes_back_as_it_was_given(at, versions):
    cursor = Cursor.after("search", {"query": "x"}, at, versions)

    assert Cursor.read(str(cursor), "search", {"query": "x"}) == cursor
    assert cursor.changed(versions) == []


@given(st.text(max_size=60), st.integers(0, 40), st.characters(codec="ascii"))
def test_a_damaged_cursor_is_refused_whatever_it_is(text, place, other):
    whole = str(Cursor.after("search", {"query": "x"}, (3,), {"shop": "a" * 64}))
    damaged = whole[:place] + other + whole[place + 1 :]

    for each in (text, damaged):
        if each != whole:
            with pytest.raises(ConfigurationError, match="is damaged"):
                Cursor.read(each, "search")


def test_a_cursor_is_short_since_agents_pay_for_it_in_each_answer():
    cursor = Cursor.after("search", {"query": "x" * 1000}, (10,), {"shop": "a" * 64})

    assert re.fullmatch(r"search\.10\.\d{6}\.\d{6}\.\d{6}", str(cursor))


def test_a_cursor_names_the_repositories_that_were_published_since_and_new_ones():
    cursor = Cursor.after("search", {"query": "x"}, (10,), {"shop": "a" * 64, "zoo": "b" * 64})

    assert cursor.changed({"shop": "a" * 64, "zoo": "c" * 64, "new": "d" * 64}) == ["new", "zoo"]
