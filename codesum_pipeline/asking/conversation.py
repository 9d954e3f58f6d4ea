"""Earlier exchanges of a conversation as the model reads them, and conversations that grew too long for it.

Only questions and answers are repeated: the index may have changed since tools answered, and the model can call them
again. The latest exchanges have priority; the answer of the last one may be cut but is never left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from codesum_pipeline.llm.prices import CHARS_PER_TOKEN

# A quarter of a synthesis's budget.
BUDGET_TOKENS = 8_000
# The largest share of a small model's prompt for earlier exchanges.
_MOST_OF_A_PROMPT = 0.25
_CUT = "\n[cut here]"


class Exchange(Struct, frozen=True):
    """A question and the model's answer to it."""

    question: str
    answer: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of a conversation."""
        return [{"role": "user", "content": self.question}, {"role": "assistant", "content": self.answer}]

    def __len__(self) -> int:
        return len(self.question) + len(self.answer)


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
