"""The tools over the index, as a model is given them: those that every other way in has, for the asked repositories."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from codesum_pipeline.asking.tool import Tool, ToolResult
from codesum_pipeline.model.documents import Level
from codesum_pipeline.tools.answers import Arguments, Name, Page, row_of
from codesum_pipeline.tools.call import Call
from codesum_pipeline.tools.catalogue import Catalogue
from codesum_pipeline.tools.graph import GraphArguments, graph, graph_text
from codesum_pipeline.tools.read import ReadArguments, read, read_text
from codesum_pipeline.tools.search import SearchArguments, search, search_text
from codesum_pipeline.tools.text import row_line, with_frame


class OverviewArguments(Arguments):
    """Of which repository."""

    repo: Name = ""
    include_stats: bool = Field(True, description="Counts of documents, too")


def overview(call: Call, asked: OverviewArguments) -> tuple[Page, list[str]]:
    lines = []
    indexes = call.indexes([asked.repo] if asked.repo else [])
    for index in indexes:
        if asked.include_stats:
            lines.append(f"{index.repo}: {len(index):,} documents")
        files = index.rows_of(Level.FILE)
        modules = index.rows_of(Level.MODULE)
        importance = index.arrays["importance"]
        best = sorted(range(files.start, files.stop), key=lambda row: (-importance[row], row))
        for row in (*range(modules.start, modules.stop), *best):
            lines.append(row_line(row_of(index, row), several=len(indexes) > 1))
    return Page(as_of=call.as_of([index.repo for index in indexes]), notes=call.notes), lines


@dataclass(frozen=True, slots=True)
class _Source:
    """A tool's function and what turns its answer into text."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Call, Any], Any]
    text: Callable[[Any], str]
    is_overview: bool = False


_SOURCES = (
    _Source(
        "get_codebase_overview",
        "What a repository is and consists of: call it first for any question about a repository as a whole.",
        OverviewArguments,
        overview,
        lambda found: with_frame(found[0], found[1], what="rows"),
        is_overview=True,
    ),
    _Source(
        "search",
        "Find functions, classes, files and modules by what they do or are called, best first, with places.",
        SearchArguments,
        search,
        search_text,
    ),
    _Source("read", "Read documents, or lines of files: `path:first-last`.", ReadArguments, read, read_text),
    _Source(
        "graph", "What a symbol or file is related to: callers, callees, imports.", GraphArguments, graph, graph_text
    ),
)


def index_tools(catalogue: Catalogue, folder: Path, repos: Sequence[str]) -> list[Tool]:
    """The tools, which look at these repositories where the model names none."""
    return [_tool(source, catalogue, folder, repos) for source in _SOURCES]


def _tool(source: _Source, catalogue: Catalogue, folder: Path, repos: Sequence[str]) -> Tool:
    def run(asked: BaseModel) -> ToolResult:
        call = Call(catalogue, folder)
        found = source.run(call, _within(asked, repos))
        return ToolResult(source.text(found), found)

    return Tool(source.name, source.description, source.arguments, run, source.is_overview)


def _within(asked: BaseModel, repos: Sequence[str]) -> BaseModel:
    """The arguments, which name the asked repositories where they name none."""
    fields = type(asked).model_fields
    if "repos" in fields and not asked.model_dump()["repos"]:
        return asked.model_copy(update={"repos": list(repos)})
    if "repo" in fields and not asked.model_dump()["repo"] and len(repos) == 1:
        return asked.model_copy(update={"repo": repos[0]})
    return asked
