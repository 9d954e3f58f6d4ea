"""Which tests are kept away from what they would run by what they replace: each form, and what looks like it."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.agent_tools import kept_away, python_imports
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.agent_tools.impact_page import ImpactPage
from codesum_pipeline.ways_in.agent_tools.tool_registry import tools_by_name
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.mocked_shop import HEAD, SHOP
from codesum_pipeline_tests.support.repositories import GitRepo

Ask = Callable[..., ImpactPage]

# Of each form a test that is kept away from `round_cents`.
KEPT_AWAY = {
    "decorator": """
        @mock.patch("shop.orders.with_tax")
        def test_it(with_tax):
            assert total(1)
    """,
    "decorator_with_a_prefix": """
        @patch(ORDERS + "with_tax", return_value=1)
        def test_it(with_tax):
            assert total(1)
    """,
    "decorator_with_a_formatted_prefix": """
        @patch(f"{ORDERS}with_tax", return_value=1)
        def test_it(with_tax):
            assert total(1)
    """,
    "with_block": """
        def test_it():
            with patch("shop.orders.with_tax"), patch("os.getcwd"):
                assert total(1)
    """,
    "patch_object_of_a_module": """
        def test_it():
            with patch.object(orders, "with_tax", autospec=True):
                assert total(1)
    """,
    "patch_object_of_a_module_by_its_whole_name": """
        @mock.patch.object(shop.orders, "with_tax")
        def test_it(with_tax):
            assert total(1)
    """,
    "patch_object_of_a_class": """
        @mock.patch.object(Bank, "send")
        def test_it(send):
            assert pay(1)
    """,
    "patch_of_a_method_by_path": """
        @mock.patch("shop.clients.Bank.send")
        def test_it(send):
            assert Till().take(1)
    """,
    "patch_of_a_class_where_it_is_used": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert pay(1)
    """,
    "patch_of_a_class_that_another_method_creates": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert Till().take(1)
    """,
    "patch_of_a_whole_module": """
        @mock.patch("shop.orders.money")
        def test_it(money):
            assert show(1)
    """,
    "patch_where_it_is_defined_and_looked_up": """
        @mock.patch("shop.money.with_tax")
        def test_it(with_tax):
            assert show(1)
    """,
    "patch_of_what_it_calls_there": """
        @mock.patch("shop.money.round_cents")
        def test_it(round_cents):
            assert total(1)
    """,
    "patch_multiple": """
        @patch.multiple("shop.orders", with_tax=mock.DEFAULT, autospec=True)
        def test_it(**mocks):
            assert total(1)
    """,
    "decorator_of_a_class": """
        @mock.patch("shop.orders.with_tax")
        class TestIt:
            def test_it(self, with_tax):
                assert total(1)
    """,
    "mocker": """
        def test_it(mocker):
            mocker.patch("shop.orders.with_tax", return_value=3)
            assert total(1)
    """,
    "mocker_object": """
        def test_it(mocker):
            mocker.patch.object(orders, "with_tax")
            assert total(1)
    """,
    "monkeypatch": """
        def test_it(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "monkeypatch_by_path": """
        def test_it(monkeypatch):
            monkeypatch.setattr("shop.orders.with_tax", lambda amount: 1)
            assert total(1)
    """,
    "monkeypatch_context": """
        def test_it(monkeypatch):
            with monkeypatch.context() as m:
                m.setattr(orders, "with_tax", lambda amount: 1)
                assert total(1)
    """,
    "assignment": """
        def test_it():
            orders.with_tax = lambda amount: 1
            assert total(1)
    """,
    "assignment_that_is_put_back": """
        def test_it():
            original = orders.with_tax
            orders.with_tax = lambda amount: 1
            try:
                assert total(1)
            finally:
                orders.with_tax = original
    """,
    "built_in_setattr": """
        def test_it():
            setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "started": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            assert total(1)
            patcher.stop()
    """,
    "set_up": """
        class TestIt(TestCase):
            def setUp(self):
                self.patcher = patch("shop.orders.with_tax")
                self.patcher.start()
                self.addCleanup(self.patcher.stop)

            def test_it(self):
                assert total(1)
    """,
    "patchers_in_a_list": """
        class TestIt(TestCase):
            def setUp(self):
                patchers = [patch("shop.orders.Bank"), patch("shop.orders.with_tax")]
                self.with_tax = patchers[1].start()

            def test_it(self):
                assert total(1)
    """,
    "patchers_in_a_loop": """
        class TestIt(TestCase):
            def setUp(self):
                self.patchers = {"bank": patch("shop.orders.Bank"), "tax": patch("shop.orders.with_tax")}
                self.mocks = {name: each.start() for name, each in self.patchers.items()}

            def test_it(self):
                assert total(1)
    """,
    "patchers_in_a_loop_of_statements": """
        def test_it():
            for each in (found := 1, 2):
                pass
            patchers = (patch("shop.orders.with_tax"),)
            for each in patchers:
                each.start()
            assert total(1)
    """,
    "set_up_of_a_base": """
        class Base(TestCase):
            def setUp(self):
                self.enterContext(patch("shop.orders.with_tax"))

        class TestIt(Base):
            def test_it(self):
                assert total(1)
    """,
    "fixture": """
        @pytest.fixture
        def no_tax(monkeypatch):
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)

        def test_it(no_tax):
            assert total(1)
    """,
    "fixture_that_yields": """
        @pytest.fixture
        def no_tax():
            with patch("shop.orders.with_tax") as found:
                yield found

        def test_it(no_tax):
            assert total(1)
    """,
    "fixture_of_a_fixture": """
        @pytest.fixture
        def no_tax(mocker):
            return mocker.patch("shop.orders.with_tax")

        @pytest.fixture
        def calm(no_tax):
            return 1

        def test_it(calm):
            assert total(1)
    """,
    "automatic_fixture_of_a_class": """
        class TestIt:
            @pytest.fixture(autouse=True)
            def no_tax(self, mocker):
                mocker.patch("shop.orders.with_tax")

            def test_it(self):
                assert total(1)
    """,
    "helper_with_a_block": """
        def run():
            with patch("shop.orders.with_tax"):
                return total(1)

        def test_it():
            assert run()
    """,
    "two_that_are_needed": """
        @patch("shop.orders.with_tax")
        @patch("shop.orders.Bank")
        def test_it(bank, with_tax):
            assert total(1) and pay(1)
    """,
}  # fmt: skip
# What looks like it, and runs `round_cents` all the same.
REACHED = {
    "nothing_replaced": """
        def test_it():
            assert total(1)
    """,
    "another_way": """
        @mock.patch("shop.orders.with_tax")
        def test_it(with_tax):
            assert total(1) and pay(1)
    """,
    "called_before_the_block": """
        def test_it():
            assert total(1)
            with patch("shop.orders.with_tax"):
                assert total(1)
    """,
    "called_before_it_is_set": """
        def test_it(monkeypatch):
            assert total(1)
            monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "called_after_the_stop": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            patcher.start()
            patcher.stop()
            assert total(1)
    """,
    "another_of_a_list": """
        def test_it():
            patchers = [patch("shop.orders.Bank"), patch("shop.orders.with_tax")]
            patchers[0].start()
            assert total(1)
    """,
    "never_started": """
        def test_it():
            patcher = patch("shop.orders.with_tax")
            assert total(1)
    """,
    "wraps": """
        @mock.patch("shop.orders.with_tax", wraps=with_tax)
        def test_it(spied):
            assert total(1)
    """,
    "side_effect_of_the_original": """
        def test_it():
            with mock.patch.object(orders, "with_tax", autospec=True, side_effect=money.with_tax):
                assert total(1)
    """,
    "an_original_that_is_kept_and_called": """
        def test_it(monkeypatch):
            original = orders.with_tax
            monkeypatch.setattr(orders, "with_tax", lambda amount: original(amount) + 1)
            assert total(1)
    """,
    "spied": """
        def test_it(mocker):
            mocker.spy(orders, "with_tax")
            assert total(1)
    """,
    "replaced_where_nobody_looks_it_up": """
        @mock.patch("shop.money.with_tax")
        def test_it(mocked):
            assert total(1)
    """,
    "called_by_its_own_name": """
        @mock.patch("shop.money.with_tax")
        def test_it(mocked):
            assert with_tax(1)
    """,
    "kept_in_a_table": """
        @mock.patch("shop.orders.with_tax")
        def test_it(mocked):
            assert by_hook(1)
    """,
    "something_else_replaced": """
        @mock.patch("shop.orders.Bank")
        def test_it(bank):
            assert total(1)
    """,
    "only_if": """
        def test_it(monkeypatch, request):
            if request.param:
                monkeypatch.setattr(orders, "with_tax", lambda amount: 1)
            assert total(1)
    """,
    "entries_of_a_dictionary": """
        @mock.patch.dict("shop.orders.HOOKS", {"other": 1})
        def test_it():
            assert total(1)
    """,
    "a_request_that_is_called_patch": """
        def test_it(client):
            client.patch("/shop/orders", 1)
            assert total(1)
    """,
    "a_block_of_a_fixture_that_is_over": """
        @pytest.fixture
        def no_tax():
            with patch("shop.orders.with_tax"):
                return 1

        def test_it(no_tax):
            assert total(1)
    """,
    "a_fixture_runs_before_the_decorator": """
        @pytest.fixture
        def paid():
            return total(1)

        @mock.patch("shop.orders.with_tax")
        def test_it(mocked, paid):
            assert paid
    """,
    "another_test_of_the_class": """
        class TestIt:
            @mock.patch("shop.orders.with_tax")
            def test_other(self, mocked):
                pass

            def test_it(self):
                assert total(1)
    """,
    "a_real_object_for_the_class": """
        @mock.patch("shop.orders.Bank", side_effect=lambda: Bank())
        def test_it(bank):
            assert pay(1)
    """,
    "a_real_object_that_is_returned": """
        BANK = Bank()

        @mock.patch("shop.orders.Bank", return_value=BANK)
        def test_it(bank):
            assert pay(1)
    """,
    "an_object_that_is_handed_over": """
        @mock.patch("shop.orders.Bank")
        def test_it(mocked):
            till = Till()
            till.bank = Bank()
            assert Bank().send(1)
    """,
    "no_python": """
        def test_it(mocker):
            mocker.patch("shop.orders.", 1)
            mocker.patch(1 + "x")
            mocker.patch(*[])
            mocker.patch.object(orders)
            assert total(1)
    """,
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("mocked")
    tests = {
        f"tests/test_{name}.py": f"{HEAD}\n{textwrap.dedent(code)}" for name, code in {**KEPT_AWAY, **REACHED}.items()
    }
    repo = GitRepo.create(folder / "shop", {**SHOP, **tests})
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))))
    return folder / "home"


