"""An answer becomes a text, or a complaint that the model can act on.

What a rule can repair is repaired. Everything else that breaks the schema, a citation, a name or the form is
complained of in words, all at once, so that a model needs one more attempt and not one for each complaint.

How an object is found in what a model wrote is in `answer_objects`, what is put right in it in `answer_repairs`.

What the system prompt forbids in every text is refused as far as a program can see it. The rest (say the purpose first,
do not praise) a program cannot judge: a good text may speak of a fast event or a clean build.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, NoReturn, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from codesum_pipeline.evidence.leaks import leaked_names, looks_like_code, names_in
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import Citation, InputSpec, Level, Returns, WrittenText
from codesum_pipeline.foundation.data_model.printable import plain_reason
from codesum_pipeline.texts.llm.answer_objects import decode_json, visit_objects
from codesum_pipeline.texts.llm.answer_repairs import repair_value
from codesum_pipeline.texts.llm.answer_shapes import AnswerTool, FunctionAnswer, UpperAnswer, answer_model, answer_tool
from codesum_pipeline.texts.llm.pins import CALL_OF, CALLING_FORMS, AnswerForm, SummaryResponse
from codesum_pipeline.texts.llm.shown_objects import stands_in

_IDENTIFIER = re.compile(r"(`?)([^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*)(`?)(\(?)")
# No prose: what is written there is code, or one of a closed set of words.
_CODE_FIELDS = frozenset(("name", "type", "children", "field"))


_TABLE = packaged_table(__package__, "forbidden_words")
_FORBIDDEN = [(re.compile(one["pattern"]), one["complaint"]) for one in _TABLE["forbidden"]]
_KINDS: dict[str, list[str]] = _TABLE["kinds"]
_EVERY_KIND = "|".join(chain.from_iterable(_KINDS.values()))


def _forbidden_in(answer: Any, level: Level, name: str) -> Iterator[str]:
    """Complaints about the texts of an answer; `name` is the document's own, qualified."""
    field = "purpose" if level is Level.FUNCTION else "summary"
    if opening := _opening(answer[field], level, name):
        yield f"{field}: must not open with {opening!r}: start with a verb" + (
            "" if level is Level.FUNCTION else " or a noun phrase"
        )
    for place, text in _texts(answer, ""):
        for pattern, complaint in _FORBIDDEN:
            if found := pattern.search(text):
                yield f"{place}: {complaint.format(found.group()[:40])}"


def _opening(text: str, level: Level, name: str) -> str:
    if found := re.match(rf"this (?:{_EVERY_KIND})\b|the (?:{'|'.join(_KINDS[level])})\b", text, re.IGNORECASE):
        return found.group()
    first = _IDENTIFIER.match(text)
    if not first or first[2] not in (name, name.rpartition(".")[2]):
        return ""
    is_word = not (looks_like_code(first[2]) or first[1] or first[4])
    return "" if is_word and not first[2][0].islower() else first[2]


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text of an answer, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{place}.{number}")
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in _CODE_FIELDS:
                yield from _texts(part, f"{place}.{name}" if place else name)


_MAX_COMPLAINTS = 12
# An answer has one. Each is checked, and a check takes longer than reading.
_MOST_OBJECTS = 32
_COPIED = (
    "The answer cannot be taken: it stands in what you were shown, as an example or as part of the material. Write "
    "your own answer, with every field."
)
_Answer = TypeVar("_Answer", bound=BaseModel)
Content = TypeVar("Content")


class AnswerProblem(Exception):
    """The fault of an answer, worded for the model that gave it."""


class AnswerBounds(Struct, frozen=True):
    """What an answer is checked against.

    `line_count` is that of the numbered lines (None above functions),
    `child_names` are the parts that a responsibility may name, `hidden_names`
    all callers and callees that the graph knows, as qualified names or ids,
    `context_names` other names that the writer knows from the context alone,
    `own_names` the document's own names, in lower case. `name` is its qualified
    name, `head_names` are the names in a function's head, in lower case (None:
    its parameters have no names), `receivers` those of them that no caller gives.
    `shown` are the texts that were sent: an object that stands in one is no answer.
    """

    level: Level
    line_count: int | None
    child_names: tuple[str, ...] = ()
    hidden_names: tuple[str, ...] = ()
    context_names: tuple[str, ...] = ()
    own_names: frozenset[str] = frozenset()
    name: str = ""
    head_names: frozenset[str] | None = None
    receivers: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


