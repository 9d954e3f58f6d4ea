"""Why a run makes no more calls, in a line, and what can be set."""

from codesum_pipeline.foundation.data_model.errors import SummaryCallFailed, SummaryError, SummaryOutputInvalid
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.backend import EndedEarly

# Of the error of the last document.
_MOST_WORDS = 400


def describe_giving_up(llm: LlmSettings, last: SummaryError | None) -> str:
    """Why no more calls are made after too many documents without a text, and what can be set."""
    why = shorten_text(one_line(str(last)), _MOST_WORDS).rstrip(".")
    is_of_answer = isinstance(last, SummaryOutputInvalid) and not isinstance(last, EndedEarly)
    way_out = " Set llm.model to another model, or llm.form to another form of answers." if is_of_answer else ""
    count = f"{llm.give_up_after} documents in a row (llm.give_up_after)"
    return f"no more calls: {count} got no text. The last: {why}.{way_out}"


def describe_end_of_calls(error: SummaryError) -> str:
    if isinstance(error, SummaryCallFailed) and error.retry_after_s is not None:
        return (
            f"no more calls: the provider asks to wait {error.retry_after_s:,.0f} s, longer than llm.longest_wait_s: "
            f"the next run goes on: {error}"
        )
    return f"no more calls: {error}"
