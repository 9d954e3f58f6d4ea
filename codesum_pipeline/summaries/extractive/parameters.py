"""What goes into a function and what comes back, described one by one."""

from codesum_pipeline.model.documents import InputSpec, Returns
from codesum_pipeline.model.symbols import Parameter
from codesum_pipeline.summaries.extractive.body import Body
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_words, printable, sentence
from codesum_pipeline.summaries.extractive.roles import Profile
from codesum_pipeline.summaries.extractive.type_words import type_words
from codesum_pipeline.summaries.extractive.value_phrases import value_phrase
from codesum_pipeline.summaries.extractive.words import spoken
from codesum_pipeline.summaries.extractive.written import (
    MAX_DETAILS,
    MAX_INPUT,
    MAX_TYPE_SUMMARY,
    MIN_DETAILS,
    MIN_INPUT,
    MIN_TYPE_SUMMARY,
)

_MAX_TYPE_CHARS = 120
_MAX_DEFAULT_CHARS = 40
_MAX_NAME_CHARS = 100


def describe_parameters(profile: Profile, doc: Docstring) -> tuple[InputSpec, ...]:
    """Every parameter but the receiver: the docstring's words, else its name's and type's."""
    return tuple(
        InputSpec(
            name=printable(parameter.name)[:_MAX_NAME_CHARS],
            type=clip(printable(parameter.type or ""), _MAX_TYPE_CHARS),
            description=_description(parameter, doc.parameters.get(parameter.name.lstrip("*"), "")),
        )
        for parameter in profile.given.facts.parameters
        if parameter.kind != "receiver"
    )


def _description(parameter: Parameter, told: str) -> str:
    if told:
        text = sentence(clip(told, MAX_INPUT - 1))
        if len(text) >= MIN_INPUT:
            return text
        return clip(f"{text} {_from_name(parameter)}", MAX_INPUT)
    return _from_name(parameter)


def _from_name(parameter: Parameter) -> str:
    words = spoken(parameter.name.strip("_*")) or "value"
    if parameter.kind == "var_positional":
        return f"Any further positional arguments, as {printable(parameter.name)}."
    if parameter.kind == "var_keyword":
        return f"Any further keyword arguments, as {printable(parameter.name)}."
    default = printable(parameter.default or "")
    if parameter.type == "bool" or default in ("True", "False"):
        state = {"True": "; on by default", "False": "; off by default"}.get(default, "")
        return _padded(f"Switches {words}: true or false{state}.")
    said = type_words(parameter.type) if parameter.type else ""
    text = f"The {words}" + (f": {said}" if said and said.split(" ", 1)[-1] != words else "")
    if default and default != "None" and len(default) <= _MAX_DEFAULT_CHARS:
        text = f"{text}; {default} by default"
    elif default:
        text = f"{text}; optional"
    return _padded(f"{text}.")


def _padded(text: str) -> str:
    text = clip(text, MAX_INPUT)
    return text if len(text) >= MIN_INPUT else f"{text.rstrip('.')}, as the caller gives it."


def describe_return(profile: Profile, doc: Docstring, body: Body) -> Returns | None:
    """What comes back or is yielded; None where nothing does."""
    facts = profile.given.facts
    values = [value_phrase(fact.text.removeprefix("from ")) for fact in facts.returned]
    if not profile.gives_value or (not values and facts.return_type is None):
        return None
    annotation = printable(facts.return_type or "")
    kinds = {kind for _, kind in values}
    inferred = kinds.pop() if len(kinds) == 1 else ""
    phrases = [phrase for phrase in body.results if phrase != "nothing"] or [value_phrase("None")[0]]
    summary = (type_words(annotation) if annotation else "") or enumerate_words(phrases[:2], conjunction="or")
    lead = "Yields" if facts.is_generator else "Returns"
    told = summary if phrases == ["nothing"] and summary else enumerate_words(phrases[:3], conjunction="or")
    details = sentence(doc.returns) if doc.returns else f"{lead} {told}."
    if len(details) < MIN_DETAILS:
        details = f"{details} Its type is {annotation or inferred or 'not declared'}."
    return Returns(
        type=clip(annotation or inferred or "unknown", _MAX_TYPE_CHARS),
        type_summary=_type_summary(summary, lead),
        details=clip(details, MAX_DETAILS),
    )


def _type_summary(text: str, lead: str) -> str:
    text = clip(text, MAX_TYPE_SUMMARY)
    if len(text) >= MIN_TYPE_SUMMARY:
        return text
    return f"{'yields' if lead == 'Yields' else 'gives'} {text or 'a value'}".ljust(MIN_TYPE_SUMMARY, ".")
