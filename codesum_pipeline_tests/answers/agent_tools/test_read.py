import pytest

from codesum_pipeline.answers.agent_tools import call
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model import nearest_names
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.support.homes import built_once


def test_lines_are_counted_from_one_and_both_ends_are_read(ask):
    (item,) = ask("read", ids=["zoo/long.py"], start_line=3, end_line=5).items

    assert (item.first_line, item.last_line) == (3, 5)
    assert item.lines == ["LINE_3 = 3", "LINE_4 = 4", "LINE_5 = 5"]


def test_two_hundred_lines_are_read_and_the_rest_is_named(ask, answer_text):
    (item,) = ask("read", ids=["zoo/long.py"]).items

    assert len(item.lines) == 200
    assert item.more_lines == 300
    assert "300 more lines: read zoo/long.py:201-500" in answer_text("read", ids=["zoo/long.py"])


def test_what_a_note_of_more_lines_says_can_be_read_as_it_stands(ask):
    (item,) = ask("read", ids=["zoo/long.py:201-500"]).items

    assert item.lines[0] == "LINE_201 = 201"
    assert item.more_lines == 100


def test_several_are_read_at_once_by_id_name_and_place(ask):
    page = ask("read", ids=["zoo/animals.py::Lion::roar", "Animal.eat", "zoo/keeper.py:6-8", "zoo/", "README.md"])

    assert [item.id for item in page.items] == [
        "zoo/animals.py::Lion::roar",
        "zoo/animals.py::Animal::eat",
        "zoo/keeper.py::feed",
        "zoo",
        "README.md",
    ]
    assert page.items[2].lines == [
        "def feed(animal, food):",
        '    """Give food to an animal."""',
        "    return digest(food)",
    ]
    assert page.items[3].lines == []


def test_a_function_that_is_read_whole_comes_with_its_callers_and_nothing_that_its_lines_say(answer_text):
    lines = answer_text("read", ids=["shop/orders.py::OrderBook::place"]).splitlines()

    assert lines[0] == "14-21  function  OrderBook.place"
    assert lines[1].startswith("    called by: ")
    assert lines[2] == "14\t    def place(self, basket, card):"
    assert len(lines) == 2 + 8


def test_a_path_is_repeated_only_where_the_caller_did_not_name_it(answer_text):
    assert answer_text("read", ids=["OrderBook.place"]).splitlines()[0].startswith("shop/orders.py:14-21  function  ")
    assert answer_text("read", ids=["shop/orders.py:15-16"]).splitlines()[0] == "14-21  function  OrderBook.place"
    assert answer_text("read", ids=["shop/orders.py"]).splitlines()[0].startswith("shop/orders.py:1  file  ")


def test_each_of_several_has_its_path_also_where_one_is_skipped_or_a_cursor_goes_on(ask, answer_text):
    ids = ["shop/orders.py:15-16", "zoo/long.py:501", "zoo/keeper.py:6-8"]
    place, feed = "shop/orders.py:14-21  function  OrderBook.place", "zoo/keeper.py:6-8  function  feed"
    begun = ask("read", ids=ids, limit=1)

    assert place in begun.text().splitlines()
    assert feed in answer_text("read", ids=ids, limit=1, cursor=begun.next).splitlines()
    assert {place, feed} < {*answer_text("read", ids=ids).splitlines()}
    assert feed in answer_text("read", ids=ids[1:]).splitlines()


def test_what_is_known_of_a_function_is_its_summary(answer_text):
    text = answer_text("read", ids=["shop/orders.py::OrderBook::place"], parts="summary")

    assert "raises ValueError when total <= 0: an order needs a price" in text


def test_the_first_line_and_every_tenth_have_their_numbers(answer_text):
    lines = answer_text("read", ids=["zoo/long.py:8-21"]).splitlines()[1:]

    assert lines[:4] == ["8\tLINE_8 = 8", "\tLINE_9 = 9", "10\tLINE_10 = 10", "\tLINE_11 = 11"]
    assert [line.partition("\t")[0] for line in lines if line[0] != "\t"] == ["8", "10", "20"]