def asked(home: Path, **arguments: object) -> ImpactPage:
    call = ToolContext(IndexCatalogue.of(open_home(home).settings), Path("/"))
    given = {"ids": ["round_cents"], "repo": "shop", "tokens": 50_000, "limit": 1000, **arguments}
    found = tools_by_name()["impact"].ask(call, given)
    assert isinstance(found, ImpactPage)
    return found


@pytest.fixture(scope="module")
def page(home: Path) -> ImpactPage:
    return asked(home)


def files(rows: object) -> list[str]:
    return [row.path.removeprefix("tests/test_").removesuffix(".py") for row in rows]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", KEPT_AWAY)
def test_a_test_that_replaces_it_is_kept_away(page: ImpactPage, name: str) -> None:
    assert (name in files(page.tests), name in files(page.kept_away)) == (False, True)


def test_what_is_replaced_is_told_shortly_and_names_come_after_the_others(page: ImpactPage) -> None:
    lines = page.text().split("\n")

    assert page.replacing[0].replaced == ["orders.with_tax"]
    assert [len(page.kept_away), sum(each.count for each in page.replacing)] == [len(KEPT_AWAY)] * 2
    assert f"kept away: {page.replacing[0].count} tests that replace orders.with_tax; " in page.text()
    assert "    tests/test_decorator.py  replace orders.with_tax: test_it:15" in lines
    kept, named = (f"all {len(rows)} tests that" for rows in (page.kept_away, page.tests))
    assert lines.index(f"{kept} are kept away by what they replace") > lines.index(f"{named} reach it")


