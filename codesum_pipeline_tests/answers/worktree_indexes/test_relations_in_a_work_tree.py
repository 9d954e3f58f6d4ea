"""Who uses whom is answered of the work tree: nothing points to what it does not have."""

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.support.shop import SHOP

MONEY = SHOP["shop/money.py"]
EDITS = {
    "shop/money.py": "\n\n\n"
    + MONEY.replace("text = f", "check(amount)\n    text = f").replace(
        "amount: float) -> str", "amount: float, unit=1) -> str"
    )
    + "\n\ndef check(amount):\n    return round_cents(amount)\n",
    "shop/cart.py": SHOP["shop/cart.py"].replace("return round_cents(amount)", "return amount"),
    "shop/catalogue.py": SHOP["shop/catalogue.py"].replace("convert(self.price, rate)", "convert(self.price * 2, rate)")
    + "\n\ndef dearest(shelf):\n    from .base import Record\n\n    return Record(max(shelf))\n",
    "shop/till.py": "import base\n\nfrom shop.money import convert\n\n\n"
    "def count_till(coins):\n    amount = convert(coins, 2)\n    return base.Record(amount)\n",
    "shop/vault.py": "class Vault:\n    def save(self, store):\n        store.lock()\n        return store\n\n\n"
    "def close(thing):\n    thing.save(1)\n    return thing\n",
    "shop/rounding.py": 'def round_whole(amount):\n    """Round an amount to whole cents."""\n'
    "    cents = int(amount * 100 + 0.5)\n    return cents / 100\n",
    "shop/payment/card.py": SHOP["shop/payment/card.py"].replace("check_number", "verify_number"),
}
GONE = "shop/orders/delivery.py"


def edited(tree):
    tree.repo.write(EDITS)
    (tree.repo.path / GONE).unlink()
    return tree


@pytest.fixture(scope="module")
def shop(indexed_shop):
    """A work tree with all these edits."""
    return edited(indexed_shop.tree())


def related(page, relation):
    return {row.id: row for group in page.groups if group.relation == relation for row in group.rows}


def callers(tree, id_):
    return related(tree.ask("graph", id=id_, limit=50, tokens=9000), "callers")


def callees(tree, id_):
    return related(tree.ask("graph", id=id_, limit=50, tokens=9000), "callees")


def line_of(path, text):
    return EDITS[path].split("\n").index(text) + 1


def test_a_document_in_a_changed_file_has_its_lines_signature_and_own_calls(shop):
    page = shop.ask("get_symbol_info", id="format_amount")

    first = line_of("shop/money.py", "def format_amount(amount: float, unit=1) -> str:")
    assert (page.document.start_line, page.document.end_line) == (first, first + 5)
    assert "unit" in page.signature
    assert related(page, "callees").keys() == {"shop/money.py::check", "shop/money.py::round_cents"}


def test_callers_and_callees_across_files_have_the_lines_of_the_tree(shop):
    in_changed_file = callers(shop, "round_cents")["shop/money.py::convert"]
    of_unchanged_file = callees(shop, "tests/test_money.py::test_converting")["shop/money.py::convert"]

    first = line_of("shop/money.py", "def convert(amount: float, rate: float) -> float:")
    assert in_changed_file.start_line == of_unchanged_file.start_line == first
    assert "tests/test_money.py::test_converting" in callers(shop, "convert")


def test_a_call_that_an_edit_took_out_is_no_relation(shop):
    assert "shop/cart.py::Cart::total" not in callers(shop, "round_cents")
    assert "shop/money.py::round_cents" not in callees(shop, "Cart.total")
    assert "shop/money.py::format_amount" in callees(shop, "Cart.receipt")


def test_a_call_that_an_edit_left_stands_though_the_function_changed(shop):
    assert "shop/money.py::convert" in callees(shop, "Product.price_in")
    assert "shop/catalogue.py::Product::price_in" in callers(shop, "convert")


def test_a_new_call_by_a_name_that_is_sure_is_a_relation_and_a_librarys_name_is_none(shop):
    """`shop/base.py` is in a package: `import base` does not mean it."""
    page = shop.ask("get_dependencies", path="shop/till.py")

    assert callees(shop, "count_till").keys() == {"shop/money.py::convert"}
    assert "shop/till.py::count_till" in callers(shop, "convert")
    assert related(page, "imports").keys() == {"shop/money.py"}
    assert [group.names for group in page.groups if group.relation == "external"] == [["base"]]


