"""The tools over the index, as a model is given them: those that every other way in has, for the asked repositories."""

from collections.abc import Sequence
from typing import Any

from codesum_pipeline.asking.tool import ModelTool, ToolResult
from codesum_pipeline.tools.answers import Arguments
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.registry import TOOLS, Tool

# Those that speak of a repository as a whole; the others give what they were asked for, which the model uses itself.
OVERVIEW_TOOLS = frozenset({"get_codebase_overview", "get_framework_analysis", "get_semantic_neighborhoods"})
# The same as `get_codebase_overview`, under the name that agents outside have it by.
_LEFT_OUT = "overview"
_BOUNDS = ("limit", "tokens")


def index_tools(call: ToolContext, repos: Sequence[str]) -> list[ModelTool]:
    """The tools, which look at these repositories where the model names none; all answer of what `call` has opened."""
    return [_for_model(tool, call, repos) for tool in TOOLS if tool.name != _LEFT_OUT]


def _for_model(tool: Tool, call: ToolContext, repos: Sequence[str]) -> ModelTool:
    is_overview = tool.name in OVERVIEW_TOOLS

    def run(asked: Arguments) -> ToolResult:
        within = _within(asked, repos)
        page = tool.ask(call.again(), within)
        whole = tool.text(tool.ask(call.again(), _unbounded(within))) if is_overview else None
        return ToolResult(tool.text(page), page, whole=whole)

    return ModelTool(tool.name, tool.description, tool.arguments, run, is_overview)


def _within(asked: Arguments, repos: Sequence[str]) -> Arguments:
    """The arguments, which name the asked repositories where they name none."""
    values = asked.model_dump()
    if values.get("repos") == []:
        return asked.model_copy(update={"repos": list(repos)})
    if values.get("repo") == "" and len(repos) == 1:
        return asked.model_copy(update={"repo": repos[0]})
    return asked


def _unbounded(asked: Arguments) -> Arguments:
    """The arguments with the highest bounds that they can have."""
    fields: dict[str, Any] = asked.model_json_schema()["properties"]
    highest = {name: fields[name]["maximum"] for name in _BOUNDS if "maximum" in fields.get(name, {})}
    return asked.model_copy(update=highest)