def test_kept_away_by_what_a_helper_replaces_says_so(page: ImpactPage) -> None:
    told = {row.path: row.replaced for row in page.kept_away}

    assert told["tests/test_helper_with_a_block.py"] == ["orders.with_tax"]
    assert told["tests/test_two_that_are_needed.py"] == ["orders.Bank", "orders.with_tax"]


def test_of_two_versions_they_are_listed_apart_too(home: Path, page: ImpactPage) -> None:
    shop = GitRepo(home.parent / "shop")
    money = SHOP["shop/money.py"].replace("return round(amount, 2)", "return round(amount, 3)")
    shop.git("checkout", "-q", "-b", "other")
    shop.commit({"shop/money.py": money})
    shop.git("checkout", "-q", "main")
    changed = asked(home, ids=[], range="main..other")

    assert (files(changed.tests), files(changed.kept_away)) == (files(page.tests), files(page.kept_away))


@pytest.mark.parametrize(("most", "is_told"), [(1000, False), (3, True)], ids=["all sets", "few sets"])
def test_of_more_sets_of_names_than_a_limit_the_tests_are_named(
    home: Path, page: ImpactPage, monkeypatch: pytest.MonkeyPatch, most: int, is_told: bool
) -> None:
    monkeypatch.setattr(kept_away, "MOST_SETS", most)
    found = asked(home)

    assert any("replace more than 3 sets of names" in note for note in found.notes) == is_told
    assert (len(found.kept_away) < len(page.kept_away)) == is_told
    assert len(found.tests) + len(found.kept_away) == len(page.tests) + len(page.kept_away)


