"""The most that all calls for one text can cost, known before the first of them.

An answer that cannot be taken goes back to the model with what is wrong with it, each as a turn of the next request.
Both are cut to a length that is known before, so that the price of the last repair is.
"""

from collections.abc import Iterable

from msgspec import Struct

from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.pins import AnswerForm, forms_from
from codesum_pipeline.texts.llm.prices import Price, price_of, worst_case_usd

# What is wrong with an answer fits twice: it is a dozen lines.
MAX_COMPLAINT_BYTES = 4000
# An answer of words in any script has fewer bytes a token; one that is longer only repeats blanks or line ends, or is
# by a server that does not keep to `max_tokens`.
MAX_BYTES_PER_TOKEN = 8
# A role mark, a wrapper and the like, per turn: more than any provider adds.
TOKENS_PER_TURN = 100


def repair_turns(answer: str, complaint: str, *, max_tokens: int) -> tuple[str, str]:
    """The turns of the next request: an answer of at most `max_tokens` tokens, and what is wrong with it."""
    return _cut(answer, MAX_BYTES_PER_TOKEN * max_tokens), _cut(complaint, MAX_COMPLAINT_BYTES)


def turns_upper(turns: Iterable[str]) -> int:
    """At most how many tokens these turns have: no tokenizer makes more than one token of a byte."""
    return sum(len(turn.encode("utf-8", "surrogatepass")) + TOKENS_PER_TURN for turn in turns)


class TextCeiling(Struct, frozen=True):
    """What bounds the calls for one text.

    Each model, whose `prices` these are, gives at most `answers` that are read, and before the first of them one in
    each of `other_forms` that its server turns out not to follow. Each answer is asked for up to `sends` times: a
    connection that breaks may have been billed.
    """

    prices: tuple[Price, ...]
    max_tokens: int
    answers: int
    sends: int
    other_forms: int

    @classmethod
    def of(cls, llm: LlmSettings, *, max_tokens: int, retries: int) -> "TextCeiling":
        """Raises `ConfigurationError` for a model without a known price. A recording costs nothing."""
        models = () if llm.asks_nobody else (llm.model, *llm.fallback_models)
        # Under `auto` any form may be the first.
        first = AnswerForm.TOOL if llm.form == "auto" else AnswerForm(llm.form)
        return cls(
            tuple(price_of(model, llm) for model in models),
            max_tokens,
            llm.max_attempts,
            1 + retries,
            len(forms_from(first)) - 1,
        )

    def usd(self, prompt_tokens_upper: int) -> float:
        """US dollars for a text whose first request has at most so many tokens."""
        turns = (MAX_BYTES_PER_TOKEN * self.max_tokens + MAX_COMPLAINT_BYTES) + 2 * TOKENS_PER_TURN
        repaired = [0] * self.other_forms + [number * turns for number in range(self.answers)]
        return self.sends * sum(
            worst_case_usd(price, prompt_tokens_upper + more, self.max_tokens)
            for price in self.prices
            for more in repaired
        )


def _cut(text: str, most_bytes: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= most_bytes else data[:most_bytes].decode("utf-8", "ignore")
