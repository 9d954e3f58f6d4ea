"""One call to a provider through LiteLLM: a pinned request in, an answer in our words out.

LiteLLM's own retries are off: the caller retries, and writes each attempt down.
A key is read from the environment when it is used; it is never kept, shown,
logged or given to another process.

What is the same in all requests comes first. For models whose provider caches what ends in a mark, it ends in one:
after the system prompt and after the tool. All others get none, and their system prompt as a plain string: LiteLLM
hands marks on to servers that do not know them, and some refuse them, or a list in place of a string.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_shapes import AnswerTool, answer_tool
from codesum_pipeline.texts.llm.backend import Templates
from codesum_pipeline.texts.llm.echoed_names import bounded_name
from codesum_pipeline.texts.llm.litellm_door import (
    failure_of,
    keys_in_use,
    kind_in_answer,
    litellm_client,
    reading_error,
    rehearse_call,
    sends_unwatched,
    without_keys,
    without_secrets,
)
from codesum_pipeline.texts.llm.pins import (
    CALLING_FORMS,
    AnswerEnd,
    AnswerForm,
    ChatRequest,
    ChatResponse,
    OnText,
    SummaryRequest,
    SummaryResponse,
    TokenUsage,
    parse_json_object,
)
from codesum_pipeline.texts.llm.prices import compute_cost_usd, known_price, provider_of
from codesum_pipeline.texts.llm.sent_parameters import with_changes
from codesum_pipeline.texts.llm.sent_requests import note_sent, note_unsent, watch_sending
from codesum_pipeline.texts.llm.server_hints import RefusedCall, find_hint
from codesum_pipeline.texts.llm.templates import ResolvedTemplate
from codesum_pipeline.texts.llm.wire_answers import (
    RawAnswer,
    StreamedMessage,
    claim_of,
    end_of,
    read_stream_line,
    usage_of,
)

# Anthropic's format takes no empty turn.
_NOTHING = "(no answer)"
_MARK = {"cache_control": {"type": "ephemeral"}}
# Through these, models of Anthropic are reached that know its marks; of Amazon's own models these do.
_OF_CLAUDE = ("anthropic", "bedrock", "bedrock_converse", "vertex_ai", "azure_ai", "openrouter", "databricks")
_OF_NOVA = ("bedrock", "bedrock_converse")


def arguments_of(request: SummaryRequest, template: ResolvedTemplate, tool: AnswerTool) -> dict[str, Any]:
    """The named arguments of a completion: messages, what forces the form of the answer, and the parameters."""
    form = request.parameters.form
    system = template.system
    if form is AnswerForm.JSON_TEXT:
        system += f"\n\nThe schema of the JSON object that you answer with:\n\n{tool.schema_bytes.decode()}"
    arguments = {
        "model": request.model_name,
        "messages": [_system_turn(request.model_name, system), *_conversation(request, tool)],
        "temperature": request.parameters.temperature,
        "max_tokens": request.parameters.max_tokens,
        **_form(form, tool, _mark_of(request.model_name)),
    }
    return with_changes(arguments, request.parameters.changes)


def chat_arguments(request: ChatRequest) -> dict[str, Any]:
    """The named arguments of a conversation's next message."""
    first, *others = request.messages
    arguments: dict[str, Any] = {
        "model": request.model_name,
        "messages": [_system_turn(request.model_name, first["content"]), *map(dict, others)],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        *tools, last = map(dict, request.tools)
        marked = {**last, **_mark_of(request.model_name)}
        arguments |= {"tools": [*tools, marked], "tool_choice": request.tool_choice.value}
    return with_changes(arguments, request.changes)


def _mark_of(model: str) -> dict[str, Any]:
    """The mark at the end of what a model's provider is to cache; empty for one that knows no marks."""
    name, provider = model.lower(), provider_of(model)
    is_known = provider == "anthropic" or ("claude" in name and provider in _OF_CLAUDE)
    return _MARK if is_known or ("nova" in name and provider in _OF_NOVA) else {}


def _system_turn(model: str, text: str) -> dict[str, Any]:
    mark = _mark_of(model)
    return {"role": "system", "content": [{"type": "text", "text": text, **mark}] if mark else text}


def _form(form: AnswerForm, tool: AnswerTool, mark: Mapping[str, Any]) -> dict[str, Any]:
    if form in CALLING_FORMS:
        function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        named = {"type": "function", "function": {"name": tool.name}}
        return {
            "tools": [{"type": "function", "function": function, **mark}],
            "tool_choice": named if form is AnswerForm.TOOL else form.value,
        }
    if form is AnswerForm.JSON_SCHEMA:
        # Not strict: OpenAI's strict mode refuses bounds on lengths, which the schema has.
        schema = {"name": tool.name, "schema": tool.schema, "strict": False}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def _conversation(request: SummaryRequest, tool: AnswerTool) -> list[dict[str, Any]]:
    """The user's turn; then each answer as its model gave it, and the complaint as the answer to that."""
    prompt, *turns = request.sources
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number, (answer, complaint) in enumerate(zip(turns[::2], turns[1::2], strict=True), start=1):
        # In Anthropic's format the arguments of a call are always an object.
        if request.parameters.form in CALLING_FORMS and parse_json_object(answer) is not None:
            id_ = f"call_{number}"
            call = {"id": id_, "type": "function", "function": {"name": tool.name, "arguments": answer}}
            # OpenAI's format has no field for a failed call, and LiteLLM passes none on to others: the text says it.
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": id_, "content": f"Error: {complaint}"},
            ]
        else:
            content = answer if answer.strip() else _NOTHING
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": complaint}]
    return messages