def test_a_method_is_meant_by_its_class_and_name_without_the_namespaces_around(tmp_path):
    source = "module Shop\n  class Till\n    def close(sum)\n      sum.store\n    end\n  end\nend\n"
    once = built_once(tmp_path, {"till.rb": source, "other.rb": source.replace("Till", "Gate")}, key="names")
    context = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), tmp_path)
    read = tools_by_name()["read"]

    assert [item.path for item in read.ask(context, {"ids": ["Till.close"]}).items] == ["till.rb"]
    assert [item.path for item in read.ask(context, {"ids": ["till::close"]}).items] == ["till.rb"]
    with pytest.raises(ConfigurationError, match="no document 'ill.close'"):
        read.ask(context, {"ids": ["ill.close"]})


def test_lines_that_were_asked_for_come_without_what_is_said_of_their_file(ask):
    (item,) = ask("read", ids=["shop/orders.py:1-3"]).items

    assert (item.facts, len(item.lines)) == ({}, 3)


def test_lines_that_were_asked_for_come_with_the_name_alone_of_what_they_stand_in(answer_text):
    text = answer_text("read", ids=["shop/orders.py:14-21"])

    assert text.splitlines()[0] == "14-21  function  OrderBook.place"


@pytest.mark.parametrize(("parts", "has_facts", "has_lines"), [("summary", True, False), ("source", False, True)])
def test_one_part_alone_is_read(ask, parts, has_facts, has_lines):
    (item,) = ask("read", ids=["shop/orders.py::OrderBook::place"], parts=parts).items

    assert (bool(item.facts), bool(item.lines)) == (has_facts, has_lines)


def test_an_excerpt_is_the_lines_that_fit_a_query(ask):
    (item,) = ask("read", ids=["zoo/long.py"], query="LINE_321", excerpt=1).items

    assert (item.first_line, item.lines) == (321, ["LINE_321 = 321"])


def test_lines_that_are_not_there_are_named_by_a_note_beside_others(ask):
    page = ask("read", ids=["zoo/long.py:501", "zoo/long.py:3-4", "zoo/long.py:9-8"])

    assert [item.first_line for item in page.items] == [3]
    assert page.notes == [
        "line 501 of 'zoo/long.py': the file has 500 lines",
        "lines 9-8 of 'zoo/long.py': the last is before the first",
    ]
    with pytest.raises(ConfigurationError, match="the file has 500 lines"):
        ask("read", ids=["zoo/long.py:501", "zoo/long.py:502"])


def test_cursors_lead_through_all_lines_and_each_comes_once(ask):
    found, cursor = [], ""
    for _ in range(100):
        page = ask("read", ids=["zoo/long.py:1-150", "zoo/keeper.py"], parts="source", tokens=200, cursor=cursor)
        found += [(item.id, item.first_line + place) for item in page.items for place in range(len(item.lines))]
        if page.next is None:
            break
        cursor = page.next

    assert found == [("zoo/long.py", line) for line in range(1, 151)] + [("zoo/keeper.py", n) for n in range(1, 20)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["zoo/long.py"], "start_line": 9, "end_line": 3}, "lines 9-3 of 'zoo/long.py': the last is before"),
        ({"ids": ["zoo/long.py"], "start_line": 9000}, "line 9000 of 'zoo/long.py': the file has 500 lines"),
        ({"ids": ["zoo/long.py:501"]}, "line 501 of 'zoo/long.py': the file has 500 lines"),
        ({"ids": ["README.md", "zoo"], "start_line": 1}, "start_line and end_line are of one id, 2 were given"),
        ({"ids": ["zoo/keeprr.py"]}, "no document 'zoo/keeprr.py' in shop, zoo; nearest: zoo/keeper.py"),
        ({"ids": []}, "ids = []: List should have at least 1 item"),
        ({"ids": [""]}, "the id is empty"),
        ({"ids": ["x" * 3000]}, "ids.0 has 3,000 characters"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_the_way_out(ask, arguments, message):
    with pytest.raises(ConfigurationError) as error:
        ask("read", **arguments)

    assert message in str(error.value)


def test_of_several_documents_that_are_meant_the_others_are_named(ask):
    page = ask("read", ids=["README.md"])

    assert len(page.items) == 1
    assert any("2 documents are meant by 'README.md'" in note for note in page.notes)


@pytest.mark.parametrize("compared", [3, 1_000], ids=["many", "few"])
def test_of_many_ids_the_nearest_is_found_however_many_are_compared_at_once(monkeypatch, compared):
    monkeypatch.setattr(nearest_names, "COMPARED_AT_ONCE", compared)
    ids = [f"zoo/other{number}.py" for number in range(20)]

    assert call.nearest_ids("zoo/keeprr.py", [*ids, "zoo/keeper.py"])[0] == "zoo/keeper.py"
