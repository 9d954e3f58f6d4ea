"""A conversation with one model about one text: ask, say what is wrong with the answer, ask again.

The whole conversation goes into each request, so that a request depends on what
was said before and on nothing else.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level, TextContext
from codesum_pipeline.foundation.data_model.errors import SummaryError, SummaryOutputInvalid
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.texts.llm.answer_forms import AnswerForms, FormIgnored
from codesum_pipeline.texts.llm.backend import EndedEarly, describe_end
from codesum_pipeline.texts.llm.checking import AnswerBounds, AnswerProblem
from codesum_pipeline.texts.llm.pins import AnswerEnd, AnswerForm, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.prices import repair_turns

Content = TypeVar("Content")


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
    bounds: AnswerBounds
    exact_key: str
    body_key: str | None
    context: TextContext | None
    prompt_tokens_upper: int


class AnswerReading(Struct, Generic[Content], frozen=True):
    """An answer as it came, with its content, or what is wrong with it, or the error in reading it.

    `ignores_form`: it has another form than the one that was asked for,
    which its server has not followed yet, and another can be tried."""

    response: SummaryResponse
    content: Content | None
    complaint: str = ""
    failure: Failure | None = None
    ignores_form: bool = False


class UnexpectedFailure(SummaryError):
    """An unexpected error in our code, in asking for one document or in reading the answer."""

    discriminator = "summary_unforeseen_error"
    kind = "unforeseen-error"

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def reading_of_problem(
    request: SummaryRequest, response: SummaryResponse, problem: AnswerProblem, *, setting: str
) -> AnswerReading[Any]:
    """An answer that cannot be taken: because it ended too early, else for what is wrong with it. `setting` bounds the
    tokens of such an answer."""
    if response.ended is AnswerEnd.STOP:
        return AnswerReading(response, None, str(problem))
    return AnswerReading(response, None, describe_end(request, response, setting=setting))


def mark_ignored(
    forms: AnswerForms, request: SummaryRequest, answered: AnswerReading[Content]
) -> AnswerReading[Content]:
    """A new answer, with whether it shows that its server ignores the form."""
    is_unusable = not answered.content and not answered.failure
    return replace(answered, ignores_form=is_unusable and forms.is_ignored(request, answered.response))


async def converse(
    request: SummaryRequest,
    ask: Callable[[SummaryRequest], Awaitable[AnswerReading[Content]]],
    *,
    about: str,
    max_attempts: int,
    forms: AnswerForms,
) -> tuple[Content, SummaryRequest]:
    """The content of the first usable answer, of at most `max_attempts`, and the request that it answers.

    The request is sent in the form that `forms` has for its model; where a server refuses or ignores one, all begins
    anew in the next, and what was unusable before still counts. Raises what `ask` does, `UnexpectedFailure`,
    `EndedEarly`, and `SummaryOutputInvalid` with the last complaint.
    """
    form = forms.of(request.model_name)
    current, unusable, complaint = _in_form(request, form), 0, ""
    while unusable < max_attempts:
        try:
            answered = await ask(current)
            if answered.content:
                forms.note_followed(current, answered.response)
                return answered.content, current
            if answered.failure:
                raise UnexpectedFailure(answered.failure)
            if answered.response.ended is not AnswerEnd.STOP:
                raise EndedEarly(answered.complaint, answered.response)
            if answered.ignores_form:
                raise FormIgnored(f"{request.model_name} answers in another form than {form.value!r}")
        except SummaryError as error:
            following = forms.after(request.model_name, form, error)
            if following is None:
                raise
            form, current = following, _in_form(request, following)
            continue
        forms.note_followed(current, answered.response)
        unusable, complaint = unusable + 1, answered.complaint
        turns = repair_turns(answered.response.claim, complaint, max_tokens=current.max_tokens)
        current = replace(current, sources=(*current.sources, *turns))
    raise SummaryOutputInvalid(f"{about}: {max_attempts} answers of {request.model_name}; of the last: {complaint}")


def _in_form(request: SummaryRequest, form: AnswerForm) -> SummaryRequest:
    return replace(request, parameters=replace(request.parameters, form=form))
