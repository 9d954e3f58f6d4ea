"""What `codesum search` shows of a hit besides the hit."""

import json
import shutil

import pytest
from msgspec.structs import replace
from rich.console import Console
from rich.padding import Padding

from codesum_pipeline.answers.agent_tools.surroundings import DocumentRelations, RelatedDocument
from codesum_pipeline.search.retrieval.hits import Excerpt
from codesum_pipeline.ways_in.cli.document_views import describe_neighbours, number_excerpt
from codesum_pipeline.ways_in.cli.render import indent_part, make_fields


def first_hit(codesum, home, *arguments):
    result = codesum(home, "search", *arguments, "--top", "1", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)["hits"][0]


def test_an_excerpt_is_the_lines_that_fit_best(codesum, shop):
    hit = first_hit(codesum, shop, "sum of the item prices", "--level", "function", "--excerpt", "2")

    assert hit["id"] == "shop/orders.py::total_price"
    assert hit["excerpt"] == {
        "start_line": 27,
        "lines": ["    for item in basket:", "        net += item.price"],
    }


def test_an_excerpt_stands_below_the_hit_with_its_line_numbers(codesum, shop):
    shown = codesum(shop, "search", "total_price", "--top", "1", "--excerpt", "1").stdout

    assert shown.splitlines()[-1] == "     24 def total_price(basket):"


def test_a_folder_has_no_excerpt(codesum, shop):
    assert first_hit(codesum, shop, "orders", "--level", "module", "--excerpt", "3")["excerpt"] is None


def test_the_context_is_what_stands_around_the_hit(codesum, shop):
    hit = first_hit(codesum, shop, "total_price", "--context")

    assert [parent["id"] for parent in hit["parents"]] == ["shop/orders.py", "shop", "."]
    assert [caller["id"] for caller in hit["called_by"]] == ["shop/orders.py::OrderBook::place"]
    assert (hit["children"], hit["calls"], hit["dependencies"]) == ([], [], [])
    assert "excerpt" not in hit


def test_people_get_the_context_below_the_hit(codesum, shop):
    shown = codesum(shop, "search", "total_price", "--top", "1", "--context").stdout.splitlines()

    assert "   part of    shop/orders.py  " in shown[4]
    assert any(line.startswith("   called by  shop/orders.py::OrderBook::place  Charge the card") for line in shown)


def test_a_hit_without_its_source_is_shown_and_the_reason_told(codesum, own_shop):
    shutil.rmtree(own_shop / "mirrors")

    result = codesum(own_shop, "search", "total_price", "--excerpt", "3", "--top", "1", "--json")

    assert json.loads(result.stdout)["hits"][0]["excerpt"] is None
    lines_stand, no_excerpt = result.stderr.splitlines()
    assert lines_stand.startswith("shop: it is not known whether line numbers are still right: git ls-tree failed: ")
    assert no_excerpt.startswith("no excerpt of shop/orders.py in shop: git cat-file failed: ")
    assert no_excerpt.endswith("; `codesum index shop --force` fetches it anew")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["for people", "for programs"])
def test_lines_of_a_source_cannot_act_on_the_terminal(codesum, shop, form):
    shown = codesum(shop, "search", "ask the bank for money", "--excerpt", "9", "--context", *form).stdout

    assert "three times" in shown
    assert all(line.replace("\t", "").isprintable() for line in shown.split("\n"))


def rendered(renderable, width):
    console = Console(width=width, highlight=False, markup=False, color_system=None)
    with console.capture() as captured:
        console.print(renderable)
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]


NEIGHBOURS = DocumentRelations(
    parents=(
        RelatedDocument("src/a_long_path_of_a_file.py", "file", "Keeps [red]what[/red] \x1b[31mbelongs together."),
    ),
    children=(), called_by=(), referenced_by=(), calls=(), dependencies=("os.path.join",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        pytest.param(
            100,
            ["  part of     src/a_long_path_of_a_file.py  Keeps [red]what[/red] belongs together.",
             "  depends on  os.path.join"],
            id="both",
        ),
        pytest.param(
            70,
            ["  part of     src/a_long_path_of_a_file.py  Keeps [red]what[/red] bel…", "  depends on  os.path.join"],
            id="the summary as far as there is room",
        ),
        pytest.param(
            50, ["  part of     src/a_long_path_of_a_file.py", "  depends on  os.path.join"], id="the id alone",
        ),
        pytest.param(
            38,
            ["  part of     src/", "              a_long_path_of_a_file.py", "  depends on  os.path.join"],
            id="an id is folded, and never cut",
        ),
    ],
)  # fmt: skip
def test_an_id_is_whole_and_its_summary_as_long_as_the_line(width, expected):
    assert rendered(make_fields(describe_neighbours(NEIGHBOURS, "shop.py")), width) == expected


def test_lines_are_cut_at_the_edge_and_keep_their_indentation():
    excerpt = Excerpt(9, ("def f():", "\treturn 'a long line that goes on \u202eand on'", "", "[b]x[/b]\u2028y"))

    assert rendered(Padding(number_excerpt(excerpt)), 30) == [
        " 9 def f():",
        "10     return 'a long line th…",
        "11",
        "12 [b]x[/b] y",
    ]


def test_what_is_shown_without_a_terminal_is_no_wider_than_its_text():
    parts = [
        indent_part(make_fields(describe_neighbours(NEIGHBOURS, "shop.py")), 2),
        indent_part(number_excerpt(Excerpt(1, ("x = 1",))), 4),
    ]
    console = Console(width=1_000_000, color_system=None)
    with console.capture() as captured:
        console.print(*parts)

    assert max(map(len, captured.get().split("\n"))) < 100


def test_the_context_of_all_hits_keeps_to_its_bound(codesum, shop):
    plain = codesum(shop, "search", "orders and cards", "--top", "5", "--json").stdout

    for tokens in (0, 200, 1200):
        shown = codesum(
            shop, "search", "orders and cards", "--top", "5", "--json", "--context", "--context-tokens", tokens
        ).stdout
        # The names of seven empty fields in each hit.
        assert len(shown) - len(plain) <= 4 * tokens + 5 * 150


def test_what_the_bound_leaves_out_is_counted(codesum, shop):
    arguments = ("search", "shop", "--level", "module", "--top", "1", "--context", "--context-tokens", "1")

    around = json.loads(codesum(shop, *arguments, "--json").stdout)["hits"][0]
    assert around["children"] == []
    assert around["more"]["children"] >= 2
    assert (
        f"contains  … {around['more']['children']} more of "
        f"{around['more']['children']} (`codesum show` lists all)" in codesum(shop, *arguments).stdout
    )


def test_callers_that_are_not_shown_are_counted_with_the_command_that_lists_them():
    caller = RelatedDocument("shop.py::pay", "function", "Pays.")
    many = replace(NEIGHBOURS, called_by=(caller,), more={"called_by": 23})

    shown = rendered(make_fields(describe_neighbours(many, "shop.py::total")), 120)
    assert "              … 23 more of 24 (`codesum impact --of shop.py::total --steps 1` lists all)" in shown
