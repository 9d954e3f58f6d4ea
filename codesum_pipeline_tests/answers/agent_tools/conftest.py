"""A home with two repositories, and a way to ask a tool as its ways in do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings

Ask = Callable[..., AnswerPage]


@pytest.fixture
def catalogue(zoo_home: Path) -> IndexCatalogue:
    return IndexCatalogue.of(load_settings({"home": zoo_home}, environ={}))


@pytest.fixture
def ask(catalogue: IndexCatalogue, tmp_path: Path) -> Ask:
    """`ask("search", query="…")`: the page that a tool answers with."""

    def call(tool: str, /, **arguments: Any) -> AnswerPage:
        return tools_by_name()[tool].ask(ToolContext(catalogue, tmp_path), arguments)

    return call


@pytest.fixture
def answer_text(catalogue: IndexCatalogue, tmp_path: Path) -> Callable[..., str]:
    """`answer_text("search", query="…")`: the text that an agent gets."""

    def call(tool: str, /, **arguments: Any) -> str:
        found = tools_by_name()[tool]
        return found.ask(ToolContext(catalogue, tmp_path), arguments).text()

    return call
