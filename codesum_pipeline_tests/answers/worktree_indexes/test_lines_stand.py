"""Every answer says of what it is, and which of its lines may be others by now."""

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes.opening import MOST_FILES
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.work_trees import IndexedShop

MONEY = SHOP["shop/money.py"]
CALLS = {
    "search": {"query": "round an amount"},
    "grep": {"pattern": "round_cents"},
    "read": {"ids": ["round_cents"]},
    "graph": {"id": "round_cents"},
    "overview": {},
    "impact": {},
    "status": {},
    "get_codebase_overview": {},
    "get_framework_analysis": {},
    "get_semantic_neighborhoods": {},
    "search_symbols": {"name": "round_cents"},
    "get_symbol_info": {"id": "round_cents"},
    "get_dependencies": {"path": "shop/money.py"},
    "get_file_analysis": {"path": "shop/money.py"},
    "watch_changes": {},
}


@pytest.fixture
def shop(indexed_shop):
    """The indexed shop, whose own work tree may be edited: it is put right afterwards."""
    git, commit = indexed_shop.repo.git, indexed_shop.repo.git("rev-parse", "HEAD").strip()
    yield indexed_shop
    (indexed_shop.repo.path / ".git" / "index").unlink(missing_ok=True)
    git("config", "core.autocrlf", "false")
    git("reset", "-q", "--hard", commit)
    git("clean", "-fdq")


def outside(shop, tool, **arguments):
    """A call from a folder that is no checkout."""
    return tools_by_name()[tool].ask(ToolContext(shop.catalogue, shop.home.parent), arguments)


def marks(page):
    return {hit.id: hit.changed_since for hit in page.hits}


def test_every_tool_says_of_which_tree_it_answers_and_how_far_behind_that_is(indexed_shop):
    assert CALLS.keys() == tools_by_name().keys()
    tree = indexed_shop.tree()
    tree.repo.commit({"shop/money.py": MONEY + "\n\nMORE = 1\n"})
    tree.repo.write({"shop/till.py": "COINS = 1\n"})

    for tool, arguments in CALLS.items():
        (as_of,) = tree.ask(tool, **arguments).as_of
        assert (as_of.behind, as_of.tree, as_of.differ, as_of.is_settled) == (1, str(tree.repo.path), 2, False), tool
        assert f"1 commit behind HEAD, with the work tree {tree.repo.path}: 2 files differ; calls between" in str(as_of)
        assert tree.answer_text(tool, **arguments).startswith("as of: shop @ ")


def test_the_command_lines_json_says_it_too(indexed_shop):
    tree = indexed_shop.tree()
    tree.repo.write({"shop/till.py": "COINS = 1\n"})

    found, _ = tree.codesum("search", "round an amount")
    shown, _ = tree.codesum("show", "shop/money.py")

    for (as_of,) in (found["as_of"], shown["as_of"]):
        assert (as_of["behind"], as_of["differ"], as_of["tree"]) == (0, 1, str(tree.repo.path))
    assert not any(hit["changed_since"] for hit in found["hits"])


def test_outside_of_the_checkout_a_hit_whose_file_changed_is_marked_and_the_file_is_named(shop):
    shop.repo.write({"shop/money.py": f"\n{MONEY}"})

    page = outside(shop, "search", query="round an amount to whole cents", limit=20)

    assert marks(page)["shop/money.py::round_cents"]
    assert {id_.partition("::")[0] for id_, is_changed in marks(page).items() if is_changed} == {"shop/money.py"}
    assert any(
        "changed since the indexed commit of shop, lines may be others: shop/money.py;" in note for note in page.notes
    )
    assert "(changed since)" in page.text()
    shop.repo.git("checkout", "-q", "--", ".")
    assert not any(marks(outside(shop, "search", query="round an amount to whole cents")).values())


def test_a_row_deep_in_an_answer_is_marked_too(shop):
    shop.repo.commit({"shop/cart.py": SHOP["shop/cart.py"] + "\n\nMORE = 1\n"})

    page = outside(shop, "graph", id="round_cents")

    marked = {row.id: row.changed_since for group in page.groups for row in group.rows}
    assert marked["shop/cart.py::Cart::total"]
    assert not marked["shop/money.py::convert"]


def test_a_deleted_file_is_changed_and_a_folder_is_never(shop):
    (shop.repo.path / "shop/money.py").unlink()

    assert all(row.changed_since for row in outside(shop, "read", ids=["shop/money.py"]).items)
    assert not any(row.changed_since for row in outside(shop, "read", ids=["shop"]).items)


@pytest.mark.slow
def test_of_an_entry_with_a_ref_the_branch_is_compared_and_not_what_is_checked_out(tmp_path):
    shop = IndexedShop.create(tmp_path, SHOP, ref="main")
    shop.repo.git("checkout", "-q", "-b", "other")
    shop.repo.commit({"shop/money.py": f"\n{MONEY}"})
    assert not any(marks(outside(shop, "search", query="round an amount")).values())

    shop.repo.git("branch", "-f", "main", "other")
    assert marks(outside(shop, "search", query="round an amount"))["shop/money.py::round_cents"]


def test_where_git_makes_line_ends_of_its_own_a_file_has_not_changed(shop):
    shop.repo.git("config", "core.autocrlf", "true")
    (shop.repo.path / "shop/money.py").unlink()
    shop.repo.git("checkout", "-q", "--", ".")
    assert b"\r\n" in (shop.repo.path / "shop/money.py").read_bytes()

    assert not any(marks(outside(shop, "search", query="round an amount")).values())


@pytest.mark.slow
def test_in_a_tree_that_cannot_be_indexed_what_differs_is_marked(tree):
    tree.repo.write(
        {"shop/money.py": f"\n{MONEY}"} | {f"notes/{number}.md": "A note.\n" for number in range(MOST_FILES)}
    )

    page = tree.ask("search", query="round an amount to whole cents", limit=20)

    assert {id_.partition("::")[0] for id_, is_changed in marks(page).items() if is_changed} == {"shop/money.py"}
    assert any(f"and {MOST_FILES - 4:,} more differ from the index" in note for note in page.notes)
    assert page.as_of[0].lags == "they are answered as the commit has them"
    assert not page.as_of[0].is_settled


def test_in_a_tree_that_git_cannot_read_the_files_of_an_answer_are_compared_one_by_one(shop):
    shop.repo.write({"shop/money.py": f"\n{MONEY}"})
    (shop.repo.path / ".git" / "index").write_bytes(b"no index")

    page = tools_by_name()["search"].ask(ToolContext(shop.catalogue, shop.repo.path), {"query": "round an amount"})

    assert marks(page)["shop/money.py::round_cents"]
    assert any("was not compared" in note for note in page.notes)
    assert page.as_of[0].differ is None


def test_a_name_that_git_would_read_as_a_pattern_is_one_file(tmp_path):
    names = (":(glob)*.py", ":!b.py", "a\nb.py")
    shop = IndexedShop.create(tmp_path, dict.fromkeys(names, "def odd_name(x):\n    y = x + 1\n    return y\n"))
    shop.repo.write({names[1]: "def odd_name(x):\n    y = x + 2\n    return y\n"})

    page = outside(shop, "search_symbols", name="odd_name")

    assert {hit.path: hit.changed_since for hit in page.hits} == {names[0]: False, names[1]: True, names[2]: False}
