"""What `impact` does not follow, and says; calls of the method of a base; helpers that mock; threads that parse."""

import ast
import gc
import threading
import time
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools import unfollowed_calls
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.languages.declarations.python.syntax_trees import parse_syntax
from codesum_pipeline.ways_in.cli.impact_markdown import impact_markdown
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

LEDGERS = '''"""Two ledgers."""


class Ledger:
    def balance_of(self):
        return 1


class Archive:
    def balance_of(self):
        return 2


def close(ledger: Ledger):
    return ledger.balance_of()
'''
ASKERS = "\n\n\n".join(f"def ask_{at}(it):\n    return it.balance_of()" for at in range(3)) + "\n"
STORES = '''"""Stores."""


class Store:
    def remove_all(self, names):
        return len(names)


class Local(Store):
    def remove_all(self, names):
        return super().remove_all(names)


class Remote(Store):
    def remove_all(self, names):
        return super(Remote, self).remove_all(names)


def empty(store: Store):
    return store.remove_all(["a"])
'''
# Arguments need no brackets where a statement begins with the name.
SETTINGS = """class Settings
  def keep_value(key, value = nil)
    value
  end
end

class Plugin
  def defaults
    keep_value :tries, 3
  end

  def looks
    keep_value if ready
    keep_value = 3
    # keep_value :commented, 1
    other_keep_value :tries, 3
    keep_value ? 1 : 2
  end
end

keep_value "at the top", 1
"""
# The folder of the package bears its name.
PACKAGE = {
    "shop/src/shop/__init__.py": "",
    "shop/src/shop/money.py": "def round_cents(amount):\n    return round(amount, 2)\n",
    "shop/src/shop/orders.py": "from shop import money\n\n\nclass Order:\n    def __init__(self, amount):\n"
    "        self.amount = money.round_cents(amount)\n",
    "shop/src/shop/tests/test_orders.py": "from unittest import mock\n\nfrom shop import orders\n\n\n"
    "def made(\n    amount: int,\n) -> orders.Order:\n"
    "    with mock.patch('shop.orders.money.'\n                    'round_cents'):\n"
    "        kind = orders.Order\n        order = kind(amount)\n    return order\n\n\n"
    "def test_with_a_helper():\n    assert made(1)\n\n\n"
    "def test_alone():\n    assert orders.Order(1)\n",
}


def impact(folder: Path, files: dict[str, str], *ids: str, **arguments: object) -> ImpactPage:
    repo = GitRepo.create(folder / "shop", files)
    home = open_home(folder / "home")
    build(workspace_of(home, RepositoryEntry("shop", str(repo.path))))
    call = ToolContext(IndexCatalogue.of(home.settings), Path("/"))
    page = tools_by_name()["impact"].ask(call, {"ids": [*ids], "repo": "shop", **arguments})
    assert isinstance(page, ImpactPage)
    return page


@pytest.mark.parametrize(
    ("most", "told"),
    [(3, "balance_of(: askers.py:2, askers.py:6, askers.py:10"), (2, "balance_of(: 3 places")],
    ids=["as many as are named", "more"],
)
def test_calls_on_what_nobody_knows_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, told: str
) -> None:
    monkeypatch.setattr(unfollowed_calls, "MOST_PLACES", most)
    page = impact(tmp_path, {"ledgers.py": LEDGERS, "askers.py": ASKERS}, "Ledger.balance_of")

    assert [row.title for row in page.reached] == ["close"]
    assert f"not followed, since nobody knows on what they are called:\n    {told}" in page.text()
    assert [each.count for each in page.unfollowed] == [3]
    assert f"are called (1)</summary>\n\n- `{told}`\n" in impact_markdown(page)


def test_calls_without_brackets_are_told(tmp_path: Path) -> None:
    page = impact(tmp_path, {"settings.rb": SETTINGS}, "Settings.keep_value")

    assert [each.places for each in page.unfollowed] == [["settings.rb:9", "settings.rb:21"]]


