"""Who imports a file from where it was before it was moved, by the real tool over real repositories."""

from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.cli.impact_markdown import impact_markdown
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


@pytest.mark.parametrize("is_committed", [False, True], ids=["in the tree", "committed"])
def test_who_imports_a_file_from_its_old_place_is_at_risk(shop: MovedShop, is_committed: bool) -> None:
    shop.repo.git("mv", "shop/money.py", "shop/cash.py")
    if is_committed:
        shop.repo.commit({})
    page = shop.ask(asked="main~1..main") if is_committed else shop.ask(shop.repo.path)

    (change,) = page.changes
    assert (change.moved_from, change.left_count, change.test_user_count) == ("shop/money.py", 4, 2)
    assert page.risks[0].startswith("moved, was shop/money.py  shop/cash.py: 4 users by the old place")
    assert "    shop/cash.py  moved, was shop/money.py\n" in page.text()
    assert "- moved: `shop/cash.py`, was `shop/money.py`; 4 users" in impact_markdown(page)
    assert reached(page) == PYTHON
    assert reached(page, "app") == {"app.py::total"}
    assert [row.title for row in page.tests] == ["test_cents"]


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
