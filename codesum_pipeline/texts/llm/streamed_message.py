"""A message of a conversation while it arrives in pieces, in LiteLLM's form."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from codesum_pipeline.texts.llm.litellm_door import without_keys
from codesum_pipeline.texts.llm.pins import AnswerEnd, OnText, ToolCall
from codesum_pipeline.texts.llm.wire_answers import ENDS, RAW_ENDS

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