@pytest.mark.parametrize(("most", "names"), [(1, ["balance_of"]), (2, ["balance_of", "close"])])
def test_so_many_names_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, names: list[str]
) -> None:
    monkeypatch.setattr(unfollowed_calls, "MOST_NAMES", most)
    asking = f"{ASKERS}\n\ndef ask_to_close(it):\n    it.close()\n"
    page = impact(tmp_path, {"ledgers.py": LEDGERS, "askers.py": asking}, "Ledger.balance_of")

    assert [each.name for each in page.unfollowed] == names


ASKING_TESTS = "\n\n\n".join(f"def test_{at}(it):\n    assert it.balance_of()" for at in range(2)) + "\n"
KNOWN_TEST = "from ledgers import close\n\n\ndef test_close():\n    assert close(None)\n"
KEPT_AWAY = """from unittest import mock

import ledgers


def test_close():
    with mock.patch("ledgers.Ledger.balance_of"):
        ledgers.close(ledgers.Ledger())
"""


@pytest.mark.parametrize(
    ("tests", "only", "told"),
    [
        pytest.param({}, "all", "balance_of(: 3 places; 2 places in tests", id="all"),
        pytest.param({}, "reached", "balance_of(: 3 places; 2 places in tests", id="all but the tests"),
        pytest.param({}, "tests", "balance_of(: 2 places in tests", id="tests alone"),
        pytest.param({"tests/test_known.py": KNOWN_TEST}, "all", "balance_of(: 3 places", id="a test reaches it"),
        pytest.param({"tests/test_known.py": KEPT_AWAY}, "all", "balance_of(: 3 places", id="a test is kept away"),
        pytest.param({"tests/test_known.py": KNOWN_TEST}, "tests", "", id="tests alone, where one reaches it"),
    ],
)
def test_calls_in_tests_are_counted_where_no_test_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tests: dict[str, str], only: str, told: str
) -> None:
    monkeypatch.setattr(unfollowed_calls, "MOST_PLACES", 2)
    files = {"ledgers.py": LEDGERS, "askers.py": ASKERS, "tests/test_asking.py": ASKING_TESTS, **tests}
    page = impact(tmp_path, files, "Ledger.balance_of", only=only)

    assert [each.text() for each in page.unfollowed] == ([told] if told else [])
    assert (f"are called (1)</summary>\n\n- `{told}`\n" in impact_markdown(page)) == bool(told)


def test_a_list_of_tests_alone_says_nothing_of_other_code(tmp_path: Path) -> None:
    page = impact(tmp_path, {"ledgers.py": LEDGERS, "askers.py": ASKERS}, "Ledger.balance_of", only="tests")

    assert not page.unfollowed
    assert "Not followed" not in impact_markdown(page)


def test_an_override_that_calls_its_base_runs_no_other_override(tmp_path: Path) -> None:
    page = impact(tmp_path, {"stores.py": STORES}, "Local.remove_all")

    assert [(row.title, row.is_sure) for row in page.reached] == [("empty", False)]
    comment = impact_markdown(page)
    assert "What is reached (1); ? where a method is called by its name alone, or as that of a base class<" in comment
    assert "| empty? | stores" in comment


def test_a_helper_keeps_away_what_it_mocks_by_the_name_of_an_import(tmp_path: Path) -> None:
    page = impact(tmp_path, PACKAGE, "round_cents")

    assert [row.title for row in page.tests] == ["test_alone"]
    assert [(row.title, row.replaced) for row in page.kept_away] == [("test_with_a_helper", ["money.round_cents"])]


def test_two_threads_may_parse_at_once() -> None:
    """`ast.parse` itself fails so: collecting garbage gives the other thread its turn in the middle of a parse."""
    source = "def f():\n    return [1, {2: (3, 4)}]\n" * 100
    met: list[BaseException] = []

    def parse() -> None:
        try:
            for _ in range(20):
                assert isinstance(parse_syntax(source), ast.Module)
        except SystemError as error:
            met.append(error)

    def give_way(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(give_way)
    try:
        threads = [threading.Thread(target=parse) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(give_way)
        gc.set_threshold(*threshold)
    assert met == []
