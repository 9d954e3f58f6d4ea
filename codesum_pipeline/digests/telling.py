"""What holds a tick, sorted by what a person can do, and what the operator is told of it."""

from collections.abc import Sequence
from itertools import takewhile

from codesum_pipeline.delivery.sending import OutboxSender
from codesum_pipeline.digests.rows import TickFailure, TickRow
from codesum_pipeline.model.errors import (
    CodesumError,
    ConfigurationError,
    ModelNotInAllowlist,
    SummaryError,
    TemplateNotFound,
    TemplateRenderError,
)
from codesum_pipeline.model.guard import told
from codesum_pipeline.model.printable import one_line

# A model that fails for a while is asked again by the next tick; after so many in a row it will not mend itself.
MODEL_FAILURES_UNTOLD = 2
_KEPT = "Nothing was sent. What changed is kept, and the next digest tells it."


class HookFailed(CodesumError):
    """A `pre_push` hook raised, hung or answered nonsense: whether the digest may be sent is not known."""


def sorted_failure(error: Exception) -> TickFailure:
    """Of which kind the trouble is that an error stands for."""
    if isinstance(error, TemplateNotFound | TemplateRenderError):
        return TickFailure.TEMPLATE
    if isinstance(error, ConfigurationError | ModelNotInAllowlist):
        return TickFailure.CONFIGURATION
    if isinstance(error, SummaryError):
        return TickFailure.MODEL
    return TickFailure.HOOK if isinstance(error, HookFailed) else TickFailure.UNFORESEEN


def reason_of(error: Exception) -> str:
    """An error in one line; of ours the message says all."""
    return one_line(str(error)) if isinstance(error, CodesumError) else told(error)


def tell_operator(sender: OutboxSender, earlier: Sequence[TickRow], held: TickRow) -> None:
    """Have the operator told, of a model that fails once, at the third tick in a row; `earlier` are the newest first.

    Of anything else at once; the same words go out once a day.
    """
    if held.failure is TickFailure.MODEL:
        in_a_row = sum(1 for _ in takewhile(lambda row: row.failure is TickFailure.MODEL, earlier))
        if in_a_row != MODEL_FAILURES_UNTOLD:
            return
    subject, way_out = _WORDS[held.failure or TickFailure.UNFORESEEN]
    sender.notify_operator(subject.format(name=held.intent_name), f"{held.reason}\n\n{_KEPT} {way_out}")


_WORDS = {
    TickFailure.TEMPLATE: (
        "No digest of {name}: a prompt template cannot be used",
        "Correct the template that is named; `codesum prompts` shows it.",
    ),
    TickFailure.CONFIGURATION: (
        "No digest of {name}: the settings do not allow it",
        "Correct what is named.",
    ),
    TickFailure.MODEL: (
        f"No digest of {{name}}: the model failed {MODEL_FAILURES_UNTOLD + 1} times in a row",
        "Look whether the model can be reached: `codesum doctor` asks it. Until then this is said once.",
    ),
    TickFailure.HOOK: (
        "No digest of {name}: a pre_push hook failed",
        "Repair the hook, or uninstall its package.",
    ),
    TickFailure.UNFORESEEN: (
        "No digest of {name}: an unforeseen error",
        "The log has the traceback.",
    ),
}