def read_answer(response: SummaryResponse, form: AnswerForm, bounds: AnswerBounds) -> WrittenText:
    """The text of an answer; raises `AnswerProblem`."""
    tool = answer_tool(bounds.level)
    return read_object(response, form, tool, lambda value: _text_of(value, bounds), shown=bounds.shown)


def _text_of(value: Any, bounds: AnswerBounds) -> WrittenText:
    """The text that an object is; raises `AnswerProblem`."""
    if isinstance(inputs := value.get("inputs"), list):
        # No caller gives `self` and the like.
        kept = [one for one in inputs if not (isinstance(one, dict) and one.get("name") in bounds.receivers)]
        value = {**value, "inputs": kept}
    answer = validate_answer(value, answer_model(bounds.level))
    written, complaints = (
        (_function_text(answer), _function_complaints(answer, bounds))
        if isinstance(answer, FunctionAnswer)
        else (_upper_text(answer, bounds), _upper_complaints(answer, bounds))
    )
    if found := [*complaints, *_leaks(written, bounds), *_forbidden_in(value, bounds.level, bounds.name)]:
        raise_complaints(found)
    return written


def read_object(
    response: SummaryResponse,
    form: AnswerForm,
    tool: AnswerTool,
    check: Callable[[Any], Content],
    *,
    shown: Sequence[str] = (),
) -> Content:
    """What `check` makes of the one object of an answer that it takes, repaired where that can be.

    `check` raises `AnswerProblem`, and so does this. An object that stands in `shown` is not taken.
    """
    wanted = "Answer with a JSON object with every field."
    if form in CALLING_FORMS:
        wanted = f"Call the tool {tool.name} with every field."
    if not response.claim.strip():
        raise AnswerProblem(f"Your answer was empty. {wanted}")
    if form in CALLING_FORMS and response.claim.startswith(CALL_OF) and not response.has_tool_call:
        raise AnswerProblem(f"You called another tool. {wanted}")
    reading = _Reading(tool, check, shown)
    try:
        visit_objects(response.claim, tool.name, reading.visit)
    except RecursionError as error:
        raise AnswerProblem("The answer is nested too deeply. Answer again, with every field.") from error
    if len(reading.taken) == 1:
        return reading.taken[0]
    if reading.taken:
        raise AnswerProblem(
            f"Your answer holds {len(reading.taken)} different objects, and each could be meant. {wanted.rstrip('.')}, "
            "once, and write nothing else."
        )
    is_text = form in CALLING_FORMS and not response.has_tool_call
    fault = _fault_of(response.claim)
    if reading.problem and (reading.has_fields or not (is_text or fault)):
        raise reading.problem
    if is_text:
        raise AnswerProblem(f"You answered in text. {wanted.removesuffix('.')} instead.")
    raise AnswerProblem(f"The answer is {fault or 'a call of another tool'}. Answer again, with every field.")


class _Reading(Generic[Content]):
    """The objects of an answer that are taken, and what is wrong with the one that comes nearest to it."""

    def __init__(self, tool: AnswerTool, check: Callable[[Any], Content], shown: Sequence[str]) -> None:
        self._tool = tool
        self._check = check
        self._shown = shown
        self._fields = frozenset(tool.schema["properties"])
        self._seen: list[Any] = []
        self._nearest = (-1, False)
        self.taken: list[Content] = []
        self.problem: AnswerProblem | None = None

    @property
    def has_fields(self) -> bool:
        """Whether any object has a field of the answer."""
        return self._nearest[0] > 0

    def visit(self, value: dict[str, Any]) -> bool:
        """Check an object; whether it is taken."""
        fields = len(self._fields & value.keys())
        if (self._seen and not fields) or value in self._seen:
            return False
        if len(self._seen) == _MOST_OBJECTS:
            raise AnswerProblem(
                f"Your answer holds more than {_MOST_OBJECTS} objects. Answer with one, with every field."
            )
        self._seen.append(value)
        repaired = repair_value(value, self._tool.schema)
        is_copy = stands_in(repaired, self._shown)
        try:
            if is_copy:
                raise AnswerProblem(_COPIED)
            found = self._check(repaired)
        except AnswerProblem as problem:
            # Of several the last: models correct themselves.
            if (fields, not is_copy) >= self._nearest:
                self._nearest, self.problem = (fields, not is_copy), problem
            return False
        if found not in self.taken:
            self.taken.append(found)
        return True