def test_a_method_that_others_have_too_is_not_taken_for_the_one_of_a_changed_file(shop):
    """In the index of the changed files alone, its `save` is the only one."""
    assert "shop/vault.py::Vault::save" not in callees(shop, "shop/vault.py::close")


def test_what_is_gone_from_the_tree_is_no_relation_and_is_named(shop):
    page = shop.ask("graph", id="Order.send")

    assert not any(row.path == GONE for group in page.groups for row in group.rows)
    assert any(
        f"used {GONE}::Delivery" in note and "which the work tree does not have any more" in note for note in page.notes
    )
    assert "shop/payment/card.py::verify_number" in callees(shop, "pay_by_card")
    for gone in (f"{GONE}::Delivery", "shop/payment/card.py::check_number"):
        with pytest.raises(ConfigurationError, match=f"no document '{gone}'"):
            shop.ask("graph", id=gone)


def test_a_deleted_file_is_in_no_list_of_a_file_or_folder(shop):
    page = shop.ask("get_file_analysis", path="shop/orders/order.py")

    assert GONE not in {row.id for group in page.groups for row in group.rows}
    assert GONE not in {name for group in page.groups for name in group.names}
    assert any(f"used {GONE}" in note for note in page.notes)
    assert GONE not in related(shop.ask("graph", id="shop/orders"), "members")


def test_a_folder_has_the_files_of_the_tree(shop):
    members = related(shop.ask("graph", id="shop", relations=["members"], limit=50), "members")

    assert {"shop/till.py", "shop/money.py", "shop/base.py"} <= members.keys()
    assert list(related(shop.ask("graph", id="count_till"), "part_of")) == ["shop/till.py", "shop", "."]


def test_a_file_is_analysed_as_it_is(shop):
    page = shop.ask("get_file_analysis", path="shop/money.py")
    parts = {group.relation: [row.id for row in group.rows] for group in page.groups}

    assert parts["defines"][-1] == "shop/money.py::check"
    assert {"shop/cart.py", "shop/till.py", "tests/test_money.py"} <= {*parts["imported_by"]}
    used = parts["used by other files"]
    assert used.index("shop/money.py::convert") < used.index("shop/money.py::format_amount")


def test_what_is_like_a_new_function_is_found_in_unchanged_and_in_changed_files(shop):
    page = shop.ask("get_semantic_neighborhoods", id="round_whole")
    like = related(shop.ask("graph", id="round_cents", relations=["similar"], limit=50), "similar")

    assert page.neighbourhoods[-1].members[0].id == "shop/money.py::round_cents"
    assert next(iter(like)) == "shop/rounding.py::round_whole"
    assert "shop/base.py::Record::save" in like
    assert not any(id_.startswith(GONE) for id_ in like)


@pytest.mark.slow
def test_from_a_settled_tree_relations_are_exact(indexed_shop):
    tree = edited(indexed_shop.tree())
    assert not callees(tree, "dearest"), "a relative import of a new function lags"

    tree.settle()

    assert callees(tree, "dearest").keys() == {"shop/base.py::Record"}
    assert "shop/catalogue.py::dearest" in callers(tree, "shop/base.py::Record")
    assert not callees(tree, "shop/vault.py::close")


def test_no_relation_comes_from_another_work_tree(shop, indexed_shop):
    other = indexed_shop.tree()
    other.repo.write({"shop/other.py": EDITS["shop/till.py"].replace("count_till", "count_other")})
    calls = (
        ("graph", {"id": "convert", "limit": 50}),
        ("graph", {"id": "shop", "limit": 50, "tokens": 9000}),
        ("get_file_analysis", {"path": "shop/money.py"}),
    )

    for tool, arguments in calls:
        in_ours, in_other = shop.answer_text(tool, **arguments), other.answer_text(tool, **arguments)
        assert "shop/till.py" in in_ours and "shop/other.py" not in in_ours
        assert "shop/other.py" in in_other and "shop/till.py" not in in_other
