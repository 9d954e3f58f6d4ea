"""What is shown fits the terminal it is shown on."""

import shutil

import pytest
from rich.console import Console
from rich.text import Text

from codesum_pipeline.ways_in.cli.document_views import hit_heading
from codesum_pipeline.ways_in.cli.render import TableView, indent_part, make_fields, make_table, show_parts
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

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


def test_an_id_with_spaces_is_folded_as_one_word():
    lines = hit_heading("1. ", "My Documents/some notes.py::run", Text("  m")).of_width(20).plain.splitlines()

    assert lines == ["1. My Documents/", "   some notes.py::", "   run  m"]


def test_no_name_of_a_repository_is_cut_on_a_narrow_terminal(shop, tmp_path):
    shown = on_a_terminal("--home", shop, "status", cwd=tmp_path, width=40)

    assert shown[0] == "shop"
    assert shown[1].startswith("  state up to date · indexed ")
    assert max(map(len, shown)) <= 40


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (60, ["1. shop/orders/books.py::OrderBook.add  method in shop"]),
        (40, ["1. shop/orders/books.py::OrderBook.add", "   method in shop"]),
        (24, ["1. shop/orders/", "   books.py::", "   OrderBook.add", "   method in shop"]),
    ],
)
def test_the_id_of_a_hit_is_folded_behind_slashes_and_colons_beside_its_rank(width, lines):
    console = Console(width=width, highlight=False)
    with console.capture() as shown:
        console.print(hit_heading("1. ", "shop/orders/books.py::OrderBook.add", Text("  method in shop")))

    assert shown.get().splitlines() == lines


PATH = "/home/somebody/source/a-shop"


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (f"{PATH} is new", ["/home/somebody/source/", "a-shop is new"]),
        (make_fields({"at": PATH}), ["at  /home/somebody/", "source/a-shop"]),
        (make_table(["key", "at"], [["shop", PATH]]), ["key   at", "─" * 26, "shop  /home/somebody/", "source/a-shop"]),
        (indent_part(Text("git@example.org:some/a-shop"), 4), ["git@example.org:some/", "a-shop"]),
    ],
    ids=["line", "field", "table", "indented"],
)
def test_a_path_that_is_longer_than_a_line_is_folded_behind_a_slash(shown, lines, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "27")

    show_parts(shown)

    plain = Text.from_ansi(capsys.readouterr().out).plain
    assert [line.strip() for line in plain.splitlines()] == lines


def test_a_table_is_the_same_whatever_its_rows_come_in():
    assert make_table(["a"], iter([["x"]])) == TableView(("a",), (("x",),), frozenset())


LONG_KEY = "a-repository-whose-key-is-longer-than-any-column"


@pytest.fixture(scope="module")
def two_keys(shop, tmp_path_factory):
    """A home with `shop` and a repository with a long key in a folder with a long name, never built."""
    folder = tmp_path_factory.mktemp("two")
    repository = GitRepo.create(folder / ("folder-" * 12), {"a.py": "x = 1\n"}).path
    home = shutil.copytree(shop, folder / "home", symlinks=True)
    assert fork_codesum("--home", home, "add", repository, "--key", LONG_KEY, cwd=home).returncode == 0
    return home, repository


@pytest.mark.parametrize("width", [80, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", ["repos", "status", "plan", "doctor", "cost", "cache stats", "index"])
def test_no_table_cuts_what_has_to_be_typed(two_keys, tmp_path, command, width):
    home, repository = two_keys
    names = {
        "repos": [LONG_KEY, str(repository), "shop"],
        "status": [LONG_KEY, "shop"],
        "doctor": [LONG_KEY],
        "plan": ["shop"],
        "index": ["function", "module"],
    }
    arguments = {"plan": ["plan", "shop"], "index": ["index", "shop", "--force"]}.get(command, command.split())

    shown = on_a_terminal("--home", home, *arguments, cwd=tmp_path, width=width)

    # A name that is longer than its column is folded.
    joined = "".join("".join(shown).split())
    assert "…" not in joined
    assert [name for name in names.get(command, ()) if name not in joined] == []
    # Remarks are broken by the terminal itself.
    assert command in ("cost", "index", "cache stats") or max(map(len, shown)) <= width
