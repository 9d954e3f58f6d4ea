"""What a text would cost, before it is asked for.

A call's price is that without the provider's prompt cache, so that a cap in
dollars is shared out safely. What the cache takes off is a matter of all calls
together, and is said beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.llm.answers import answer_tool
from codesum_pipeline.llm.tokens import predict_tokens
from codesum_pipeline.model.documents import Level
from codesum_pipeline.summaries.by_model.setup import ModelSetup

# Of the worked examples in the packaged system prompt, at four characters a token.
_ANSWER_TOKENS = {Level.FUNCTION: 480, Level.CLASS: 280, Level.FILE: 280, Level.MODULE: 280}
# A child's line in its parent's prompt: its name, its level and its summary.
_CHILD_CHARS = 180


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens read and written, and their price in US dollars without a cache; repairs are not foreseen."""

    input_tokens: int
    output_tokens: int
    usd: float


class Estimator:
    """Predicts calls of one level."""

    def __init__(self, setup: ModelSetup, level: Level) -> None:
        template = setup.templates[level]
        self.price = setup.price
        self._written = min(_ANSWER_TOKENS[level], setup.options.max_tokens)
        self._most = setup.max_prompt_chars
        self._at_once = setup.options.concurrency
        self._always = predict_tokens(template.system, answer_tool(level).schema_bytes.decode())

    def of_prompt(self, prompt: str) -> Estimate:
        """A prompt that is known word for word."""
        return self._of(predict_tokens(prompt))

    def of_parts(self, head: str, children: Sequence[object]) -> Estimate:
        """A document whose children's texts are not written yet."""
        return self._of(predict_tokens(head) + len(children) * predict_tokens(" " * _CHILD_CHARS))

    def of_size(self, characters: int, children: int) -> Estimate:
        """A document of which only the size is known: what it shows of its children, or else of itself."""
        shown = children * _CHILD_CHARS if children else min(characters, self._most)
        return self._of(predict_tokens(" " * shown))

    def spared_usd(self, calls: int) -> float:
        """What a provider that keeps the prompt's beginning, which all calls share, takes off their price.

        The calls that go out before the first is answered find nothing there, and pay for having it kept. 0 where
        nobody says what a token costs that was kept.
        """
        rate = self.price.of_prompt(self._always)
        if rate.cached_input >= rate.input:
            return 0.0
        first = min(calls, self._at_once)
        spared = (calls - first) * (rate.input - rate.cached_input) - first * (rate.cache_write - rate.input)
        return self._always * spared

    def _of(self, tokens: int) -> Estimate:
        read = self._always + tokens
        rate = self.price.of_prompt(read)
        return Estimate(read, self._written, read * rate.input + self._written * rate.output)
