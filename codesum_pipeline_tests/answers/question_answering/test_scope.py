"""Of which repositories a question is, and its tools look at."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.question_answering.calls import index_tools, read_arguments
from codesum_pipeline.answers.question_answering.session import AskedQuestion, best_without_model
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import MissingTable, UnknownRepository
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two repositories and the home that has both."""
    folder = tmp_path_factory.mktemp("two")
    home = open_home(folder / "home")
    for key in ("left", "right"):
        source = f'def weigh_{key}(load):\n    """Weigh the load of the {key} side."""\n    return load * 2\n'
        repository = GitRepo.create(folder / key, {"README.md": f"# {key}\n", f"{key}.py": source})
        build(workspace_of(home, RepositoryEntry(key=key, location=str(repository.path))))
    return folder


def catalogue_of(two: Path, home: str = "home") -> IndexCatalogue:
    return IndexCatalogue.of(load_settings({"home": two / home}, environ={}))


async def answered(two: Path, folder: Path, *repos: str, home: str = "home") -> tuple[str, list[str]]:
    """What the index answers, and of which repositories; no model is set up."""
    catalogue = catalogue_of(two, home)
    question = AskedQuestion("weigh the load", repos, catalogue, folder, lambda: datetime.now(UTC), lambda _note: None)
    answer = await question.answer(lambda _event: None)
    return answer.text, [each.repo for each in answer.as_of]


@pytest.mark.parametrize(
    ("folder", "repos", "wanted"),
    [
        pytest.param("", (), ["left", "right"], id="outside of a checkout all"),
        pytest.param("right", (), ["right"], id="in a checkout its own"),
        pytest.param("right", ("left",), ["left"], id="the one that is named"),
    ],
)
def test_a_question_is_about(two: Path, folder: str, repos: tuple[str, ...], wanted: list[str]) -> None:
    text, repositories = asyncio.run(answered(two, two / folder, *repos))

    assert repositories == wanted
    assert [f"weigh_{key}" in text for key in ("left", "right")] == [key in wanted for key in ("left", "right")]


def test_an_unknown_repository_and_an_empty_home_are_told(two: Path) -> None:
    with pytest.raises(UnknownRepository, match="nowhere"):
        asyncio.run(answered(two, two, "nowhere"))
    with pytest.raises(MissingTable, match="holds no index yet"):
        asyncio.run(answered(two, two, home="empty"))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("search", '{"query": "weigh the load"}', id="search"),
        pytest.param("get_codebase_overview", "{}", id="get_codebase_overview"),
    ],
)
def test_tools_look_at_the_asked_repositories_where_the_model_names_none(two: Path, name: str, arguments: str) -> None:
    tools = {tool.name: tool for tool in index_tools(ToolContext(catalogue_of(two), two / "left"), ["right"])}

    found = tools[name].run(read_arguments(tools[name].arguments, arguments))

    assert "right.py" in found.text
    assert "left.py" not in found.text


def test_settings_of_questions_shape_no_index(two: Path) -> None:
    plain = open_home(two / "home")
    other = open_home(two / "home", ask={"max_steps": 3, "primary_document": "GUIDE"})
    entry = plain.registry.get("left")

    assert plain.fingerprint(entry, commit="c") == other.fingerprint(entry, commit="c")


def test_of_many_repositories_the_overviews_are_of_those_with_the_best_hits_and_not_of_the_first_by_name(
    tmp_path: Path,
) -> None:
    home = open_home(tmp_path / "home")
    for key in ("a", "b", "c", "d", "e"):
        words = "weigh the load of a ship" if key in ("d", "e") else "paint a fence"
        source = f'def go_{key}(x):\n    """{words.capitalize()}."""\n    return x\n'
        repository = GitRepo.create(tmp_path / key, {"README.md": f"# {key}\n", f"{key}.py": source})
        build(workspace_of(home, RepositoryEntry(key=key, location=str(repository.path))))
    call = ToolContext(catalogue_of(tmp_path), tmp_path)
    repos = ["a", "b", "c", "d", "e"]
    tools = {tool.name: tool for tool in index_tools(call, repos)}

    text = best_without_model("ship zyxwv qqqq", tools=tools, repos=repos)

    assert text.count("most used files") == 3
    assert "d.py" in text and "e.py" in text
