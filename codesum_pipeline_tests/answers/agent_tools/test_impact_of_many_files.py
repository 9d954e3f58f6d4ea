"""What `impact` costs where many files of a work tree are edited, and where it stops comparing them."""

import sys
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

MANY = 24


class Counter:
    """Processes that were started while it is on; a hook of the interpreter cannot be taken off."""

    def __init__(self) -> None:
        self.is_on, self.count = False, 0
        sys.addaudithook(self.see)

    def see(self, event: str, _: object) -> None:
        self.count += self.is_on and event == "subprocess.Popen"


class Shop:
    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo.create(folder / "shop", {path(at): source(at) for at in range(MANY)})
        self.home = open_home(folder / "home")
        build(workspace_of(self.home, RepositoryEntry("shop", str(self.repo.path))))

    def ask(self, edited: int) -> ImpactPage:
        self.repo.git("checkout", "-q", "--force", ".")
        self.repo.write({path(at): source(at, "* 2") for at in range(edited)})
        call = ToolContext(IndexCatalogue.of(self.home.settings), self.repo.path)
        found = tools_by_name()["impact"].ask(call, {"repo": "shop", "limit": 200, "tokens": 50_000})
        assert isinstance(found, ImpactPage)
        return found


def path(at: int) -> str:
    return f"shop/part{at:02}.py"


def source(at: int, more: str = "") -> str:
    return f"def pay_{at}(amount):\n    return amount + {at}{more}\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("many"))


@pytest.mark.parametrize(("edited", "cut"), [(3, []), (4, [path(3)])], ids=["as many as are compared", "one more"])
def test_edited_files_are_compared_up_to_a_limit(
    shop: Shop, edited: int, cut: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codesum_pipeline.answers.agent_tools.impact_tool.MOST_FILES", 3)
    page = shop.ask(edited)

    assert [change.id for change in page.changes] == [f"{path(at)}::pay_{at}" for at in range(3)]
    assert [paths for why, paths in page.not_compared.items() if "beyond the limit" in why] == [cut] * bool(cut)


def test_no_process_is_started_for_each_edited_file(shop: Shop) -> None:
    counter, counts = Counter(), list[int]()
    for edited in (2, MANY):
        counter.is_on, counter.count = True, 0
        page = shop.ask(edited)
        counter.is_on = False
        counts.append(counter.count)
        assert len(page.changes) == edited

    # One for each file would be 22 more. Some of what the first one starts may be known from other tests.
    assert 0 < counts[1] < counts[0] + MANY // 2
