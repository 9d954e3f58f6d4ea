"""What is shown fits the terminal it is shown on."""

from codesum_pipeline.cli.render import Rows, table
from codesum_pipeline_tests.cli.terminal import on_a_terminal

SELECT = "SELECT id, type, start_line FROM documents WHERE type = 'class' ORDER BY id"


def test_a_table_that_fits_has_a_line_a_row(shop, tmp_path):
    shown = on_a_terminal("--home", shop, "sql", SELECT, cwd=tmp_path, width=80)

    assert [line.split() for line in shown] == [
        ["id", "type", "start_line"],
        ["─" * len(shown[1])],
        ["shop/orders.py::OrderBook", "class", "8"],
    ]


def test_a_table_too_wide_for_its_terminal_is_shown_row_by_row(shop, tmp_path):
    shown = on_a_terminal("--home", shop, "sql", SELECT, cwd=tmp_path, width=36)

    assert shown == ["shop/orders.py::OrderBook", "  type class · start_line 8"]


def test_no_name_of_a_repository_is_cut_on_a_narrow_terminal(shop, tmp_path):
    shown = on_a_terminal("--home", shop, "status", cwd=tmp_path, width=40)

    assert shown[0] == "shop"
    assert shown[1].startswith("  state up to date · indexed ")
    assert max(map(len, shown)) <= 40


def test_a_table_is_the_same_whatever_its_rows_come_in():
    assert table(["a"], iter([["x"]])) == Rows(("a",), (("x",),), frozenset())
