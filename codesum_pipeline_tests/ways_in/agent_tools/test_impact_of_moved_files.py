"""Who imports a file from where it was before it was moved, by the real tool over real repositories."""

from pathlib import Path
from time import process_time

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.agent_tools import old_places
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.agent_tools.impact_page import ImpactPage
from codesum_pipeline.ways_in.agent_tools.old_places import ModuleName, imports_in
from codesum_pipeline.ways_in.agent_tools.tool_registry import tools_by_name
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "def round_cents(amount):\n    rounded = round(amount, 2)\n    return rounded\n",
    "shop/bill.py": (
        "from shop import (\n    money,\n)\n\n\ndef bill(amount):\n    total = amount + 1\n"
        "    return money.round_cents(total)\n\n\ndef beside():\n    return 1\n"
    ),
    "tests/test_money.py": "from shop.money import round_cents\n\n\ndef test_cents():\n    assert round_cents(1.234)\n",
    "till/__init__.py": "",
    "till/money.py": "def count_coins(coins):\n    found = len(coins)\n    return found\n",
    "till/coins.py": "from .money import count_coins\n\n\ndef coins():\n    return count_coins([1])\n",
    "web/money.js": "export function roundCents(amount) {\n  const all = amount * 100;\n  return all / 100;\n}\n",
    "web/bill.js": "import { roundCents } from './money';\n\n"
    "export function pay(amount) {\n  return roundCents(amount);\n}\n",
}
USER = {"app.py": "from shop.money import round_cents\n\n\ndef total(prices):\n    return round_cents(sum(prices))\n"}
PYTHON = {"shop/bill.py", "shop/bill.py::bill", "tests/test_money.py", "tests/test_money.py::test_cents"}


class MovedShop:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.repo = GitRepo.create(folder / "shop", FILES)
        self.build(self.repo, "shop")
        self.build(GitRepo.create(folder / "app", USER), "app")

    def build(self, repo: GitRepo, key: str = "shop") -> None:
        build(workspace_of(open_home(self.home), RepositoryEntry(key, str(repo.path))))

    def ask(self, folder: Path = Path("/"), asked: str = "") -> ImpactPage:
        call = ToolContext(IndexCatalogue.of(open_home(self.home).settings), folder)
        found = tools_by_name()["impact"].ask(call, {"repo": "shop", "tokens": 50_000, "range": asked})
        assert isinstance(found, ImpactPage)
        return found


@pytest.fixture
def shop(tmp_path: Path) -> MovedShop:
    return MovedShop(tmp_path)


def reached(page: ImpactPage, repo: str = "shop") -> set[str]:
    return {row.id for row in (*page.tests, *page.reached) if row.repo == repo}


@pytest.mark.parametrize("when", ["in the tree", "committed", "committed and indexed"])
def test_who_imports_a_file_from_its_old_place_is_at_risk(shop: MovedShop, when: str) -> None:
    shop.repo.git("mv", "shop/money.py", "shop/cash.py")
    if when == "in the tree":
        page = shop.ask(shop.repo.path)
    else:
        shop.repo.commit({})
        if when == "committed and indexed":
            shop.build(shop.repo)
        page = shop.ask(asked="main~1..main")

    (change,) = page.changes
    assert (change.moved_from, change.left_count, change.test_user_count) == ("shop/money.py", 4, 2)
    assert page.risks[0].startswith("moved, was shop/money.py  shop/cash.py  shop/cash.py: 4 users by the old place")
    assert reached(page) == PYTHON
    assert reached(page, "app") == {"app.py::total"}
    assert [row.title for row in page.tests] == ["test_cents"]


def test_who_imports_a_definition_from_its_old_file_is_at_risk_once_the_move_is_indexed(shop: MovedShop) -> None:
    money = FILES["shop/money.py"]
    shop.repo.commit({"shop/money.py": f"{money}\n\ndef whole(amount):\n    found = int(amount)\n    return found\n"})
    shop.repo.commit(
        {"shop/money.py": "def whole(amount):\n    found = int(amount)\n    return found\n", "shop/rounding.py": money}
    )
    shop.build(shop.repo)
    page = shop.ask(asked="main~1..main")

    (change,) = (each for each in page.changes if each.moved_from)
    assert (change.id, change.left_count) == ("shop/rounding.py::round_cents", 2)
    assert {"shop/bill.py::bill", "tests/test_money.py::test_cents"} <= reached(page)


