"""Tool calls of one message, carried out at the same time and captured in the order of the calls."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codesum_pipeline.asking.arguments import InvalidArguments, read_arguments
from codesum_pipeline.asking.tool import ModelTool, ToolResult
from codesum_pipeline.llm.chat import ToolCall
from codesum_pipeline.llm.marking import visible
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.model.cancellation import wanted_until
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.guard import FailureGuard

# Of a result a model is shown so much.
HEAD_CHARACTERS = 32_000


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """A call and what it gave, whole, without secrets."""

    call: ToolCall
    result: ToolResult
    is_overview: bool

    @property
    def head(self) -> str:
        """What the model is shown."""
        return head_of(self.result.text)

    @property
    def whole(self) -> str:
        """All that the tool has to say, whatever bounds the model set."""
        return self.result.text if self.result.whole is None else self.result.whole

    @property
    def is_cut(self) -> bool:
        """Whether the model is shown less than that."""
        return self.whole != self.head


def head_of(text: str) -> str:
    """The first lines of a text, as many as fit, and how much follows."""
    if len(text) <= HEAD_CHARACTERS:
        return text
    kept = text[:HEAD_CHARACTERS].rpartition("\n")[0] or text[:HEAD_CHARACTERS]
    return f"{kept}\n[cut here: {len(text) - len(kept):,} more characters]"


async def carry_out(calls: Sequence[ToolCall], tools: Mapping[str, ModelTool]) -> list[CapturedCall]:
    """The calls of one message at the same time; the entries stand in the order of the calls."""
    is_over = threading.Event()
    try:
        results = await asyncio.gather(*(asyncio.to_thread(_run, call, tools, is_over) for call in calls))
    finally:
        # Of a caller who cancels: what still runs ends at its next step.
        is_over.set()
    return [
        CapturedCall(call, result, call.name in tools and tools[call.name].is_overview)
        for call, result in zip(calls, results, strict=True)
    ]


def first_overview(entries: Sequence[CapturedCall]) -> CapturedCall | None:
    """The first good result of an overview tool, by the order of the calls and not of the answers."""
    return next((entry for entry in entries if entry.is_overview and not entry.result.is_error), None)


def _run(call: ToolCall, tools: Mapping[str, ModelTool], is_over: threading.Event) -> ToolResult:
    """What the tool gives, or what is wrong with the call; a tool that fails does not end the turn."""
    tool = tools.get(call.name)
    if tool is None:
        return _error(f"there is no tool {call.name!r}; there are: {', '.join(tools)}")
    guard = FailureGuard()
    with wanted_until(partial(_end_if, is_over)), guard.item(call.name):
        try:
            found = tool.run(read_arguments(tool.arguments, call.arguments))
            whole = None if found.whole is None else _clean(found.whole)
            return replace(found, text=_clean(found.text), whole=whole)
        except (InvalidArguments, CodesumError, OSError) as error:
            return _error(str(error))
    return _error(f"the tool failed: {guard.failures[0].reason}")


def _end_if(is_over: threading.Event) -> None:
    if is_over.is_set():
        raise asyncio.CancelledError


def _error(said: str) -> ToolResult:
    return ToolResult(f"Error: {_clean(said)}", is_error=True)


def _clean(text: str) -> str:
    """Without secrets, and without what a person would not see."""
    return mask_secrets(visible(text)).text
