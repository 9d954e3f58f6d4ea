"""When a question is asked again to which a model gave answers that cannot be used, and how a person asks now."""

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import SummaryOutputInvalid


class UnusableAnswers(SummaryOutputInvalid):
    """No answer of a model to a digest can be used. They are kept: the same question is not paid for again soon."""


class AskAgain(Struct, frozen=True):
    """`about` is what the question shows, `command` asks now.

    Without a schedule nothing asks by itself; one with an end asks until then.
    """

    about: str
    command: str
    is_scheduled: bool = True
    ends_at: str = ""

    def explain(self, kept_until: str) -> str:
        """A sentence about when a question is asked again whose unusable answers are kept until a moment."""
        differing = f"its template, the model or the {self.about} differ"
        now = f"`{self.command}` asks now, and pays again"
        if not self.is_scheduled:
            return f"It is not asked again before {_day(kept_until)}, unless {differing}; {now}."
        if self.ends_at and kept_until >= self.ends_at:
            return f"It is asked again by itself once {differing}, until {_day(self.ends_at)}; {now}."
        return f"It is asked again by itself once {differing}, else from {_day(kept_until)} on; {now}."


def _day(moment: str) -> str:
    return f"{moment[:16].replace('T', ' ')} UTC"
