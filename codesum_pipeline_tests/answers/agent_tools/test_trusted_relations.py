"""What a compiler's index confirms is told from what was read off the syntax, wherever neighbours are shown."""

import pytest

from codesum_pipeline.answers.agent_tools.surroundings import TRUST_LEGEND, TRUST_MARK
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline_tests.answers.worktree_indexes.conftest import indexed_shop
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.mcp_client import server_of, text_of, with_client
from codesum_pipeline_tests.support.scip_shops import put_index
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.work_trees import IndexedShop, Tree

__all__ = ["indexed_shop"]

CONVERT, ROUND, TOTAL = "shop/money.py::convert", "shop/money.py::round_cents", "shop/cart.py::Cart::total"
PRICE, TEST = "shop/catalogue.py::Product::price_in", "tests/test_money.py::test_converting"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedShop:
    """An index says nothing about the catalogue, and all about the other files."""
    folder = tmp_path_factory.mktemp("trusted")
    put_index(folder / "home", {path: text for path, text in SHOP.items() if path != "shop/catalogue.py"})
    return IndexedShop.create(folder, SHOP)


@pytest.fixture(scope="module")
def tree(shop: IndexedShop) -> Tree:
    return shop.tree()


def trusted(page: AnswerPage, relation: str) -> dict[str, bool]:
    groups = (group for group in page.groups if group.relation == relation)
    return {row.id: row.trusted for group in groups for row in group.rows}


def test_a_caller_that_an_index_confirms_is_told_from_one_that_it_does_not(tree: Tree) -> None:
    assert trusted(tree.ask("graph", id=CONVERT), "callers") == {PRICE: False, TEST: True}
    assert trusted(tree.ask("graph", id=CONVERT), "callees") == {ROUND: True}


def test_what_is_reached_by_several_steps_is_trusted_where_all_of_them_are(tree: Tree) -> None:
    found = trusted(tree.ask("graph", id=ROUND, relations=["callers"], depth=2, limit=50), "callers")

    assert (found[CONVERT], found[TEST], found[PRICE]) == (True, True, False)


def test_text_marks_what_is_trusted_and_says_once_what_the_mark_means(tree: Tree) -> None:
    lines = tree.answer_text("graph", id=CONVERT).split("\n")

    marked = [line.split()[0] for line in lines if line.endswith(f"  {TRUST_MARK}")]
    assert marked == ["tests/test_money.py:8-9", "shop/money.py:6-9"]
    assert lines.count(TRUST_LEGEND) == 1


def test_without_an_index_no_character_is_spent_on_it(indexed_shop: IndexedShop) -> None:
    tree = indexed_shop.tree()

    assert TRUST_MARK not in tree.answer_text("graph", id=CONVERT)
    done = fork_codesum("--home", tree.shop.home, "show", CONVERT, cwd=tree.repo.path)
    assert TRUST_MARK not in done.stdout
    document, _ = tree.codesum("show", CONVERT)
    assert {each["trusted"] for each in document["called_by"]} == {False}


def test_show_marks_trusted_neighbours_of_functions_and_classes(tree: Tree) -> None:
    shown = fork_codesum("--home", tree.shop.home, "show", CONVERT, cwd=tree.repo.path).stdout
    document, _ = tree.codesum("show", "shop/cart.py::Cart")

    assert f"{TEST} {TRUST_MARK}  " in shown
    assert f"{PRICE}  " in shown
    assert shown.count(TRUST_LEGEND) == 1
    assert {each["id"]: each["trusted"] for each in document["called_by"]} == {
        "shop/cli.py::main": False,
        "shop/orders/order.py::Order::amount": True,
        "shop/orders/order.py::Order::amount#b81d61": True,
        "tests/test_cart.py::test_total": True,
    }
    assert {each["trusted"] for each in document["parents"]} == {False}


def test_hits_with_their_context_mark_trusted_neighbours(tree: Tree) -> None:
    arguments = ("search", "convert", "--context", "--top", "2")
    shown = fork_codesum("--home", tree.shop.home, *arguments, cwd=tree.repo.path).stdout
    answer, _ = tree.codesum(*arguments)

    (hit,) = (each for each in answer["hits"] if each["id"] == CONVERT)
    assert {each["id"]: each["trusted"] for each in hit["called_by"]} == {PRICE: False, TEST: True}
    assert f"{TEST} {TRUST_MARK}  " in shown
    assert shown.count(TRUST_LEGEND) == 1


def test_an_agent_gets_the_mark_and_the_same_as_values(shop: IndexedShop) -> None:
    answer = with_client(server_of(shop.home), lambda client: client.call_tool("graph", {"id": CONVERT}))

    assert TRUST_LEGEND in text_of(answer)
    (callers,) = (group for group in answer.structured_content["groups"] if group["relation"] == "callers")
    assert {row["id"]: row.get("trusted") for row in callers["rows"]} == {PRICE: None, TEST: True}


def test_in_a_work_tree_nothing_is_trusted_that_a_changed_file_has_a_part_in(shop: IndexedShop) -> None:
    """An index says nothing of a changed file, and nothing sure of files that import it."""
    tree = shop.tree()
    tree.repo.write({"shop/money.py": SHOP["shop/money.py"] + "\n\ndef free() -> float:\n    return 0.0\n"})

    assert trusted(tree.ask("graph", id=CONVERT), "callers") == {PRICE: False, TEST: False}
    assert trusted(tree.ask("graph", id=CONVERT), "callees") == {ROUND: False}
    assert trusted(tree.ask("graph", id="Order.amount"), "callees") == {TOTAL: False}
    assert trusted(tree.ask("graph", id="shop/base.py::Record"), "subclasses")["shop/base.py::Named"]
    assert trusted(tree.ask("graph", id=TOTAL), "callers")["tests/test_cart.py::test_total"]
    document, _ = tree.codesum("show", TOTAL)
    assert {each["id"]: each["trusted"] for each in document["called_by"]}["tests/test_cart.py::test_total"]


def test_a_deleted_file_takes_the_trust_in_what_imported_it(shop: IndexedShop) -> None:
    tree = shop.tree()
    (tree.repo.path / "shop/orders/delivery.py").unlink()

    assert trusted(tree.ask("graph", id="Order.amount"), "callees") == {TOTAL: False}
    assert trusted(tree.ask("graph", id=CONVERT), "callees") == {ROUND: True}
