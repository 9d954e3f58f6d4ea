import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline.ways_in.agent_tools.search_tool import SearchPage
from codesum_pipeline.ways_in.agent_tools.tool_answers import tokens_of


def ids(page):
    return [(hit.repo, hit.id) for hit in page.hits]


def test_a_hit_is_a_line_with_its_place_and_the_answer_names_its_commit(answer_text):
    lines = answer_text("search", query="charge a card", repos=["shop"], limit=1).splitlines()

    assert lines[0].startswith("as of: shop @ ")
    assert lines[0].endswith(", at HEAD")
    assert lines[1].startswith("shop/payment.py:4-9  function  charge_card: Ask the bank for money")


def test_several_repositories_are_named_in_their_rows(ask, answer_text):
    assert {repo for repo, _ in ids(ask("search", query="food card", limit=20))} == {"shop", "zoo"}
    rows = answer_text("search", query="food card", limit=20).splitlines()
    assert any(row.startswith("zoo  zoo/") for row in rows)


def test_five_hits_are_shown_and_the_others_are_one_call_away(ask):
    page = ask("search", query="animal food")

    assert len(page.hits) == 5
    assert page.next is not None


def test_a_row_says_no_more_than_an_agent_needs_to_judge_it(ask):
    (hit,) = ask("search", query="charge a card", repos=["shop"], limit=1).hits
    page = SearchPage(hits=[hit.model_copy(update={"text": "x" * 240})])

    assert page.text() == f"{hit.place}  function  {'x' * 159}…"


def test_cursors_lead_through_all_hits_and_each_comes_once(ask):
    whole = ids(ask("search", query="animal food", repos=["zoo"], limit=50))
    found, cursor = [], ""
    while True:
        page = ask("search", query="animal food", repos=["zoo"], limit=3, cursor=cursor)
        assert page.shown == len(page.hits) <= 3
        found += ids(page)
        if page.next is None:
            break
        cursor = page.next

    assert found == whole
    assert len(set(found)) == len(found) > 3


@pytest.mark.parametrize("tokens", [100, 300, 1000])
def test_an_answer_is_no_longer_than_it_may_be(ask, answer_text, tokens):
    page = ask("search", query="animal food", limit=50, tokens=tokens, excerpt=5)
    text = answer_text("search", query="animal food", limit=50, tokens=tokens, excerpt=5)

    rows = [line for line in text.splitlines() if not line.startswith(("as of", "note", "shown"))]
    assert page.shown == 1 or tokens_of("\n".join(rows)) <= tokens
    assert page.next is not None


def test_an_excerpt_is_the_lines_that_fit_with_their_numbers(answer_text):
    text = answer_text(
        "search", query="sum of the item prices", repos=["shop"], levels=["function"], limit=1, excerpt=2
    )

    assert "    27\t    for item in basket:\n    28\t        net += item.price" in text


def test_unknown_filter_values_are_left_out_and_named(ask):
    page = ask(
        "search",
        query="feed animals",
        repos=["zoo", "zo0"],
        levels=["function", "methd"],
        languages=["python", "pyhton"],
        paths=["zoo/", "nowhere/"],
    )

    assert {hit.kind for hit in page.hits} == {"function"}
    notes = "\n".join(page.notes)
    for expected in ("'zo0'", "'zoo'", "'methd'", "'pyhton'", "'python'", "'nowhere/'"):
        assert expected in notes


def test_a_repository_that_nobody_knows_is_an_error_with_the_nearest(ask):
    with pytest.raises(UnknownRepository, match="'shpo'; the nearest is 'shop'"):
        ask("search", query="card", repos=["shpo"])


def test_a_level_that_nobody_knows_is_an_error_with_all_levels(ask):
    with pytest.raises(ConfigurationError, match="level 'methd' is unknown; levels are: function, class, file, module"):
        ask("search", query="card", levels=["methd"])


def test_it_is_said_that_nothing_fits(ask):
    page = ask("search", query="quantum chromodynamics lattice simulation of gluons")

    assert page.fits_well is False
    assert any("nothing fits well" in note for note in page.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "the query is empty"),
        ({"query": "x" * 100_000}, "query has 100,000 characters"),
        ({"query": 3}, "query = 3: Input should be a valid string"),
        ({"query": "x", "limit": -1}, "limit = -1: Input should be greater than or equal to 1"),
        ({"query": "x", "limit": 10**9}, "limit = 1000000000: Input should be less than or equal to 100"),
        ({"query": "x", "limt": 3}, "unknown argument 'limt'; arguments are: limit, "),
        ({"query": "x", "tests": "maybe"}, "tests = 'maybe': Input should be 'in', 'out' or 'only'"),
        ({"query": "x", "cursor": "abc"}, "cursor 'abc' is damaged"),
        ({"query": "x", "cursor": "é" * 10_000}, "is damaged: give `next` of an answer unchanged"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_the_way_out(ask, arguments, message):
    with pytest.raises(ConfigurationError) as error:
        ask("search", **arguments)

    assert message in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_list_may_be_written_as_json_or_as_one_name(ask):
    as_list = ids(ask("search", query="card", levels=["function", "class"], repos=["shop"]))

    assert ids(ask("search", query="card", levels='["function", "class"]', repos="shop")) == as_list


def test_a_cursor_of_another_question_or_tool_is_refused(ask):
    cursor = ask("search", query="card", limit=1).next

    with pytest.raises(ConfigurationError, match="belongs to another question"):
        ask("search", query="lions", limit=1, cursor=cursor)
    with pytest.raises(ConfigurationError, match="is of the tool 'search'"):
        ask("search_symbols", name="card", cursor=cursor)


def test_a_hostile_name_stays_within_its_row(answer_text):
    text = answer_text("search", query="attack victim", repos=["zoo"], levels=["function"], limit=1)

    assert [line for line in text.splitlines() if line.startswith("as of: ")] == text.splitlines()[:1]
    assert "\x1b" not in text
    assert "attack" in text.splitlines()[1]
