"""What is reached in a small repository: the reach of its built index."""

from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline_tests.support.homes import built_once, open_home


def reach_in(folder: Path, files: Mapping[str, str]) -> CodeReach:
    """The reach of a repository with these files, which is built below the folder."""
    home = open_home(built_once(folder, files) / "home")
    call = ToolContext(IndexCatalogue.of(home.settings), Path("/"))
    documents = call.documents("shop")
    return CodeReach.of(documents, call.sources(documents.parts))
