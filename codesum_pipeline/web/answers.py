"""An answer as a page shows it: its text with places as links, its costs, and its steps."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from codesum_pipeline.asking.events import (
    BlockWritten,
    Event,
    MessageEnded,
    SynthesisBegan,
    TextAdded,
    TextVoided,
    ToolAnswered,
    ToolCalled,
    call_line,
    synthesis_line,
)
from codesum_pipeline.asking.past import PastStep, PastTurn
from codesum_pipeline.asking.session import NO_MODEL
from codesum_pipeline.asking.store import PartKind, Status
from codesum_pipeline.asking.turn import TurnAnswer
from codesum_pipeline.model.printable import clean, counted, one_line
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.web.rendering import Link, address, as_html, plain_as_html, usd

# An event of a turn for the page's script: its kind, and text or HTML.
Happening = dict[str, str]
Tell = Callable[[Happening], None]


class TurnView(Struct, frozen=True):
    """`html` is safe; `notes` are what a reader must know, `took` is the cost, `as_of` the commits."""

    html: str
    is_plain: bool
    notes: Sequence[str]
    took: Sequence[str]
    as_of: Sequence[str]
    steps: Sequence[str]
    id: str
    conversation: str = ""


def places_in(indexes: Sequence[PublishedIndex]) -> Link:
    """Links to the pages of places, each in the first repository that has it."""

    def link(path: str, place: str) -> str | None:
        bare = path.rstrip("/").removeprefix("./")
        index = next((each for each in indexes if each.row(bare) is not None), None)
        if index is None:
            return None
        line = place.rpartition(":")[2].partition("-")[0] if ":" in place else ""
        return address("/document", repo=index.repo, id=place.removeprefix("./")) + (f"#L{line}" if line else "")

    return link


def view_of(answer: TurnAnswer, *, model: str, link: Link, notes: Iterable[str], steps: Sequence[str]) -> TurnView:
    told = [*notes, *filter(None, answer.problems)]
    if answer.is_fallback:
        told.insert(0, f"no answer by a model: {answer.detail}; this is what the index has")
    if answer.citations_dropped:
        one = answer.citations_dropped == 1
        dropped = counted(answer.citations_dropped, "citation")
        told.append(f"{dropped} taken out: {'it names' if one else 'they name'} lines that the sources do not have")
    took = []
    if answer.failed != NO_MODEL:
        read = f"{answer.prompt_tokens:,} tokens read, {answer.completion_tokens:,} written"
        took = [f"{model}: {usd(answer.usd)}", counted(answer.steps, "step"), read]
    if answer.citations:
        took.append(f"{counted(answer.citations, 'citation')} found in the sources")
    return TurnView(
        html=plain_as_html(answer.text, link) if answer.is_fallback else as_html(answer.text, link),
        is_plain=answer.is_fallback,
        notes=told,
        took=took,
        as_of=[str(each) for each in answer.as_of],
        steps=steps,
        id=answer.turn,
        conversation="" if answer.is_fallback else answer.conversation or "",
    )


def view_of_past(turn: PastTurn, steps: Iterable[PastStep], link: Link) -> TurnView:
    is_model = turn.status is Status.COMPLETE
    notes = [] if is_model else [state_of(turn)]
    text = turn.answer or ""
    return TurnView(
        html=as_html(text, link) if is_model else plain_as_html(text, link),
        is_plain=not is_model,
        notes=notes,
        took=[f"{turn.model}: {usd(turn.usd)}"] if turn.model else [],
        as_of=["as it was answered then: lines may have moved since"],
        steps=[said for step in steps if (said := _said_of(step))],
        id="",
    )


def state_of(turn: PastTurn) -> str:
    """The outcome of a question in words."""
    if turn.status is Status.COMPLETE:
        return "answered"
    return f"no answer by a model: {turn.reason}" if turn.status is Status.FAILED else "being answered"


class TurnListener(Struct):
    """Passes the events of a turn on to the page, and keeps the steps for its end."""

    link: Link
    tell: Tell
    steps: list[str] = field(default_factory=list)
    _calls: list[int] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        match event:
            case TextAdded(text):
                self.tell({"kind": "text", "said": clean(text)})
            case BlockWritten(text):
                self.tell({"kind": "block", "said": as_html(text, self.link)})
            case TextVoided(reason):
                self.tell({"kind": "void", "said": ""})
                self._step(reason)
            case MessageEnded(False):
                self.tell({"kind": "aside", "said": ""})
            case ToolCalled(name, arguments):
                self._calls.append(len(self.steps))
                self._step(call_line(name, arguments))
            case ToolAnswered(_, characters, is_error):
                # Tools answer in the order of their calls.
                at = self._calls.pop(0)
                self.steps[at] += " → an error" if is_error else f" → {counted(characters, 'character')}"
                self.tell({"kind": "step", "at": str(at), "said": self.steps[at]})
            case SynthesisBegan(tool, files):
                self._step(synthesis_line(tool, files))

    def _step(self, said: str) -> None:
        self.steps.append(one_line(said))
        self.tell({"kind": "step", "at": str(len(self.steps) - 1), "said": self.steps[-1]})


def _said_of(step: PastStep) -> str:
    content = step.content
    match step.kind:
        case PartKind.TOOL_CALL:
            return one_line(call_line(content["name"], content["arguments"]))
        case PartKind.SYNTHESIS if "files" in content:
            return one_line(synthesis_line(content["tool"], content["files"]))
        case _:
            return ""
