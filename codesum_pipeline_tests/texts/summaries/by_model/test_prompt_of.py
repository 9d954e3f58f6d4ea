"""The prompt of one document, read while the tables are those of a build that has not ended."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import RetryLater
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.flow import prompt_of
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import shop

PAY = "def pay(amount):\n    while amount % 5:\n        amount += 1\n    return amount\n"
DRAWER = "class Drawer:\n    def open(self, key):\n        if key:\n            return 1\n        return 0\n"
BEFORE = {"till/pay.py": PAY, "till/drawer.py": DRAWER, "gone/old.py": PAY, "till/kind.py": PAY}
AFTER = {
    "till/pay.py": PAY + PAY.replace("pay", "refund"),
    "till/drawer.py": DRAWER + "\n    def shut(self, key):\n        if key:\n            return 2\n        return 0\n",
    "till/kind.py": PAY.replace("def pay(amount):", "class pay:\n  def grow(amount):"),
    "till/new/more.py": PAY,
}
UNFINISHED = {
    "a file with a new function": ("till/pay.py", Level.FILE),
    "a class with a new method": ("till/drawer.py::Drawer", Level.CLASS),
    "a folder with a new folder": ("till", Level.MODULE),
    "a function that is gone": ("gone/old.py::pay", Level.FUNCTION),
    "a file that is gone": ("gone/old.py", Level.FILE),
    "a folder that is gone": ("gone", Level.MODULE),
    "a function that has become a class": ("till/kind.py::pay", Level.FUNCTION),
}


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """An index that is published, and tables of a later build that has come as far as the graph."""
    with shop(tmp_path_factory.mktemp("till"), BEFORE) as made:
        build(made.workspace(llm={"enabled": False}))
        made.repo.commit_exactly(AFTER)
        build(made.workspace(llm={"enabled": False}), until="call_graph")
        return made.workspace(llm={"enabled": False})


@pytest.mark.parametrize("name", UNFINISHED)
def test_while_a_build_has_not_ended_it_is_said_that_the_tables_are_its_own(unfinished: Workspace, name: str) -> None:
    with pytest.raises(RetryLater, match=r"of a build that is under way or was ended; `codesum index shop` brings"):
        prompt_of(unfinished, *UNFINISHED[name])


def test_a_document_whose_tables_are_whole_is_shown_all_the_same(unfinished: Workspace) -> None:
    assert "1| def pay(amount):" in prompt_of(unfinished, "till/pay.py::pay", Level.FUNCTION).user


def test_where_the_build_has_ended_everything_is_shown(tmp_path: Path) -> None:
    with shop(tmp_path, AFTER) as made:
        workspace = made.workspace(llm={"enabled": False})
        build(workspace)

    assert "refund (function)" in prompt_of(workspace, "till/pay.py", Level.FILE).user
    assert "new (module)" in prompt_of(workspace, "till", Level.MODULE).user
