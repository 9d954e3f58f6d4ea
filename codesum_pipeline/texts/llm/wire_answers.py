"""What a provider sent as an answer: the text or the call's arguments in it, and bodies that LiteLLM does not read.

LiteLLM reads a body in the form that its provider documents. Servers in between send others, and LiteLLM raises: a list
as content, a list as arguments, a call without `function`, one call in place of a list. The same content is then read
from the body itself. A body without any answer stays unread. A message of a conversation arrives in pieces, in
LiteLLM's form.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.texts.llm.answer_shapes import AnswerTool, find_tool
from codesum_pipeline.texts.llm.litellm_door import litellm_client, without_keys
from codesum_pipeline.texts.llm.pins import (
    CALL_OF,
    CALLING_FORMS,
    AnswerEnd,
    AnswerForm,
    OnText,
    TokenUsage,
    ToolCall,
    parse_json_object,
)

# Arguments that say nothing. The answer may then be in the text beside the call.
_NOTHING = ("", "{}", "null", '""')
# What counts more counts no tokens.
_MOST_TOKENS = 10**12
# Parts of a content that are no answer.
_REASONING = ("thinking", "reasoning", "redacted_thinking", "reasoning_content")


def claim_of(answer: Any, tool: AnswerTool, form: AnswerForm) -> tuple[str, bool]:
    """What was answered, and whether by a call of the tool; empty if nothing was.

    The arguments of several calls of the tool stand below each other, equal ones once. Where they are empty, the text
    beside the call is the answer.
    """
    message = answer.choices[0].message if answer.choices else None
    if message is None:
        return "", False
    legacy = getattr(message, "function_call", None)
    calls = [call.function for call in message.tool_calls or ()] or ([legacy] if legacy else [])
    wanted = [call for call in calls if find_tool(call.name or "", (tool.name,))]
    if wanted:
        arguments = dict.fromkeys(call.arguments or "" for call in wanted)
        filled = [each for each in arguments if each.strip() not in _NOTHING]
        return "\n".join(filled) or str(message.content or "") or next(iter(arguments)), True
    if calls and (form in CALLING_FORMS or not message.content):
        return f"{CALL_OF}{calls[0].name}] {calls[0].arguments}", False
    return str(message.content or getattr(message, "refusal", None) or ""), False


# LiteLLM's words for why an answer ended; all others are those of one that is whole.
ENDS = {"length": AnswerEnd.LENGTH, "content_filter": AnswerEnd.FILTERED}
# Words of servers, of which LiteLLM makes a "stop".
RAW_ENDS = {word: AnswerEnd(end) for word, end in packaged_table(__package__, "provider_words")["ends"].items()}


def end_of(answer: Any, ending: str = "") -> tuple[AnswerEnd, str, bool]:
    """Why an answer ended, the words of a refusal or an error, and whether the answer holds reasoning; `ending` is its
    server's word for why it ended."""
    if not answer.choices:
        return AnswerEnd.STOP, "", False
    choice = answer.choices[0]
    ended, words, message = ENDS.get(str(choice.finish_reason), AnswerEnd.STOP), "", choice.message
    # What LiteLLM has no field for; it makes a "stop" of an error.
    of_message, of_choice = (getattr(each, "provider_specific_fields", None) or {} for each in (message, choice))
    if refusal := getattr(message, "refusal", None) or of_message.get("refusal"):
        ended, words = AnswerEnd.REFUSED, str(refusal)
    elif error := of_choice.get("error"):
        ended, words = AnswerEnd.ERROR, str(error.get("message", error) if isinstance(error, dict) else error)
    elif ended is AnswerEnd.STOP:
        ended = RAW_ENDS.get(ending or str(of_choice.get("native_finish_reason")), ended)
    elif ended is AnswerEnd.FILTERED and message.content and "{" not in message.content:
        # Anthropic's models say why they refuse; what begins an object is an answer that was cut.
        ended = AnswerEnd.REFUSED
    return ended, words, bool(getattr(message, "reasoning_content", None))


