"""In a checkout `codesum search` answers for the work tree as it is, whatever its index was made of."""

import json

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


def function(name, says, does):
    return f'def {name}(x):\n    """{says}"""\n    {does}\n    return x\n'


FILES = {
    "src/door.py": function("open_door", "Unlock the front door with a key.", "x.unlock()"),
    "src/till.py": function("count_money", "Add up the coins in the till.", "x.total = sum(x)"),
    "src/stock.py": function("order_goods", "Order what is missing from the shelves.", "x.order()"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("built"), FILES)


@pytest.fixture
def shop(built, tmp_path):
    return copy_built(built, tmp_path, repository="shop")


def search(repo, query, *arguments, home=None):
    """The hits, by id, and what is said beside them."""
    home = home or repo.path.parent / "home"
    done = fork_codesum("--home", home, "search", query, "--json", *arguments, cwd=repo.path)
    assert done.returncode == 0, done.stderr
    return {hit["id"]: hit for hit in json.loads(done.stdout)["hits"]}, done.stderr


def test_a_clean_tree_is_answered_by_its_index_alone(shop):
    hits, remarks = search(shop, "unlock the front door")

    assert hits["src/door.py::open_door"]["start_line"] == 1
    assert remarks == ""
    assert not (shop.path.parent / "home" / "overlays").exists()


def test_an_edit_is_found_with_the_lines_and_the_text_that_it_has_now(shop):
    window = function("open_window", "Unlatch the kitchen window.", "x.unlatch()")
    shop.write({"src/door.py": f'"""Doors."""\n\n\n{window}'})

    hits, remarks = search(shop, "unlatch the kitchen window", "--excerpt", "1")

    found = hits["src/door.py::open_window"]
    assert (found["start_line"], found["end_line"]) == (4, 7)
    assert "Unlatch the kitchen window" in found["summary"]
    assert "window" in found["excerpt"]["lines"][0]
    assert next(iter(hits)).startswith("src/door.py")
    assert "src/door.py::open_door" not in search(shop, "unlock the front door")[0]
    assert f"with the work tree {shop.path}: 1 file differs; " in remarks


def test_a_file_that_git_does_not_know_yet_is_found(shop):
    shop.write({"tools/bell.py": function("ring_bell", "Ring the bell at closing time.", "x.ring()")})

    hits, _ = search(shop, "ring the bell at closing time")

    assert "tools/bell.py::ring_bell" in hits
    assert "tools" in search(shop, "bell", "--level", "module")[0]


def test_a_renamed_file_is_found_under_its_new_name_alone(shop):
    shop.git("mv", "src/till.py", "src/register.py")

    hits, _ = search(shop, "add up the coins in the till")

    assert "src/register.py::count_money" in hits
    assert not any(id_.startswith("src/till.py") for id_ in hits)


def test_a_deleted_file_gives_no_hits_and_a_deleted_folder_none_either(shop):
    for path in FILES:
        (shop.path / path).unlink()
    shop.write({"README.md": "# Shop\n\nNothing is left of it.\n"})

    hits, _ = search(shop, "unlock the front door")

    assert not any(id_.startswith("src") for id_ in hits)


def test_another_branch_is_answered_as_it_is(shop):
    shop.git("checkout", "-q", "-b", "lamps")
    shop.commit_exactly({"src/lamp.py": function("light_lamp", "Light the lamp over the counter.", "x.on()")})

    hits, _ = search(shop, "light the lamp over the counter")
    assert "src/lamp.py::light_lamp" in hits
    assert not any(id_.startswith("src/door.py") for id_ in search(shop, "unlock the front door")[0])

    shop.git("checkout", "-q", "main")
    assert "src/lamp.py::light_lamp" not in search(shop, "light the lamp over the counter")[0]


@pytest.mark.parametrize("count", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_many_work_trees_share_one_index_and_no_hit_comes_from_another(shop, tmp_path, count):
    home = open_home(tmp_path / "home")
    catalogue = IndexCatalogue(home.settings, home.layout, home.registry)
    trees = [GitRepo(tmp_path / f"tree-{number}") for number in range(count)]
    for number, tree in enumerate(trees):
        shop.git("worktree", "add", "-q", "-b", f"branch-{number}", str(tree.path))
        tree.write({f"src/brass_{number}.py": function(f"polish_{number}", "Polish the brass handles.", "x.polish()")})

    def polishing(tree):
        arguments = {"query": "polish the brass handles", "limit": 20}
        page = tools_by_name()["search"].ask(ToolContext(catalogue, tree.path), arguments)
        return {hit.id for hit in page.hits if "polish" in hit.id}

    for number, tree in enumerate(trees):
        assert polishing(tree) == {f"src/brass_{number}.py::polish_{number}"}
    assert polishing(shop) == set()


def test_equal_trees_are_indexed_once(shop):
    shop.write({"src/door.py": "def shut():\n    return door.shut(1)\n"})
    kept = shop.path.parent / "home" / "overlays" / "shop"
    search(shop, "shut")
    first = {path.name: path.stat().st_ino for path in kept.iterdir()}
    search(shop, "shut")

    assert {path.name: path.stat().st_ino for path in kept.iterdir()} == first
    assert len(first) == 1


def test_what_the_rules_keep_out_is_no_part_of_a_tree(shop):
    shop.write(
        {".gitignore": "", "src/logo.png": b"\x89PNG\x00", "node_modules/x/index.js": "function x() { return 1 }\n"}
    )

    hits, _ = search(shop, "function x")

    assert not any(id_.startswith(("src/logo", "node_modules")) for id_ in hits)


def test_nothing_that_a_tree_configures_runs(shop, tmp_path):
    ran = tmp_path / "ran"
    shop.git("config", "core.fsmonitor", f"touch {ran}")
    shop.git("config", "filter.evil.clean", f"touch {ran}; cat")
    shop.write({".gitattributes": "*.py filter=evil\n", "src/door.py": "def shut():\n    return door.shut(1)\n"})

    assert "src/door.py::shut" in search(shop, "shut")[0]
    assert not ran.exists()


def test_a_tree_that_cannot_be_compared_is_answered_by_its_index_and_that_is_said(shop):
    (shop.path / ".git" / "index").write_bytes(b"no index")

    hits, remarks = search(shop, "unlock the front door")

    assert "src/door.py::open_door" in hits
    assert "was not compared" in remarks


def test_an_edited_function_is_ranked_as_in_an_index_of_the_tree(shop):
    """Among a thousand functions a word is rare that is in every one of an edited file's."""
    many = {f"lib/part_{n}.py": function(f"part_{n}", f"Turn wheel number {n}.", f"x.turn({n})") for n in range(40)}
    shop.commit(many)
    home = open_home(shop.path.parent / "home")
    build(workspace_of(home, RepositoryEntry("shop", str(shop.path))))
    shop.write({"src/door.py": FILES["src/door.py"].replace("return x", "x.creak()\n    return x")})

    hits, _ = search(shop, "unlock the front door")

    assert next(iter(hits)) == "src/door.py::open_door"
