"""A server compares a work tree anew only where somebody who follows it says that it may have changed."""

from itertools import count
from shutil import rmtree

import pytest
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.compared_trees import ComparedTree, ComparedTrees
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex

BELL = "def ring_bell(bell):\n    bell.swing()\n    return bell\n"


class Says:
    """A follower that says of one tree what it was told to, and nothing of others."""

    def __init__(self, root):
        self.root, self.number = root, 1

    def follow(self, root, name, prepare):
        """It is there already."""

    def generation(self, root):
        return self.number if root == self.root else None


@pytest.fixture
def follower(tree):
    return Says(tree.repo.path)


@pytest.fixture
def names(tree, follower):
    """Functions of the tree that have the word `bell` in their names, as a call of a followed catalogue finds them."""
    catalogue = replace(tree.shop.catalogue, follower=follower, compared=ComparedTrees())

    def ask():
        page = tools_by_name()["search_symbols"].ask(ToolContext(catalogue, tree.repo.path), {"name": "ring_bell"})
        return [hit.id for hit in page.hits if "bell" in hit.id]

    return ask


def test_a_tree_that_has_not_changed_is_not_compared_again_and_one_that_has_is(tree, follower, names):
    assert names() == []
    tree.repo.write({"shop/bell.py": BELL})
    assert names() == [], "who follows it said that nothing changed"

    follower.number = 2
    assert names() == ["shop/bell.py::ring_bell"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda overlay: overlay.with_name(f"{overlay.name}-settled").mkdir(), id="its settled index came"),
        pytest.param(rmtree, id="its overlay is gone"),
    ],
)
def test_a_tree_that_is_not_settled_is_compared_again_after_a_change_of_its_indexes(tree, names, change):
    overlays = tree.shop.catalogue.layout.overlays("shop")
    tree.repo.write({"shop/bell.py": BELL})
    assert names() == ["shop/bell.py::ring_bell"]
    (tree.repo.path / "shop/bell.py").unlink()
    assert names() == ["shop/bell.py::ring_bell"], "who follows it said that nothing changed"

    change(max(overlays.iterdir(), key=lambda path: path.stat().st_mtime_ns))
    assert names() == []


def test_a_tree_that_nobody_follows_is_compared_each_time(tree, follower, names):
    follower.number = None
    assert names() == []
    tree.repo.write({"shop/bell.py": BELL})

    assert names() == ["shop/bell.py::ring_bell"]


def test_another_tree_of_the_repository_is_never_taken_for_it(tree, follower, indexed_shop):
    other = indexed_shop.tree()
    other.repo.write({"shop/bell.py": BELL})
    catalogue = replace(indexed_shop.catalogue, follower=follower, compared=ComparedTrees())

    for folder, expected in ((tree.repo.path, False), (other.repo.path, True), (tree.repo.path, False)):
        page = tools_by_name()["search_symbols"].ask(ToolContext(catalogue, folder), {"name": "ring_bell"})
        assert any(hit.id == "shop/bell.py::ring_bell" for hit in page.hits) is expected


def test_what_is_made_of_a_trees_indexes_is_made_once_until_it_is_compared_again(tree):
    root, base, numbers, compared = tree.repo.path, tree.shop.catalogue.open("shop"), count(), ComparedTrees()
    first, second = TreeIndex((base,), root), TreeIndex((base,), root)

    def made_of(each, name):
        return compared.make_once("shop", each, name, numbers.__next__)

    compared.keep("shop", root, ComparedTree(base, first, 1))
    assert [made_of(first, "uses"), made_of(first, "uses"), made_of(first, "others")] == [0, 0, 1]
    assert made_of(second, "uses") == 2, "it is not the last comparison"
    compared.keep("shop", root, ComparedTree(base, second, 2))
    assert [made_of(second, "uses"), made_of(second, "uses")] == [3, 3]
