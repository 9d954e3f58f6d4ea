"""What a change of some definitions would reach, which nobody has changed; and long lists, written by files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import MOST_WITH_WAYS, ImpactPage
from codesum_pipeline.answers.agent_tools.tool_answers import tokens_of
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.changed_shop import BEFORE, USER
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

Ask = Callable[..., ImpactPage]
# Eighty functions in eight files and 150 tests in ten classes, all of `tick`; twelve functions of `tock`.
LONG = {
    "clock/base.py": "def tick():\n    return 1\n\n\ndef tock():\n    return 2\n",
    **{
        f"clock/part_{at}.py": "from clock.base import tick\n\n\n"
        + "\n\n".join(f"def wind_the_clock_{at}_{each}():\n    return tick()\n" for each in range(10))
        for at in range(8)
    },
    "clock/few.py": "from clock.base import tock\n\n\n"
    + "\n\n".join(f"def few_{each}():\n    return tock()\n" for each in range(MOST_WITH_WAYS)),
    **{
        f"tests/test_part_{at}.py": "from clock.base import tick\n\n\n"
        + "\n\n".join(
            f"class TestOfPart{half}:\n"
            + "\n".join(
                f"    def test_that_it_ticks_in_time_{each}(self):\n        assert tick()\n" for each in range(15)
            )
            for half in ("Early", "Late")
        )
        for at in range(5)
    },
}


def ask_of(home: Path) -> Ask:
    def ask(*ids: str, **arguments: object) -> ImpactPage:
        call = ToolContext(IndexCatalogue.of(open_home(home).settings), Path("/"))
        found = tools_by_name()["impact"].ask(call, {"ids": [*ids], "repo": "shop", **arguments})
        assert isinstance(found, ImpactPage)
        return found

    return ask


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    folder: Path = tmp_path_factory.mktemp("asked")
    for key, files in (("shop", BEFORE), ("till", USER)):
        repo = GitRepo.create(folder / key, files)
        build(workspace_of(open_home(folder / "home"), RepositoryEntry(key, str(repo.path))))
    return ask_of(folder / "home")


@pytest.fixture(scope="module")
def ask_long(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    folder: Path = tmp_path_factory.mktemp("long")
    repo = GitRepo.create(folder / "shop", LONG)
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))))
    return ask_of(folder / "home")


def test_nothing_need_have_changed(ask: Ask) -> None:
    page = ask("round_cents")

    assert page.asked == ["shop/money.py::round_cents"]
    assert [row.id for row in page.tests] == [
        "tests/test_money.py::TestRounding::test_it_has_two_places",
        "test_app.py::test_a_total_is_rounded",
        "tests/test_payments.py::test_a_card_is_charged",
    ]
    assert {row.id: row.steps for row in page.reached if row.repo == "shop"}["shop/payments.py::settle"] == 3
    assert page.counts.others == {"till": 2}
    assert [row.starts for row in page.starts] == [["route POST /pay"]]
    assert page.text().split("\n")[1] == "shop: what reaches round_cents"


def test_a_class_a_file_and_a_constant_can_be_asked_about(ask: Ask) -> None:
    of_class, of_file, of_constant = ask("CardPayment"), ask("shop/payments.py"), ask("RATE")

    assert "shop/payments.py::settle" in {row.id for row in of_class.reached}
    assert {row.id for row in of_class.tests} <= {row.id for row in of_file.tests}
    assert of_constant.asked == ["shop/money.py::RATE"]
    assert of_constant.reached[0].id == "shop/money.py::with_tax"


def test_a_folder_is_asked_about_without_reading_it_as_a_file(ask: Ask) -> None:
    page = ask("shop")

    assert page.asked == ["shop"]
    assert {row.id for row in ask("shop/payments.py").tests} <= {row.id for row in page.tests}
    assert page.notes == []


def test_several_reach_what_each_reaches(ask: Ask) -> None:
    both = ask("round_cents", "old_price")

    assert {row.id for row in both.reached} > {row.id for row in ask("old_price").reached}
    assert len(both.changes) == 2


def test_what_is_unknown_is_answered_as_read_does(ask: Ask) -> None:
    with pytest.raises(ConfigurationError, match="no document 'x/round_cents' in shop; nearest: shop/money.py::round"):
        ask("x/round_cents")
    page = ask("round_cents", "nothing_of_it_at_all")
    assert page.asked == ["shop/money.py::round_cents"]
    assert any("no document 'nothing_of_it_at_all'" in note for note in page.notes)


def test_a_name_means_a_definition_before_a_file(tmp_path: Path) -> None:
    files = {
        "tick.py": "def tick():\n    return 1\n",
        "use.py": "import tick\n\nX = tick\n",
        "more.py": "import tick\n",
    }
    repo = GitRepo.create(tmp_path / "shop", files)
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    ask = ask_of(tmp_path / "home")

    assert [ask(name).asked for name in ("tick", "tick.py")] == [["tick.py::tick"], ["tick.py"]]


def test_what_is_ambiguous_is_told(ask: Ask) -> None:
    assert any("2 documents are meant by 'charge'" in note for note in ask("charge").notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"range": "HEAD~1..HEAD"}, "ids and range = 'HEAD~1..HEAD': give the definitions"),
        ({"ids": ["shop/money.py", "app.py::total"], "repo": ""}, "are of several repositories, shop, till: name one"),
        ({"ids": [" "]}, "the id is empty"),
        ({"only": "some"}, "only = 'some'"),
    ],
    ids=["with versions", "of two repositories", "empty", "another list"],
)
def test_what_is_no_question_is_refused(ask: Ask, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(CodesumError) as refused:
        ask(**{"ids": ["round_cents"], **arguments})

    assert message in str(refused.value)


@pytest.mark.parametrize(("name", "total"), [("tests", 150), ("reached", 80)])
def test_a_long_list_fits_one_answer_and_says_that_it_is_whole(ask_long: Ask, name: str, total: int) -> None:
    page = ask_long("tick", only=name)
    text = page.text()

    assert len(getattr(page, name)) == page.shown == page.total == total
    assert f"\nall {total} " in text
    assert page.next is None
    assert tokens_of(text) < 2_200


def test_tests_stand_below_their_file_and_class(ask_long: Ask) -> None:
    lines = ask_long("tick", only="tests").text().split("\n")
    (line,) = (line for line in lines if line.startswith("    tests/test_part_0.py"))

    assert line.startswith("    tests/test_part_0.py  1 step: TestOfPartEarly: test_that_it_ticks_in_time_0:5, test_")
    assert "; TestOfPartLate: test_that_it_ticks_in_time_0:" in line


@pytest.mark.parametrize(("name", "has_ways"), [("tock", True), ("tick", False)], ids=["twelve", "eighty"])
def test_a_short_list_has_the_way_to_each(ask_long: Ask, name: str, has_ways: bool) -> None:
    assert (f"(1 step: {name} ← " in ask_long(name, only="reached").text()) == has_ways


def test_a_cursor_goes_on_where_a_list_is_not_whole(ask_long: Ask) -> None:
    first = ask_long("tick", only="tests", limit=100)
    rest = ask_long("tick", only="tests", limit=100, cursor=first.next)

    assert "\ntests that reach it, 1-100 of 150\n" in first.text()
    assert "tests that reach it, 101-150 of 150" in rest.text()
    assert [row.id for row in (*first.tests, *rest.tests)] == [row.id for row in ask_long("tick", only="tests").tests]


def test_all_lists_come_one_after_the_other(ask_long: Ask) -> None:
    page = ask_long("tick", tokens=50_000)

    assert (len(page.tests), len(page.reached)) == (150, 80)
    assert (page.counts.one, page.test_count) == (230, 150)


DOUBTED = {
    "jobs.py": (
        "class Job:\n    def carry_out(self):\n        return 0\n\n\n"
        "class Copy(Job):\n    def carry_out(self):\n        return 1\n\n\n"
        "def run(job: Job):\n    return job.carry_out()\n\n\n"
        "def copy():\n    return Copy().carry_out()\n\n\n"
        "def copy_again():\n    return copy()\n\n\n"
        "def run_or_copy(job: Job):\n    return run(job) or copy_again()\n\n\n"
        "def run_later(job: Job):\n    return run(job)\n"
    ),
}


def test_what_may_run_another_class_s_method_is_doubted(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", DOUBTED)
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))

    page = ask_of(tmp_path / "home")("Copy.carry_out")

    # Of the ways to `run_or_copy` the one of two steps is doubted, the one of three steps is sure.
    assert {row.title: row.is_sure for row in page.reached} == {
        "copy": True, "run": False, "copy_again": True, "run_or_copy": True, "run_later": False,
    }  # fmt: skip
    (heading,) = (line for line in page.text().split("\n") if line.startswith("all 5 "))
    assert heading.endswith("; ? where a method is called by its name alone, or as that of a base class")
    assert "  run_later?  (2 steps: " in page.text()
    assert "  run_or_copy  (2 steps: " in page.text()
