"""What changed since a cursor, edits that are not committed included."""

import pytest

from codesum_pipeline.answers.agent_tools.tool_answers import Cursor
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.work_trees import IndexedShop, Tree

MONEY = SHOP["shop/money.py"]
WEIGH = "\n\ndef weigh(coin):\n    grams = coin.weight\n    return grams\n"


def changes(page):
    return {change.id: str(change.change) for change in page.changes}


def watch(tree, cursor, **arguments):
    return tree.ask("watch_changes", cursor=cursor, **{"limit": 200, "tokens": 9000, **arguments})


def start(tree):
    """A cursor of who knows all of the tree as it is."""
    return watch(tree, "").next


def test_each_edit_is_told_once_and_its_end_too(tree):
    first = start(tree)
    tree.repo.write({"shop/money.py": MONEY.replace("+ 0.5", "+ 0.4") + WEIGH})
    edited = watch(tree, first)
    assert changes(edited) == {
        "shop/money.py": "changed",
        "shop/money.py::round_cents": "changed",
        "shop/money.py::weigh": "new",
    }
    assert "changed in the work tree: shop/money.py:6-9  function  round_cents" in tree.answer_text(
        "watch_changes", cursor=first
    )
    assert changes(watch(tree, edited.next)) == {}

    tree.repo.write({"shop/money.py": MONEY.replace("+ 0.5", "+ 0.4"), "shop/till.py": "COINS = 1\n"})
    second = watch(tree, edited.next)
    assert changes(second) == {"shop/money.py": "changed", "shop/money.py::weigh": "removed", "shop/till.py": "new"}

    tree.repo.git("checkout", "-q", "--", ".")
    (tree.repo.path / "shop/till.py").unlink()
    third = watch(tree, second.next)
    assert changes(third) == {
        "shop/money.py": "changed",
        "shop/money.py::round_cents": "changed",
        "shop/till.py": "removed",
    }
    assert changes(watch(tree, third.next)) == {}


def test_a_branch_switch_is_told_as_what_it_changes(tree):
    first = start(tree)
    tree.repo.git("checkout", "-q", "-b", f"lamps-{tree.repo.path.name}")
    tree.repo.git("rm", "-q", "shop/cli.py")
    tree.repo.commit({"shop/lamp.py": "def light_lamp(lamp):\n    lamp.on()\n    return lamp\n"})

    switched = watch(tree, first)

    assert changes(switched) == {
        "shop/cli.py": "removed", "shop/cli.py::main": "removed", "shop/cli.py::main::farewell": "removed",
        "shop/lamp.py": "new", "shop/lamp.py::light_lamp": "new",
    }  # fmt: skip
    assert "removed in the work tree: shop/cli.py  function  main.farewell" in switched.text()
    tree.repo.git("checkout", "-q", "--detach", "HEAD~1")
    back = changes(watch(tree, switched.next))
    assert (back["shop/lamp.py"], back["shop/cli.py::main"]) == ("removed", "new")


def test_a_page_that_is_cut_goes_on_where_it_ended_also_after_another_edit(tree):
    first = start(tree)
    tree.repo.write({"shop/money.py": MONEY.replace("+ 0.5", "+ 0.4") + WEIGH})
    one = watch(tree, first, limit=1)
    assert (len(one.changes), one.total) == (1, 3)
    tree.repo.write({"shop/a_new.py": "BELL = 1\n"})

    rest = watch(tree, one.next)

    assert changes(rest) == {
        "shop/a_new.py": "new",
        "shop/money.py::round_cents": "changed",
        "shop/money.py::weigh": "new",
    }


def test_status_tells_what_the_tree_changed_before_what_the_build_did(tree):
    tree.repo.write({"shop/money.py": MONEY + WEIGH})

    page = tree.ask("status", changes=3)

    assert [change.id for change in page.changes[:2]] == ["shop/money.py", "shop/money.py::weigh"]
    assert "what the work tree changed:\n    changed in the work tree: shop/money.py" in tree.answer_text(
        "status", changes=3
    )


@pytest.mark.slow
def test_an_edit_that_is_committed_and_indexed_since_is_not_told_again(tmp_path):
    shop = IndexedShop.create(tmp_path, {"a.py": "def one(x):\n    y = x + 1\n    return y\n"})
    tree = Tree(shop, shop.repo)
    first = start(tree)
    edit = {"a.py": "def one(x):\n    y = x + 2\n    return y\n\n\ndef two(x):\n    y = x * 2\n    return y\n"}
    shop.repo.write(edit)
    page = watch(tree, first)
    assert changes(page) == {"a.py": "changed", "a.py::one": "changed", "a.py::two": "new"}
    shop.repo.commit(edit)
    build(workspace_of(open_home(shop.home), RepositoryEntry("shop", str(shop.repo.path)), run_id="second"))

    later = watch(tree, page.next)

    assert not {"a.py", "a.py::one", "a.py::two"} & changes(later).keys()
    assert changes(watch(tree, later.next)) == {}


def test_what_is_not_kept_any_more_is_told_whole(tree):
    tree.repo.write({"shop/money.py": MONEY + WEIGH})
    cursor = start(tree)
    for path in tree.shop.catalogue.layout.tree_views("shop").iterdir():
        path.unlink()

    page = watch(tree, cursor)

    assert changes(page) == {"shop/money.py": "changed", "shop/money.py::weigh": "new"}
    assert any("is not kept any more" in note for note in page.notes)


@pytest.mark.parametrize("cursor", ["garbage", "e30=", "é", "x" * 5000])
def test_a_cursor_that_is_none_is_an_error_that_says_so(tree, cursor):
    with pytest.raises(ConfigurationError, match="is damaged: give `next` of an answer unchanged"):
        watch(tree, cursor)


def test_a_cursor_of_another_repository_or_tool_is_refused(tree):
    with pytest.raises(ConfigurationError, match="belongs to another question"):
        watch(tree, str(Cursor.after("watch_changes", {"repo": "zoo"}, (3, 7), {"zoo": "digest"})))
    with pytest.raises(ConfigurationError, match="is of the tool 'search'"):
        watch(tree, tree.ask("search", query="money", limit=1).next)


@pytest.mark.slow
def test_no_change_of_another_work_tree_is_told(indexed_shop):
    ours, theirs = indexed_shop.tree(), indexed_shop.tree()
    first = start(ours)
    theirs.repo.write({"shop/theirs.py": "THEIRS = 1\n"})

    assert changes(watch(ours, first)) == {}
    assert "shop/theirs.py" in changes(watch(theirs, ""))
    assert "shop/theirs.py" not in changes(watch(ours, ""))
