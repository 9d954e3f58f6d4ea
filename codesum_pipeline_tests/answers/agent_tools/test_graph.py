import shutil

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


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


def test_what_is_left_out_of_a_relation_is_counted(ask, answer_text):
    assert "members (1 of " in answer_text("graph", id="zoo/animals.py", limit=1)
    assert any("ask for it alone" in note for note in ask("graph", id="zoo/animals.py", limit=1).notes)


def test_a_place_stands_for_what_is_around_it(ask):
    assert ask("graph", id="zoo/animals.py:10").document.id == "zoo/animals.py::Animal::eat"
    assert ask("graph", id="zoo/animals.py:1").document.id == "zoo/animals.py"


def test_unknown_relations_are_named(ask):
    with pytest.raises(ConfigurationError, match="relation 'cousins' is unknown; relations are: part_of, "):
        ask("graph", id="Lion", relations=["cousins"])
    assert any("'cousins'" in note for note in ask("graph", id="Lion", relations=["bases", "cousins"]).notes)


def test_a_file_is_analysed_without_being_read(ask, answer_text):
    parts = {group.relation: group for group in ask("get_file_analysis", path="zoo/animals.py").groups}

    assert [row.text.partition(":")[0] for row in parts["defines"].rows] == [
        "Animal", "Animal.eat", "Lion", "Lion.roar", "Cub", "digest",
    ]  # fmt: skip
    assert "zoo/animals.py::digest" in {row.id for row in parts["used by other files"].rows}
    assert [row.id for row in parts["imported_by"].rows] == ["zoo/keeper.py"]
    assert parts["external"].names == ["json"]
    assert "    language: python\ndefines\n" in answer_text("get_file_analysis", path="zoo/animals.py")


def test_a_summary_that_its_row_cuts_is_told_whole_of_a_file(tmp_path):
    summary = f"Counts {'what is in the boxes and ' * 6}what is in the bags."
    repo = GitRepo.create(tmp_path / "bags", {"bags.py": f'"""{summary}"""\n\nSIZE = 3\n'})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("bags", str(repo.path))))
    call = ToolContext(IndexCatalogue.of(open_home(tmp_path / "home").settings), tmp_path)

    page = tools_by_name()["get_file_analysis"].ask(call, {"path": "bags.py"})
    assert page.details == ["language: python", summary]


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


def test_a_repository_is_shown_by_its_parts_and_what_is_used_most(ask, answer_text):
    page = ask("overview", repo="zoo")

    assert page.summary.startswith("Zoo")
    assert [(part.id, part.files) for part in page.parts] == [("zoo", 6)]
    assert page.languages[0].name == "python"
    assert "zoo/animals.py" in [row.id for row in page.files]
    assert (page.frameworks[0].name, page.frameworks[0].place) == ("Flask", "pyproject.toml:4")
    assert "most used definitions\n    zoo/animals.py:" in answer_text("overview", repo="zoo")


def test_an_overview_is_of_one_repository(ask):
    with pytest.raises(ConfigurationError, match="name one repository: repo is one of shop, zoo"):
        ask("overview")


def test_frameworks_and_entry_points_have_their_places(ask, answer_text):
    page = ask("get_framework_analysis", repo="zoo")

    found = {each.name: each for each in page.findings}
    assert (found["Flask"].kind, found["Flask"].place, found["Flask"].text) == (
        "web framework",
        "pyproject.toml:4",
        ">=3",
    )
    assert (found["open-zoo"].kind, found["open-zoo"].place) == ("entry point", "pyproject.toml:8")
    only = ask("get_framework_analysis", repo="zoo", kinds=["entry point", "orm"])
    assert [each.name for each in only.findings] == ["open-zoo"]
    assert any("kind 'orm' is not found here" in note for note in only.notes)
    assert "pyproject.toml:4  web framework  Flask: >=3" in answer_text("get_framework_analysis", repo="zoo")


def test_findings_go_on_with_a_cursor(ask):
    whole = [each.name for each in ask("get_framework_analysis", repo="zoo").findings]
    found, cursor = [], ""
    for _ in whole:
        page = ask("get_framework_analysis", repo="zoo", limit=1, cursor=cursor)
        found += [each.name for each in page.findings]
        cursor = page.next or ""

    assert found == whole
    assert cursor == ""


def test_neighbourhoods_are_communities_named_by_their_own_words(ask):
    page = ask("get_semantic_neighborhoods", repo="zoo")

    tickets = next(each for each in page.neighbourhoods if "ticket" in each.name)
    assert tickets.kind == "community"
    assert tickets.folder == "zoo/tickets.py"
    assert {row.path for row in tickets.members} == {"zoo/tickets.py"}


def test_around_a_document_are_its_community_and_what_is_like_it(ask):
    page = ask("get_semantic_neighborhoods", id="sell_ticket")

    assert [each.kind for each in page.neighbourhoods] == ["community", "alike"]
    assert page.neighbourhoods[1].members[0].path == "zoo/tickets.py"


def test_facts_of_another_version_are_left_out_and_it_is_said(zoo_home, tmp_path):
    shutil.copytree(zoo_home, tmp_path / "home", symlinks=True)
    (table,) = (tmp_path / "home" / "warehouse" / "overviews").glob("repo=zoo/*")
    table.unlink()
    call = ToolContext(IndexCatalogue.of(load_settings({"home": tmp_path / "home"}, environ={})), tmp_path)

    page = tools_by_name()["overview"].ask(call, {"repo": "zoo"})
    assert page.frameworks == []
    assert any("`codesum index zoo` finds them out" in note for note in page.notes)
    assert page.files
