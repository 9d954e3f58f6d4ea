"""One question, one turn: the model calls tools until it answers, at most so many times.

Every way out is an answer with a final state: the model's, the synthesis's, or the best that can be said without a
model. Only the caller's own cancellation is raised, and that after all was closed.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from codesum_pipeline.asking.blocks import MessageBlocks
from codesum_pipeline.asking.calls import CapturedCall, carry_out, first_overview
from codesum_pipeline.asking.citations import check_citations
from codesum_pipeline.asking.earlier import Exchange
from codesum_pipeline.asking.events import MessageEnded, OnEvent, TextVoid, ToolAnswered, ToolCalled
from codesum_pipeline.asking.fitting import within
from codesum_pipeline.asking.notebook import STORE_FAILED, Notebook, text_part
from codesum_pipeline.asking.paying import CostCapReached, Payer
from codesum_pipeline.asking.repository_files import RepositoryFiles
from codesum_pipeline.asking.schema import PartKind, Speaker
from codesum_pipeline.asking.store import MessagePart
from codesum_pipeline.asking.synthesis import CANCELLED, Synthesiser
from codesum_pipeline.asking.tool import ModelTool
from codesum_pipeline.llm.attempts import failure_kind
from codesum_pipeline.llm.chat import ChatRequest, ChatResponse, ToolCall, ToolChoice
from codesum_pipeline.llm.marking import enclose
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.model.errors import CodesumError, SummaryError
from codesum_pipeline.tools.as_of import AsOf

# Several times as often as a sweeper takes a turn for abandoned.
_TOUCH_EVERY_S = 30.0
EMPTY, STEPS, COST_CAP, ERROR = "empty", "steps", "cost-cap", "error"


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """What came of a question. `failed` says why it is not a model's answer; `citations_dropped` did not resolve.

    `problems` are what could not be written down; `as_of` are the commits that it stands for.
    """

    turn: str
    text: str
    failed: str | None
    detail: str
    is_synthesis: bool
    citations: int
    citations_dropped: int
    steps: int
    usd: float
    prompt_tokens: int
    completion_tokens: int
    problems: tuple[str, ...]
    as_of: tuple[AsOf, ...] = ()
    conversation: str = ""

    @property
    def is_fallback(self) -> bool:
        """Whether it is the index's, since no model gave one; an answer that could not be kept is one all the same."""
        return self.failed not in (None, STORE_FAILED)