class LoopConnections:
    """Who uses LiteLLM's connections, of which it keeps one set for each event loop of a process: the last user of a
    loop closes them."""

    def __init__(self) -> None:
        self._users: WeakKeyDictionary[asyncio.AbstractEventLoop, int] = WeakKeyDictionary()

    def enter(self) -> None:
        """Count one more user in the running loop."""
        loop = asyncio.get_running_loop()
        self._users[loop] = self._users.get(loop, 0) + 1

    async def leave(self) -> None:
        """Count one user less, and close the connections where it was the last."""
        loop = asyncio.get_running_loop()
        self._users[loop] -= 1
        if not self._users[loop]:
            await litellm_client().close_litellm_async_clients()


# Of this process, as LiteLLM's connections are.
CONNECTIONS = LoopConnections()

# A core makes about one of LiteLLM's calls in this time. Calls that begin together are prepared one by one and sent at
# the same moment; their answers come at the same moment too, and the core is idle in between.
_APART_S = 0.003
_LONGEST_ERROR = 300


class LiteLlmCalls:
    """The calls that one process makes."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        self._settings = settings
        self._templates = templates
        self._provider = provider_of(settings.model)
        self._next_start = 0.0

    async def ask(self, request: SummaryRequest) -> SummaryResponse:
        """The answer as it came, without any key; raises `SummaryCallFailed`."""
        template = self._templates[request.level]
        tool = template.tool or answer_tool(request.level)
        await self._turn()
        limit = "digests.max_tokens" if template.tool else "llm.max_tokens"
        refused = self._refused(request.model_name, limit, request.max_tokens)
        raw, arguments, timeout_s = RawAnswer(), arguments_of(request, template, tool), self._settings.timeout_s
        client = litellm_client()
        await rehearse_call()
        try:
            with self._failing(f"{timeout_s:g} s (llm.timeout_s)", refused):
                # LiteLLM's own time-out is one of silence: an answer that drips would never end.
                async with asyncio.timeout(timeout_s):
                    sending = self._sending(request.model_name, timeout_s)
                    with reading_error(raw.error, request.model_name):
                        answer = await client.acompletion(**arguments, **sending, logger_fn=raw.note)
        except SummaryCallFailed as failure:
            # A strict request takes an answer in the form that its provider documents, or none.
            is_read_again = not request.is_strict and failure.failure is CallFailure.UNREADABLE
            answer = raw.read() if is_read_again else None
            if answer is None:
                raise
        return self._read(request, tool, answer, raw.ending())

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        """The next message of a conversation, without any key; raises `SummaryCallFailed`."""
        heard = StreamedMessage(keys_in_use(self._named_key()), on_text)
        refused = self._refused(request.model_name, "ask.max_tokens", request.max_tokens)
        await self._stream(chat_arguments(request), heard, timeout_s, refused)
        heard.end()
        counted = heard.counted if heard.is_counted else None
        usage, written = usage_of(counted, is_empty=not (heard.text or heard.reasoning or heard.calls))
        return ChatResponse(
            text=heard.text,
            reasoning=heard.reasoning,
            calls=heard.calls,
            usage=usage,
            # LiteLLM does not pass on the name in all formats.
            model_name_echoed=bounded_name(
                without_keys(heard.model or request.model_name, keys_in_use(self._named_key()))
            ),
            cost_usd=self._cost(request.model_name, usage, written),
            ended=heard.ended,
        )

    def missing_key(self, model: str) -> str:
        """The names of the variables where a model's key is missing; empty if it is there."""
        name = self._settings.api_key_env
        if name and provider_of(model) == self._provider:
            return "" if self._named_key() else name
        # LiteLLM takes an empty variable for one that is set.
        usual = f"{provider_of(model).upper()}_API_KEY"
        missing: list[str] = litellm_client().validate_environment(model)["missing_keys"]
        return ", ".join(missing or ([usual] if os.environ.get(usual) == "" else []))

    def require_named_key(self, model: str) -> None:
        """Raise where the variable that the settings name is empty: LiteLLM would look for keys elsewhere."""
        name = self._settings.api_key_env
        if name and provider_of(model) == self._provider and not self._named_key():
            raise SummaryCallFailed(
                f"{model}: the variable {name} (llm.api_key_env) is empty: put the key into it",
                failure=CallFailure.CREDENTIALS,
                was_sent=False,
            )

    async def _turn(self) -> None:
        """Wait until a call may begin: one after another."""
        now = time.monotonic()
        start = max(now, self._next_start)
        self._next_start = start + _APART_S
        await asyncio.sleep(start - now)

    async def _stream(
        self, arguments: dict[str, Any], heard: StreamedMessage, timeout_s: float, refused: RefusedCall
    ) -> None:
        """Read LiteLLM's answer while it is written; raises `SummaryCallFailed`, also where it breaks off."""
        model, client = arguments["model"], litellm_client()
        await rehearse_call()
        setting = " (llm.timeout_s)" if timeout_s == self._settings.timeout_s else ""
        try:
            with self._failing(f"{timeout_s:g} s{setting}", refused):
                async with asyncio.timeout(timeout_s):
                    chunks = await client.acompletion(**arguments, **self._sending(model, timeout_s))
                    _watch(getattr(chunks, "completion_stream", None), heard)
                    async for chunk in chunks:
                        heard.hear(chunk)
                    # Where the provider counts nothing, LiteLLM does, about.
                    heard.is_counted = any(getattr(each, "usage", None) for each in getattr(chunks, "chunks", ()))
        except SummaryCallFailed as failed:
            if heard.error:
                raise self._error_in(heard, refused, failed.failure) from None
            if heard.has_begun and failed.failure is CallFailure.SERVER:
                # Its server had begun to answer: what LiteLLM cannot read is paid for.
                words = str(failed).removeprefix(f"{failed.discriminator}: ")
                raise SummaryCallFailed(words, failure=CallFailure.UNREADABLE) from None
            raise
        if heard.error:
            raise self._error_in(heard, refused, CallFailure.SERVER)
        # LiteLLM ends every stream with a reason; these attributes hold what the provider sent. For Gemini it fills
        # only the second, and invents a missing reason: there only a broken connection shows the failure.
        reasons = [getattr(chunks, f"{when}_finish_reason", "") for when in ("received", "intermittent")]
        if reasons == [None, None]:
            raise SummaryCallFailed(f"{model}: its answer broke off", failure=CallFailure.CONNECTION)

    def _error_in(self, heard: StreamedMessage, refused: RefusedCall, failure: CallFailure) -> SummaryCallFailed:
        """The error that a provider sent inside an answer, of the kind that its code or its type says."""
        kind = kind_in_answer(heard.error_type, heard.error)
        words = " ".join(without_secrets(heard.error, self._named_key()).split())[:_LONGEST_ERROR]
        if hint := find_hint(heard.error, refused):
            words = f"{words}; way out: {hint}"
        return SummaryCallFailed(
            f"{refused.model}: its provider sent an error instead of the answer: {words}",
            failure=kind if failure is CallFailure.SERVER else failure,
        )

    @contextmanager
    def _failing(self, patience: str, refused: RefusedCall) -> Iterator[None]:
        """Errors of LiteLLM as `SummaryCallFailed`, without their cause: a provider's words may repeat a key."""
        with watch_sending() as sending:
            if sends_unwatched():
                note_sent()
            else:
                note_unsent()
            try:
                yield
            except TimeoutError:
                what = "no whole answer" if sending.was_sent else "the request was not sent"
                raise SummaryCallFailed(
                    f"{refused.model}: {what} in {patience}", failure=CallFailure.TIMEOUT, was_sent=sending.was_sent
                ) from None
            except tuple(litellm_client().exceptions.LITELLM_EXCEPTION_TYPES) as error:
                missing, hint_for = self.missing_key(refused.model), partial(find_hint, call=refused)
                raise failure_of(
                    error,
                    refused.model,
                    key=self._named_key(),
                    missing_key=missing,
                    was_sent=sending.was_sent,
                    hint_for=hint_for,
                ) from None

    def _refused(self, model: str, limit: str, max_tokens: int) -> RefusedCall:
        """What hints after a refusal depend on."""
        is_main = provider_of(model) == self._provider
        return RefusedCall(model, limit, max_tokens, self._settings.api_base if is_main else None)

    def _sending(self, model: str, timeout_s: float) -> dict[str, Any]:
        """How a call is sent: where to, and once. For providers other than the main model's LiteLLM knows address and
        key."""
        is_main = provider_of(model) == self._provider
        return {
            **({"api_base": self._settings.api_base, "api_key": self._named_key() or None} if is_main else {}),
            "timeout": timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "caching": False,
            # Reasoning models have no temperature, and refuse requests that set one.
            "drop_params": True,
        }

    def _named_key(self) -> str:
        """The key that the settings name; it may come back from any provider that shares a proxy with its own."""
        return os.environ.get(self._settings.api_key_env or "", "")

    def _read(self, request: SummaryRequest, tool: AnswerTool, answer: Any, ending: str) -> SummaryResponse:
        """LiteLLM's answer in our words, without any key; `ending` is its server's word for why it ended."""
        claim, has_tool_call = claim_of(answer, tool, request.parameters.form)
        ended, words, has_reasoning = end_of(answer, ending)
        usage, written = usage_of(answer, is_empty=not (claim or words or has_reasoning))
        is_refusal = ended is AnswerEnd.REFUSED and words and not has_tool_call
        claim = words if is_refusal or not claim.strip() else claim
        keys = keys_in_use(self._named_key())
        return SummaryResponse(
            claim=without_keys(claim, keys),
            has_tool_call=has_tool_call,
            usage=usage,
            model_name_echoed=bounded_name(without_keys(str(answer.model or ""), keys)),
            cost_usd=self._cost(request.model_name, usage, written),
            ended=ended,
            has_reasoning=has_reasoning,
        )

    def _cost(self, model: str, usage: TokenUsage | None, cache_write_tokens: int) -> float | None:
        price = known_price(model, self._settings)
        return compute_cost_usd(price, usage, cache_write_tokens=cache_write_tokens) if price and usage else None


def _watch(stream: Any, heard: StreamedMessage) -> None:
    """Have a message hear what its provider sends before LiteLLM reads it, where LiteLLM reads it bit by bit."""
    if parse := getattr(stream, "chunk_parser", None):

        def parse_heard(*args: Any, **named: Any) -> Any:
            for event in (*args, *named.values()):
                if isinstance(event, dict):
                    heard.hear_raw(event)
            return parse(*args, **named)

        stream.chunk_parser = parse_heard
    if hasattr(lines := getattr(stream, "streaming_response", None), "__aiter__"):
        stream.streaming_response = _hear_lines(lines, heard)


async def _hear_lines(lines: Any, heard: StreamedMessage) -> AsyncIterator[Any]:
    """The lines of a stream. One that is an object is an error in place of a stream, and LiteLLM may skip it."""
    async for line in lines:
        heard.has_begun = heard.has_begun or bool(line)
        if isinstance(line, str) and (found := parse_json_object(line)):
            heard.hear_raw(found)
        yield read_stream_line(line) if isinstance(line, str) else line
