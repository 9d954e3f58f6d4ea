"""Where definitions could not be read, whoever asks about their file is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import built_once, open_home

FILES = {
    "whole.rb": "class Whole\n  def f; 1; end\nend\n",
    "gaps.rb": "class Kept\n  def f; 1; end\nend\n\nclass Lost\n  def f(\n\n  def g(1)\n",
    "other.kt": "enum class E { A { fun f() = 1}, B { fun f() = 2}}\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("unread"), FILES, key="gaps") / "home"


@pytest.fixture
def tell(home: Path, tmp_path: Path) -> Callable[..., str]:
    catalogue = IndexCatalogue.of(open_home(home).settings)

    def text(tool: str, /, **given: Any) -> str:
        return tools_by_name()[tool].ask(ToolContext(catalogue, tmp_path), given).text()

    return text


def test_reading_a_file_says_which_definitions_could_not_be_read(tell: Callable[..., str]) -> None:
    assert "not read: 2 definitions here could not be read: lines 5, 6" in tell("read", ids=["gaps.rb"])
    assert "not read: 1 definition here could not be read: lines 1" in tell("read", ids=["other.kt"])


@pytest.mark.parametrize("parts", ["all", "source"])
def test_it_is_said_however_much_is_read(tell: Callable[..., str], parts: str) -> None:
    assert "could not be read" in tell("read", ids=["gaps.rb"], parts=parts)
    assert "could not be read" in tell("read", ids=["gaps.rb:5-7"], parts=parts)


@pytest.mark.parametrize("name", ["whole.rb", "Kept", "gaps.rb::Kept::f", "Whole"])
def test_nothing_is_said_of_what_was_read(tell: Callable[..., str], name: str) -> None:
    assert "could not be read" not in tell("read", ids=[name])


def test_the_status_says_how_many(tell: Callable[..., str]) -> None:
    assert "3 definitions not read" in tell("status")


def test_an_index_knows_the_lines_that_were_not_read(home: Path) -> None:
    index = PublishedIndex.open(open_home(home).layout.published("gaps"))

    assert (index.unread_count, index.unread_lines("gaps.rb"), index.unread_lines("whole.rb")) == (3, [5, 6], [])