class TurnFailed(Exception):
    """The model gave no answer: the reason in a word, and in a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class Turn:
    """A turn of a conversation, of which `earlier` is what was said before.

    `without_model` gives what can be said where the model says nothing.
    """

    question: str
    tools: Mapping[str, ModelTool]
    sources: RepositoryFiles
    payer: Payer
    notebook: Notebook
    system: str
    synthesis_system: str
    on_event: OnEvent
    without_model: Callable[[str], str]
    earlier: Sequence[Exchange] = ()
    steps: int = 0
    _messages: list[dict[str, Any]] = field(default_factory=list)
    _has_synthesised: bool = False

    async def run(self) -> TurnAnswer:
        """Answer the question; raises `CancelledError` where the caller cancels."""
        life = asyncio.create_task(self._touch())
        reason = ERROR
        try:
            try:
                text, is_synthesis = await self._answer()
            except TurnFailed as failure:
                return await self._failed(failure)
            return await self._complete(text, is_synthesis=is_synthesis)
        except asyncio.CancelledError:
            reason = CANCELLED
            raise
        finally:
            life.cancel()
            # A turn that was closed stays as it is.
            self.notebook.end_turn(None, failed=reason)

    async def _answer(self) -> tuple[str, bool]:
        """The model's last message, and whether it is a synthesis; raises `TurnFailed`."""
        self._messages = [
            {"role": "system", "content": self.system},
            *(message for exchange in self.earlier for message in exchange.messages),
            {"role": "user", "content": f"{mask_secrets(self.question).text}\n\n{self._repositories()}"},
        ]
        most = self.payer.ask.max_steps
        while self.steps <= most:
            is_last = self.steps == most
            response = await self._ask(ToolChoice.NONE if is_last else ToolChoice.AUTO)
            if not response.calls or is_last:
                return self._checked(response, is_last=is_last), False
            self.steps += 1
            written = await self._call_tools(response)
            if written is not None:
                return written, True
        raise TurnFailed(STEPS, f"no answer after {most} steps (ask.max_steps)")

    async def _ask(self, choice: ToolChoice) -> ChatResponse:
        """The next message, noted; raises `TurnFailed`."""
        message = self.notebook.begin(Speaker.ASSISTANT, MessagePart(PartKind.STEP_START, {"step": self.steps + 1}))
        failed: str | None = CANCELLED
        blocks = MessageBlocks(self.sources, self.on_event)
        try:
            response = await self.payer.next_message(
                lambda model: self._request(model, choice),
                blocks.hear,
                timeout_s=self.payer.llm.timeout_s,
                on_discard=lambda: blocks.void("asking again"),
            )
            blocks.end()
            failed = None
            self._note(message, response)
            return response
        except CostCapReached as error:
            failed = COST_CAP
            raise TurnFailed(failed, str(error)) from error
        except CodesumError as error:
            failed = failure_kind(error) if isinstance(error, SummaryError) else ERROR
            raise TurnFailed(failed, str(error)) from error
        finally:
            self.notebook.end(message, failed=failed)

    def _note(self, message: str, response: ChatResponse) -> None:
        parts = [MessagePart(PartKind.REASONING, response.reasoning)] if response.reasoning else []
        parts += [text_part(response.text)] if response.text else []
        parts += [
            MessagePart(PartKind.TOOL_CALL, {"id": call.id, "name": call.name, "arguments": call.arguments})
            for call in response.calls
        ]
        self.notebook.add(message, *parts)

    def _checked(self, response: ChatResponse, *, is_last: bool) -> str:
        if response.text.strip():
            return response.text
        if is_last:
            raise TurnFailed(STEPS, f"no answer after {self.steps} steps (ask.max_steps)")
        raise TurnFailed(EMPTY, "the model gave an empty answer")

    async def _call_tools(self, response: ChatResponse) -> str | None:
        """Carry out the calls of a message; the synthesis where they give an overview."""
        self.on_event(MessageEnded(is_answer=False))
        calls = _told_apart(response.calls, self.steps)
        for call in calls:
            self.on_event(ToolCalled(call.name, call.arguments))
        entries = await carry_out(calls, self.tools)
        message = self._note_results(entries)
        self._messages += [_said(response, calls), *map(_shown, entries)]
        overview = None if self._has_synthesised else first_overview(entries)
        if overview is None:
            return None
        self._has_synthesised = True
        synthesiser = Synthesiser(
            self.synthesis_system, self.payer, self.notebook, self.sources, self.on_event, self.earlier
        )
        return await synthesiser.write(self.question, overview, message)

    def _note_results(self, entries: Sequence[CapturedCall]) -> str:
        parts = []
        for entry in entries:
            call, result = entry.call, entry.result
            self.on_event(ToolAnswered(call.name, len(result.text), result.is_error))
            content = {"id": call.id, "name": call.name, "text": entry.head, "characters": len(entry.whole)}
            parts.append(MessagePart(PartKind.TOOL_RESULT, {**content, "is_error": result.is_error}))
        message = self.notebook.begin(Speaker.TOOL, *parts)
        self.notebook.whole(message, [(entry.call.id, entry.whole) for entry in entries if entry.is_cut])
        self.notebook.end(message)
        return message

    async def _complete(self, text: str, *, is_synthesis: bool) -> TurnAnswer:
        checked = await asyncio.to_thread(check_citations, text, self.sources)
        failed = self.notebook.end_turn(checked.text)
        self.on_event(MessageEnded(is_answer=True))
        return self._as_answer(checked.text, failed, "", is_synthesis, checked.kept, checked.dropped)

    async def _failed(self, failure: TurnFailed) -> TurnAnswer:
        """The best without a model: an answer is never empty."""
        self.on_event(TextVoid(failure.detail))
        text = await asyncio.to_thread(self.without_model, self.question)
        self.notebook.end_turn(text, failed=failure.reason)
        return self._as_answer(text, failure.reason, failure.detail, False, 0, 0)

    def _as_answer(
        self, text: str, failed: str | None, detail: str, is_synthesis: bool, kept: int, dropped: int
    ) -> TurnAnswer:
        payer = self.payer
        return TurnAnswer(
            turn=self.notebook.turn,
            text=text,
            failed=failed,
            detail=detail,
            is_synthesis=is_synthesis,
            citations=kept,
            citations_dropped=dropped,
            steps=self.steps,
            usd=payer.usd,
            prompt_tokens=payer.prompt_tokens,
            completion_tokens=payer.completion_tokens,
            problems=tuple(problem for problem in self.notebook.problems if problem),
        )

    def _request(self, model: str, choice: ToolChoice) -> ChatRequest:
        return ChatRequest(
            model_name=model,
            messages=tuple(within(self._messages, self.payer.backend.max_prompt_chars)),
            tools=tuple(tool.schema() for tool in self.tools.values()),
            tool_choice=choice,
            max_tokens=self.payer.ask.max_tokens,
        )

    def _repositories(self) -> str:
        listed = "\n".join(f"- {repo} at {self.sources.commit(repo)}" for repo in self.sources.repos)
        return f"Repositories that the question is about:\n{listed}"

    async def _touch(self) -> None:
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(_TOUCH_EVERY_S)
                self.notebook.touch()


def _told_apart(calls: Sequence[ToolCall], step: int) -> list[ToolCall]:
    """The calls with ids of their own: some models give all of them the same."""
    ids = [call.id for call in calls]
    return [
        call if ids.count(call.id) == 1 else ToolCall(f"call_{step}_{place}", call.name, call.arguments)
        for place, call in enumerate(calls, start=1)
    ]


def _said(response: ChatResponse, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """The model's message as the next request repeats it."""
    return {
        "role": "assistant",
        "content": response.text or None,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name or "unnamed", "arguments": _as_object(call.arguments)},
            }
            for call in calls
        ],
    }


def _as_object(arguments: str) -> str:
    """Some providers take nothing but an object back; what was wrong with it the result says."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _shown(entry: CapturedCall) -> dict[str, Any]:
    text = entry.head if entry.result.is_error else enclose(entry.head, "result") or "(nothing)"
    return {"role": "tool", "tool_call_id": entry.call.id, "content": text}
