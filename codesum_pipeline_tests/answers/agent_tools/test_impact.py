"""What a change reaches: by the real tool, over real repositories."""

import os
import shutil
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools import compared_versions, importing_repositories
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes.opening import settle_tree
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.cli.impact_markdown import impact_markdown
from codesum_pipeline_tests.support.changed_shop import AFTER, BEFORE, USER
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


class Shop:
    """The shop, changed and indexed, with the repository that imports it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = GitRepo(folder / "shop")
        self.home = folder / "home"

    @classmethod
    def create(cls, folder: Path) -> "Shop":
        repo = GitRepo.create(folder / "shop", BEFORE)
        repo.commit_exactly(AFTER)
        other = GitRepo.create(folder / "till", USER)
        for key, each in (("shop", repo), ("till", other)):
            build(workspace_of(open_home(folder / "home"), RepositoryEntry(key, str(each.path))))
        return cls(folder)

    def call(self, folder: Path = Path("/")) -> ToolContext:
        return ToolContext(IndexCatalogue.of(open_home(self.home).settings), folder)

    def ask(self, folder: Path = Path("/"), **arguments: object) -> ImpactPage:
        found = tools_by_name()["impact"].ask(self.call(folder), {"repo": "shop", "tokens": 50_000, **arguments})
        assert isinstance(found, ImpactPage)
        return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop.create(tmp_path_factory.mktemp("impact"))


@pytest.fixture(scope="module")
def page(shop: Shop) -> ImpactPage:
    return shop.ask(range="HEAD~1..HEAD", limit=200)


def kinds_of(page: ImpactPage) -> dict[str, str]:
    return {change.id: change.kind for change in page.changes}


def test_what_changed_is_told_by_symbol(page: ImpactPage) -> None:
    assert kinds_of(page) == {
        "shop/money.py::round_cents": "signature",
        "shop/money.py::as_text": "moved",
        "shop/money.py::old_price": "removed",
        "shop/money.py::add": "added",
    }
    assert page.only_layout == 1
    assert page.not_compared == {"without definitions": ["README.md"]}


def test_signatures_and_headlines_are_told_of_both_versions(page: ImpactPage) -> None:
    changed = {change.id: change for change in page.changes}
    rounding, renamed = changed["shop/money.py::round_cents"], changed["shop/money.py::as_text"]

    assert (rounding.signature_before, rounding.signature) == (
        "def round_cents(amount)", "def round_cents(amount, places=2)"
    )  # fmt: skip
    assert rounding.headline == rounding.headline_before
    assert rounding.headline.endswith("Round an amount to cents.")
    assert changed["shop/money.py::old_price"].headline_before == "Give the price of before."
    assert renamed.moved_from == "shop/money.py::to_text"


def test_callers_are_reached_over_all_steps_through_overridden_methods(page: ImpactPage) -> None:
    steps = {row.id: row.steps for row in page.reached if row.repo == "shop"}

    assert steps["shop/money.py::with_tax"] == 1
    assert steps["shop/payments.py::CardPayment::charge"] == 2
    assert steps["shop/payments.py::settle"] == 3
    assert (page.counts.one, page.counts.two) == (2, 5)


def test_tests_are_named_nearest_first_also_by_fixtures_and_set_up(page: ImpactPage) -> None:
    assert [(row.repo, row.id) for row in page.tests] == [
        ("shop", "tests/test_money.py::TestRounding::test_it_has_two_places"),
        ("till", "test_app.py::test_a_total_is_rounded"),
        ("shop", "tests/test_payments.py::test_a_card_is_charged"),
    ]
    assert page.tests[0].way == ["round_cents", "TestRounding.setup_method", "TestRounding.test_it_has_two_places"]


def test_routes_are_named(page: ImpactPage) -> None:
    assert [(row.id, row.starts) for row in page.starts] == [("shop/web.py::pay", ["route POST /pay"])]


def test_repositories_that_import_it_are_reached(page: ImpactPage) -> None:
    assert page.counts.others == {"till": 2}
    assert "    till  test_app.py:4  test_a_total_is_rounded  (2 steps: " in page.text()
    assert [row.way for row in page.tests if row.repo == "till"] == [
        ["round_cents", "total", "test_a_total_is_rounded"]
    ]


@pytest.mark.parametrize(("most", "found"), [(1, {"till": 2}), (0, {})])
def test_so_many_other_repositories_are_looked_through_and_it_says_so(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, most: int, found: dict[str, int]
) -> None:
    monkeypatch.setattr(importing_repositories, "MOST_REPOSITORIES", most)

    page = shop.ask(range="HEAD~1..HEAD")

    assert page.counts.others == found
    assert [note for note in page.notes if "were searched" in note] == (
        [] if found else ["only the first 0 of 1 other repositories were searched"]
    )


def test_places_that_call_the_name_of_a_removed_method_are_told(tmp_path: Path) -> None:
    method = '    def frobnicate(self):\n        """Turn it."""\n        return 1\n'
    kept = '    def keep(self):\n        """Keep it."""\n        return 2\n'
    user = "def run(thing):\n    return thing.frobnicate()\n"
    repo = GitRepo.create(tmp_path / "shop", {"knob.py": f"class Knob:\n{kept}{method}", "run.py": user})
    repo.commit_exactly({"knob.py": f"class Knob:\n{kept}", "run.py": user})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))

    page = Shop(tmp_path).ask(range="HEAD~1..HEAD")

    (gone,) = (change for change in page.changes if change.kind == "removed")
    assert (gone.id, gone.unresolved) == ("knob.py::Knob::frobnicate", ["run.py:2"])
    assert "by name: run.py:2" in page.risks[0]


MONEY = """def to_text(amount):
    digits = f"{amount:.2f}"
    return digits.rjust(10)


