"""All tools, with their descriptions, arguments and answers."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.tools.answers import AnswerPage, Arguments, shortened
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.changed_files import mark_changed
from codesum_pipeline.tools.changes import changes_text, watch_changes
from codesum_pipeline.tools.facts import (
    frameworks_text,
    get_framework_analysis,
    get_semantic_neighborhoods,
    neighbourhoods_text,
)
from codesum_pipeline.tools.graph import (
    file_text,
    get_dependencies,
    get_file_analysis,
    get_symbol_info,
    graph,
    graph_text,
)
from codesum_pipeline.tools.overview import overview, overview_text
from codesum_pipeline.tools.read import read, read_text
from codesum_pipeline.tools.search import search, search_text
from codesum_pipeline.tools.status import status, status_text
from codesum_pipeline.tools.symbols import search_symbols, symbols_text


class Tool(Struct, frozen=True):
    """The first sentence of `description` says when the tool is better than what an agent has anyway.

    `answer` takes a call and arguments, and returns a page, which `text` writes as text.
    """

    name: str
    description: str
    answer: Callable[[ToolContext, Any], AnswerPage]
    text: Callable[[Any], str]
    is_default: bool = False

    @property
    def arguments(self) -> type[Arguments]:
        found: type[Arguments] = self.answer.__annotations__["asked"]
        return found

    @property
    def page(self) -> type[AnswerPage]:
        found: type[AnswerPage] = self.answer.__annotations__["return"]
        return found

    def ask(self, call: ToolContext, arguments: Mapping[str, Any] | Arguments) -> AnswerPage:
        """The answer, with marks and notes where files changed since the commit that it is of.

        Raises `ConfigurationError` for arguments that the tool does not take.
        """
        parsed = arguments if isinstance(arguments, Arguments) else self.parse(arguments)
        return mark_changed(call, self.answer(call, parsed))

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
        search,
        search_text,
        is_default=True,
    ),
    Tool(
        "read",
        "Read exactly the function, class or lines you need instead of whole files: several ids, names or "
        "path:first-last in one call, 200 lines of each, with what is known of them; a folder gives its summary. "
        "With query and excerpt, only the lines that fit.",
        read,
        read_text,
        is_default=True,
    ),
    Tool(
        "graph",
        "See who calls, imports or inherits from something, and what it uses, resolved across files where grep "
        "finds only equal names: callers, callees, bases, subclasses, imports, external packages, members, and code "
        "that is similar, for a symbol, file or folder; depth follows them further.",
        graph,
        graph_text,
        is_default=True,
    ),
    Tool(
        "overview",
        "Start here in a repository you do not know, before listing folders: what it is, its parts and languages, "
        "frameworks and entry points, and its most used files and definitions.",
        overview,
        overview_text,
        is_default=True,
    ),
    Tool(
        "status",
        "Which repositories can be asked, at which commit each stands and how far behind HEAD; of one repository "
        "what changed last.",
        status,
        status_text,
        is_default=True,
    ),
    Tool(
        "get_codebase_overview",
        "What a repository is before you open any file: parts, languages, frameworks, entry points, most used code.",
        overview,
        overview_text,
    ),
    Tool(
        "get_framework_analysis",
        "What a repository is built with and how it starts, from manifests, imports and entry points: web frameworks, "
        "ORMs, test runners, build systems, CI, deployment.",
        get_framework_analysis,
        frameworks_text,
    ),
    Tool(
        "get_semantic_neighborhoods",
        "Code that belongs together whatever folder it is in: communities of the graph, and what is like a given "
        "function, class, file or folder.",
        get_semantic_neighborhoods,
        neighbourhoods_text,
    ),
    Tool(
        "search_symbols",
        "Find functions and classes by name or a part of it, also spelled nearly so, without the false hits of grep.",
        search_symbols,
        symbols_text,
    ),
    Tool(
        "get_symbol_info",
        "All about one function or class in one call: signature, place, what it is part of, members, callers, "
        "callees, bases and subclasses.",
        get_symbol_info,
        graph_text,
    ),
    Tool(
        "get_dependencies",
        "What a file or folder imports, what imports it, and which packages from outside it rests on.",
        get_dependencies,
        graph_text,
    ),
    Tool(
        "get_file_analysis",
        "What a file defines, imports and hands to others, without reading it.",
        get_file_analysis,
        file_text,
    ),
    Tool(
        "watch_changes",
        "Which functions, classes, files and folders came, changed or went since a commit or your last look.",
        watch_changes,
        changes_text,
    ),
)


def tools_by_name(*, every: bool = True) -> dict[str, Tool]:
    """All tools, or those that agents have by default."""
    return {tool.name: tool for tool in TOOLS if every or tool.is_default}


def _explained(error: ValidationError, arguments: type[Arguments]) -> str:
    """Each wrong argument with its value and the reason; long values are cut."""
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
