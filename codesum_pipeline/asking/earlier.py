"""What was asked and answered before in a conversation, as the model is shown it in the next turn.

Of a turn only the question and the answer go on: what tools gave then may be another index's by now, and the model can
call them again. The latest turns go first into the room that there is; the answer of the last is cut, never left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.llm.prices import CHARS_PER_TOKEN

# A quarter of what a synthesis may read.
BUDGET_TOKENS = 8_000
# Of what a small model reads at all, the share that may have been said before.
_MOST_OF_A_PROMPT = 0.25
_CUT = "\n[cut here]"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and the model's answer to it."""

    question: str
    answer: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """As a conversation has them."""
        return [{"role": "user", "content": self.question}, {"role": "assistant", "content": self.answer}]

    def __len__(self) -> int:
        return len(self.question) + len(self.answer)


def that_fit(exchanges: Sequence[Exchange], *, max_prompt_chars: int) -> list[Exchange]:
    """The latest ones that there is room for, in their order."""
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
