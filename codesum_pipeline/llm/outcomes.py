"""What a run may do for documents, and what became of each."""

from collections.abc import Callable
from dataclasses import dataclass

from codesum_pipeline.llm.conversation import WritingTask
from codesum_pipeline.llm.kept_texts import KeptText
from codesum_pipeline.model.documents import Gate, TextContext, WrittenText
from codesum_pipeline.model.guard import Failure


@dataclass(frozen=True, slots=True)
class Caps:
    """What a run may still do; `usd_left` of None: as many dollars as it takes."""

    documents_left: int
    usd_left: float | None


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What became of one task.

    Without a text, `gate` says what stopped it and `failure` in a word why
    calls gave none. `written_with` is the context that the text was written
    with, `cost_usd` what this run paid for it. `from_cache`: no call was made,
    since the cache, a recording, or the same body in this run had the text;
    `is_same_body`: that text was paid for under another id. `unforeseen` is the error of our own that kept the document
    from having one.
    """

    id: str
    text: WrittenText | None
    model: str | None = None
    gate: Gate | None = None
    failure: str | None = None
    cost_usd: float = 0.0
    calls: int = 0
    from_cache: bool = False
    is_same_body: bool = False
    written_with: TextContext | None = None
    unforeseen: Failure | None = None


Accepts = Callable[[WritingTask, KeptText], bool]


def accept_any(_task: WritingTask, _kept: KeptText) -> bool:
    """Takes every text that the keys find: they hold the context, or it does not matter."""
    return True


def found_text(task: WritingTask, kept: KeptText) -> TaskOutcome:
    """A document whose text was there already."""
    return TaskOutcome(
        task.id, kept.text, kept.model, from_cache=True, is_same_body=kept.exact_key != task.exact_key,
        written_with=kept.context,
    )  # fmt: skip
