"""A conversation that has grown too long for its model: the oldest results give way."""

from collections.abc import Mapping, Sequence
from typing import Any

LEFT_OUT = "(left out: the conversation has grown too long; call the tool again if you need it)"


def within(messages: Sequence[Mapping[str, Any]], most_characters: int) -> list[dict[str, Any]]:
    """The messages, of which the oldest results are left out until all fit."""
    found = [dict(message) for message in messages]
    size = sum(map(_size, found))
    for message in found:
        if size <= most_characters:
            break
        if message["role"] == "tool":
            size -= _size(message)
            message["content"] = LEFT_OUT
            size += _size(message)
    return found


def _size(message: Mapping[str, Any]) -> int:
    calls = message.get("tool_calls", ())
    return len(message.get("content") or "") + sum(len(call["function"]["arguments"]) for call in calls)