@pytest.mark.parametrize(("most", "is_told"), [(1000, False), (3, True)], ids=["all files", "few files"])
def test_of_more_files_than_a_limit_the_tests_are_named(
    home: Path, page: ImpactPage, monkeypatch: pytest.MonkeyPatch, most: int, is_told: bool
) -> None:
    monkeypatch.setattr(python_imports, "MOST_PARSED", most)
    monkeypatch.setattr(kept_away, "MOST_PARSED", most)
    found = asked(home)

    assert any("was looked for in the first 3 files" in note for note in found.notes) == is_told
    assert (len(found.kept_away) < len(page.kept_away)) == is_told


@pytest.mark.parametrize(("longest", "is_read"), [(19, True), (18, False)], ids=["at the limit", "above it"])
def test_a_source_is_parsed_up_to_a_length(monkeypatch: pytest.MonkeyPatch, longest: int, is_read: bool) -> None:
    monkeypatch.setattr(python_imports, "LONGEST_SOURCE", longest)

    assert (python_imports.parse_python("x = 1\nlonger = 9\n# ") is not None) == is_read


@pytest.mark.parametrize("text", ["(" * 100_000, "-" * 100_000 + "1", "def f(:", "\0", "a" + ".b" * 100_000])
def test_what_cannot_be_parsed_replaces_nothing(text: str) -> None:
    assert python_imports.parse_python(text) is None


@pytest.mark.parametrize("name", REACHED)
def test_a_test_that_still_runs_it_is_named(page: ImpactPage, name: str) -> None:
    assert (name in files(page.tests), name in files(page.kept_away)) == (True, False)
