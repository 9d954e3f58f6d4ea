import pytest

from codesum_pipeline.model.errors import ConfigurationError


def group(page, relation):
    found = [each for each in page.groups if each.relation == relation]
    return [row.id for row in found[0].rows] if found else []


def test_callers_and_callees_are_found_across_files(ask):
    page = ask("graph", id="zoo/keeper.py::feed")

    assert group(page, "callers") == ["zoo/keeper.py::feed_all"]
    assert group(page, "callees") == ["zoo/animals.py::digest"]


def test_depth_follows_callers_and_says_how_many_steps(ask):
    (found,) = ask("graph", id="digest", relations=["callers"], depth=3).groups

    steps = {row.id: row.distance for row in found.rows}
    assert steps["zoo/keeper.py::feed"] == 1
    assert steps["zoo/keeper.py::feed_all"] == 2
    assert steps["zoo/keeper.py::open_gates"] == 3


def test_bases_and_subclasses_are_found(ask):
    page = ask("get_symbol_info", id="Lion")

    assert group(page, "bases") == ["zoo/animals.py::Animal"]
    assert group(page, "subclasses") == ["zoo/animals.py::Cub"]
    assert group(page, "members") == ["zoo/animals.py::Lion::roar"]
    assert group(page, "part_of") == ["zoo/animals.py", "zoo", "."]
    assert page.signature == "class Lion(Animal)"


def test_a_file_says_what_it_imports_and_who_imports_it(ask):
    assert group(ask("get_dependencies", path="zoo/keeper.py"), "imports") == ["zoo/animals.py"]
    page = ask("get_dependencies", path="zoo/animals.py")
    assert group(page, "imported_by") == ["zoo/keeper.py"]
    assert [each.names for each in page.groups if each.relation == "external"] == [["json"]]


def test_a_folder_says_what_leaves_it_and_not_what_stays_inside(ask):
    page = ask("get_dependencies", path="zoo/")

    assert group(page, "imports") == group(page, "imported_by") == []
    assert [each.names for each in page.groups] == [["json"]]


def test_one_relation_goes_on_with_its_cursor(ask):
    first = ask("graph", id="zoo/animals.py", relations=["similar"], limit=1)
    second = ask("graph", id="zoo/animals.py", relations=["similar"], limit=1, cursor=first.next)

    assert first.total == second.total > 1
    assert {*group(first, "similar")}.isdisjoint(group(second, "similar"))


def test_what_is_left_out_of_a_relation_is_counted(ask, told):
    assert "members (1 of " in told("graph", id="zoo/animals.py", limit=1)
    assert any("ask for it alone" in note for note in ask("graph", id="zoo/animals.py", limit=1).notes)


def test_a_place_stands_for_what_is_around_it(ask):
    assert ask("graph", id="zoo/animals.py:10").document.id == "zoo/animals.py::Animal::eat"
    assert ask("graph", id="zoo/animals.py:1").document.id == "zoo/animals.py"


def test_unknown_relations_are_named(ask):
    with pytest.raises(ConfigurationError, match="relation 'cousins' is unknown; relations are: part_of, "):
        ask("graph", id="Lion", relations=["cousins"])
    assert any("'cousins'" in note for note in ask("graph", id="Lion", relations=["bases", "cousins"]).notes)


def test_a_file_is_analysed_without_being_read(ask, told):
    page = ask("get_file_analysis", path="zoo/animals.py")

    assert [row.text.partition(":")[0] for row in page.defines.rows] == [
        "Animal", "Animal.eat", "Lion", "Lion.roar", "Cub", "digest",
    ]  # fmt: skip
    assert {each.id: each.users for each in page.exports}["zoo/animals.py::digest"] >= 1
    assert [row.id for row in page.imported_by.rows] == ["zoo/keeper.py"]
    assert page.external == ["json"]
    assert "language: python" in told("get_file_analysis", path="zoo/animals.py")


def test_a_folder_is_no_file(ask):
    with pytest.raises(ConfigurationError, match="'zoo' is a folder"):
        ask("get_file_analysis", path="zoo/")


@pytest.mark.parametrize(
    ("name", "expected", "match"),
    [
        ("feed", "zoo/keeper.py::feed", "exact"),
        ("Animal.eat", "zoo/animals.py::Animal::eat", "exact"),
        ("feed_", "zoo/keeper.py::feed_all", "prefix"),
        ("gates", "zoo/keeper.py::open_gates", "part"),
        ("digset", "zoo/animals.py::digest", "near"),
    ],
)
def test_symbols_are_found_by_name_also_nearly_so(ask, name, expected, match):
    first = ask("search_symbols", name=name).hits[0]

    assert (first.id, first.match) == (expected, match)


def test_a_repository_is_shown_by_its_parts_and_what_is_used_most(ask, told):
    page = ask("overview", repo="zoo")

    assert page.summary.startswith("Zoo")
    assert [(part.id, part.files) for part in page.parts] == [("zoo", 5)]
    assert page.languages[0].name == "python"
    assert "zoo/animals.py" in [row.id for row in page.files]
    assert "most used definitions\n    zoo/animals.py:" in told("overview", repo="zoo")


def test_an_overview_is_of_one_repository(ask):
    with pytest.raises(ConfigurationError, match="name one repository: repo is one of shop, zoo"):
        ask("overview")
