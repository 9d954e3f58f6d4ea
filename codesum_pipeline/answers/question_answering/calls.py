"""The tools that a model may call, the arguments of its calls, and their results.

Calls of one message are carried out at the same time; their results keep the order of the calls.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.tool_answers import Arguments, explain_invalid
from codesum_pipeline.answers.agent_tools.tool_registry import TOOLS, Tool
from codesum_pipeline.foundation.data_model.cancellation import wanted_until
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.answer_objects import begins_with_call, is_empty_call, visit_objects
from codesum_pipeline.texts.llm.answer_shapes import find_tool
from codesum_pipeline.texts.llm.marking import without_invisible
from codesum_pipeline.texts.llm.pins import ToolCall


class ToolResult(Struct, frozen=True):
    """The result of a call: `text` for a reader, `structured` for a program. The text of an error says what to do."""

    text: str
    structured: Any = None
    is_error: bool = False


class ModelTool(Struct, frozen=True):
    """One tool. An overview tool describes a whole repository; a synthesis is made from its first good result."""

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any], ToolResult]
    is_overview: bool = False

    def schema(self) -> dict[str, Any]:
        """The description of the tool for a model, in OpenAI's format."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


class InvalidArguments(Exception):
    """Arguments that a tool does not take; the message names them and the tool's arguments."""


def read_arguments(model: type[BaseModel], written: str) -> BaseModel:
    """The arguments of a call; raises `InvalidArguments`."""
    try:
        values = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"the arguments are no JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidArguments(f"the arguments are a {type(values).__name__}, and have to be a JSON object")
    try:
        # Also of booleans that are written as texts, as some models do.
        return model.model_validate(values)
    except ValidationError as error:
        message = f"{explain_invalid(error, model)}. Arguments: {', '.join(model.model_fields) or 'none'}"
        raise InvalidArguments(message) from error


def mend_calls(calls: Sequence[ToolCall], tools: Mapping[str, ModelTool]) -> list[ToolCall]:
    """The calls with the names and arguments that were meant, where models and servers write them in another way; what
    is right or cannot be understood stays as it was written."""
    return [
        call if name is None else ToolCall(call.id, name, _meant_arguments(tools[name], call.arguments))
        for call in calls
        for name in [find_tool(call.name, tools)]
    ]


def read_written_calls(text: str, tools: Mapping[str, ModelTool]) -> list[ToolCall]:
    """The calls of a message that begins with one, where a server has not read them out of the text."""
    if not begins_with_call(text):
        return []
    found = [(tool.name, arguments) for tool in tools.values() for arguments in _arguments_in(text, tool)]
    return [ToolCall(f"call_{place}", *call) for place, call in enumerate(found, start=1)]


def _meant_arguments(tool: ModelTool, written: str) -> str:
    if _takes(tool, written):
        return written
    found = _arguments_in(written, tool)
    return found[0] if len(found) == 1 else written


def _arguments_in(text: str, tool: ModelTool) -> list[str]:
    """Different arguments in a text that the tool takes, each as JSON."""
    found: list[str] = []

    def take(value: dict[str, Any]) -> bool:
        # An empty object inside of others can be anything.
        written = json.dumps({} if is_empty_call(value) else value)
        is_taken = bool(value) and _takes(tool, written)
        if is_taken and written not in found:
            found.append(written)
        return is_taken

    with suppress(RecursionError):
        visit_objects(text, tool.name, take)
    return found


def _takes(tool: ModelTool, written: str) -> bool:
    try:
        read_arguments(tool.arguments, written)
    except InvalidArguments:
        return False
    return True


# The tools that describe a repository as a whole; the model uses the results of others itself.
OVERVIEW_TOOLS = frozenset({"get_codebase_overview", "get_framework_analysis", "get_semantic_neighborhoods"})
# A second name of `get_codebase_overview`.
_LEFT_OUT = "overview"


def index_tools(call: ToolContext, repos: Sequence[str]) -> list[ModelTool]:
    """The tools, about these repositories where the model names none; all read what `call` opened."""
    return [_for_model(tool, call, repos) for tool in TOOLS if tool.name != _LEFT_OUT]


def _for_model(tool: Tool, call: ToolContext, repos: Sequence[str]) -> ModelTool:
    def run(arguments: Arguments) -> ToolResult:
        page = tool.ask(call.again(), _within(arguments, repos))
        return ToolResult(page.text(), page)

    return ModelTool(tool.name, tool.description, tool.arguments, run, tool.name in OVERVIEW_TOOLS)


def _within(arguments: Arguments, repos: Sequence[str]) -> Arguments:
    """The arguments with these repositories where they name none."""
    values = arguments.model_dump()
    if values.get("repos") == []:
        return arguments.model_copy(update={"repos": list(repos)})
    if values.get("repo") == "" and len(repos) == 1:
        return arguments.model_copy(update={"repo": repos[0]})
    return arguments


# The most characters of a result that a model reads.
HEAD_CHARACTERS = 32_000


class CapturedCall(Struct, frozen=True):
    """A call and its whole result, without secrets."""

    call: ToolCall
    result: ToolResult
    is_overview: bool

    @property
    def head(self) -> str:
        """The part that the model reads."""
        return head_of(self.result.text)


def head_of(text: str) -> str:
    """The first lines of a text, as many as fit, and a note of how much was cut."""
    if len(text) <= HEAD_CHARACTERS:
        return text
    kept = text[:HEAD_CHARACTERS].rpartition("\n")[0] or text[:HEAD_CHARACTERS]
    return f"{kept}\n[cut here: {len(text) - len(kept):,} more characters]"


async def run_calls(calls: Sequence[ToolCall], tools: Mapping[str, ModelTool]) -> list[CapturedCall]:
    """Carry out the calls of one message at the same time; the results keep the order of the calls."""
    is_over = threading.Event()
    try:
        results = await asyncio.gather(*(asyncio.to_thread(_run, call, tools, is_over) for call in calls))
    finally:
        # After a cancellation, tools that still run end at their next step.
        is_over.set()
    return [
        CapturedCall(call, result, call.name in tools and tools[call.name].is_overview)
        for call, result in zip(calls, results, strict=True)
    ]


def first_overview(entries: Sequence[CapturedCall]) -> CapturedCall | None:
    """The first good result of an overview tool, in the order of the calls."""
    return next((entry for entry in entries if entry.is_overview and not entry.result.is_error), None)


def _run(call: ToolCall, tools: Mapping[str, ModelTool], is_over: threading.Event) -> ToolResult:
    """The result of a call, or an error; a tool that fails does not end the turn."""
    tool = tools.get(call.name)
    if tool is None:
        return _error(f"there is no tool {call.name!r}; there are: {', '.join(tools)}")
    guard = FailureGuard()
    with wanted_until(partial(_end_if, is_over)), guard.item(call.name):
        try:
            found = tool.run(read_arguments(tool.arguments, call.arguments))
            return replace(found, text=_clean(found.text))
        except (InvalidArguments, CodesumError, OSError) as error:
            return _error(str(error))
    return _error(f"the tool failed: {guard.failures[0].reason}")


def _end_if(is_over: threading.Event) -> None:
    if is_over.is_set():
        raise asyncio.CancelledError


def _error(message: str) -> ToolResult:
    return ToolResult(f"Error: {_clean(message)}", is_error=True)


def _clean(text: str) -> str:
    """A text without secrets and invisible characters."""
    return mask_secrets(without_invisible(text)).text
