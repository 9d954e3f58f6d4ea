"""All tools: what each is called, what it takes, how it answers, and how its answer is written as text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.tools.answers import AnswerPage, Arguments
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.changed_files import mark_changed
from codesum_pipeline.tools.changes import ChangeArguments, ChangePage, changes_text, watch_changes
from codesum_pipeline.tools.files import FileArguments, FilePage, file_text, get_file_analysis
from codesum_pipeline.tools.finding import shortened
from codesum_pipeline.tools.frameworks import FrameworkArguments, FrameworkPage, frameworks_text, get_framework_analysis
from codesum_pipeline.tools.graph import (
    DependencyArguments,
    GraphArguments,
    GraphPage,
    SymbolArguments,
    get_dependencies,
    get_symbol_info,
    graph,
    graph_text,
)
from codesum_pipeline.tools.neighbourhoods import (
    NeighbourhoodArguments,
    NeighbourhoodPage,
    get_semantic_neighborhoods,
    neighbourhoods_text,
)
from codesum_pipeline.tools.overview import OverviewArguments, OverviewPage, overview, overview_text
from codesum_pipeline.tools.read import ReadArguments, ReadPage, read, read_text
from codesum_pipeline.tools.search import SearchArguments, SearchPage, search, search_text
from codesum_pipeline.tools.status import StatusArguments, StatusPage, status, status_text
from codesum_pipeline.tools.symbols import SymbolSearchArguments, SymbolSearchPage, search_symbols, symbols_text


@dataclass(frozen=True, slots=True)
class Tool:
    """The first sentence of `description` says when the tool is better than what an agent has anyway."""

    name: str
    description: str
    arguments: type[Arguments]
    page: type[AnswerPage]
    answer: Callable[[ToolContext, Any], AnswerPage]
    text: Callable[[Any], str]
    is_default: bool = False

    def ask(self, call: ToolContext, arguments: Mapping[str, Any]) -> AnswerPage:
        """Raises `ConfigurationError` for arguments that the tool does not take."""
        return self.ask_parsed(call, self.parse(arguments))

    def ask_parsed(self, call: ToolContext, arguments: Arguments) -> AnswerPage:
        """The answer, which says what of it may be otherwise by now."""
        return mark_changed(call, self.answer(call, arguments))

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ConfigurationError(f"{self.name}: {_explained(error, self.arguments)}") from error


TOOLS = (
    Tool(
        "search",
        "Find code by what it does, in words, when you do not know the name to grep for: ranked functions, classes, "
        "files and folders with path:line and a summary each, of one repository or all. Also finds names and "
        'quoted text ("failed to open %s"). Filters: repos, levels, languages, paths, tests.',
        SearchArguments,
        SearchPage,
        search,
        search_text,
        is_default=True,
    ),
    Tool(
        "read",
        "Read exactly the function, class or lines you need instead of whole files: several ids, names or "
        "path:first-last in one call, 200 lines of each, with what is known of them; a folder gives its summary. "
        "With query and excerpt, only the lines that fit.",
        ReadArguments,
        ReadPage,
        read,
        read_text,
        is_default=True,
    ),
    Tool(
        "graph",
        "See who calls, imports or inherits from something, and what it uses, resolved across files where grep "
        "finds only equal names: callers, callees, bases, subclasses, imports, external packages, members, and code "
        "that is similar, for a symbol, file or folder; depth follows them further.",
        GraphArguments,
        GraphPage,
        graph,
        graph_text,
        is_default=True,
    ),
    Tool(
        "overview",
        "Start here in a repository you do not know, before listing folders: what it is, its parts and languages, "
        "frameworks and entry points, and its most used files and definitions.",
        OverviewArguments,
        OverviewPage,
        overview,
        overview_text,
        is_default=True,
    ),
    Tool(
        "status",
        "Which repositories can be asked, at which commit each stands and how far behind HEAD; of one repository "
        "what changed last.",
        StatusArguments,
        StatusPage,
        status,
        status_text,
        is_default=True,
    ),
    Tool(
        "get_codebase_overview",
        "What a repository is before you open any file: parts, languages, frameworks, entry points, most used code.",
        OverviewArguments,
        OverviewPage,
        overview,
        overview_text,
    ),
    Tool(
        "get_framework_analysis",
        "What a repository is built with and how it starts, from manifests, imports and entry points: web frameworks, "
        "ORMs, test runners, build systems, CI, deployment.",
        FrameworkArguments,
        FrameworkPage,
        get_framework_analysis,
        frameworks_text,
    ),
    Tool(
        "get_semantic_neighborhoods",
        "Code that belongs together whatever folder it is in: communities of the graph, and what is like a given "
        "function, class, file or folder.",
        NeighbourhoodArguments,
        NeighbourhoodPage,
        get_semantic_neighborhoods,
        neighbourhoods_text,
    ),
    Tool(
        "search_symbols",
        "Find functions and classes by name or a part of it, also spelled nearly so, without the false hits of grep.",
        SymbolSearchArguments,
        SymbolSearchPage,
        search_symbols,
        symbols_text,
    ),
    Tool(
        "get_symbol_info",
        "All about one function or class in one call: signature, place, what it is part of, members, callers, "
        "callees, bases and subclasses.",
        SymbolArguments,
        GraphPage,
        get_symbol_info,
        graph_text,
    ),
    Tool(
        "get_dependencies",
        "What a file or folder imports, what imports it, and which packages from outside it rests on.",
        DependencyArguments,
        GraphPage,
        get_dependencies,
        graph_text,
    ),
    Tool(
        "get_file_analysis",
        "What a file defines, imports and hands to others, without reading it.",
        FileArguments,
        FilePage,
        get_file_analysis,
        file_text,
    ),
    Tool(
        "watch_changes",
        "Which functions, classes, files and folders came, changed or went since a commit or your last look.",
        ChangeArguments,
        ChangePage,
        watch_changes,
        changes_text,
    ),
)


def tools_by_name(*, every: bool = True) -> dict[str, Tool]:
    """All tools, or those that agents get by default."""
    return {tool.name: tool for tool in TOOLS if every or tool.is_default}


def _explained(error: ValidationError, arguments: type[Arguments]) -> str:
    """Each wrong argument with its value and what it should be; values of any size are cut."""
    told = []
    for each in error.errors(include_url=False):
        name = ".".join(map(str, each["loc"])) or "the arguments"
        if each["type"] == "extra_forbidden":
            told.append(f"unknown argument {shortened(name)!r}; arguments are: {', '.join(arguments.model_fields)}")
        elif each["type"] == "missing":
            told.append(f"{name} is missing")
        elif each["type"] == "string_too_long":
            told.append(f"{name} has {len(each['input']):,} characters: {each['msg']}")
        else:
            told.append(f"{name} = {shortened(repr(each['input']))}: {each['msg']}")
    return "; ".join(told)
