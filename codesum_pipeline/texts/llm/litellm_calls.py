"""One call to a provider through LiteLLM: a pinned request in, an answer in our words out.

LiteLLM's own retries are off: the caller retries, and writes each attempt down.
A key is read from the environment when it is used; it is never kept, shown,
logged or given to another process.

What is the same in all requests comes first and ends in a mark, so that a provider that caches prefixes bills them
once: after the system prompt and after the tool. LiteLLM drops the marks for providers that do not know them.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from codesum_pipeline.foundation.data_model.errors import CallFailure, ConfigurationError, SummaryCallFailed
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.answer_shapes import AnswerTool, answer_tool
from codesum_pipeline.texts.llm.backend import Templates
from codesum_pipeline.texts.llm.echoed_names import bounded_name
from codesum_pipeline.texts.llm.litellm_door import failure_of, keys_in_use, litellm_client, without_keys
from codesum_pipeline.texts.llm.pins import (
    CALL_OF,
    AnswerForm,
    ChatRequest,
    ChatResponse,
    OnText,
    SummaryRequest,
    SummaryResponse,
    TokenUsage,
    parse_json_object,
)
from codesum_pipeline.texts.llm.prices import compute_cost_usd, find_listed_model, price_of
from codesum_pipeline.texts.llm.sent_parameters import with_changes
from codesum_pipeline.texts.llm.server_hints import RefusedCall, find_hint
from codesum_pipeline.texts.llm.streamed_message import StreamedMessage
from codesum_pipeline.texts.llm.templates import ResolvedTemplate

# Anthropic's format takes no empty turn.
_NOTHING = "(no answer)"
_MARK = {"cache_control": {"type": "ephemeral"}}


def arguments_of(request: SummaryRequest, template: ResolvedTemplate, tool: AnswerTool) -> dict[str, Any]:
    """The named arguments of a completion: messages, what forces the form of the answer, and the parameters."""
    form = request.parameters.form
    system = template.system
    if form is AnswerForm.JSON_TEXT:
        system += f"\n\nThe schema of the JSON object that you answer with:\n\n{tool.schema_bytes.decode()}"
    arguments = {
        "model": request.model_name,
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": system, **_MARK}]},
            *_conversation(request, tool),
        ],
        "temperature": request.parameters.temperature,
        "max_tokens": request.parameters.max_tokens,
        **_form(form, tool),
    }
    return with_changes(arguments, request.parameters.changes)


def chat_arguments(request: ChatRequest) -> dict[str, Any]:
    """The named arguments of a conversation's next message."""
    first, *others = request.messages
    system = {"role": first["role"], "content": [{"type": "text", "text": first["content"], **_MARK}]}
    arguments: dict[str, Any] = {
        "model": request.model_name,
        "messages": [system, *map(dict, others)],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        *tools, last = map(dict, request.tools)
        arguments |= {"tools": [*tools, {**last, **_MARK}], "tool_choice": request.tool_choice.value}
    return with_changes(arguments, request.changes)


def _form(form: AnswerForm, tool: AnswerTool) -> dict[str, Any]:
    if form is AnswerForm.TOOL:
        function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        return {
            "tools": [{"type": "function", "function": function, **_MARK}],
            "tool_choice": {"type": "function", "function": {"name": tool.name}},
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
        if request.parameters.form is AnswerForm.TOOL and parse_json_object(answer) is not None:
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


class LiteLlmCalls:
    """The calls that one process makes."""

    def __init__(self, settings: LlmSettings, templates: Templates) -> None:
        self._settings = settings
        self._templates = templates
        self._provider = _provider_of(settings.model)
        self._next_start = 0.0

    async def ask(self, request: SummaryRequest) -> SummaryResponse:
        """The answer as it came, without any key; raises `SummaryCallFailed`."""
        template = self._templates[request.level]
        tool = template.tool or answer_tool(request.level)
        await self._turn()
        limit = "digests.max_tokens" if template.tool else "llm.max_tokens"
        refused = self._refused(request.model_name, limit, request.max_tokens)
        answer = await self._complete(arguments_of(request, template, tool), refused)
        return self._read(request, tool, answer)

    async def chat(self, request: ChatRequest, on_text: OnText, *, timeout_s: float) -> ChatResponse:
        """The next message of a conversation, without any key; raises `SummaryCallFailed`."""
        heard = StreamedMessage(keys_in_use(self._named_key()), on_text)
        refused = self._refused(request.model_name, "ask.max_tokens", request.max_tokens)
        await self._stream(chat_arguments(request), heard, timeout_s, refused)
        heard.end()
        usage, written = _usage_of(heard.counted)
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
        )

    def missing_key(self, model: str) -> str:
        """The names of the variables where a model's key is missing; empty if it is there."""
        name = self._settings.api_key_env
        if name and _provider_of(model) == self._provider:
            return "" if self._named_key() else name
        # LiteLLM takes an empty variable for one that is set.
        usual = f"{_provider_of(model).upper()}_API_KEY"
        missing: list[str] = litellm_client().validate_environment(model)["missing_keys"]
        return ", ".join(missing or ([usual] if os.environ.get(usual) == "" else []))

    def require_named_key(self, model: str) -> None:
        """Raise where the variable that the settings name is empty: LiteLLM would look for keys elsewhere."""
        name = self._settings.api_key_env
        if name and _provider_of(model) == self._provider and not self._named_key():
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

    async def _complete(self, arguments: dict[str, Any], refused: RefusedCall) -> Any:
        """LiteLLM's answer; raises `SummaryCallFailed`."""
        model, timeout_s = arguments["model"], self._settings.timeout_s
        with self._failing(model, f"{timeout_s:g} s (llm.timeout_s)", refused):
            # LiteLLM's own time-out is one of silence: an answer that drips would never end.
            async with asyncio.timeout(timeout_s):
                return await litellm_client().acompletion(**arguments, **self._sending(model, timeout_s))

    async def _stream(
        self, arguments: dict[str, Any], heard: StreamedMessage, timeout_s: float, refused: RefusedCall
    ) -> None:
        """Read LiteLLM's answer while it is written; raises `SummaryCallFailed`, also where it breaks off."""
        model = arguments["model"]
        with self._failing(model, f"{timeout_s:g} s", refused):
            async with asyncio.timeout(timeout_s):
                chunks = await litellm_client().acompletion(**arguments, **self._sending(model, timeout_s))
                async for chunk in chunks:
                    heard.hear(chunk)
        # LiteLLM ends every stream with a reason; these attributes hold what the provider sent. For Gemini it fills
        # only the second, and invents a missing reason: there only a broken connection shows the failure.
        reasons = [getattr(chunks, f"{when}_finish_reason", "") for when in ("received", "intermittent")]
        if reasons == [None, None]:
            raise SummaryCallFailed(f"{model}: its answer broke off", failure=CallFailure.CONNECTION)

    @contextmanager
    def _failing(self, model: str, patience: str, refused: RefusedCall) -> Iterator[None]:
        """Errors of LiteLLM as `SummaryCallFailed`, without their cause: a provider's words may repeat a key."""
        try:
            yield
        except TimeoutError:
            raise SummaryCallFailed(f"{model}: no whole answer in {patience}", failure=CallFailure.TIMEOUT) from None
        except tuple(litellm_client().exceptions.LITELLM_EXCEPTION_TYPES) as error:
            missing = self.missing_key(model)
            hint_for = partial(find_hint, call=refused)
            raise failure_of(error, model, key=self._named_key(), missing_key=missing, hint_for=hint_for) from None

    def _refused(self, model: str, limit: str, max_tokens: int) -> RefusedCall:
        """What hints after a refusal depend on."""
        is_main = _provider_of(model) == self._provider
        return RefusedCall(model, limit, max_tokens, self._settings.api_base if is_main else None)

    def _sending(self, model: str, timeout_s: float) -> dict[str, Any]:
        """How a call is sent: where to, and once. For providers other than the main model's LiteLLM knows address and
        key."""
        is_main = _provider_of(model) == self._provider
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

    def _read(self, request: SummaryRequest, tool: AnswerTool, answer: Any) -> SummaryResponse:
        """LiteLLM's answer in our words, without any key."""
        claim, has_tool_call = _claim_of(answer, tool, request.parameters.form)
        usage, written = _usage_of(answer)
        keys = keys_in_use(self._named_key())
        return SummaryResponse(
            claim=without_keys(claim, keys),
            has_tool_call=has_tool_call,
            usage=usage,
            model_name_echoed=bounded_name(without_keys(str(answer.model or ""), keys)),
            cost_usd=self._cost(request.model_name, usage, written),
        )

    def _cost(self, model: str, usage: TokenUsage | None, cache_write_tokens: int) -> float | None:
        try:
            price = price_of(model, self._settings)
        except ConfigurationError:
            return None
        return None if usage is None else compute_cost_usd(price, usage, cache_write_tokens=cache_write_tokens)


def _claim_of(answer: Any, tool: AnswerTool, form: AnswerForm) -> tuple[str, bool]:
    """What was answered, and whether by a call of the tool; empty if nothing was."""
    message = answer.choices[0].message if answer.choices else None
    if message is None:
        return "", False
    calls = [call.function for call in message.tool_calls or ()]
    wanted = [call for call in calls if call.name == tool.name]
    if wanted:
        return str(wanted[0].arguments or ""), True
    if calls and (form is AnswerForm.TOOL or not message.content):
        return f"{CALL_OF}{calls[0].name}] {calls[0].arguments}", False
    return str(message.content or getattr(message, "refusal", None) or ""), False


def _usage_of(answer: Any) -> tuple[TokenUsage | None, int]:
    """What was counted, and how many of the prompt's tokens were written to a cache."""
    usage = getattr(answer, "usage", None)
    if usage is None:
        return None, 0
    details = getattr(usage, "prompt_tokens_details", None)
    cached = int(getattr(details, "cached_tokens", 0) or 0)
    written = getattr(usage, "cache_creation_input_tokens", 0) or getattr(details, "cache_write_tokens", 0) or 0
    return TokenUsage(int(usage.prompt_tokens), int(usage.completion_tokens), cached), int(written)


def _provider_of(model: str) -> str:
    """`openai` of `openai/gpt-4o`, and of `gpt-4o` what the list of models says."""
    provider, has_provider, _ = model.partition("/")
    return provider if has_provider else str((find_listed_model(model) or {}).get("litellm_provider", ""))
