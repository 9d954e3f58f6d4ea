"""All tools, with their descriptions, arguments and answers."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.changed_files import mark_changed
from codesum_pipeline.answers.agent_tools.changes_tool import watch_changes
from codesum_pipeline.answers.agent_tools.graph_tool import get_dependencies, get_file_analysis, get_symbol_info, graph
from codesum_pipeline.answers.agent_tools.grep_tool import grep
from codesum_pipeline.answers.agent_tools.impact_tool import impact
from codesum_pipeline.answers.agent_tools.overview_tool import (
    get_framework_analysis,
    get_semantic_neighborhoods,
    overview,
)
from codesum_pipeline.answers.agent_tools.read_tool import read
from codesum_pipeline.answers.agent_tools.search_tool import search, search_symbols
from codesum_pipeline.answers.agent_tools.status_tool import status
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage, Arguments, explain_invalid
from codesum_pipeline.answers.agent_tools.tool_words import words_of_tools
from codesum_pipeline.foundation.data_model.errors import ConfigurationError


class Tool(Struct, frozen=True):
    """`answer` takes a call and arguments, and returns a page; agents have the tool `is_default`, or on request."""

    name: str
    description: str
    answer: Callable[[ToolContext, Any], AnswerPage]
    is_default: bool

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


_ANSWERS: Mapping[str, Callable[[ToolContext, Any], AnswerPage]] = {
    "search": search,
    "grep": grep,
    "read": read,
    "graph": graph,
    "overview": overview,
    "impact": impact,
    "status": status,
    "get_codebase_overview": overview,
    "get_framework_analysis": get_framework_analysis,
    "get_semantic_neighborhoods": get_semantic_neighborhoods,
    "search_symbols": search_symbols,
    "get_symbol_info": get_symbol_info,
    "get_dependencies": get_dependencies,
    "get_file_analysis": get_file_analysis,
    "watch_changes": watch_changes,
}
TOOLS = tuple(
    Tool(name, words.description, _ANSWERS[name], bool(words.when)) for name, words in words_of_tools().items()
)


def tools_by_name(*, every: bool = True) -> dict[str, Tool]:
    """All tools, or those that agents have by default."""
    return {tool.name: tool for tool in TOOLS if every or tool.is_default}
