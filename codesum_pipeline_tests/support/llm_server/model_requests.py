"""What a client asks of a model: a request, read out of either wire format."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any


class Wire(StrEnum):
    """Whose format a request is in; the value is the path that it is sent to."""

    OPENAI = "/v1/chat/completions"
    ANTHROPIC = "/v1/messages"


@dataclass(frozen=True)
class ModelRequest:
    """One request. `number` counts all that came, from 1; header names are in lower case."""

    number: int
    wire: Wire
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any]

    @cached_property
    def model(self) -> str:
        return str(self.body["model"])

    @cached_property
    def system(self) -> str:
        """The system prompt, whole."""
        if self.wire is Wire.ANTHROPIC:
            return text_of(self.body.get("system"))
        return "".join(text_of(turn["content"]) for turn in self.body["messages"] if turn["role"] == "system")

    @cached_property
    def turns(self) -> tuple[Mapping[str, Any], ...]:
        """The conversation after the system prompt."""
        return tuple(turn for turn in self.body["messages"] if turn["role"] != "system")

    @cached_property
    def prompt(self) -> str:
        """The user's first turn: what the whole conversation is about."""
        return text_of(self.turns[0]["content"])

    @cached_property
    def attempt(self) -> int:
        """Which try of its conversation this is, from 1: each answer that was sent back makes one more."""
        return 1 + len([turn for turn in self.turns if turn["role"] == "assistant"])

    @cached_property
    def complaints(self) -> tuple[str, ...]:
        """What the client had against each earlier answer."""
        return tuple(_complaint_of(turn) for turn in self.turns[1:] if turn["role"] != "assistant")

    @cached_property
    def tool_name(self) -> str | None:
        """The tool that the answer is forced to call; None where no call is forced."""
        choice = self.body.get("tool_choice")
        if choice in ("required", {"type": "any"}):
            (tool,) = self.body["tools"]
            return str(tool["name"] if self.wire is Wire.ANTHROPIC else tool["function"]["name"])
        if not isinstance(choice, dict) or choice == {"type": "auto"}:
            return None
        return str(choice["name"] if self.wire is Wire.ANTHROPIC else choice["function"]["name"])

    @cached_property
    def form(self) -> str:
        """How the answer is asked for: `named`, `required`, `json_schema` or `text`."""
        if isinstance(self.body.get("tool_choice"), dict):
            return "required" if self.body["tool_choice"] == {"type": "any"} else "named"
        if self.body.get("tool_choice") == "required":
            return "required"
        return "json_schema" if self.body.get("response_format") else "text"

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema that the answer is to have, wherever the request says it; the words of a prompt come last."""
        for tool in self.body.get("tools", ()):
            schema = tool["input_schema"] if self.wire is Wire.ANTHROPIC else tool["function"]["parameters"]
            return dict(schema)
        form = self.body.get("response_format") or {}
        if "json_schema" in form:
            return dict(form["json_schema"]["schema"])
        return _last_schema_in(self.system)

    @cached_property
    def cache_marks(self) -> tuple[str, ...]:
        """The places whose end is marked as the end of a prefix worth keeping."""
        places = {
            "system": self.body.get("system") if self.wire is Wire.ANTHROPIC else self.body["messages"][0],
            "tool": list(self.body.get("tools", ())),
            "turns": list(self.turns),
        }
        return tuple(name for name, place in places.items() if '"cache_control"' in json.dumps(place))


def text_of(content: Any) -> str:
    """The text of a turn's content, which is a string or a list of blocks."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(block["text"]) for block in content if block.get("type") == "text")


def _complaint_of(turn: Mapping[str, Any]) -> str:
    """The text of a turn that answers an answer: a tool's result, or words."""
    results = [block for block in _blocks(turn) if block.get("type") == "tool_result"]
    return "".join(text_of(block["content"]) for block in results) or text_of(turn["content"])


def _blocks(turn: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = turn["content"]
    return iter(content if isinstance(content, list) else ())


def _last_schema_in(text: str) -> Mapping[str, Any]:
    """The last JSON object of a text that describes objects."""
    decoder, start = json.JSONDecoder(), text.find("{")
    found: Mapping[str, Any] = {}
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            found = value if "properties" in value else found
        start = text.find("{", end)
    return found
