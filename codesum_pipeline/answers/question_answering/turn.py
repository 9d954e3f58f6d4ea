"""One question, one turn: the model calls tools until it answers, for at most `ask.max_steps` steps.

Every turn ends with an answer and a final state: the model's answer, the synthesis, or the best answer without a model.
Only the caller's own cancellation is raised, after everything was closed.

Of earlier exchanges of the conversation only questions and answers are repeated: the index may have changed since tools
answered, and the model can call them again. The latest exchanges have priority; the answer of the last one may be cut
but is never left out.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.catalogue import AsOf
from codesum_pipeline.answers.question_answering.answer_endings import (
    FinalText,
    NoAnswer,
    check_end,
    read_final,
    reason_of,
)
from codesum_pipeline.answers.question_answering.calls import (
    CapturedCall,
    ModelTool,
    first_overview,
    mend_calls,
    read_written_calls,
    run_calls,
)
from codesum_pipeline.answers.question_answering.citations import MessageBlocks, RepositoryFiles, check_citations
from codesum_pipeline.answers.question_answering.question_store import (
    CANCELLED,
    STORE_FAILED,
    Exchange,
    MessagePart,
    Notebook,
    PartKind,
    Speaker,
)
from codesum_pipeline.answers.question_answering.synthesis import Synthesiser
from codesum_pipeline.answers.question_answering.turn_events import (
    BlockWritten,
    MessageEnded,
    OnEvent,
    TextVoided,
    ToolAnswered,
    ToolCalled,
)
from codesum_pipeline.answers.question_answering.turn_paying import Payer
from codesum_pipeline.foundation.data_model.errors import CodesumError, SummaryCallFailed
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.marking import enclose
from codesum_pipeline.texts.llm.pins import (
    AnswerEnd,
    ChatRequest,
    ChatResponse,
    ToolCall,
    ToolChoice,
    parse_json_object,
)
from codesum_pipeline.texts.llm.prices import CHARS_PER_TOKEN
from codesum_pipeline.texts.llm.sent_parameters import changes_of

# Much more often than the time after which a turn counts as abandoned.
_TOUCH_EVERY_S = 30.0
STEPS = "steps"


class TurnAnswer(Struct, frozen=True):
    """The answer to a question. `failed` says why it is not a model's, `ended` whether it is whole;
    `citations_dropped` did not resolve.

    `problems` are errors of the store; `as_of` are the commits that it is about.
    """

    text: str
    turn: str = ""
    failed: str | None = None
    detail: str = ""
    ended: AnswerEnd = AnswerEnd.STOP
    is_synthesis: bool = False
    citations: int = 0
    citations_dropped: int = 0
    steps: int = 0
    usd: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    problems: tuple[str, ...] = ()
    as_of: tuple[AsOf, ...] = ()
    conversation: str = ""

    @property
    def is_fallback(self) -> bool:
        """Whether it is the index's answer; a model's answer that could not be stored is none."""
        return self.failed not in (None, STORE_FAILED)

    @property
    def dropped(self) -> str:
        """A sentence about what was removed from it; empty if nothing was."""
        if not self.citations_dropped:
            return ""
        they = "it names" if self.citations_dropped == 1 else "they name"
        return f"{count_noun(self.citations_dropped, 'citation')} taken out: {they} lines that the sources do not have"


class Turn(Struct):
    """A turn of a conversation; `earlier` are the exchanges before it.

    `without_model` gives the answer where the model gives none.
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
        """Answer the question; raises `CancelledError` if the caller cancels."""
        life = asyncio.create_task(self._touch())
        try:
            final, is_synthesis = await self._answer()
        except NoAnswer as failure:
            return await self._failed(failure)
        else:
            return await self._complete(final, is_synthesis=is_synthesis)
        finally:
            life.cancel()

    async def _answer(self) -> tuple[FinalText, bool]:
        """The model's last message, and whether it is a synthesis; raises `NoAnswer`."""
        listed = "\n".join(f"- {repo} at {self.sources.commit(repo)}" for repo in self.sources.repos)
        self._messages = [
            {"role": "system", "content": self.system},
            *(message for exchange in self.earlier for message in exchange.messages),
            {
                "role": "user",
                "content": f"{mask_secrets(self.question).text}\n\nRepositories that the question is about:\n{listed}",
            },
        ]
        most = self.payer.ask.max_steps
        while self.steps <= most:
            is_last = self.steps == most
            response = await self._ask(ToolChoice.NONE if is_last else ToolChoice.AUTO)
            if not response.calls or is_last:
                return await self._read(response, is_last=is_last), False
            self.steps += 1
            written = await self._call_tools(response)
            if written is not None:
                return written, True
        raise NoAnswer(STEPS, f"no answer after {most} steps: ask something narrower, or raise ask.max_steps")

    async def _ask(self, choice: ToolChoice) -> ChatResponse:
        """The next message, which is also stored; raises `NoAnswer`."""
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
            is_written = not response.calls and response.ended is AnswerEnd.STOP
            if is_written and (calls := read_written_calls(response.text, self.tools)):
                response = replace(response, text="", calls=tuple(calls))
                blocks.void("the model calls a tool")
            blocks.end(is_cut=response.ended is AnswerEnd.LENGTH)
            self._note(message, response)
            check_end(response, self.payer.ask)
            failed = None
            return response
        except NoAnswer as error:
            failed = error.reason
            raise
        except CodesumError as error:
            failed = reason_of(error)
            raise NoAnswer(failed, _words_of(error)) from error
        finally:
            self.notebook.end(message, failed=failed)

    def _note(self, message: str, response: ChatResponse) -> None:
        parts = [MessagePart(PartKind.REASONING, response.reasoning)] if response.reasoning else []
        parts += [MessagePart(PartKind.TEXT, response.text)] if response.text else []
        parts += [
            MessagePart(PartKind.TOOL_CALL, {"id": call.id, "name": call.name, "arguments": call.arguments})
            for call in response.calls
        ]
        self.notebook.add(message, *parts)

    async def _read(self, response: ChatResponse, *, is_last: bool) -> FinalText:
        if is_last and response.ended is AnswerEnd.STOP and not response.text.strip():
            raise NoAnswer(STEPS, f"no answer after {self.steps} steps: ask something narrower, or raise ask.max_steps")
        return await asyncio.to_thread(read_final, response, self.sources, self.payer.ask)

    async def _call_tools(self, response: ChatResponse) -> FinalText | None:
        """Carry out the calls of a message; the synthesis where they give an overview."""
        self.on_event(MessageEnded(is_answer=False))
        calls = _with_own_ids(mend_calls(response.calls, self.tools), self.steps)
        for call in calls:
            self.on_event(ToolCalled(call.name, call.arguments))
        entries = await run_calls(calls, self.tools)
        self._note_results(entries)
        self._messages += [_repeated(response, calls), *map(_result_message, entries)]
        overview = None if self._has_synthesised else first_overview(entries)
        if overview is None:
            return None
        self._has_synthesised = True
        synthesiser = Synthesiser(
            self.synthesis_system, self.payer, self.notebook, self.sources, self.on_event, self.earlier
        )
        return await synthesiser.write(self.question, overview)

    def _note_results(self, entries: Sequence[CapturedCall]) -> None:
        parts = []
        for entry in entries:
            call, result = entry.call, entry.result
            self.on_event(ToolAnswered(call.name, len(result.text), result.is_error))
            content = {"id": call.id, "name": call.name, "text": entry.head, "characters": len(result.text)}
            parts.append(MessagePart(PartKind.TOOL_RESULT, {**content, "is_error": result.is_error}))
        message = self.notebook.begin(Speaker.TOOL, *parts)
        self.notebook.end(message)

    async def _complete(self, final: FinalText, *, is_synthesis: bool) -> TurnAnswer:
        checked = await asyncio.to_thread(check_citations, final.text, self.sources)
        text = f"{checked.text}\n\n{final.note}" if final.note else checked.text
        failed = self.notebook.end_turn(text)
        if final.note:
            self.on_event(BlockWritten(final.note))
        self.on_event(MessageEnded(is_answer=True))
        return self._ended(
            TurnAnswer(
                text,
                failed=failed,
                ended=final.ended,
                is_synthesis=is_synthesis,
                citations=checked.kept,
                citations_dropped=checked.dropped,
            )
        )

    async def _failed(self, failure: NoAnswer) -> TurnAnswer:
        """The best answer without a model."""
        self.on_event(TextVoided(failure.detail))
        text = await asyncio.to_thread(self.without_model, self.question)
        self.notebook.end_turn(text, failed=failure.reason)
        return self._ended(TurnAnswer(text, failed=failure.reason, detail=failure.detail))

    def _ended(self, answer: TurnAnswer) -> TurnAnswer:
        """The answer with what the turn took."""
        paid = self.payer.totals
        return replace(
            answer,
            turn=self.notebook.turn,
            steps=self.steps,
            usd=paid.cost_usd,
            prompt_tokens=paid.prompt_tokens,
            completion_tokens=paid.completion_tokens,
            problems=tuple(problem for problem in self.notebook.problems if problem),
        )

    def _request(self, model: str, choice: ToolChoice) -> ChatRequest:
        return ChatRequest(
            model_name=model,
            messages=tuple(fit_messages(self._messages, self.payer.backend.max_prompt_chars)),
            tools=tuple(tool.schema() for tool in self.tools.values()),
            tool_choice=choice,
            max_tokens=self.payer.ask.max_tokens,
            changes=changes_of(self.payer.llm, model),
        )

    async def _touch(self) -> None:
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(_TOUCH_EVERY_S)
                self.notebook.touch()


