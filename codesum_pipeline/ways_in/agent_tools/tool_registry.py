"""All tools, with their descriptions, arguments and answers."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.changed_files import mark_changed
from codesum_pipeline.ways_in.agent_tools.changes_tool import watch_changes
from codesum_pipeline.ways_in.agent_tools.graph_tool import get_dependencies, get_file_analysis, get_symbol_info, graph
from codesum_pipeline.ways_in.agent_tools.grep_tool import grep
from codesum_pipeline.ways_in.agent_tools.impact_tool import impact
from codesum_pipeline.ways_in.agent_tools.overview_tool import (
    get_framework_analysis,
    get_semantic_neighborhoods,
    overview,
)
from codesum_pipeline.ways_in.agent_tools.read_tool import read
from codesum_pipeline.ways_in.agent_tools.search_tool import search, search_symbols
from codesum_pipeline.ways_in.agent_tools.status_tool import status
from codesum_pipeline.ways_in.agent_tools.tool_answers import AnswerPage, Arguments, explain_invalid


class Tool(Struct, frozen=True):
    """The first sentence of `description` says when the tool is better than what an agent has anyway. `answer` takes a
    call and arguments, and returns a page."""

    name: str
    description: str
    answer: Callable[[ToolContext, Any], AnswerPage]
    is_default: bool = False

    @property
    def arguments(self) -> type[Arguments]:
        found: type[Arguments] = self.answer.__annotations__["arguments"]
        return found

    @property
    def page(self) -> type[AnswerPage]:
        found: type[AnswerPage] = self.answer.__annotations__["return"]
        return found

    def ask(self, call: ToolContext, arguments: Mapping[str, Any] | Arguments) -> AnswerPage:
        """The answer, with marks and notes where files changed since the commit that it is of. Raises
        `ConfigurationError` for arguments that the tool does not take."""
        parsed = arguments if isinstance(arguments, Arguments) else self.parse(arguments)
        return mark_changed(call, self.answer(call, parsed))

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ConfigurationError(f"{self.name}: {explain_invalid(error, self.arguments)}") from error


TOOLS = (
    Tool(
        "search",
        "Find code by what it does, in words, when you do not know the name to grep for: ranked functions, classes, "
        "files and folders with path:line and a summary, and the lines that fit, of one repository or all. Also finds "
        'names and quoted text ("failed to open %s"). Filters: repos, levels, languages, paths, tests.',
        search,
        is_default=True,
    ),
    Tool(
        "grep",
        "As ripgrep, in all files of one repository or all: matching lines below the function or class that holds them "
        "and what it is for, definitions first.",
        grep,
        is_default=True,
    ),
    Tool(
        "read",
        "Read exactly the function, class or lines you need instead of whole files: several ids, names or "
        "path:first-last in one call, 200 lines of each, with who calls it; a folder gives its summary, a long "
        "function its outline and what fits the query; parts=summary what else is known.",
        read,
        is_default=True,
    ),
    Tool(
        "graph",
        "See who calls, refers to, imports or inherits from something, and what it uses, resolved across files where "
        "grep finds only equal names; also its members, external packages, and code like it. Of a symbol, constant, "
        "file or folder; depth follows further.",
        graph,
        is_default=True,
    ),
    Tool(
        "overview",
        "Start here in a repository you do not know, before listing folders: what it is, its parts and languages, "
        "frameworks and entry points, and its most used files and definitions.",
        overview,
        is_default=True,
    ),
    Tool(
        "impact",
        "Before you change a function (ids) or finish a change (range): all who call or refer to it at any distance, "
        "in other repositories too, and all tests, routes and commands that run it; tests kept away by mocks apart.",
        impact,
        is_default=True,
    ),
    Tool(
        "status",
        "Which repositories can be asked, at which commit each stands and how far behind HEAD; of one repository "
        "what changed last.",
        status,
        is_default=True,
    ),
    Tool(
        "get_codebase_overview",
        "What a repository is before you open any file: parts, languages, frameworks, entry points, most used code.",
        overview,
    ),
    Tool(
        "get_framework_analysis",
        "What a repository is built with and how it starts, from manifests, imports and entry points: web frameworks, "
        "ORMs, test runners, build systems, CI, deployment.",
        get_framework_analysis,
    ),
    Tool(
        "get_semantic_neighborhoods",
        "Code that belongs together whatever folder it is in: communities of the graph, and what is like a given "
        "function, class, file or folder.",
        get_semantic_neighborhoods,
    ),
    Tool(
        "search_symbols",
        "Find functions and classes by name or a part of it, also spelled nearly so, without the false hits of grep.",
        search_symbols,
    ),
    Tool(
        "get_symbol_info",
        "All about one function or class in one call: signature, place, what it is part of, members, callers, "
        "callees, what refers to it, bases and subclasses.",
        get_symbol_info,
    ),
    Tool(
        "get_dependencies",
        "What a file or folder imports, what imports it, and which packages from outside it rests on.",
        get_dependencies,
    ),
    Tool(
        "get_file_analysis", "What a file defines, imports and hands to others, without reading it.", get_file_analysis
    ),
    Tool(
        "watch_changes",
        "Which functions, classes, files and folders came, changed or went since a commit or your last look.",
        watch_changes,
    ),
)


def tools_by_name(*, every: bool = True) -> dict[str, Tool]:
    """All tools, or those that agents have by default."""
    return {tool.name: tool for tool in TOOLS if every or tool.is_default}
