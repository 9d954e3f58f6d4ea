"""`codesum show` and the context of hits are of the work tree."""

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.shop import SHOP

MONEY = SHOP["shop/money.py"]


@pytest.fixture(scope="module")
def tree(indexed_shop):
    """Lines of a file moved by two, one of its functions has another name and there is a new one."""
    tree = indexed_shop.tree()
    tree.repo.write(
        {
            "shop/money.py": "\n\n"
            + MONEY.replace("format_amount", "write_amount")
            + "\n\ndef weigh(coin):\n    return round_cents(coin)\n"
        }
    )
    return tree


def test_a_document_is_shown_as_the_tree_has_it_with_what_stands_around_it_there(tree):
    shown, _ = tree.codesum("show", "shop/money.py::round_cents")

    assert shown["start_line"] == MONEY.split("\n").index("def round_cents(amount: float) -> float:") + 3
    called_by = {each["id"] for each in shown["called_by"]}
    assert {"shop/money.py::weigh", "shop/cart.py::Cart::total"} <= called_by
    assert [each["id"] for each in shown["parents"]] == ["shop/money.py", "shop", "."]
    children = {each["id"] for each in tree.codesum("show", "shop/money.py")[0]["children"]}
    assert "shop/money.py::write_amount" in children and "shop/money.py::format_amount" not in children


def test_an_unchanged_document_names_nothing_that_the_tree_does_not_have(tree):
    shown, remarks = tree.codesum("show", "shop/cart.py::Cart::receipt")

    assert "shop/money.py::format_amount" not in {each["id"] for each in shown["calls"]}
    assert "shop/money.py::format_amount" not in shown["dependencies"]
    assert "used shop/money.py::format_amount at the indexed commit" in remarks
    done = fork_codesum("--home", tree.shop.home, "show", "shop/money.py::format_amount", cwd=tree.repo.path)
    assert done.returncode != 0
    assert "no document 'shop/money.py::format_amount' in shop; nearest: " in done.stderr


def test_the_context_of_a_hit_is_that_of_the_tree(tree):
    found, _ = tree.codesum("search", "round an amount to whole cents", "--context", "--context-tokens", "9000")

    hit = next(hit for hit in found["hits"] if hit["id"] == "shop/money.py::round_cents")
    assert "shop/money.py::weigh" in {each["id"] for each in hit["called_by"]}
    assert hit["parents"][0]["id"] == "shop/money.py"


def test_for_a_person_it_is_said_of_which_tree_a_document_is(tree):
    done = fork_codesum("--home", tree.shop.home, "show", "shop/money.py::weigh", cwd=tree.repo.path)

    assert "weigh" in done.stdout
    assert f"with the work tree {tree.repo.path}: 1 file differs" in done.stderr