def validate_answer(value: Any, shape: type[_Answer]) -> _Answer:
    """The value as an answer of a shape; raises `AnswerProblem`."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        complaints = []
        for problem in error.errors(include_url=False, include_context=False):
            place, bad_value = ".".join(map(str, problem["loc"])) or "the answer", problem["input"]
            length = (
                f" (it has {len(bad_value)})" if isinstance(bad_value, str | list) and "at " in problem["msg"] else ""
            )
            complaints.append(f"{place}: {plain_reason(problem['msg'])}{length}")
        raise_complaints(complaints)


def raise_complaints(complaints: list[str]) -> NoReturn:
    """Raise all of them as one `AnswerProblem`."""
    lines = "\n".join(f"- {complaint}" for complaint in complaints[:_MAX_COMPLAINTS])
    raise AnswerProblem(f"The answer cannot be taken:\n{lines}\nAnswer again, with every field.")


def _fault_of(claim: str) -> str:
    """Why an answer is no JSON object; empty if it is one."""
    try:
        value = decode_json(claim)
    except ValueError as error:
        return f"not valid JSON ({error})"
    return "" if isinstance(value, dict) else "not a JSON object"


def _function_complaints(answer: FunctionAnswer, bounds: AnswerBounds) -> list[str]:
    last = bounds.line_count or 0
    outside = [
        f"citations: {each.field} cites lines {each.start_line}-{each.end_line}; the code has lines 1-{last}, and "
        "a range starts before it ends"
        for each in answer.citations
        if not 1 <= each.start_line <= each.end_line <= last
    ]
    cited = {each.field for each in answer.citations}
    missing = [
        f"citations: {name} is filled and not cited"
        for name in ("purpose", "inputs", "returns", "side_effects", "invariants")
        if getattr(answer, name) and name not in cited
    ]
    unknown = [
        f"inputs.{place}.name: {parameter.name[:80]!r} is no parameter of the function"
        for place, parameter in enumerate(answer.inputs)
        if bounds.head_names is not None and not names_in(parameter.name) <= bounds.head_names
    ]
    return [*outside, *missing, *unknown]


def _function_text(answer: FunctionAnswer) -> WrittenText:
    returned = answer.returns
    cited = dict.fromkeys(each for each in answer.citations if getattr(answer, each.field))
    return WrittenText(
        summary=answer.purpose,
        business_intent=answer.business_intent,
        keywords=tuple(answer.keywords),
        returns=Returns(returned.type, returned.type_summary, returned.details) if returned else None,
        inputs=tuple(InputSpec(each.name, each.type, each.description) for each in answer.inputs),
        side_effects=tuple(answer.side_effects),
        invariants=tuple(answer.invariants or ()),
        citations=tuple(
            Citation("summary" if each.field == "purpose" else each.field, each.start_line, each.end_line)
            for each in cited
        ),
    )


def _upper_complaints(answer: UpperAnswer, bounds: AnswerBounds) -> list[str]:
    listed = set(bounds.child_names)
    return [
        f"responsibilities.{place}.children: {name[:80]!r} is not the name of a listed part"
        for place, item in enumerate(answer.responsibilities)
        for name in item.children
        if listed and name not in listed
    ]


def _upper_text(answer: UpperAnswer, bounds: AnswerBounds) -> WrittenText:
    """The text; where no parts were listed there is nothing that a responsibility could name."""
    # `NAME, NAME: text`, as the extractive writer has it; names that the text says are not said twice.
    responsibilities = []
    for item in answer.responsibilities:
        missing = [name for name in item.children if name not in item.text]
        responsibilities.append(f"{', '.join(missing)}: {item.text}" if missing else item.text)
    return WrittenText(
        summary=answer.summary,
        business_intent=answer.business_intent,
        keywords=tuple(answer.keywords),
        responsibilities=tuple(responsibilities) if bounds.child_names else (),
    )


def _leaks(written: WrittenText, bounds: AnswerBounds) -> list[str]:
    field = "purpose" if bounds.level is Level.FUNCTION else "summary"
    names = leaked_names((written.summary, written.business_intent), bounds.hidden_names, bounds.own_names)
    others = leaked_names(
        (written.summary, written.business_intent), bounds.context_names, {*bounds.own_names, *names_in(*names)}
    )
    return [
        *(f"{field}, business_intent: must not name the caller or callee {name!r}" for name in names),
        *(f"{field}, business_intent: must not name {name!r}, which stands in the context alone" for name in others),
    ]
