"""Which tests are kept away from what they would run by what they replace: each form, and what looks like it."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools import kept_away, replaced_definitions
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.cli.impact_markdown import impact_markdown
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.mocked_shop import HEAD, KEPT_AWAY, NOT_READ, REACHED, SHOP
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.still_run_shop import STILL_RUN

Ask = Callable[..., ImpactPage]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("mocked")
    codes = {**KEPT_AWAY, **REACHED, **NOT_READ, **STILL_RUN}
    tests = {f"tests/test_{name}.py": f"{HEAD}\n{textwrap.dedent(code)}" for name, code in codes.items()}
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

    assert page.kept_away_count == len(page.kept_away) == len(KEPT_AWAY)
    assert f"kept away by what they replace: {len(KEPT_AWAY)} tests" in lines
    assert "    tests/test_decorator.py  replace orders.with_tax: test_it:15" in lines
    kept, named = (f"all {len(rows)} tests that" for rows in (page.kept_away, page.tests))
    assert lines.index(f"{kept} are kept away by what they replace") > lines.index(f"{named} reach it")


def test_a_comment_counts_them(page: ImpactPage) -> None:
    assert f"| tests kept away | {len(KEPT_AWAY)} by what they replace |\n" in impact_markdown(page)


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


@pytest.mark.parametrize(
    ("where", "limit", "enough", "few"),
    [
        (kept_away, "MOST_WALKED", 100_000, 50),
        (replaced_definitions, "MOST_PARSED", 1000, 3),
        (replaced_definitions, "MOST_KEPT", 500, 5),
    ],
    ids=["what is reached", "files", "what may be meant"],
)
def test_beyond_a_limit_tests_are_named_as_if_they_replaced_nothing(
    home: Path, page: ImpactPage, monkeypatch: pytest.MonkeyPatch, where: object, limit: str, enough: int, few: int
) -> None:
    monkeypatch.setattr(where, limit, enough)
    assert asked(home).kept_away == page.kept_away
    monkeypatch.setattr(where, limit, few)
    found = asked(home)

    assert [note for note in found.notes if "replace was followed in part" in note]
    assert len(found.kept_away) < len(page.kept_away)
    assert len(found.tests) + len(found.kept_away) == len(page.tests) + len(page.kept_away)


def test_a_module_is_looked_for_once_however_many_lines_replace_what_it_has(
    home: Path, page: ImpactPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, find = list[tuple[tuple[str, ...], str]](), replaced_definitions.TestReplacements._find_modules

    def count(self: replaced_definitions.TestReplacements, owner: tuple[str, ...], path: str) -> list[str]:
        found.append((owner, path))
        return find(self, owner, path)

    monkeypatch.setattr(replaced_definitions.TestReplacements, "_find_modules", count)

    assert asked(home).kept_away == page.kept_away
    assert found
    assert len(found) == len(set(found))


@pytest.mark.parametrize("name", [*REACHED, *NOT_READ, *STILL_RUN])
def test_a_test_that_still_runs_it_is_named(page: ImpactPage, name: str) -> None:
    assert (name in files(page.tests), name in files(page.kept_away)) == (True, False)