def _with_own_ids(calls: Sequence[ToolCall], step: int) -> list[ToolCall]:
    """The calls with different ids: some models give all of them the same."""
    ids = [call.id for call in calls]
    return [
        call if ids.count(call.id) == 1 else ToolCall(f"call_{step}_{place}", call.name, call.arguments)
        for place, call in enumerate(calls, start=1)
    ]


def _repeated(response: ChatResponse, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """The model's message as the next request repeats it.

    Some providers require arguments to be a JSON object; the tool's result names what was wrong.
    """
    tool_calls = []
    for call in calls:
        arguments = "{}" if parse_json_object(call.arguments) is None else call.arguments
        function = {"name": call.name or "unnamed", "arguments": arguments}
        tool_calls.append({"id": call.id, "type": "function", "function": function})
    return {"role": "assistant", "content": response.text or None, "tool_calls": tool_calls}


def _result_message(entry: CapturedCall) -> dict[str, Any]:
    text = entry.head if entry.result.is_error else enclose(entry.head, "result") or "(nothing)"
    return {"role": "tool", "tool_call_id": entry.call.id, "content": text}


# A quarter of a synthesis's budget.
BUDGET_TOKENS = 8_000
# The largest share of a small model's prompt for earlier exchanges.
_MOST_OF_A_PROMPT = 0.25
_CUT = "\n[cut here]"


def fitting_exchanges(exchanges: Sequence[Exchange], *, max_prompt_chars: int) -> list[Exchange]:
    """The latest exchanges that fit, in their order."""
    room = int(min(BUDGET_TOKENS * CHARS_PER_TOKEN, max_prompt_chars * _MOST_OF_A_PROMPT))
    kept: list[Exchange] = []
    for exchange in reversed(exchanges):
        if len(exchange) > room:
            if not kept:
                most = max(0, room - len(exchange.question) - len(_CUT))
                kept.append(Exchange(exchange.question, f"{exchange.answer[:most]}{_CUT}"))
            break
        kept.append(exchange)
        room -= len(exchange)
    return kept[::-1]


RESULT_LEFT_OUT = "(left out: the conversation has grown too long; call the tool again if you need it)"


def fit_messages(messages: Sequence[Mapping[str, Any]], most_characters: int) -> list[dict[str, Any]]:
    """The messages, without the oldest tool results where they would not all fit."""
    found = [dict(message) for message in messages]
    size = sum(map(_size, found))
    for message in found:
        if size <= most_characters:
            break
        if message["role"] == "tool":
            size -= _size(message)
            message["content"] = RESULT_LEFT_OUT
            size += _size(message)
    return found


def _size(message: Mapping[str, Any]) -> int:
    calls = message.get("tool_calls", ())
    return len(message.get("content") or "") + sum(len(call["function"]["arguments"]) for call in calls)


def _words_of(error: CodesumError) -> str:
    """Why there is no answer; with how long the provider asks to wait."""
    if isinstance(error, SummaryCallFailed) and error.retry_after_s:
        return f"{error}; the provider asks to wait {error.retry_after_s:,.0f} s"
    return str(error)
