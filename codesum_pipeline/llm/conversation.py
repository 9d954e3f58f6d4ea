"""One document's conversation with one model: ask, say what is wrong with the answer, ask again.

The whole conversation goes into each request, so that a request depends on what
was said before and on nothing else.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from codesum_pipeline.llm.answers import MAX_OUTPUT_BYTES, answer_tool
from codesum_pipeline.llm.checking import AnswerBounds, read_answer
from codesum_pipeline.llm.pins import Parameters, SummaryRequest, SummaryResponse
from codesum_pipeline.model.documents import Level, TextContext, WrittenText
from codesum_pipeline.model.errors import SummaryError, SummaryOutputInvalid
from codesum_pipeline.model.guard import Failure

# A role mark, a wrapper and the like, per turn: more than any provider adds.
_TOKENS_PER_TURN = 100


class WritingTask(Struct, frozen=True):
    """A document that a model is to write, ready to be sent.

    `exact_key` and `body_key` are the keys of the cache; two tasks with the
    same `body_key` and `prompt` take one call. `context` is what the text would
    be written with. `prompt_tokens_upper` bounds the tokens of the first
    request, system prompt and tool included.
    """

    id: str
    level: Level
    template_blake3: str
    prompt: str
    shown: AnswerBounds
    exact_key: str
    body_key: str | None
    context: TextContext | None
    prompt_tokens_upper: int


class AnswerReading(Struct, frozen=True):
    """An answer as it came, with its text, or what is wrong with it, or the error in reading it."""

    claim: str
    text: WrittenText | None
    complaint: str = ""
    failure: Failure | None = None


class UnexpectedFailure(SummaryError):
    """An unexpected error in our code, in asking for one document or in reading the answer."""

    discriminator = "summary_unforeseen_error"

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


Read = Callable[[SummaryResponse], WrittenText]


class Ask(Protocol):
    """Sends a request and has its answer read; `tokens_upper` bounds the request's tokens."""

    async def __call__(self, request: SummaryRequest, read: Read, *, tokens_upper: int) -> AnswerReading: ...


async def converse(
    task: WritingTask, ask: Ask, *, model: str, parameters: Parameters, max_attempts: int
) -> WrittenText:
    """The text of the first usable answer, of at most `max_attempts`; raises what `ask` does, `UnexpectedFailure`, and
    `SummaryOutputInvalid` with the last complaint."""

    def read(response: SummaryResponse) -> WrittenText:
        return read_answer(response, parameters.form, task.shown)

    turns: tuple[str, ...] = ()
    complaint = ""
    for _ in range(max_attempts):
        request = SummaryRequest(
            level=task.level,
            model_name=model,
            prompt_template_blake3=task.template_blake3,
            schema_blake3=answer_tool(task.level).schema_blake3,
            parameters=parameters,
            sources=(task.prompt, *turns),
            max_output_bytes=MAX_OUTPUT_BYTES,
        )
        # No tokenizer makes more than one token of a byte.
        added = sum(len(turn.encode("utf-8", "surrogatepass")) + _TOKENS_PER_TURN for turn in turns)
        answered = await ask(request, read, tokens_upper=task.prompt_tokens_upper + added)
        if answered.text:
            return answered.text
        if answered.failure:
            raise UnexpectedFailure(answered.failure)
        complaint = answered.complaint
        turns = (*turns, answered.claim, complaint)
    raise SummaryOutputInvalid(f"{task.id}: {max_attempts} answers of {model}; of the last: {complaint}")