def test_a_relative_import_is_of_the_old_place_too(shop: MovedShop) -> None:
    shop.repo.git("mv", "web/money.js", "web/cash.js")

    assert reached(shop.ask(shop.repo.path)) == {"web/bill.js", "web/bill.js::pay"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shop/money.py", "shop/money/__init__.py"),
        ("web/money.js", "web/money.ts"),
        ("web/money.js", "web/money/index.js"),
    ],
)
def test_a_file_that_is_imported_as_before_is_no_risk(shop: MovedShop, old: str, new: str) -> None:
    (shop.repo.path / new).parent.mkdir(exist_ok=True)
    shop.repo.git("mv", old, new)
    page = shop.ask(shop.repo.path)

    assert [(change.moved_from, change.left_count) for change in page.changes] == [(old, 0)]
    assert page.risks == []


@pytest.mark.parametrize("written", ["from shop import cash as money", "from . import cash as money"])
def test_who_imports_it_from_its_new_place_is_no_risk(shop: MovedShop, written: str) -> None:
    shop.repo.git("mv", "shop/money.py", "shop/cash.py")
    shop.repo.write({"shop/bill.py": FILES["shop/bill.py"].replace("from shop import (\n    money,\n)", written)})

    assert reached(shop.ask(shop.repo.path)) == {"tests/test_money.py", "tests/test_money.py::test_cents"}


@pytest.mark.parametrize(
    ("statement", "path", "is_meant"),
    [
        ("import shop.money as m", "a.py", True),
        ("from .money import money", "shop/bill.py", True),
        ("from ..money import x", "shop/tills/bill.py", True),
        ("from .cash import money", "shop/bill.py", False),
        ("from .money import x", "till/bill.py", False),
        ("from till import money", "till/bill.py", False),
        ("const m = require('../shop/money.js')", "till/bill.js", True),
        ("const money = require('./cash')", "shop/bill.js", False),
        ("patch('shop.money.round_cents')", "tests/test_bill.py", True),
        ("use crate::shop::{money, other};", "till/bill.rs", True),
        ("use crate::till::money;", "till/bill.rs", False),
    ],
)
def test_an_import_means_a_module_by_its_folder(statement: str, path: str, is_meant: bool) -> None:
    assert ModuleName.of("shop/money.py").is_imported(statement, path) is is_meant


@pytest.mark.parametrize(("last", "is_meant"), [("money", True), ("cash", False)])
def test_an_import_of_many_names_from_a_long_module_is_read_once(last: str, is_meant: bool) -> None:
    statement = f"from {'.'.join(['a'] * 20_000)}.shop import {', '.join(['b'] * 20_000)}, {last}"
    started = process_time()

    assert ModuleName.of("shop/money.py").is_imported(statement, "till/bill.py") is is_meant
    assert process_time() - started < 5


@pytest.mark.parametrize(("names", "is_whole"), [(58, True), (59, False)], ids=["60 lines", "61 lines"])
def test_an_import_of_more_lines_than_a_limit_is_cut(names: int, is_whole: bool) -> None:
    text = "from shop import (\n" + "    other,\n" * names + "    money)\n"
    (statement,) = imports_in(text, "#")

    assert ModuleName.of("shop/money.py").is_imported(statement, "till/bill.py") is is_whole


@pytest.mark.parametrize(("most", "count"), [(5, 2), (1, 1)], ids=["all files", "one file"])
def test_of_more_files_than_a_limit_no_more_are_read(
    shop: MovedShop, monkeypatch: pytest.MonkeyPatch, most: int, count: int
) -> None:
    monkeypatch.setattr(old_places, "_MOST_FILES", most)
    shop.repo.git("mv", "shop/money.py", "shop/cash.py")

    assert len(reached(shop.ask(shop.repo.path)) & {"shop/bill.py", "tests/test_money.py"}) == count
