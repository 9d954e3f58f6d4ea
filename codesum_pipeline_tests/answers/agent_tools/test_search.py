import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.search_tool import SearchPage
from codesum_pipeline.answers.agent_tools.tool_answers import tokens_of
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline_tests.support.homes import built_once


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
    page = SearchPage(hits=[hit.model_copy(update={"text": "x" * 240, "telling": []})])
    with_lines = SearchPage(hits=[hit.model_copy(update={"text": "x" * 240, "telling": ["7\tif paid:"]})])

    assert page.text() == f"{hit.place}  function  {'x' * 159}…"
    assert with_lines.text() == f"{hit.place}  function  {'x' * 109}…\n    7\tif paid:"


def test_two_hits_show_lines_that_tell_why_they_fit(ask):
    hits = ask("search", query="sum of the item prices", repos=["shop"], levels=["function"]).hits

    assert [len(hit.telling) > 0 for hit in hits].count(True) == 2
    assert "28\tnet += item.price" in hits[0].telling
    assert all(len(hit.telling) <= 4 for hit in hits)


def test_a_file_has_two_places_and_the_names_of_its_other_hits(tmp_path):
    meals = ["meat", "bones", "fish", "milk", "eggs"]
    lions = "\n\n".join(f"def feed_{meal}(lion):\n    '''Feed {meal} to a lion.'''\n    return lion" for meal in meals)
    others = {
        f"{name}.py": f"def feed(it):\n    '''Feed the {name}.'''\n    return it\n" for name in ("cats", "dogs", "emus")
    }
    once = built_once(tmp_path, {"lions.py": lions, **others}, key="zoo")
    catalogue = IndexCatalogue.of(load_settings({"home": once / "home"}, environ={}))
    named: list[str] = []
    shared, cursor = 0, ""
    while True:
        arguments = {"query": "feed a lion", "levels": ["function"], "limit": 3, "cursor": cursor}
        page = tools_by_name()["search"].ask(ToolContext(catalogue, tmp_path), arguments)
        for hit in page.hits:
            named += [hit.id.partition("::")[2], *(other.partition(":")[0] for other in hit.others)]
            shared += len(hit.others)
            assert not hit.others or f"also in this file: {hit.others[0]}" in page.text()
        if page.next is None:
            break
        cursor = page.next

    assert shared
    assert sorted(named) == sorted([*(f"feed_{meal}" for meal in meals), *["feed"] * 3])


def test_who_asks_for_an_excerpt_gets_no_other_lines_and_each_hit_in_its_place(ask):
    page = ask("search", query="animal food", repos=["zoo"], limit=20, excerpt=2)

    assert not any(hit.telling or hit.others for hit in page.hits)


def test_what_a_hit_calls_is_not_said_twice(ask):
    (hit,) = ask("search", query="feed", repos=["zoo"], levels=["function"], limit=1).hits

    said = hit.model_copy(
        update={"calls": ["zoo.keeper.digest", "zoo.Cage.clean"], "telling": ["8\treturn digest(food)"]}
    )
    assert said.line().splitlines()[1] == "    calls: Cage.clean"


def test_cursors_lead_through_all_hits_and_each_comes_once(ask):
    whole = ids(ask("search", query="animal food", repos=["zoo"], limit=50, excerpt=1))
    found, cursor = [], ""
    while True:
        page = ask("search", query="animal food", repos=["zoo"], limit=3, excerpt=1, cursor=cursor)
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