def usage_of(answer: Any, *, is_empty: bool) -> tuple[TokenUsage | None, int]:
    """What was counted, and how many of the prompt's tokens were written to a cache; None where the server counted
    nothing: LiteLLM writes zeros for that, and a prompt is never empty. `is_empty`: the answer has no tokens."""
    usage = getattr(answer, "usage", None)
    prompt, completion, total = (_count_of(usage, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    if not prompt or not (completion or is_empty):
        return None, 0
    # Some count reasoning in the total alone.
    completion = max(completion, total - prompt)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = min(_count_of(details, "cached_tokens"), prompt)
    written = _count_of(usage, "cache_creation_input_tokens") or _count_of(details, "cache_write_tokens")
    return TokenUsage(prompt, completion, cached), min(written, prompt - cached)


def _count_of(usage: Any, name: str) -> int:
    """A count of tokens; 0 for what is none."""
    return _number(getattr(usage, name, None))


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value < _MOST_TOKENS else 0


def read_stream_line(line: str) -> str:
    """A line of a stream in OpenAI's format, as LiteLLM reads it: with choices, each with a delta whose content
    is a text. Some servers send null for either, a list as content, or the whole message at once."""
    field, colon, data = line.partition(":")
    body = parse_json_object(data if colon and field == "data" else line)
    if body is None or "choices" not in body:
        return line
    choices = body["choices"] if isinstance(body["choices"], list) else []
    read = {**body, "choices": [_with_delta(one) for one in choices if isinstance(one, dict)]}
    return line if read == body else f"data: {json.dumps(read)}"


def _with_delta(choice: Mapping[str, Any]) -> dict[str, Any]:
    found = choice.get("delta") or choice.get("message")
    delta = dict(found) if isinstance(found, dict) else {}
    if isinstance(parts := delta.get("content"), list):
        delta["content"] = _words_of(parts)
    calls = delta.get("tool_calls")
    if "delta" not in choice and isinstance(calls, list):
        delta["tool_calls"] = [{"index": place, **call} for place, call in enumerate(calls) if isinstance(call, dict)]
    return {**choice, "delta": delta}


def _words_of(content: Any) -> str:
    """The texts of a content, without its reasoning."""
    parts = (part for part in _parts_of(content) if part.get("type") not in (*_REASONING, "tool_use"))
    return "".join(_text(part.get("text", part.get("content"))) for part in parts)


class RawAnswer:
    """The body of an answer, which LiteLLM gives to whoever logs it."""

    def __init__(self) -> None:
        self._body = ""

    def note(self, details: Mapping[str, Any]) -> None:
        """Take it out of what LiteLLM logs of a call."""
        self._body = str(details.get("original_response") or "")

    def ending(self) -> str:
        """The server's word for why the answer ended; empty where there is none."""
        body = parse_json_object(self._body) or {}
        choices = body.get("choices", [body])
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        ending = choice.get("finish_reason") or choice.get("stop_reason")
        return ending if isinstance(ending, str) else ""

    def error(self) -> tuple[str, str]:
        """What names an error that came in place of an answer, its code or its type, and its words; empty if there is
        none."""
        body = parse_json_object(self._body) or {}
        error = body if body.get("object") == "error" else body.get("error")
        if not error or not isinstance(error, dict):
            return "", _text(error or "")
        name = error.get("code") or error.get("type")
        return _text(name), _text(error.get("message") or error)

    def read(self) -> Any | None:
        """The answer in LiteLLM's form; None if there is none in the body."""
        body = parse_json_object(self._body) or {}
        choices = body.get("choices", [body])
        message = _message_of(choices[0]) if isinstance(choices, list) and choices else None
        if message is None or body.get("error"):
            return None
        choice = {"index": 0, "message": message, "finish_reason": self.ending() or None}
        model, usage = body.get("model"), body.get("usage")
        return litellm_client().ModelResponse(
            model=model if isinstance(model, str) else None,
            choices=[choice],
            **({"usage": _usage_of(usage)} if isinstance(usage, dict) else {}),
        )


def _message_of(choice: Any) -> dict[str, Any] | None:
    """The message of a choice in OpenAI's format, or of a body in Anthropic's; None if there is none."""
    if not isinstance(choice, dict):
        return None
    message = choice.get("message", choice if choice.get("type") == "message" else None)
    if not isinstance(message, dict):
        return None
    parts = _parts_of(message.get("content"))
    calls = (
        message.get("tool_calls") or message.get("function_call") or [p for p in parts if p.get("type") == "tool_use"]
    )
    refusal = message.get("refusal")
    return {
        "role": "assistant",
        "content": _words_of(message.get("content")) or (refusal if isinstance(refusal, str) else None),
        "tool_calls": [*_calls_of(calls)] or None,
    }


def _parts_of(content: Any) -> list[dict[str, Any]]:
    """The parts of a content."""
    parts = content if isinstance(content, list) else [content]
    # An object that is no part of a message is the answer.
    return [part if isinstance(part, dict) and "type" in part else {"text": part} for part in parts]


def _calls_of(calls: Any) -> Iterator[dict[str, Any]]:
    """Calls in OpenAI's format, of a list of them or a single one, as JSON or in a string."""
    if isinstance(calls, str):
        try:
            calls = json.loads(calls)
        except (ValueError, RecursionError):
            return
    for place, call in enumerate(calls if isinstance(calls, list) else [calls], start=1):
        called = (call.get("function") or call) if isinstance(call, dict) else None
        if not isinstance(called, dict):
            continue
        name = called.get("name")
        arguments = next((called[key] for key in ("arguments", "parameters", "input") if key in called), None)
        if name is None and arguments is None:
            continue
        function = {"name": name if isinstance(name, str) else "", "arguments": _text(arguments)}
        yield {"id": str(call.get("id") or f"call_{place}"), "type": "function", "function": function}


def _text(value: Any) -> str:
    """A text as it is, of any other value its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _usage_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    """What was counted, in OpenAI's format; what is no count is 0, as where nothing was counted."""
    found = usage.get("prompt_tokens_details")
    details = found if isinstance(found, dict) else {}
    if "input_tokens" in usage:
        cached, written = (_number(usage.get(f"cache_{what}_input_tokens")) for what in ("read", "creation"))
        prompt, answered = _number(usage["input_tokens"]) + cached + written, _number(usage.get("output_tokens"))
    else:
        cached = _number(details.get("cached_tokens"))
        written = _number(usage.get("cache_creation_input_tokens")) or _number(details.get("cache_write_tokens"))
        prompt, answered = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": cached},
        "cache_creation_input_tokens": written,
    }


_LAST_SPACE = re.compile(r"\s(?=\S*$)")
# Providers' own words for why a message ended, beside those of LiteLLM.
_RAW_ENDS = {**RAW_ENDS, "refusal": AnswerEnd.REFUSED}


class StreamedMessage:
    """A streamed message, as far as it has arrived; no key in it is ever passed on.

    A key holds no white space. So the text is passed on up to its last white space, and what follows waits until it is
    whole and was checked.
    """

    def __init__(self, keys: Iterable[str], on_text: OnText) -> None:
        self._keys = tuple(keys)
        self._on_text = on_text
        self._texts: list[str] = []
        self._waiting = ""
        self._reasoning: list[str] = []
        self._refusal = ""
        self._end = AnswerEnd.STOP
        self._calls: list[dict[str, str]] = []
        self._at: dict[int, int] = {}
        self.model = ""
        self.counted: Any = None
        self.is_counted = False
        self.has_begun = False
        # The provider's words where it sent an error in place of the rest, and its code and type.
        self.error = ""
        self.error_type = ""

    def hear(self, chunk: Any) -> None:
        """Take in the next piece, in LiteLLM's form."""
        self.has_begun = True
        # LiteLLM keeps the name under which the provider answers beside the requested one.
        hidden = getattr(chunk, "hidden_params", None) or getattr(chunk, "_hidden_params", None) or {}
        self.model = str(hidden.get("provider_response_model") or "") or self.model
        if getattr(chunk, "usage", None) is not None:
            self.counted = chunk
        for choice in (chunk.choices or ())[:1]:
            delta = choice.delta
            if self._end is AnswerEnd.STOP:
                self._end = ENDS.get(str(getattr(choice, "finish_reason", None)), AnswerEnd.STOP)
            self._waiting += str(getattr(delta, "content", None) or "")
            if found := _LAST_SPACE.search(self._waiting):
                self._hand_on(found.end())
            self._reasoning.append(str(getattr(delta, "reasoning_content", None) or ""))
            calls = getattr(delta, "tool_calls", None) or ()
            for call in calls if isinstance(calls, list | tuple) else (calls,):
                self._hear_call(int(_part(call, "index") or 0), str(_part(call, "id") or ""), _part(call, "function"))
            # The form of a call before there were several.
            if not calls and (legacy := getattr(delta, "function_call", None)) is not None:
                self._hear_call(0, "", legacy)

    def hear_raw(self, event: Mapping[str, Any]) -> None:
        """Take in an event as its provider sent it: LiteLLM passes on neither a refusal's words, nor that a message was
        ended by a refusal or an error."""
        if error := event.get("error"):
            self.error = str(_of(error).get("message") or (json.dumps(error) if _of(error) else error))
            self.error_type = " ".join(str(part) for name in ("code", "type") if (part := _of(error).get(name)))
        # One message in OpenAI's format; in Anthropic's its end is an event of its own.
        choices = event.get("choices") or [{"delta": {}, "finish_reason": _of(event.get("delta")).get("stop_reason")}]
        choice = _of(choices[0] if isinstance(choices, list) else None)
        self._refusal += str(_of(choice.get("delta")).get("refusal") or "")
        self._end = _RAW_ENDS.get(str(choice.get("finish_reason")), self._end)

    def end(self) -> None:
        """Pass on what still waits: the message has ended."""
        self._hand_on(len(self._waiting))

    @property
    def text(self) -> str:
        """All of it; the words of a refusal where there is nothing else."""
        return without_keys("".join(self._texts) + self._waiting or self._refusal, self._keys)

    @property
    def ended(self) -> AnswerEnd:
        """Why it ended."""
        return AnswerEnd.REFUSED if self._refusal else self._end

    @property
    def reasoning(self) -> str:
        """The model's reasoning, where its provider sends it."""
        return without_keys("".join(self._reasoning), self._keys)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which the model began them; one without an id is named by its place."""
        return tuple(
            ToolCall(call["id"] or f"call_{place}", call["name"], without_keys(call["arguments"], self._keys))
            for place, call in enumerate(self._calls, start=1)
        )

    def _hand_on(self, until: int) -> None:
        text, self._waiting = self._waiting[:until], self._waiting[until:]
        if text:
            self._texts.append(text)
            self._on_text(without_keys(text, self._keys))

    def _hear_call(self, index: int, id_: str, function: Any) -> None:
        """Add a piece to the call of its index, unless it begins another call there."""
        name = str(_part(function, "name") or "")
        place = self._at.get(index)
        if place is None or _begins_another(self._calls[place], id_, name):
            place = self._at[index] = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": ""})
        call = self._calls[place]
        call["id"] = call["id"] or id_
        # Some repeat the name in every piece.
        call["name"] += "" if call["name"] == name else name
        call["arguments"] += str(_part(function, "arguments") or "")


def _part(value: Any, name: str) -> Any:
    """A part of what LiteLLM has read, or has left as it came."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _of(value: Any) -> Mapping[str, Any]:
    """The object that a provider should have sent; an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def _begins_another(call: Mapping[str, str], id_: str, name: str) -> bool:
    """Whether a piece belongs to another call under the same index: it has another id, or no id but a name where the
    arguments of the first call are whole."""
    if id_ or not name:
        return bool(id_) and call["id"] not in ("", id_)
    try:
        json.loads(call["arguments"])
    except (ValueError, RecursionError):
        return False
    return True