def show(amounts):
    return [write(amount) for write in (to_text,) for amount in amounts]
"""
BILL = "from money import to_text\n\n\ndef bill(amount):\n    return to_text(amount)\n"
RENAMED = MONEY.replace("def to_text", "def as_text")
MOVED = MONEY[MONEY.index("def show") :]


@pytest.fixture
def bills(tmp_path: Path) -> Shop:
    repo = GitRepo.create(tmp_path / "shop", {"money.py": MONEY, "bill.py": BILL})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    return Shop(tmp_path)


def test_users_of_a_name_that_was_given_up_are_told_also_of_a_settled_tree(bills: Shop) -> None:
    bills.repo.write({"money.py": RENAMED})
    before = bills.ask(folder=bills.repo.path)
    home = open_home(bills.home)
    index = bills.call().one_index("shop")
    settle_tree(home.settings, RepositoryEntry("shop", str(bills.repo.path)), index, bills.repo.path)
    after = bills.ask(folder=bills.repo.path)

    assert (before.as_of[0].is_settled, after.as_of[0].is_settled) == (False, True)
    for page in (before, after):
        (change,) = page.changes
        assert (change.kind, change.users, change.left_count) == ("moved", ["bill.py::bill", "money.py::show"], 2)
        assert page.risks[0].startswith(
            "renamed, was to_text  money.py:1-3  as_text: 2 users by the old name: bill, show"
        )
        assert page.counts.one == 2


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"money.py": f"{RENAMED}\n\nto_text = as_text\n"}, 0),
        ({"money.py": RENAMED.replace("(to_text,)", "(as_text,)"), "bill.py": BILL.replace("to_text", "as_text")}, 0),
        ({"money.py": MOVED, "text.py": MONEY[: MONEY.index("def show")]}, 2),
        ({"money.py": f"from text import to_text\n\n\n{MOVED}", "text.py": MONEY[: MONEY.index("def show")]}, 0),
    ],
    ids=["the old name has a value", "all users changed too", "moved and not brought in", "moved and brought in"],
)
def test_who_uses_what_was_renamed_or_moved_is_at_risk_unless_the_name_is_kept(
    bills: Shop, files: dict[str, str], left: int
) -> None:
    bills.repo.write(files)
    page = bills.ask(folder=bills.repo.path)

    (change,) = (each for each in page.changes if each.kind == "moved")
    assert (change.left_count, bool(page.risks)) == (left, bool(left))
    if left:
        assert page.risks[0].startswith(
            "moved, was money.py::to_text  text.py:1-3  to_text: 2 users by the old place: "
        )


def test_users_that_changed_too_are_counted_apart(bills: Shop) -> None:
    bills.repo.write({"money.py": MONEY.replace("{", "€{"), "bill.py": BILL.replace("(amount)\n", "(amount or 0)\n")})
    page = bills.ask(folder=bills.repo.path)
    asked = bills.ask(ids=["to_text"], range="")

    change = next(each for each in page.changes if each.id == "money.py::to_text")
    (same,) = asked.changes
    assert (change.users, change.user_count, change.changed_user_count) == (["money.py::show"], 1, 1)
    assert change.told_users == "1 user: show; 1 more changed, too"
    assert (same.user_count, same.changed_user_count) == (2, 0)


def test_users_of_the_old_name_are_told_in_a_comment(bills: Shop) -> None:
    bills.repo.write({"money.py": RENAMED})
    comment = impact_markdown(bills.ask(folder=bills.repo.path))

    assert "- renamed: `as_text` (`money.py:1-3`), was `money.py::to_text`; 2 users: `bill`, `show`" in comment
    assert "; 2 of them by the old name" in comment


def test_a_name_that_was_given_up_in_the_indexed_commit_is_looked_for_by_its_calls(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", {"money.py": MONEY, "bill.py": BILL})
    repo.commit_exactly({"money.py": RENAMED, "bill.py": BILL})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))

    page = Shop(tmp_path).ask(range="HEAD~1..HEAD")

    assert [change.unresolved for change in page.changes if change.kind == "moved"] == [["bill.py:5"]]
    assert "by name: bill.py:5" in page.risks[0]


def test_a_place_whose_function_is_counted_as_a_user_is_not_told_again_by_name(bills: Shop) -> None:
    other = "def run(thing):\n    return thing.to_text()\n"
    bills.repo.write({"money.py": MOVED, "run.py": other})
    (change,) = (each for each in bills.ask(folder=bills.repo.path).changes if each.kind == "removed")

    assert (change.users, change.unresolved) == (["bill.py::bill", "money.py::show"], ["run.py:2"])
    assert change.risk == 6


def test_code_outside_of_definitions_is_called_so(bills: Shop) -> None:
    bills.repo.write({"money.py": f"RATE = 2\n\n\n{MONEY}"})
    told = bills.ask(folder=bills.repo.path).text()

    assert "1 file's code outside of definitions, in 1 file\n" in told
    assert "    money.py  code outside of definitions (RATE)\n" in told


def test_removed_with_users_is_riskiest_and_names_the_places(page: ImpactPage) -> None:
    assert page.risks[0].startswith("removed  shop/money.py:")
    assert "shop/payments.py:" in page.risks[0]


def test_the_short_text_comes_first_and_is_short(page: ImpactPage) -> None:
    assert len([*page.short_lines()]) <= 15
    assert page.text().split("\n")[1].startswith("shop ")


def test_steps_bound_how_far_callers_are_followed(shop: Shop) -> None:
    page = shop.ask(range="HEAD~1..HEAD", steps=1)

    assert page.counts.all == page.counts.one == 2
    assert "reached: 2 in one step; further steps were not followed" in page.text()
    assert "2 in one step, 5 in two; further" in shop.ask(range="HEAD~1..HEAD", steps=2).text()
    assert "2 in one step, 5 in two, 6 in 3; further" in shop.ask(range="HEAD~1..HEAD", steps=3).text()


def test_a_definition_that_is_gone_since_is_not_said_to_come_with_the_next_build(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", {"a.py": "A = 1\n"})
    repo.commit_exactly({"a.py": "A = 1\n\n\ndef gone():\n    return 1\n"})
    repo.commit_exactly({"a.py": "A = 1\n"})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    mine = Shop(tmp_path)

    (note,) = mine.ask(range="HEAD~2..HEAD~1").notes
    assert note.endswith("so that their users are not known: a.py::gone; it is of another commit")
    repo.commit_exactly({"a.py": "A = 1\n\n\ndef new():\n    return 1\n"})
    assert "a.py::new; `codesum index shop` brings them in" in mine.ask(range="main~1..main").notes[0]


def test_a_cursor_goes_on_with_the_rows(shop: Shop) -> None:
    whole, part = shop.ask(range="HEAD~1..HEAD", limit=200), shop.ask(range="HEAD~1..HEAD", limit=3)
    rest = shop.ask(range="HEAD~1..HEAD", limit=200, cursor=part.next)

    assert part.shown == 3
    assert [*part.changes, *rest.changes] == whole.changes
    assert rest.tests == whole.tests
    assert rest.next is None
    assert "reached:" not in rest.text()


def test_edits_that_are_not_committed_are_a_change(shop: Shop, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(shop.repo.path, tmp_path / "shop"))
    home = Path(shutil.copytree(shop.home, tmp_path / "home", symlinks=True))
    registry = home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(shop.repo.path), str(tree)))
    money = tree / "shop/money.py"
    money.write_text(money.read_text().replace("1 + RATE", "1 + RATE + 0"))
    mine = Shop(tmp_path)
    page = mine.ask(folder=tree)

    assert kinds_of(page) == {"shop/money.py::with_tax": "body"}
    assert (page.head, page.base) == ("the work tree", mine.repo.git("rev-parse", "HEAD")[:12])
    assert "tests/test_payments.py::test_a_card_is_charged" in [row.id for row in page.tests]


def test_two_dots_compare_as_they_are_and_three_since_they_parted(shop: Shop, tmp_path: Path) -> None:
    mine = Shop(Path(shutil.copytree(shop.folder, tmp_path / "copy", symlinks=True)))
    registry = mine.home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(shop.folder), str(mine.folder)))
    first = mine.repo.git("rev-parse", "HEAD~1").strip()
    mine.repo.git("checkout", "-q", "-b", "side", first)
    mine.repo.commit({"shop/more.py": "def more():\n    return 1\n"})

    assert kinds_of(mine.ask(range="main...side")) == {"shop/more.py::more": "added"}
    assert kinds_of(mine.ask(range="main..side"))["shop/money.py::old_price"] == "added"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nowhere..HEAD", "shop has no commit 'nowhere' here (its branches are main): run `git -C "),
        ("--output=x..HEAD", "'--output=x' cannot name a commit"),
        ("n" * 300, "shop has no commit 'nnn"),
        ("n" * 301, "cannot name a commit"),
        ("^HEAD", "'^HEAD' cannot name a commit"),
        ("HEAD:shop/money.py", "cannot name a commit"),
        ("HEAD^{/secret}..HEAD", "cannot name a commit"),
        ("a..b..c", "cannot name a commit"),
        ("", "there is no work tree of shop here to compare with its last commit: give BASE..HEAD"),
    ],
    ids=["unknown", "an option", "long", "too long", "all but a commit", "a file", "a search", "three", "no tree"],
)
def test_what_names_no_commit_is_refused_with_the_way_out(shop: Shop, written: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        shop.ask(range=written)

    assert message in str(refused.value)


def test_histories_without_a_common_commit_are_told(shop: Shop, tmp_path: Path) -> None:
    mine = Shop(Path(shutil.copytree(shop.folder, tmp_path / "copy", symlinks=True)))
    registry = mine.home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(shop.folder), str(mine.folder)))
    mine.repo.git("checkout", "-q", "--orphan", "other")
    mine.repo.commit({"x.py": "def x():\n    return 1\n"})

    with pytest.raises(ConfigurationError, match="they have no common commit; with two dots"):
        mine.ask(range="main...other")
    assert mine.ask(range="main..other").kinds


def test_a_huge_change_is_compared_up_to_a_limit_that_is_told(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codesum_pipeline.answers.agent_tools.impact_tool.MOST_FILES", 1)

    (why,) = (why for why in shop.ask(range="HEAD~1..HEAD").not_compared if "beyond the limit" in why)
    assert why == f"beyond the limit of 1 files or {compared_versions.MOST_BYTES // 1_000_000} MB, not compared"


def test_files_that_are_no_text_or_moved_are_told(shop: Shop, tmp_path: Path) -> None:
    mine = Shop(Path(shutil.copytree(shop.folder, tmp_path / "copy", symlinks=True)))
    registry = mine.home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(shop.folder), str(mine.folder)))
    mine.repo.git("mv", "shop/web.py", "shop/pages.py")
    mine.repo.write({"logo.bin": b"\0\1\2" * 100, "shop/link.py": "", "data.min.js": "x"})
    mine.repo.commit({})
    page = mine.ask(range="main~1..main")

    assert page.not_compared["not read as code"] == ["logo.bin"]
    (moved,) = page.changes
    assert (moved.kind, moved.id, moved.moved_from) == ("moved", "shop/pages.py", "shop/web.py")
    assert any("skip_pattern" in note for note in page.notes)


def test_a_file_whose_name_is_no_utf8_is_told_as_not_indexed(shop: Shop, tmp_path: Path) -> None:
    mine = Shop(Path(shutil.copytree(shop.folder, tmp_path / "copy", symlinks=True)))
    registry = mine.home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(shop.folder), str(mine.folder)))
    blob = mine.repo.git("rev-parse", "HEAD:shop/web.py").strip()
    mine.repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{os.fsdecode(b'caf' + bytes([0xE9]))}.py")
    mine.repo.git("commit", "-q", "-m", "one more")
    page = mine.ask(range="main~1..main")

    assert not page.kinds
    assert any("1 invalid_path" in note for note in page.notes)
