"""Whether a message can be the answer, by why it ended: a whole one can, and a cut one if a citation in it holds."""

from msgspec import Struct

from codesum_pipeline.answers.question_answering.citations import RepositoryFiles, check_citations, end_of_cut
from codesum_pipeline.answers.question_answering.turn_paying import CostCapReached
from codesum_pipeline.foundation.data_model.errors import SummaryError
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.settings.llm_settings import AskSettings
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.pins import AnswerEnd, ChatResponse, parse_json_object

EMPTY, CUT, FILTERED, REFUSAL, ERROR_IN_ANSWER = "empty", "length", "content-filter", "refusal", "error-in-answer"
COST_CAP, TIMEOUT, ERROR = "cost-cap", "timeout", "error"
_LONGEST_REFUSAL = 500
_NO_ANSWERS = {
    AnswerEnd.FILTERED: (
        FILTERED,
        "a content filter of the provider ended the answer: ask in other words, or choose another model (llm.model)",
    ),
    AnswerEnd.REFUSED: (REFUSAL, "the model refuses to answer"),
    AnswerEnd.ERROR: (ERROR_IN_ANSWER, "the provider ended the answer with an error: ask again"),
}


class NoAnswer(Exception):
    """A model gave no answer: the reason in a word, and in a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def reason_of(error: Exception) -> str:
    """Why there is no answer, in a word."""
    match error:
        case NoAnswer():
            return error.reason
        case CostCapReached():
            return COST_CAP
        case SummaryError():
            return error.kind
    return TIMEOUT if isinstance(error, TimeoutError) else ERROR


class FinalText(Struct, frozen=True):
    """The text of an answer; with a `note` it was cut, which the note says at its end."""

    text: str
    note: str = ""

    @property
    def ended(self) -> AnswerEnd:
        return AnswerEnd.LENGTH if self.note else AnswerEnd.STOP


def check_end(response: ChatResponse, ask: AskSettings) -> None:
    """Raise `NoAnswer` for a message that a filter, a refusal or an error ended, or that was cut inside a call."""
    words = shorten_text(one_line(mask_secrets(response.text).text), most=_LONGEST_REFUSAL)
    if (found := _NO_ANSWERS.get(response.ended)) is not None:
        reason, detail = found
        raise NoAnswer(reason, f"{detail}{f'; it wrote: {words}' if words else ''}")
    is_cut_call = response.ended is AnswerEnd.LENGTH and bool(response.calls)
    if is_cut_call and parse_json_object(response.calls[-1].arguments) is None:
        raise NoAnswer(CUT, f"the model was cut while it called {response.calls[-1].name}: {_limit(ask)}")


def read_final(response: ChatResponse, sources: RepositoryFiles, ask: AskSettings) -> FinalText:
    """The text of the last message; raises `NoAnswer` as `check_end` does, for none, and for a cut one that cites
    nothing."""
    check_end(response, ask)
    is_cut, text = response.ended is AnswerEnd.LENGTH, response.text.strip()
    if not text and not is_cut:
        raise NoAnswer(EMPTY, "the model gave an empty answer: ask again")
    if not text:
        raise NoAnswer(CUT, f"the model was cut before it wrote a word of its answer: {_limit(ask)}")
    if not is_cut:
        return FinalText(response.text)
    short = end_of_cut(response.text)
    if not check_citations(short, sources).kept:
        raise NoAnswer(CUT, f"the answer was cut, and what there is of it cites no line of the sources: {_limit(ask)}")
    return FinalText(short, f"(The answer was cut here: {_limit(ask)}.)")


def _limit(ask: AskSettings) -> str:
    way_out = "raise it, or the limit of the model's server if that is lower"
    return f"an answer has at most ask.max_tokens = {ask.max_tokens} tokens; {way_out}"
