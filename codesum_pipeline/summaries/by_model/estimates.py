"""What a text would cost, before it is asked for."""

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
    """Tokens read and written, and their price in US dollars; repairs are not foreseen."""

    input_tokens: int
    output_tokens: int
    usd: float


class Estimator:
    """Predicts calls of one level."""

    def __init__(self, setup: ModelSetup, level: Level) -> None:
        template = setup.templates[level]
        self._price = setup.price
        self._written = min(_ANSWER_TOKENS[level], setup.options.max_tokens)
        self._most = setup.options.max_prompt_chars
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

    def _of(self, tokens: int) -> Estimate:
        read = self._always + tokens
        rate = self._price.of_prompt(read)
        return Estimate(read, self._written, read * rate.input + self._written * rate.output)
