"""Who refers to what is answered of the work tree: no use is shown that an edit took out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.support.work_trees import IndexedShop, Tree

FILES = {
    "a.py": """MOST = 3
LEAST = 1


def weigh(row):
    return row[0] + row[1]


def price(row):
    return row[1] * MOST


class Shelf:
    def __init__(self, rows):
        self.rows = rows
""",
    "b.py": """from a import LEAST, MOST, Shelf, price, weigh


def order(rows):
    return sorted(rows, key=weigh)


def bound(rows):
    return rows[LEAST:MOST]


def fill(rows):
    return Shelf(rows)


def untouched(rows):
    return sorted(rows, key=price)
""",
    "c.py": """from a import MOST, weigh


def lightest(rows):
    return min(rows, key=weigh)[:MOST]
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedShop:
    return IndexedShop.create(tmp_path_factory.mktemp("references"), FILES)


def users(tree: Tree, id_: str, relation: str = "referenced_by") -> list[str]:
    groups = tree.ask("graph", id=id_, relations=[relation]).groups
    return sorted(row.id for group in groups for row in group.rows)


def edited(shop: IndexedShop, **texts: str | None) -> Tree:
    tree = shop.tree()
    for name, text in texts.items():
        path = tree.repo.path / f"{name}.py"
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    return tree


def changed(path: str, change: Callable[[str], str]) -> str:
    text = change(FILES[path])
    assert text != FILES[path]
    return text


@pytest.mark.parametrize(
    ("edits", "used", "expected"),
    [
        pytest.param({}, "weigh", ["b.py::order", "c.py::lightest"], id="nothing is changed"),
        pytest.param({}, "MOST", ["a.py::price", "b.py::bound", "c.py::lightest"], id="a constant, nothing is changed"),
        pytest.param(
            {"b": changed("b.py", lambda text: text.replace("key=weigh", "reverse=True"))},
            "weigh", ["c.py::lightest"], id="a use that an edit took out",
        ),
        pytest.param(
            {"b": "\n\n" + FILES["b.py"]}, "weigh", ["b.py::order", "c.py::lightest"], id="a use that only moved",
        ),
        pytest.param({"c": None}, "weigh", ["b.py::order"], id="a file with a use is gone"),
        pytest.param(
            {"b": changed("b.py", lambda text: text.replace("rows[LEAST:MOST]", "rows[LEAST:]"))},
            "MOST", ["a.py::price", "c.py::lightest"], id="a constant that an edited function no longer has",
        ),
        pytest.param(
            {"b": "\n\n" + FILES["b.py"]}, "MOST", ["a.py::price", "b.py::bound", "c.py::lightest"],
            id="a constant in a function that moved",
        ),
        pytest.param(
            {"a": changed("a.py", lambda text: text.replace("MOST = 3", "MOST: int = 4"))},
            "MOST", ["a.py::price", "b.py::bound", "c.py::lightest"], id="a constant with another value",
        ),
        pytest.param(
            {"a": changed("a.py", lambda text: text.replace("MOST = 3\n", "").replace(" * MOST", ""))},
            "LEAST", ["b.py::bound"], id="a constant beside one that is gone",
        ),
    ],
)  # fmt: skip
def test_who_refers_to_something_is_as_the_tree_has_it(
    shop: IndexedShop, edits: dict[str, str | None], used: str, expected: list[str]
) -> None:
    tree = edited(shop, **edits)

    assert users(tree, used) == expected
    tree.settle()
    assert users(tree, used) == expected


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param({"a": None}, id="its file is gone"),
        pytest.param({"a": FILES["a.py"].replace("MOST = 3\n", "").replace(" * MOST", "")}, id="its line is gone"),
    ],
)
def test_a_constant_that_the_tree_lacks_has_no_users(shop: IndexedShop, edits: dict[str, str | None]) -> None:
    tree = edited(shop, **edits)

    try:
        assert users(tree, "MOST") == []
    except ConfigurationError as error:
        assert "no document 'MOST'" in str(error)


def test_a_constant_has_the_line_of_the_tree(shop: IndexedShop) -> None:
    tree = edited(shop, a="\n\n\n" + FILES["a.py"])

    assert tree.ask("graph", id="MOST").document.place == "a.py:4"


def test_creators_are_callers_of_a_constructor_in_a_changed_file_too(shop: IndexedShop) -> None:
    tree = edited(shop, b="\n\n" + FILES["b.py"])

    assert users(tree, "a.py::Shelf::__init__", "callers") == ["b.py::fill"]


def test_show_of_a_changed_tree_has_who_refers_to_a_document(shop: IndexedShop, tmp_path: Path) -> None:
    document, _ = edited(shop, b="\n\n" + FILES["b.py"]).codesum("show", "a.py::weigh")

    assert {each["id"] for each in document["referenced_by"]} == {"b.py::order", "c.py::lightest"}
